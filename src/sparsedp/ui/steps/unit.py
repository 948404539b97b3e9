"""Whom the guarantee protects, and what is predicted."""

from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from sparsedp.ui.answers import Answers
from sparsedp.ui.places import Places
from sparsedp.ui.steps.page import Context, Problem, concerning, places, previewed

NEEDLES = {"code book": "codebook", "--codebook": "codebook", "--person": "person"}
NEEDLES |= {"[features": "codebook", "--target": "target", "has no column": "target"}


def show(request: Request) -> Response:
    """The page."""
    context = Context.of(request)
    return _page(context, context.said, None)


def save(request: Request) -> Response:
    """Write the schema's draft."""
    context = Context.of(request)
    said = context.said
    try:
        if "preview" in context.form:
            said = _posted(said, context.form, places(request))
            return previewed([context.journey.commands(said).draft()])
        with context.journey.changing():
            context = Context.of(request)
            context.check_open("unit")
            said = _posted(context.said, context.form, places(request))
            ran = context.journey.run("unit", context.journey.commands(said).draft())
            if not ran.is_well:
                raise concerning(ran.error, NEEDLES)
            context.journey.save(replace(said, reached="schema"))
    except Problem as problem:
        return previewed([]) if "preview" in context.form else _page(context, said, problem)
    return context.go("schema")


def _posted(before: Answers, form: Mapping[str, str], where: Places) -> Answers:
    said = replace(
        before,
        unit=form.get("unit", ""),
        person=form.get("person", "") if form.get("unit") == "person" else "",
        target=form.get("target", ""),
        neighbors=form.get("neighbors", ""),
        as_text=False,
    )
    if said.unit not in ("row", "person"):
        raise Problem("say who is protected: people, or single rows", "unit")
    if said.unit == "person" and said.person not in said.columns:
        raise Problem("choose the column that says whose a row is", "person")
    if said.target not in said.columns:
        raise Problem("choose the column that is to be predicted", "target")
    if said.target == said.person:
        raise Problem("who somebody is cannot be predicted: choose another column", "target")
    text = form.get("codebook", "").strip()
    try:
        codebook = where.file(text) if text else ""
    except ValueError as error:
        raise Problem(str(error), "codebook") from None
    # A form that was filled in stays, unless a code book is given in its place, or the target is
    # another one, of which it says nothing.
    kept = codebook == before.codebook and said.target == before.target
    return replace(
        said,
        codebook=codebook,
        filled=before.filled and kept,
        is_count=before.is_count and kept,
    )


def _page(context: Context, said: Answers, problem: Problem | None) -> Response:
    command = context.journey.commands(said).draft()
    return replace(context, said=said).page("unit", [command], problem)
