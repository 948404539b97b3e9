"""The fit: started once, watched by any tab."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sparsedp.ui import fitting
from sparsedp.ui.steps.page import Context, Problem, concerning

NEEDLES = {"--allow-unmatched": "price", "invalid": "price", "--yes": "price", "ledger": "price"}
NEEDLES |= {"column": "schema", "schema": "schema"}
CHANGED = (
    "this was changed since the page was opened, perhaps in another tab, and nothing was started: "
    "look at what it is now, and start it then"
)


def show(request: Request) -> Response:
    """The page."""
    return _page(Context.of(request), None)


def start(request: Request) -> Response:
    """Start it, unless it was started: then this shows the one that runs."""
    context = Context.of(request)
    attempt = context.form.get("attempt", "")
    try:
        with context.journey.changing():
            context = Context.of(request)
            if not context.said.can_see("fit"):
                raise Problem("the steps before this one come first", status=409)
            if not attempt.isdecimal() or len(attempt) > 9:
                raise Problem("that is no attempt: open the page anew", status=400)
            if "resume" in context.form:
                fitting.resume(context.journey, int(attempt))
            elif context.fit.is_open:
                if context.form.get("shown") != fitting.fingerprint(context.journey, context.said):
                    raise Problem(CHANGED, status=409)
                fitting.start(context.journey, int(attempt))
    except Problem as problem:
        return _page(context, problem)
    return context.go("fit")


def state(request: Request) -> Response:
    """What the page asks for while a fit runs."""
    fit = Context.of(request).fit
    return JSONResponse({"kind": fit.kind, "attempt": fit.attempt, "progress": fit.progress})


def _page(context: Context, problem: Problem | None) -> Response:
    fit = context.fit
    commands = context.journey.commands(context.said)
    wrong = None
    if fit.kind in ("refused", "failed") and fit.fit is not None:
        wrong = concerning(fit.fit.error, NEEDLES, commands.work)
    looked = context.journey.ran("price")
    return context.page(
        "fit",
        [commands.resume() if fit.resuming or fit.kind == "failed" else commands.fit()],
        problem,
        wrong=wrong,
        ledger={} if looked is None else looked.output,
        shown=fitting.fingerprint(context.journey, context.said),
    )
