"""Answers from a file: no network, no key, the same every time.

A line of the file is a JSON object: `task` (its id), `text`, and where they matter `model`,
`attempt`, `input_tokens`, `output_tokens`, `ttft_ms`, `cost_usd` and `delay_ms`; a failure has
`availability_status` and `failure_type` too. The most specific line for a call answers it.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runners.calls import EMPTY, OK, SKIPPED, TIMED_OUT, Failure, Reply, empty
from runners.prices import cost
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from runners.calls import Request, Result

_Key = tuple[str | None, str, int | None]


@dataclass(frozen=True, slots=True)
class _Answer:
    result: Result
    delay_seconds: float


class Replay:
    """Answers from files.

    Args:
        paths: the files; the first that has an answer gives it.
    """

    name = "replay"
    concurrency = 8
    streams = True
    timed_out = TIMED_OUT

    def __init__(self, *paths: Path) -> None:
        self._paths = paths
        self._answers: dict[_Key, _Answer] | None = None

    def missing(self, _model: str, _base_url: str | None) -> str | None:
        """Say whether there is no file to answer from."""
        if any(path.is_file() for path in self._paths):
            return None
        return "there is no file of answers: name one with `--answers FILE`"

    def price(self, _model: str) -> Mapping[str, float] | None:
        """What was answered before costs nothing."""
        return {"input": 0.0, "output": 0.0}

    async def call(self, request: Request) -> Result:
        """Look the answer up."""
        if self._answers is None:
            self._answers = dict(self._read())
        for key in _keys(request):
            answer = self._answers.get(key)
            if answer is not None:
                await asyncio.sleep(answer.delay_seconds)
                return _for_request(answer.result, request)
        text = f"no answer of {request.model} for task {request.task_id!r} in the file"
        return Failure(SKIPPED, "replay_missing", text)

    async def close(self) -> None:
        """Nothing stays open."""

    def _read(self) -> Iterator[tuple[_Key, _Answer]]:
        for path in reversed([path for path in self._paths if path.is_file()]):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                    key = record.get("model"), record["task"], record.get("attempt")
                    yield key, _Answer(_result(record), record.get("delay_ms", 0) / 1000)
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    raise BadInput(f"{path}:{number}: not an answer ({error!r})") from error


def _keys(request: Request) -> Iterator[_Key]:
    for model in (request.model, None):
        for attempt in (request.attempt, None):
            yield model, request.task_id, attempt


def _result(record: Mapping[str, Any]) -> Result:
    text = record["text"]
    tokens = record.get("input_tokens"), record.get("output_tokens")
    cost_usd = record.get("cost_usd")
    status = record.get("availability_status", OK)
    failure_type = record.get("failure_type")
    if failure_type is not None and failure_type != EMPTY:
        return Failure(status, failure_type, text)
    source = "replay" if cost_usd is not None else None
    return Reply(text, *tokens, record.get("ttft_ms"), cost_usd, source)


def _for_request(result: Result, request: Request) -> Result:
    if isinstance(result, Failure):
        return result
    if result.cost_usd is None and request.price is not None:
        usd = cost(request.price, result.input_tokens, result.output_tokens)
        result = replace(result, cost_usd=usd, cost_source="model file" if usd else None)
    if not request.is_streamed:
        result = replace(result, ttft_ms=None)
    result = replace(result, sent=dict(request.parameters))
    return result if result.text.strip() else empty(result)
