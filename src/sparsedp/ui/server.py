"""The server: one address on this machine, for whoever has the address from the terminal."""

import os
import socket
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from sparsedp.ui.answers import Unreadable
from sparsedp.ui.guard import Guard, Session
from sparsedp.ui.journey import Absent
from sparsedp.ui.places import WORK, Places
from sparsedp.ui.steps import fit, page, plan, price, result, schema, sign, start, unit

STATIC = {"ui.css": "text/css", "ui.js": "text/javascript", "icon.svg": "image/svg+xml"}


def application(places: Places, session: Session) -> ASGIApp:
    """All pages, behind the guard."""
    pages = [
        Route("/", start.show, methods=["GET"]),
        Route("/begin", start.begin, methods=["POST"]),
        Route("/static/{file}", _static, methods=["GET"]),
        Route("/{name}/file", start.file, methods=["GET"]),
        Route("/{name}/again", start.again, methods=["POST"]),
        *_step("unit", unit.show, unit.save),
        *_step("schema", schema.show, schema.save),
        *_step("plan", plan.show, plan.save),
        *_step("price", price.show, price.save),
        *_step("fit", fit.show, fit.start),
        Route("/{name}/fit/state", fit.state, methods=["GET"]),
        *_step("result", result.show, result.export),
        Route("/{name}/sign", sign.sign, methods=["POST"]),
        Route("/{name}/report", result.report, methods=["GET"]),
        Route("/{name}/files/{file}", result.exported, methods=["GET"]),
    ]
    app = Starlette(
        routes=[Mount(session.base, routes=pages)],
        exception_handlers={
            Absent: _absent,
            Unreadable: _broken,
            404: _absent,
            Exception: _bug,
        },
    )
    app.state.places, app.state.base = places, session.base
    return Guard(app, session)


def serve(folder: Path, port: int, tell: Callable[[str], None]) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    folder : Path
        Nothing outside it is read.
    port : int
        0 for any.
    tell : callable
        Takes the address that lets in once, now and after each use.
    """
    places = Places.at(folder)
    if os.path.lexists(places.root / WORK):
        places.work()
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()  # whoever is quick waits for the first answer
    session = Session(listener.getsockname()[1], tell)
    config = uvicorn.Config(
        application(places, session),
        log_level="warning",
        access_log=False,  # addresses hold tokens
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=2,
    )
    page.templates()  # the first answer does not wait for it
    tell(session.address)
    uvicorn.Server(config).run(sockets=[listener])


def _step(
    name: str, show: Callable[[Request], Response], save: Callable[[Request], Response]
) -> list[Route]:
    path = f"/{{name}}/{name}"
    return [Route(path, show, methods=["GET"]), Route(path, save, methods=["POST"])]


def _static(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in STATIC:
        return _absent(request, Absent())
    text = (files("sparsedp.ui") / "pages" / name).read_text(encoding="utf-8")
    return PlainTextResponse(text, media_type=STATIC[name])


def _absent(request: Request, error: Exception) -> Response:
    return page.rendered(request, "absent.html", page.Problem("There is no such page.", status=404))


def _broken(request: Request, error: Exception) -> Response:
    return page.rendered(request, "absent.html", page.Problem(str(error), status=409))


def _bug(request: Request, error: Exception) -> Response:
    """What went wrong is told the terminal alone."""
    sentence = "this is a bug in sparsedp: the terminal says more"
    return page.rendered(request, "absent.html", page.Problem(sentence, status=500))
