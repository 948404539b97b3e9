"""What the fit costs, and the ledger that it is charged to."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from sparsedp.ui.answers import Answers
from sparsedp.ui.places import WORK, Places
from sparsedp.ui.steps.page import Context, Problem, concerning, places, previewed

NEEDLES = {"--epsilon": "ledger_epsilon", "--delta": "ledger_delta", "delta": "ledger_delta"}
NEEDLES |= {"epsilon": "ledger_epsilon", "": "ledger"}


def show(request: Request) -> Response:
    """The page."""
    context = Context.of(request)
    return _page(context, context.said, None)


def save(request: Request) -> Response:
    """Make the ledger, or look at it if it is there; with ``go`` on to the fit."""
    context = Context.of(request)
    said = context.said
    try:
        if "preview" in context.form:
            return previewed(_commands(context, _posted(said, context.form, places(request))))
        with context.journey.changing():
            context = Context.of(request)
            context.check_open("price")
            said = _posted(context.said, context.form, places(request))
            for command in _commands(context, said):
                ran = context.journey.run("price", command)
                if not ran.is_well:
                    raise concerning(ran.error, NEEDLES)
            context.journey.save(replace(said, reached="fit"))
    except Problem as problem:
        return previewed([]) if "preview" in context.form else _page(context, said, problem)
    return context.go("fit" if "go" in context.form else "price")


def _posted(before: Answers, form: Mapping[str, str], where: Places) -> Answers:
    try:
        ledger = where.inside(form.get("ledger", ""))
    except ValueError as error:
        raise Problem(str(error), "ledger") from None
    if ledger == before.data or ledger.split("/")[0] == WORK:
        raise Problem("a ledger is a file of its own, beside the data", "ledger")
    return replace(
        before,
        ledger=ledger,
        ledger_epsilon=form.get("ledger_epsilon", before.ledger_epsilon).strip(),
        ledger_delta=form.get("ledger_delta", before.ledger_delta).strip(),
        who=form.get("who", "").strip(),
        invalid=form.get("invalid", "raise"),
        allow_unmatched="allow_unmatched" in form,
        yes="yes" in form,
    )


def _commands(context: Context, said: Answers) -> list[Sequence[str]]:
    commands = context.journey.commands(said)
    is_there = os.path.exists(context.journey.places.root / said.ledger)
    return [commands.show_ledger() if is_there else commands.make_ledger()]


def _page(context: Context, said: Answers, problem: Problem | None) -> Response:
    looked = context.journey.ran("price")
    is_this = looked is not None and said.ledger in looked.command
    root = context.journey.places.root
    return replace(context, said=said).page(
        "price",
        _commands(context, said),
        problem,
        ledger=looked.output if looked is not None and is_this else None,
        is_there=bool(said.ledger) and os.path.exists(root / said.ledger),
    )
