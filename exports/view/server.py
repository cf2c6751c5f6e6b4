"""The server: the pages of the site, and the features that need one."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from exports.site.addresses import OVERVIEW
from exports.site.page import MenuEntry
from exports.site.site import ServerParts
from exports.view.feature import explained
from exports.view.guard import Guard
from exports.view.preparation import end_preparation, prepare
from exports.view.registry import FEATURES
from warehouse.app.console.crash import report_text, summary, write_report
from warehouse.core.errors import BadInput, EvalstoreError
from warehouse.core.text.formatting import visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import ExceptionHandler, Receive, Scope, Send

    from exports.site.site import Site
    from exports.view.guard import Access
    from exports.view.store_pages import StorePages

_ASSETS = Path(__file__).parent / "assets"
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
_WRONG = "Wrong address"
_MAX_REQUESTS = 200
_LOADED_SECONDS = 0.5  # after which a page has asked for what it loads
_IDLE_SECONDS = 2.1  # after which no request can share the open warehouse
_GRACE_SECONDS = 0  # for answers in progress at Ctrl-C: streams would take all of it


def server_parts(site: Site, notes: Sequence[str]) -> ServerParts:
    """Return what only pages of a server have.

    Args:
        site: the site of the store.
        notes: what the reader should know about the figures.
    """
    shown = [each for each in FEATURES if each.title and each.is_shown(site)]
    return ServerParts(
        menu=[MenuEntry(each.title, each.entry, each.is_main) for each in shown],
        scripts=[script for each in FEATURES for script in each.scripts],
        notes=notes,
    )


def view_app(pages: StorePages, access: Access) -> Guard:
    """Return the application: the pages, the features, and who may use them."""
    own: list[BaseRoute] = [Route("/view/assets/{name}", _asset)]
    own += [route for feature in FEATURES for route in feature.routes(pages)]
    site = Route("/{path:path}", _site_page(pages), methods=["GET"])
    handlers: dict[type[Exception], ExceptionHandler] = {
        EvalstoreError: _store_error(pages),
        Exception: _crash,
    }
    app = Starlette(routes=[*own, site], exception_handlers=handlers)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        finally:
            loop = asyncio.get_running_loop()
            loop.call_later(_IDLE_SECONDS, pages.close_if_idle)
            loop.call_later(_LOADED_SECONDS, _begin_preparation, loop)

    return Guard(answer, access)


def bind(host: str, port: int) -> socket.socket:
    """Return a socket at an address; port 0 is any free port.

    Raises:
        BadInput: the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # Python repeats the address in some of these messages.
        reason = str(error.strerror).partition(" (while ")[0]
        raise BadInput(f"{host}:{port}: {reason}; give another --port") from error


def serve(app: Guard, listening: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        access_log=False,
        log_level="critical",  # what goes wrong is answered, and in a crash report
        limit_concurrency=_MAX_REQUESTS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        server_header=False,
        date_header=False,  # that of uvicorn is of its last look at the clock
    )
    _Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Sleeps until there is a request or a signal, where uvicorn looks ten times a second."""

    _end: Callable[[], object] | None = None

    async def main_loop(self) -> None:
        """Return when a signal asks for the end."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(ended.set)  # it also wakes a sleeping loop
        if not self.should_exit:
            await ended.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal, as uvicorn does, and end the sleep, and what would delay the end."""
        super().handle_exit(sig, frame)
        end_preparation()
        if self._end is not None:
            self._end()


def _begin_preparation(loop: asyncio.AbstractEventLoop) -> None:
    with suppress(RuntimeError):  # the server ends, and begins no more
        loop.run_in_executor(None, prepare)


def _site_page(pages: StorePages) -> Callable[[Request], object]:
    def answer(request: Request) -> Response:
        path = request.path_params["path"] or OVERVIEW
        data = pages.file(path)
        if data is None:
            message = "no such page; it may have been of a run that is gone"
            return explained(pages, request, message, status=404, title=_WRONG)
        return Response(data, media_type=_TYPES.get(Path(path).suffix, "application/octet-stream"))

    return answer


def _asset(request: Request) -> Response:
    path = _ASSETS / Path(request.path_params["name"]).name
    if path.suffix not in _TYPES or not path.is_file():
        return PlainTextResponse("no such file\n", 404)
    return Response(path.read_bytes(), media_type=_TYPES[path.suffix])


def _store_error(pages: StorePages) -> Callable[[Request, Exception], Response]:
    titles = {each.entry: each.title for each in FEATURES}

    # No coroutine: a page of what is wrong waits for the store in a thread.
    def answer(request: Request, error: Exception) -> Response:
        message = visible_lines(str(error))
        if not isinstance(error, BadInput):
            return PlainTextResponse(f"{message}\n", 503)
        title = titles.get(request.url.path.removeprefix("/"), _WRONG)
        return explained(pages, request, message, status=400, title=title)

    return answer


async def _crash(_: Request, error: Exception) -> Response:
    try:
        where = f"crash report: {write_report(report_text(error, 'view'))}"
    except OSError as unwritable:
        where = f"no crash report was written: {unwritable}"
    text = f"evalstore failed unexpectedly ({summary(error)}); {where}"
    return PlainTextResponse(f"{visible_lines(text)}\n", 500)
