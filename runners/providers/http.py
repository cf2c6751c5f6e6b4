"""HTTP as the providers need it: replies as JSON or as events, failures by one table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

from runners.engine.retry import retry_after_seconds
from runners.providers.base import AUTH_ERROR, ERROR, EXCEPTION, RATE_LIMITED, SKIPPED, Failure
from warehouse.formats.values import is_integer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

_FIRST_ERROR = 300  # redirects too: following one would turn the call into another one
_FIRST_SERVER_ERROR = 500
_AUTH = (401, 403)
_NOT_FOUND = 404
_TOO_MANY = 429
_WORTH_ANOTHER_TRY = (408, 409, 425, _TOO_MANY)
_DONE = b"[DONE]"


class FailedError(Exception):
    """Carries the failure that a call ends with."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class HttpClient:
    """Posts JSON. The connections are made when they are needed, and shared by all calls."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def post(
        self, url: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """Post, and give the reply's JSON object.

        Raises:
            FailedError: there was no such reply.
        """
        try:
            response = await self._open().post(url, json=body, headers=dict(headers))
            text = response.content.decode("utf-8", "replace")
            if response.status_code >= _FIRST_ERROR:
                raise FailedError(http_failure(response.status_code, text, response.headers))
            return _object(json.loads(text))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise FailedError(exception_failure(error)) from error

    async def events(
        self,
        url: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
    ) -> AsyncIterator[dict[str, Any]]:
        """Post, and give the JSON objects of the reply's server-sent events as they come.

        Lines that are no JSON are passed over; the end is `[DONE]`, or the end of the reply.

        Raises:
            FailedError: there was no such reply, or it broke off.
        """
        headers = {**headers, "Accept": "text/event-stream"}
        try:
            async with self._open().stream("POST", url, json=body, headers=headers) as response:
                if response.status_code >= _FIRST_ERROR:
                    text = (await response.aread()).decode("utf-8", "replace")
                    raise FailedError(http_failure(response.status_code, text, response.headers))
                async for data in _data_lines(response):
                    if data == _DONE:
                        return
                    try:
                        event = json.loads(data.decode("utf-8", "replace"))
                    except ValueError:
                        continue
                    yield _object(event)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise FailedError(exception_failure(error)) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            # The engine limits calls and time; a limit per read would let a slow drip pass.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            self._client = httpx.AsyncClient(timeout=None, limits=limits)  # noqa: S113
        return self._client


def endpoint(base: str, path: str) -> str:
    """Put a path behind a base URL, before its query if it has one."""
    address, mark, query = base.partition("?")
    return f"{address.rstrip('/')}{path}{mark}{query}"


def http_failure(status: int, body: str, headers: Mapping[str, str] | None = None) -> Failure:
    """Give what an HTTP status counts as."""
    code = f"http_{status}"
    if status in _AUTH:
        return Failure(AUTH_ERROR, code, body)
    if status == _NOT_FOUND and is_missing_model(body):
        return Failure(SKIPPED, code, body)
    is_transient = status in _WORTH_ANOTHER_TRY or status >= _FIRST_SERVER_ERROR
    availability = RATE_LIMITED if status == _TOO_MANY else ERROR
    return Failure(
        availability,
        code,
        body,
        # A quota that is used up does not come back within minutes.
        is_transient=is_transient and "insufficient_quota" not in body,
        retry_after=retry_after_seconds(headers.get("retry-after") if headers else None),
    )


def is_missing_model(body: str) -> bool:
    """Tell from an error's text whether it is the model that is not there."""
    text = body.lower()
    is_missing = "not found" in text or "not_found" in text or "does not exist" in text
    return "model" in text and is_missing


def exception_failure(error: Exception) -> Failure:
    """Give what an exception counts as: nobody there, or something that went wrong on the way."""
    is_nobody_there = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
    status = SKIPPED if is_nobody_there else ERROR
    text = str(error) or type(error).__name__
    return Failure(status, EXCEPTION, text, is_transient=not isinstance(error, httpx.InvalidURL))


def as_object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Give a JSON object, absent as an empty one.

    Raises:
        ValueError: it is another kind of value.
    """
    return {} if value is None else _object(value)


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(value, dict):
        return value
    raise ValueError(f"a JSON object was expected, not {json.dumps(value)[:80]}")


def as_count(value: object) -> int | None:
    """Give a count of tokens; what is none, or none that can be meant, is unknown."""
    return value if is_integer(value) and value >= 0 else None


async def _data_lines(response: httpx.Response) -> AsyncIterator[bytes]:
    # Not by `aiter_lines`: it also breaks at U+2028, which JSON may hold as it is.
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.strip().startswith(b"data:"):
                yield line.strip()[len(b"data:") :].strip()
    if rest.strip().startswith(b"data:"):
        yield rest.strip()[len(b"data:") :].strip()
