"""``python -m sparsedp.cli``."""

from sparsedp.cli import main

main(prog_name="sparsedp")
