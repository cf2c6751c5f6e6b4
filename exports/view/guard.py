"""Who may ask: this browser, by a token, and only from pages of this server."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import formatdate
from secrets import compare_digest
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1_000_000  # bytes
_READING = {"GET", "HEAD"}
# As the policy of a site of files, but its scripts may ask this server.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use the server.

    Attributes:
        token: the secret of its address.
        hosts: values of the header `Host`; any if empty.
        cookie: name of the cookie that holds the token.
    """

    token: str
    hosts: frozenset[str]
    cookie: str

    def refusal(self, request: Request) -> str:
        """Return why a request is refused; empty if it is not."""
        host = request.headers.get("host", "")
        if self.hosts and host not in self.hosts:
            return "this server answers only at the address that it printed"
        if not self._has_token(request.cookies):
            return "this address lacks its token; open the one that `evalstore view` printed"
        return "" if request.method in _READING else _refusal_to_send(request, host)

    def has_token_in_address(self, request: Request) -> bool:
        """Return whether the address has the token."""
        return request.method in _READING and self._is_token(request.query_params.get("token", ""))

    def _has_token(self, cookies: Mapping[str, str]) -> bool:
        return self._is_token(cookies.get(self.cookie, ""))

    def _is_token(self, text: str) -> bool:
        return compare_digest(text.encode("utf-8", "replace"), self.token.encode())


class Guard:
    """Refuses requests that are not of this browser, and sets the headers of all answers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers["date"] = formatdate(usegmt=True)
            await send(message)

        request = Request(scope)
        answer = self._answer(request)
        await (answer or self._app)(scope, receive, send_guarded)

    def _answer(self, request: Request) -> Response | None:
        access = self._access
        is_known_host = not access.hosts or request.headers.get("host", "") in access.hosts
        if is_known_host and access.has_token_in_address(request):
            rest = request.url.remove_query_params("token")
            target = rest.path.lstrip("/") + (f"?{rest.query}" if rest.query else "")
            answer = RedirectResponse(f"/{target}", status_code=303)
            answer.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
            return answer
        if reason := access.refusal(request):
            return PlainTextResponse(f"refused: {reason}\n", status_code=403)
        return None


def _refusal_to_send(request: Request, host: str) -> str:
    if request.headers.get("origin") != f"http://{host}":
        return "only pages of this server may send"
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        return "only JSON is taken"
    length = request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY:
        return f"a request needs its length, of at most {MAX_BODY:,} bytes"
    return ""
