"""The command line, one file per verb. Nothing but click is loaded until a verb runs.

options.py has what several verbs take, declared/ how words become settings, folder/ what a fit
writes. Bad input is one sentence and exit code 2, and nothing is charged.
"""

import importlib

import click

from sparsedp import __version__

VERBS = (
    *("demo", "init", "plan", "fit", "predict", "evaluate", "report", "verify", "audit", "ledger"),
    *("sign", "export", "ui", "reproduce"),
)


class BadInput(click.ClickException):
    """Something that the user can put right: one sentence, exit code 2."""

    exit_code = 2


class Stopped(click.ClickException):
    """Ctrl-C; the exit code is the shell's convention."""

    exit_code = 130


class Verbs(click.Group):
    """Finds verbs by the name of their file, and turns expected errors into one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which one meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the verb's file."""
        if cmd_name not in VERBS:
            return None
        return importlib.import_module(f"sparsedp.cli.{cmd_name}").command

    def invoke(self, ctx: click.Context) -> object:
        """Run a verb. What is not expected here is a bug and shows its traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("Stopped.") from None
        except click.UsageError as error:
            raise BadInput(_sentence(error.format_message())) from None
        except BrokenPipeError:
            raise  # the reader of a pipe has seen enough: click knows what to do
        except OSError as error:
            named = error.filename is not None and error.strerror is not None
            text = f"{error.filename}: {error.strerror}" if named else str(error)
            raise BadInput(_sentence(text)) from None
        except ValueError as error:
            raise BadInput(_sentence(str(error))) from None
        except MemoryError:
            raise BadInput("there is not enough memory for this") from None


def _sentence(text: str) -> str:
    return " ".join(text.split())


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from sparsedp._kernels import COMPILED

        kernels = "compiled" if COMPILED else "reference (slow)"
        click.echo(f"sparsedp, version {__version__}, kernels {kernels}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version, and whether kernels are compiled.",
)
def main() -> None:
    """Sparse linear models with differential privacy.

    Start with `sparsedp demo`; then, for your own data: init, fit, predict.
    """
