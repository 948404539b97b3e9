"""``sparsedp ui``: all of this as a page in the browser."""

import os
from pathlib import Path

import click


@click.command("ui")
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Files below it can be named; by default where the command is started.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Of 127.0.0.1; by default one that is free.",
)
def command(folder: Path, port: int) -> None:
    """Open a page on this machine that goes from a file to a private model.

    Prints an address that lets one browser in, once. Each step runs a command of this program, and
    shows it. Nothing is uploaded, and nothing leaves the machine.
    """
    if os.name != "posix":
        raise ValueError("the page needs the file locks of Linux or macOS; use the other commands")
    try:
        from sparsedp.ui.server import serve
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise ValueError("the page needs two more packages: pip install 'sparsedp[ui]'") from None
    click.echo(f"Files below {folder.resolve()} can be named; what is made lies in sparsedp-ui/.")
    click.echo("Ctrl-C ends the page; a fit that runs goes on. Open in a browser here, once:")
    serve(folder, port, lambda address: click.echo(f"  {address}"))
