"""Responses from a file: no network, no key, the same every time.

Each line of the file is a JSON object with `task` (an id) and `text`, and optionally `model`,
`attempt`, `input_tokens`, `output_tokens`, `ttft_ms`, `cost_usd` and `delay_ms`; for a failure
also `availability_status` and `failure_type`. A call gets the most specific line that matches; a
line without `model` answers for any model.
"""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runners.models.prices import cost
from runners.providers.base import (
    AUTH_ERROR,
    EMPTY,
    ERROR,
    OK,
    RATE_LIMITED,
    SKIPPED,
    Failure,
    Provider,
    Reply,
    empty,
)
from runners.providers.transport.http import as_count
from warehouse.core.errors import BadInput
from warehouse.core.files import read_input
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from runners.providers.base import Request, Result

# Recorded responses of a long run.
_LARGEST_BYTES = 512 * 2**20
_NOT_A_RESPONSE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
_STATUSES = (OK, SKIPPED, AUTH_ERROR, RATE_LIMITED, ERROR)

_Key = tuple[str | None, str, int | None]


@dataclass(frozen=True, slots=True)
class _Answer:
    result: Result
    delay_seconds: float


class Replay(Provider):
    """Takes responses from files.

    Args:
        paths: the files; the first one with a matching line wins.
    """

    name = "replay"
    streams = True

    def __init__(self, *paths: Path) -> None:
        self._paths = paths
        self._answers: dict[_Key, _Answer] | None = None

    def address(self, _model: str, _base_url: str | None, /) -> str | None:
        """Return None: no address is called."""
        return None

    def unavailable_reason(
        self, model: str, _base_url: str | None, _api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if there is no file of responses.

        Raises:
            BadInput: a line of a file is not a valid response, or all lines are of other models.
        """
        if not any(path.exists() for path in self._paths):
            return "no file of responses: give one with `--answers FILE`"
        known = {name for name, _, _ in self._known()}
        if model not in known and None not in known:
            names = sorted(str(name) for name in known)
            hint = did_you_mean(model, names, f"it has {', '.join(names) or 'none'}")
            raise BadInput(f"replay: the file of responses has no model {model!r}: {hint}")
        return None

    def price(self, _model: str, /) -> Mapping[str, float] | None:
        """Return zero: nothing is called."""
        return {"input": 0.0, "output": 0.0}

    async def call(self, request: Request, /) -> Result:
        """Look up the response."""
        answers = self._known()
        for key in _keys(request):
            answer = answers.get(key)
            if answer is not None:
                await asyncio.sleep(answer.delay_seconds)
                return _for_request(answer.result, request)
        text = f"no response of {request.model} to task {request.task_id!r} in the file"
        return Failure(SKIPPED, "replay_missing", text)

    def _known(self) -> Mapping[_Key, _Answer]:
        if self._answers is None:
            self._answers = dict(self._read())
        return self._answers

    def _read(self) -> Iterator[tuple[_Key, _Answer]]:
        for path in reversed([path for path in self._paths if path.exists()]):
            # Not `splitlines`: it also breaks at U+2028, which JSON may contain unescaped.
            content = read_input(path, max_bytes=_LARGEST_BYTES)
            for number, line in enumerate(content.split(b"\n"), start=1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                    key = record.get("model"), record["task"], record.get("attempt")
                    hash(key)
                    delay_ms = _amount(record, "delay_ms") or 0
                    yield key, _Answer(_result(record), delay_ms / 1000)
                except _NOT_A_RESPONSE as error:
                    why = _reason(error)
                    raise BadInput(f"{path}:{number}: not a valid response ({why})") from error


PROVIDER = Replay


def _reason(error: Exception) -> str:
    """Return what is wrong with a line, in words."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    return "not a JSON object" if isinstance(error, AttributeError) else str(error)


def _keys(request: Request) -> Iterator[_Key]:
    for model in (request.model, None):
        for attempt in (request.attempt, None):
            yield model, request.task_id, attempt


def _result(record: Mapping[str, object]) -> Result:
    text = record["text"]
    input_tokens, output_tokens = _count(record, "input_tokens"), _count(record, "output_tokens")
    ttft_ms = _count(record, "ttft_ms")
    cost_usd = _amount(record, "cost_usd")
    status = record.get("availability_status", OK)
    failure_type = record.get("failure_type")
    if not isinstance(text, str) or not isinstance(failure_type, str | None):
        raise TypeError("text and failure_type must be strings")
    if status not in _STATUSES:
        raise ValueError(f"availability_status: {status!r} is not one of {', '.join(_STATUSES)}")
    if failure_type is not None and failure_type != EMPTY:
        return Failure(status, failure_type, text)
    source = "replay" if cost_usd is not None else None
    return Reply(
        text,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        ttft_ms=ttft_ms,
        cost_usd=cost_usd,
        cost_source=source,
    )


def _count(record: Mapping[str, object], key: str) -> int | None:
    value = record.get(key)
    if value is not None and as_count(value) is None:
        raise ValueError(f"{key}: {value!r} is not a count")
    return as_count(value)


def _amount(record: Mapping[str, object], key: str) -> float | None:
    value = record.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{key}: {value!r} is not a non-negative number")
    return value


def _for_request(result: Result, request: Request) -> Result:
    if isinstance(result, Failure):
        return result
    if result.cost_usd is None and request.price is not None:
        usd = cost(request.price, result.input_tokens, result.output_tokens)
        result = replace(
            result, cost_usd=usd, cost_source="model file" if usd is not None else None
        )
    if not request.is_streamed:
        result = replace(result, ttft_ms=None)
    result = replace(result, sent=dict(request.parameters))
    return result if result.text.strip() else empty(result)
