"""What is promised about the columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from sparsedp.ui.answers import Answers
from sparsedp.ui.columns import (
    KINDS,
    TARGETS,
    Column,
    Target,
    book,
    classes_of,
    columns_of,
    posted_columns,
    posted_target,
    tables,
    target_of,
)
from sparsedp.ui.journey import write
from sparsedp.ui.steps.page import Context, Problem, concerning, previewed

MOST_COLUMNS = 150
"""Beyond these the form is left to the text."""


def show(request: Request) -> Response:
    """The page."""
    context = Context.of(request)
    return _page(context, *_stored(context), None)


def save(request: Request) -> Response:
    """Write the form as a code book, the schema by it, and see whether a plan takes it."""
    context = Context.of(request)
    if "preview" in context.form:
        said = replace(context.said, filled=True)
        return previewed(_commands(context, said))
    columns, target = _stored(context)
    try:
        with context.journey.changing():
            context = Context.of(request)
            context.check_open("schema")
            if "text" in context.form:
                _save_text(context, context.form["text"])
            else:
                columns = posted_columns(columns, context.form)
                target = posted_target(context.form)
                _save_form(context, columns, target)
    except Problem as problem:
        return _page(Context.of(request), columns, target, problem)
    return context.go("plan")


def _save_form(context: Context, columns: Sequence[Column], target: Target) -> None:
    journey, before = context.journey, context.said
    entries = book(columns, target, before.target, tables(journey.folder / "schema.toml"))
    if entries == "[]":
        raise Problem("say something about the target and the columns", "target-classes")
    write(journey.folder / "columns.json", entries)
    said = replace(before, filled=True, as_text=False, is_count=target.kind == "count")
    commands = journey.commands(said)
    ran = journey.run("schema", commands.draft())
    if not ran.is_well:
        raise _concerning(ran.error, columns, commands.work)
    _try(context, said, columns)


def _save_text(context: Context, text: str) -> None:
    write(context.journey.folder / "schema.toml", text.replace("\r\n", "\n"))
    said = replace(context.said, as_text=True, is_count=False)
    _try(context, said, [])


def _try(context: Context, said: Answers, columns: Sequence[Column]) -> None:
    """The plan takes the schema, or says what is missing; the form is kept all the same."""
    context.journey.save(replace(said, reached="schema"))
    commands = context.journey.commands(said)
    ran = context.journey.run("plan", commands.plan(by_default=True))
    if not ran.is_well:
        raise _concerning(ran.error, columns, commands.work)
    context.journey.save(replace(said, reached="plan"))


def _concerning(sentence: str, columns: Sequence[Column], work: str) -> Problem:
    """Beside its column, which the form calls by its name and not as the schema file does."""
    problem = concerning(sentence, _needles(columns), work)
    for column in columns:
        if problem.field == f"{column.key}-kind":
            for table in (f"[features.{column.name}] ", f'[features."{column.name}"] '):
                if problem.sentence.startswith(table):
                    plain = problem.sentence.removeprefix(table)
                    return Problem(f"{column.name}: {plain}", problem.field)
    return problem


def _needles(columns: Sequence[Column]) -> Mapping[str, str]:
    found = {"declare what the target": "target-classes", "[target]": "target-classes"}
    found |= {"count has limits": "target-upper"}
    for column in columns:
        field = f"{column.key}-kind"
        found |= {f"[features.{column.name}]": field, f'[features."{column.name}"]': field}
        found |= {f"{column.name!r}": field}
    return found


def _stored(context: Context) -> tuple[list[Column], Target]:
    said = context.said
    found = tables(context.journey.folder / "schema.toml")
    roles = [role for role in (said.target, said.person) if role]
    return columns_of(found, said.columns, roles), target_of(found, is_count=said.is_count)


def _commands(context: Context, said: Answers) -> list[Sequence[str]]:
    commands = context.journey.commands(said)
    check = commands.plan(by_default=True)
    return [check] if said.as_text else [commands.draft(), check]


def _page(
    context: Context, columns: Sequence[Column], target: Target, problem: Problem | None
) -> Response:
    try:
        text = (context.journey.folder / "schema.toml").read_text(encoding="utf-8")
    except OSError:
        text = ""
    said = context.said
    return context.page(
        "schema",
        _commands(context, said if said.as_text else replace(said, filled=True)),
        problem,
        columns=columns if len(columns) <= MOST_COLUMNS else [],
        n_columns=len(columns),
        target=target,
        text=context.form.get("text", text),
        kinds=KINDS,
        parts_of=classes_of,
        target_kinds=TARGETS,
        in_text="text" in context.form or said.as_text,
    )
