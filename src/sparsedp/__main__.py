"""``python -m sparsedp``."""

from sparsedp.cli import main

main(prog_name="sparsedp")
