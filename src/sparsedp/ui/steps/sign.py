"""Signing: a key is named by its path, and only the command opens it."""

import os
from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response

from sparsedp.ui.commands import SIGNING
from sparsedp.ui.places import WORK, Places
from sparsedp.ui.running import Ran
from sparsedp.ui.steps import result
from sparsedp.ui.steps.page import Context, Problem, concerning, places, previewed

NEEDLES = {"--name": "signer", "names its signer": "signer", "": "key"}
OUTSIDE = (
    "that is outside the folder in which the page was started, and nothing outside is read: to "
    "sign with that key, run the command below in a terminal, with its path"
)


def sign(request: Request) -> Response:
    """Sign the model; its report then says so."""
    context = Context.of(request)
    form = dict(context.form)
    try:
        if "preview" in form:
            return previewed(_commands(context, form))
        with context.journey.changing():
            context = Context.of(request)
            if context.fit.kind != "done":
                raise Problem("there is no model yet", status=409)
            commands = _commands(context, form)
            # The second click of two finds the key that the first one made.
            if not (_is_new(form) and _is_done(context, commands)):
                _run(context, commands)
    except Problem as problem:
        return previewed([]) if "preview" in form else result.page(context, form, problem)
    return context.go("result#signed")


def _run(context: Context, commands: Sequence[Sequence[str]]) -> None:
    for name, command in zip(SIGNING, commands, strict=True):
        ran = context.journey.run(name, command)
        if not ran.is_well:
            raise concerning(_why(ran), NEEDLES)
        if name == "sign":  # what was checked before is of another signature
            (context.journey.folder / "signature.json").unlink(missing_ok=True)


def _is_done(context: Context, commands: Sequence[Sequence[str]]) -> bool:
    ran = [context.journey.ran(name) for name in SIGNING]
    return [None if each is None else list(each.command) for each in ran] == list(commands)


def _why(ran: Ran) -> str:
    problems = ran.output.get("problems")
    return "; ".join(map(str, problems)) if isinstance(problems, list) and problems else ran.error


def _commands(context: Context, form: Mapping[str, str]) -> list[list[str]]:
    signer = form.get("signer", "").strip()
    if not signer:
        raise Problem("say who signs: a name or an office", "signer")
    key = _key(form.get("key", ""), context, places(context.request))
    is_there = os.path.exists(places(context.request).root / key)
    if not is_there and not _is_new(form):
        raise Problem(f"there is no file {key}", "key")
    return context.journey.commands(context.said).sign(key, signer, new=_is_new(form))


def _key(text: str, context: Context, where: Places) -> str:
    said = context.said
    try:
        key = where.inside(text)
    except ValueError:
        raise Problem(OUTSIDE if text.strip() else "name the file of a key", "key") from None
    if key.split("/")[0] == WORK:
        raise Problem("what lies there is published with a model: keep a key elsewhere", "key")
    if key in (said.data, said.ledger, said.codebook):
        raise Problem("a key is a file of its own", "key")
    return key


def _is_new(form: Mapping[str, str]) -> bool:
    return form.get("key_is") == "new"
