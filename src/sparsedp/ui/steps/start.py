"""The first page: journeys that were begun, and a file for a new one."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sparsedp.ui.answers import Answers, Unreadable
from sparsedp.ui.commands import Commands
from sparsedp.ui.fitting import standing
from sparsedp.ui.journey import Journey
from sparsedp.ui.places import WORK
from sparsedp.ui.steps.page import (
    Context,
    Problem,
    concerning,
    places,
    previewed,
    rendered,
)

NEEDLES = {"--encoding": "encoding", "UTF-8": "encoding", "utf-8": "encoding"}
NEEDLES |= {"--delimiter": "delimiter", "--sheet": "sheet", "": "path"}


def show(request: Request) -> Response:
    """The page."""
    return _page(request, request.query_params.get("folder", "."), {}, None)


def begin(request: Request) -> Response:
    """Open a file: the header is read, and no record."""
    form = request.state.form
    try:
        said = _posted(request, form)
        if "preview" in form:
            return previewed([Commands(said, f"{WORK}/NAME").look()])
        journey = Journey.begun(places(request), said)
        with journey.changing():
            ran = journey.run("file", journey.commands(said).look())
            names = ran.output.get("columns")
            if not ran.is_well:
                journey.leave()
                raise concerning(ran.error, NEEDLES)
            if not isinstance(names, list) or not names:
                journey.leave()
                raise Problem(
                    "this is a matrix of numbers without names of columns: fit it on the command "
                    "line",
                    "path",
                )
            journey.save(replace(said, columns=tuple(map(str, names))))
    except Problem as problem:
        if "preview" in form:
            return previewed([])
        return _page(request, form.get("folder", "."), form, problem)
    base = request.app.state.base
    return RedirectResponse(f"{base}/{journey.name}/unit", status_code=303)


def file(request: Request) -> Response:
    """The first step of a journey that was begun: what was opened."""
    context = Context.of(request)
    return context.page("file", [context.journey.commands(context.said).look()])


def again(request: Request) -> Response:
    """Another journey from the settings of this one."""
    context = Context.of(request)
    with context.journey.changing():
        if context.fit.is_open:
            return context.go(context.said.reached)
        copy = context.journey.again()
    return RedirectResponse(f"{request.app.state.base}/{copy.name}/plan", status_code=303)


def _posted(request: Request, form: dict[str, str]) -> Answers:
    try:
        data = places(request).file(form.get("path", ""))
    except ValueError as error:
        raise Problem(str(error), "path") from None
    return Answers(
        data=data,
        encoding=form.get("encoding", "utf-8"),
        delimiter=form.get("delimiter", "").strip(),
        sheet=form.get("sheet", "").strip(),
        ledger=f"{data.split('.')[0] if data[:1] != '.' else data}.ledger",
    )


def _page(request: Request, folder: str, form: dict[str, str], problem: Problem | None) -> Response:
    try:
        listing = places(request).listing(folder)
    except ValueError as error:
        listing = places(request).listing(".")
        problem = problem or Problem(str(error), "path")
    begun = []
    for journey in Journey.all(places(request))[:30]:
        try:
            begun.append((journey, journey.said, standing(journey).kind))
        except Unreadable:
            continue  # not one of this version
    return rendered(request, "start.html", problem, listing=listing, form=form, begun=begun)
