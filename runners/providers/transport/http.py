"""HTTP for the providers: responses as JSON or server-sent events, and errors as failures."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import httpx

from runners.engine.retry import retry_after_seconds
from runners.providers.base import (
    AUTH_ERROR,
    ERROR,
    EXCEPTION,
    MAX_REPLY_MIB,
    RATE_LIMITED,
    SKIPPED,
    Failure,
)
from runners.providers.transport.rehearsal import rehearsal_server
from runners.providers.transport.reply_limit import (
    ENCODINGS,
    ReplyMeter,
    ReplyTooLargeError,
    body_of,
)
from warehouse.core.formats.values import is_integer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

_FIRST_ERROR = 300  # redirects too: following one would change the call
_FIRST_SERVER_ERROR = 500
_AUTH = (401, 403)
_NOT_FOUND = 404
_TOO_MANY = 429
_RETRYABLE = (408, 409, 425, _TOO_MANY)
_DONE = b"[DONE]"
_REHEARSAL_SECONDS = 30.0
# Parsing cannot be interrupted, and 64 MiB of empty arrays take seconds and gigabytes. Log
# probabilities of many tokens have a value in every six bytes.
_MOST_VALUES = 2**24


class CallFailedError(Exception):
    """Carries the failure of a call."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class HttpClient:
    """Posts JSON. Connections are opened when needed and shared by all calls."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def post(
        self,
        url: str,
        body: Mapping[str, object],
        headers: Mapping[str, str],
        *,
        max_bytes: int = MAX_REPLY_MIB * 2**20,
    ) -> dict[str, object]:
        """Post JSON and return the JSON object of the response.

        Raises:
            CallFailedError: the server returned an error, or no JSON object.
            ReplyTooLargeError: the response has more than `max_bytes`.
        """
        async with self._response(url, body, headers, ReplyMeter(max_bytes)) as pieces:
            data = b"".join([piece async for piece in pieces])
            # Parsing does not begin after the time limit.
            await asyncio.sleep(0)
            return _object(_parsed(data))

    async def events(
        self,
        url: str,
        body: Mapping[str, object],
        headers: Mapping[str, str],
        *,
        max_bytes: int,
    ) -> AsyncIterator[dict[str, object]]:
        """Post JSON and yield the JSON objects of the server-sent events as they arrive.

        Lines that are not JSON are skipped. The stream ends at `[DONE]` or with the response.

        Raises:
            CallFailedError: the server returned an error or no events, or the stream broke off.
            ReplyTooLargeError: the response has more than `max_bytes`.
        """
        headers = {**headers, "Accept": "text/event-stream"}
        async with self._response(url, body, headers, ReplyMeter(max_bytes)) as pieces:
            async for data in _data_lines(pieces):
                if data == _DONE:
                    return
                try:
                    event = _parsed(data)
                except ValueError:
                    continue
                yield _object(event)

    @asynccontextmanager
    async def _response(
        self,
        url: str,
        body: Mapping[str, object],
        headers: Mapping[str, str],
        meter: ReplyMeter,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Post JSON and yield the pieces of a successful response's body."""
        headers = {**headers, "Accept-Encoding": ENCODINGS}
        try:
            async with self._open().stream("POST", url, json=body, headers=headers) as response:
                pieces = meter.read(response.aiter_raw(), body_of(response))
                if response.status_code >= _FIRST_ERROR:
                    async for _ in pieces:
                        pass
                    failure = http_failure(response.status_code, meter.text, response.headers)
                    raise CallFailedError(failure)
                yield pieces
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise CallFailedError(exception_failure(error, url)) from error

    async def warm_up(self) -> None:
        """Make a call to a server of our own: the first call of a client is slow."""
        with suppress(CallFailedError, OSError):
            async with rehearsal_server() as base, asyncio.timeout(_REHEARSAL_SECONDS):
                await self.post(base, {}, {})

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            # The engine limits calls and total time; a limit per read would let a slow drip pass.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            self._client = httpx.AsyncClient(timeout=None, limits=limits)  # noqa: S113 - see above
        return self._client


def endpoint(base: str, path: str) -> str:
    """Append a path to a base URL, before its query if it has one."""
    address, mark, query = base.partition("?")
    return f"{address.rstrip('/')}{path}{mark}{query}"


def http_failure(status: int, body: str, headers: Mapping[str, str] | None = None) -> Failure:
    """Return the failure that an HTTP error counts as."""
    code = f"http_{status}"
    if status in _AUTH:
        return Failure(AUTH_ERROR, code, body)
    if status == _NOT_FOUND and is_missing_model(body):
        return Failure(SKIPPED, code, body)
    is_transient = status in _RETRYABLE or status >= _FIRST_SERVER_ERROR
    availability = RATE_LIMITED if status == _TOO_MANY else ERROR
    return Failure(
        availability,
        code,
        body,
        # An exhausted quota does not reset within minutes.
        is_transient=is_transient and "insufficient_quota" not in body,
        retry_after=retry_after_seconds(headers.get("retry-after") if headers else None),
    )


def is_missing_model(body: str) -> bool:
    """Return whether an error message says that the model does not exist."""
    text = body.lower()
    is_missing = "not found" in text or "not_found" in text or "does not exist" in text
    return "model" in text and is_missing


def exception_failure(error: Exception, url: str) -> Failure:
    """Return the failure that an exception counts as: server unreachable, or any other error."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return Failure(SKIPPED, EXCEPTION, no_response(url, error), is_transient=True)
    text = str(error) or type(error).__name__
    return Failure(ERROR, EXCEPTION, text, is_transient=not isinstance(error, httpx.InvalidURL))


def no_response(url: str, error: BaseException | None = None) -> str:
    """Return that no server responds at an address, and the reason that the system gives."""
    reason = ""
    for cause in causes_of(error):
        if isinstance(cause, OSError) and cause.errno is not None:
            reason = f": {cause.strerror if cause.errno < 0 else os.strerror(cause.errno)}"
    return f"no server responds at {shown_address(url)}{reason}"


def shown_address(url: str) -> str:
    """Return the address of a server: without user, password and query, which may hold secrets."""
    base = url.partition("?")[0].removesuffix("/chat/completions").removesuffix("/responses")
    scheme, mark, rest = base.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what caused it, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def as_object(value: object) -> dict[str, object]:
    """Return a JSON object, empty for None.

    Raises:
        ValueError: the value is neither an object nor None.
    """
    return {} if value is None else _object(value)


def as_list(value: object) -> list[object]:
    """Return a JSON array, empty for None.

    Raises:
        ValueError: the value is neither an array nor empty.
    """
    if not value:
        return []
    if isinstance(value, list):
        return value
    raise ValueError(f"expected a JSON array, got {json.dumps(value)[:80]}")


def as_text(value: object) -> str:
    """Return a JSON string, empty for None; some servers send a text of digits as a number.

    Raises:
        ValueError: the value is neither a string, a number nor None.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"expected a JSON string, got {json.dumps(value)[:80]}")


def _parsed(data: bytes) -> object:
    """Parse JSON.

    Raises:
        ValueError: it is none.
        ReplyTooLargeError: it has more values than an answer can have.
    """
    text = data.decode("utf-8", "replace")
    if sum(map(data.count, (b"[", b"{", b","))) > _MOST_VALUES:
        raise ReplyTooLargeError(text)
    return json.loads(text)


def _object(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    raise ValueError(f"expected a JSON object, got {json.dumps(value)[:80]}")


def as_count(value: object) -> int | None:
    """Return a token count, None (unknown) for anything that is not a plausible count."""
    return value if is_integer(value) and value >= 0 else None


async def _data_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    # Not by `aiter_lines`: it also breaks at U+2028, which JSON may hold as it is.
    rest: list[bytes] = []
    async for piece in pieces:
        first, *others = piece.split(b"\n")
        rest.append(first)
        for following in others:
            # Joined once per line: a line may be as long as the whole reply.
            if (data := _data(b"".join(rest))) is not None:
                yield data
            rest = [following]
    if (data := _data(b"".join(rest))) is not None:
        yield data


def _data(line: bytes) -> bytes | None:
    line = line.strip()
    return line.removeprefix(b"data:").strip() if line.startswith(b"data:") else None
