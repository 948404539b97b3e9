"""Options that several verbs share. Only click is imported here."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

import click

FORMATS = ("csv", "tsv", "parquet", "arrow", "excel", "jsonl", "libsvm", "npz")

Verb = TypeVar("Verb", bound=Callable[..., object])
Decorator: TypeAlias = Callable[[Verb], Verb]

relations = click.Choice(("add_remove", "replace_one"))
calibrations = click.Choice(("sound", "proven", "published"))

existing = click.Path(exists=True, path_type=Path)
anywhere = click.Path(path_type=Path)


class _Source(click.ParamType):
    """Where records are; what is wrong with it is said without showing it."""

    name = "source"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Look whether a file is there; nothing is read."""
        from sparsedp.data.files.location import Location

        if isinstance(value, Location):
            return value
        location = Location.of(str(value))
        if location.path is not None and not location.path.exists():
            self.fail(f"{str(location.path)!r} does not exist.", param, ctx)
        return location


source = _Source()


def json_option() -> Decorator[Verb]:
    """--json"""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def _use_limits(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> None:
    if given:
        from sparsedp.data.files.limits import limits

        changed = limits()
        for text in given:
            name, _, value = text.partition("=")
            changed = changed.changed(name, value)
        ctx.with_resource(changed.applied())


def limit_option() -> Decorator[Verb]:
    """--limit"""
    return click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=NUMBER",
        is_eager=True,
        expose_value=False,
        callback=_use_limits,
        help="Read more than usual: bytes, columns, features, categories, classes or text.",
    )


def table_options() -> Decorator[Verb]:
    """--format, --delimiter, --encoding and --sheet"""
    return together(
        click.option(
            "--format",
            "file_format",
            type=click.Choice(FORMATS),
            help="Format of DATA, if its name does not tell.",
        ),
        click.option("--delimiter", help="Of CSV, if the header does not tell."),
        click.option(
            "--encoding",
            type=click.Choice(("utf-8", "latin-1", "cp1252")),
            default="utf-8",
            show_default=True,
            help="Of text.",
        ),
        click.option("--sheet", metavar="NAME", help="Of an Excel file; by default the first."),
    )


def privacy_options(required: bool = True) -> Decorator[Verb]:
    """--epsilon, --delta and --neighbors"""
    return together(
        click.option(
            "--epsilon",
            type=float,
            required=required,
            help="Privacy budget; smaller protects more.",
        ),
        click.option(
            "--delta",
            type=float,
            required=required,
            help="Probability that the guarantee may fail; far below one over the number of "
            "records.",
        ),
        neighbors_option(),
    )


def neighbors_option() -> Decorator[Verb]:
    """--neighbors"""
    return click.option(
        "--neighbors",
        type=relations,
        default="add_remove",
        show_default=True,
        help="What the guarantee compares: a record more or less, or a record changed.",
    )


def schema_options() -> Decorator[Verb]:
    """--schema (--bounds) and what goes before the file"""
    return together(
        click.option(
            "--schema",
            "--bounds",
            "schema",
            metavar="SCHEMA",
            help='What is promised: a schema file (see init), or "0,1" for limits of all features.',
        ),
        click.option("--target", metavar="COLUMN", help="The column to predict."),
        click.option(
            "--task",
            type=click.Choice(("classification", "regression", "count")),
            help="By default what was declared: classes, or limits. Counts have limits 0,MAX.",
        ),
        click.option(
            "--classes", metavar="A,B,...", help="The label set; this or limits are needed."
        ),
        click.option(
            "--target-bounds", metavar="LOW,HIGH", help="Limits of a target that is a number."
        ),
        click.option("--person", metavar="COLUMN", help="The column that says whose a row is."),
        click.option(
            "--unit", type=click.Choice(("row",)), help="Protect rows: each is somebody else's."
        ),
        click.option(
            "--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may repeat."
        ),
    )


def solver_options() -> Decorator[Verb]:
    """--n-nonzero, --solver, --set and --calibration"""
    return together(
        click.option(
            "--n-nonzero",
            type=click.IntRange(min=1),
            help="Features to keep at most; by default what the solver finds right.",
        ),
        click.option(
            "--solver",
            default="pursuit",
            show_default=True,
            metavar="NAME",
            help="How the model is fitted: pursuit, sparsifier, frank_wolfe, ...",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="A setting of the solver, such as radius=10; may be repeated.",
        ),
        click.option(
            "--calibration",
            type=calibrations,
            default="sound",
            show_default=True,
            help="Our method, the paper's with noise that is proven, or as the paper prints it.",
        ),
    )


def shapes_option() -> Decorator[Verb]:
    """--shapes"""
    return click.option(
        "--shapes",
        type=click.Choice(("auto", "linear", "additive")),
        default="auto",
        show_default=True,
        help="Effects: lines, piecewise linear, or what public numbers and counts speak for.",
    )


def together(*options: Decorator[Verb]) -> Decorator[Verb]:
    """Several options as one, which the help lists in this order."""

    def decorate(command: Verb) -> Verb:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
