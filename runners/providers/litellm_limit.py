"""What litellm cannot be told, done in the transport that its clients share.

Replies have a limit, and calls without a key carry no header for one.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import httpx

from runners.providers.transport.reply_limit import (
    ENCODINGS,
    ReplyMeter,
    ReplyTooLargeError,
    body_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from runners.providers.transport.reply_limit import Body

# Given to litellm where no key may be sent: without any, it takes one from the environment.
ABSENT_KEY = "evalstore-sends-no-key"

_Transport = TypeVar("_Transport", bound=httpx.AsyncBaseTransport)
# The meter of the call that a task makes: clients are shared by calls with different limits.
_METER: ContextVar[ReplyMeter | None] = ContextVar("reply_meter", default=None)


@contextmanager
def limited_reply(max_bytes: int) -> Iterator[ReplyMeter]:
    """Limit the replies to all requests that are made in this context."""
    meter = ReplyMeter(max_bytes)
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def is_reply_too_large() -> bool:
    """Return whether a reply exceeded the limit of this context."""
    meter = _METER.get()
    return meter is not None and meter.is_exceeded


def limit_replies() -> None:
    """Have litellm's transport count what it receives. To be called before its first call."""
    # Its clients cannot be given a transport of ours: each vendor's takes it in another way.
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    receive = LiteLLMAiohttpTransport.handle_async_request
    if not hasattr(receive, "__wrapped__"):
        setattr(LiteLLMAiohttpTransport, receive.__name__, _limited(receive))


def _limited(
    receive: Callable[[_Transport, httpx.Request], Awaitable[httpx.Response]],
) -> Callable[[_Transport, httpx.Request], Awaitable[httpx.Response]]:
    @wraps(receive)
    async def limited(transport: _Transport, request: httpx.Request) -> httpx.Response:
        meter = _METER.get()
        if meter is None:
            return await receive(transport, request)
        request.headers["Accept-Encoding"] = ENCODINGS
        for name in [name for name, value in request.headers.items() if ABSENT_KEY in value]:
            del request.headers[name]
        response = await receive(transport, request)
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _LimitedStream(response.stream, meter, body_of(response))
            response.headers.pop("content-encoding", None)
        return response

    return limited


class _LimitedStream(httpx.AsyncByteStream):
    """A response's stream, decompressed and up to a meter's limit."""

    def __init__(self, stream: httpx.AsyncByteStream, meter: ReplyMeter, body: Body) -> None:
        self._stream = stream
        self._pieces = meter.read(stream, body)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                yield piece
        except ReplyTooLargeError:
            # Not every client closes a response that ends in an error.
            await self._stream.aclose()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()
