"""run.toml: the settings of a fit, published beside its model, so that it can be repeated.

Only the names of the data and of the ledger are in it: where they lie is nobody's business. Who
repeats a fit says where they are.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparsedp import __version__
from sparsedp.cli.declared.given import Given

if TYPE_CHECKING:
    from sparsedp.cli.declared.declared import Declared
    from sparsedp.data.schema import Schema

NAMES = ("data", "ledger")
SECRET = ("holdout_key", "evaluation_ledger")
ONCE = ("config", "output", "force", "resume", "as_json", "check", "progress", "quiet", "yes")
NOT_REPEATED = {*ONCE, *SECRET, *NAMES}
IN_TABLES = {"schema", "target", "classes", "target_bounds", "drop", "person", "unit"}


def run_text(given: Given, declared: "Declared", schema: "Schema | None") -> str:
    """The file's text: the tables of a schema file, and the settings of the fit."""
    from sparsedp.data.schema.toml import written

    apart = {*IN_TABLES, "ledger_epsilon", "ledger_delta", "who", *NOT_REPEATED}
    ledger = given["ledger"]
    names = {"data": given["data"].name, "ledger": ledger and ledger.name}
    # Sorted: click hands options over in the order in which they were typed.
    settings = {name: value for name, value in sorted(given.items()) if name not in apart}
    run = {**names, **settings, "task": declared.task}
    said = {name: value for name, value in run.items() if value is not None}
    return (
        f"# Settings of a fit by sparsedp {__version__}. To repeat it, with fresh noise and at the "
        "same cost:\n#   sparsedp fit DATA --config run.toml -o another-folder\n\n"
        f"{declared.to_toml(schema)}\n{written({'fit': said})}"
    )


def use_config(ctx: click.Context, option: click.Parameter, path: Path | None) -> None:
    """Take what is not given on the command line from a run.toml, which also holds the schema."""
    if path is None:
        return
    from sparsedp.data.files.opened import read_toml

    given = read_toml(path).get("fit")
    if not isinstance(given, dict):
        raise ValueError(f"{path} has no [fit] table: give the run.toml of an earlier fit")
    known = {parameter.name for parameter in ctx.command.params} - NOT_REPEATED | set(NAMES)
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"{path}: [fit] does not know {', '.join(unknown)}")
    flags = [
        option
        for option in ctx.command.params
        if isinstance(option.type, click.types.BoolParamType)
    ]
    wrong = [flag.name for flag in flags if not isinstance(given.get(flag.name, True), bool)]
    if wrong:
        raise ValueError(f"{path}: [fit] {wrong[0]} must be true or false")
    names = {name: given.pop(name, None) for name in NAMES}
    ctx.meta["sparsedp.run"] = {"path": path, **names}
    ctx.default_map = {**given, "schema": str(path)}


def check_named(ctx: click.Context, ledger: Path | None) -> None:
    """A fit that was charged is repeated with a ledger too, which has to be given."""
    run = ctx.meta.get("sparsedp.run")
    if run is not None and run["ledger"] is not None and ledger is None:
        raise ValueError(
            f"the fit of {run['path']} was charged to a ledger called {run['ledger']!r}: say where "
            "it is by --ledger, or delete that line"
        )
