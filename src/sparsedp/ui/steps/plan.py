"""Epsilon, the number of features, and which quality to expect of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from sparsedp.ui.answers import Answers
from sparsedp.ui.drawing import drawing
from sparsedp.ui.steps.page import Context, Problem, concerning, previewed

NEEDLES = {
    "--n-nonzero": "n_nonzero",
    "--records": "records",
    "--ceiling": "ceiling",
    "ceiling": "ceiling",
    "--rate": "rate",
    "rate": "rate",
    "--holdout": "holdout",
    "holdout": "holdout",
    "--delta": "delta",
    "delta": "delta",
    "": "epsilon",
}


def show(request: Request) -> Response:
    """The page."""
    context = Context.of(request)
    return _page(context, context.said, None)


def save(request: Request) -> Response:
    """Plan anew; with ``go`` on to the price."""
    context = Context.of(request)
    said = _posted(context.said, context.form)
    if "preview" in context.form:
        return previewed(_commands(context, said))
    try:
        with context.journey.changing():
            context = Context.of(request)
            context.check_open("plan")
            said = _posted(context.said, context.form)
            _run(context, said)
            context.journey.save(replace(said, reached="price" if "go" in context.form else "plan"))
    except Problem as problem:
        return _page(context, said, problem)
    return context.go("price" if "go" in context.form else "plan")


def _run(context: Context, said: Answers) -> None:
    for name, command in _named(context, said).items():
        ran = context.journey.run(name, command)
        if not ran.is_well:
            raise concerning(ran.error, NEEDLES)


def _posted(before: Answers, form: Mapping[str, str]) -> Answers:
    def text(name: str) -> str:
        return form.get(name, "").strip()

    return replace(
        before,
        epsilon=text("epsilon"),
        delta=text("delta"),
        n_nonzero=text("n_nonzero"),
        records=text("records"),
        ceiling=text("ceiling"),
        rate=text("rate"),
        holdout=text("holdout"),
        intervals="intervals" in form,
    )


def _named(context: Context, said: Answers) -> dict[str, Sequence[str]]:
    """The plan; where features are numbered by hand, which no prediction knows, one without too."""
    commands = context.journey.commands(said)
    named: dict[str, Sequence[str]] = {"plan": commands.plan()}
    if said.n_nonzero and said.records:
        named["by_default"] = commands.plan(by_default=True)
    return named


def _commands(context: Context, said: Answers) -> list[Sequence[str]]:
    return list(_named(context, said).values())


def _page(context: Context, said: Answers, problem: Problem | None) -> Response:
    planned = context.journey.ran("plan")
    by_default = context.journey.ran("by_default") if said.n_nonzero and said.records else None
    shown = planned if by_default is None else by_default
    quality = None if shown is None or problem is not None else shown.output.get("quality")
    return replace(context, said=said).page(
        "plan",
        _commands(context, said),
        problem,
        plan={} if planned is None else planned.output,
        quality=quality,
        by_default=by_default is not None,
        picture=drawing(quality) if isinstance(quality, dict) else None,
    )
