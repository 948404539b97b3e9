"""Who is let in, and what another site's page cannot do.

* The address in the terminal has a token that works once; it is exchanged for a cookie that no
  script can read and that no other site's page sends (HttpOnly, SameSite=Strict).
* A cookie knows no port: any server on this machine that the browser visits would get it. All pages
  lie below a path that only the terminal tells, and the cookie is for that path alone.
* The Host header must be this address: a name that was bound to 127.0.0.1 afterwards is refused.
* What changes anything is a POST, with the Origin of this page and a token that only its forms
  have, as a plain form: there is no upload.
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "sparsedp"
LARGEST = 4 * 2**20
"""Bytes of a form."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# A page that goes on by itself: the cookie then comes with a request of this site, wherever the
# first address was opened.
ENTERED = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>sparsedp</title>'
    '<meta http-equiv="refresh" content="0; url={home}"></head>'
    '<body><p><a href="{home}">Go on</a></p></body></html>'
)
CLOSED = (
    "This page is for whoever started it. Open the address that the terminal shows; each works "
    "once, and the next one is printed below it.\n"
)


class Session:
    """What one run of the server lets in.

    Parameters
    ----------
    port : int
    tell : callable
        Takes the address that lets in next, for the terminal.
    """

    def __init__(self, port: int, tell: Callable[[str], None]) -> None:
        self.host = f"127.0.0.1:{port}"
        self.origin = f"http://{self.host}"
        self.base = f"/{secrets.token_urlsafe(12)}"
        self._tell = tell
        self._token = secrets.token_urlsafe(24)
        self._cookies: set[str] = set()
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """Lets in once."""
        return f"{self.origin}{self.base}/?token={self._token}"

    def enter(self, token: str) -> str | None:
        """A cookie for a token that was not used yet."""
        with self._lock:
            if not hmac.compare_digest(token.encode(), self._token.encode()):
                return None
            self._token = secrets.token_urlsafe(24)
            cookie = secrets.token_urlsafe(32)
            self._cookies.add(cookie)
        self._tell(self.address)
        return cookie

    def knows(self, cookie: str) -> bool:
        """Whether a cookie was given out."""
        with self._lock:
            known = list(self._cookies)
        return any(hmac.compare_digest(cookie.encode(), each.encode()) for each in known)

    def form_token(self, cookie: str) -> str:
        """What the forms of whoever has this cookie carry."""
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()


class Guard:
    """Stands before the application; what it lets through has ``form`` and ``csrf`` in its state.

    Parameters
    ----------
    app : ASGI application
    session : Session
    """

    def __init__(self, app: ASGIApp, session: Session) -> None:
        self.app, self.session = app, session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            return  # no websockets, nothing to start or stop
        request = Request(scope, receive)

        async def covered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(request) or await self._admit(request)
        # The application needs no body: what comes next is that the browser has gone.
        await (answer or self.app)(scope, receive, covered)

    def _answer(self, request: Request) -> Response | None:
        """What is answered without the application, if anything."""
        session, headers = self.session, request.headers
        if headers.getlist("host") != [session.host]:
            return _refused("this server is not known by that name", 421)
        if request.method not in ("GET", "POST"):
            return _refused("only GET and POST", 405)
        path = request.scope["path"]
        if not (path + "/").startswith(session.base + "/"):
            return _refused(CLOSED, 403)
        token = request.query_params.get("token")
        if request.method == "GET" and path == f"{session.base}/" and token is not None:
            cookie = session.enter(token)
            if cookie is None and not session.knows(request.cookies.get(COOKIE, "")):
                return _refused(CLOSED, 403)
            answer = HTMLResponse(ENTERED.format(home=f"{session.base}/"))
            if cookie is not None:
                answer.set_cookie(
                    COOKIE, cookie, path=session.base, httponly=True, samesite="strict"
                )
            return answer
        if not session.knows(request.cookies.get(COOKIE, "")):
            return _refused(CLOSED, 403)
        return None

    async def _admit(self, request: Request) -> Response | None:
        """Read the form of a POST, and refuse one that is not of our pages."""
        csrf = self.session.form_token(request.cookies.get(COOKIE, ""))
        request.scope.setdefault("state", {}).update(csrf=csrf, form={})
        if request.method == "GET":
            return None
        headers: Headers = request.headers
        if headers.getlist("origin") != [self.session.origin]:
            return _refused("this did not come from the page itself", 403)
        if headers.get("content-type", "").split(";")[0] != "application/x-www-form-urlencoded":
            return _refused("only plain forms: nothing is uploaded", 415)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                return _refused("that is more than a form holds", 413)
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True)
        except ValueError:
            return _refused("that is no form", 400)
        form = dict(pairs)
        if not hmac.compare_digest(form.pop("csrf", "").encode(), csrf.encode()):
            return _refused("this form is not of this page: open the page anew", 403)
        request.scope["state"]["form"] = form
        return None


def _refused(why: str, status: int) -> Response:
    return PlainTextResponse(why.strip() + "\n", status_code=status)
