"""The rows of a result that a user's code logs, checked field by field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from warehouse.app.recording import values
from warehouse.core.errors import BadInput
from warehouse.core.formats.values import is_integer
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warehouse.app.recording.values import Score
    from warehouse.core.formats.masking import Mask
    from warehouse.core.types import ResultRow, ResultScoreRow, Row

# Its text is a reason code, to be grouped by.
_LONGEST_FAILURE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What a call of `Recording.log` passes; see there."""

    task_id: str
    prompt: str | None = None
    output: str | None = None
    scores: Mapping[str, Score] | None = None
    passed: bool | None = None
    attempt: int = 1
    cost_usd: float | None = None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    failure: str | None = None
    extra: Mapping[str, object] | None = None


def check(logged: Logged) -> None:
    """Check every value of a result.

    Raises:
        BadInput: a value cannot be stored; the message names its field.
    """
    _checked(logged)
    _checked_scores(logged.scores)


def result_and_scores(
    logged: Logged, of_run: ResultRow, mask: Mask
) -> tuple[ResultRow, list[ResultScoreRow]]:
    """Return the row of a result and those of its scores, without secrets.

    The content ID is a hash of everything but the time. So the same result, logged again by this
    or another process, is the same row.

    Args:
        logged: the result.
        of_run: columns that all results of the run have.
        mask: masks secrets.

    Raises:
        BadInput: a value cannot be stored; the message names its field.
    """
    row = _known({**_checked(logged), **of_run})
    scores = [*map(_known, _checked_scores(logged.scores))]
    times = _times(row.get("e2e_ms"))
    _mask([row, *scores], mask)
    # Without NULLs, columns that are added later leave the ids as they are.
    content_id = content_hash("recorded result", row, scores)
    for score in scores:
        score["content_id"] = content_hash("recorded score", content_id, score["metric"])
        score["result_id"] = content_id
    row |= {"content_id": content_id, **times}
    return cast("ResultRow", row), cast("list[ResultScoreRow]", scores)


def _checked(logged: Logged) -> ResultRow:
    attempt = values.count_or_none("attempt", logged.attempt)
    if not attempt or not is_integer(attempt, 32):
        raise BadInput(f"attempt is {attempt}: pass the number of the attempt, from 1")
    failure = values.text_or_none("failure", logged.failure)
    if failure is not None and not 0 < len(failure) <= _LONGEST_FAILURE:
        raise BadInput(
            f"failure has {len(failure):,} characters: pass a short reason, such as 'timeout', and "
            f"the rest in extra; {_LONGEST_FAILURE} are possible"
        )
    passed = values.verdict("passed", logged.passed)
    if failure is not None and passed:
        raise BadInput("passed is True, but failure says that there is no answer: pass only one")
    latency_ms = values.amount_or_none("latency_ms", logged.latency_ms)
    return {
        "task_id": values.name("task_id", logged.task_id),
        "prompt": values.text_or_none("prompt", logged.prompt),
        "raw_output": values.text_or_none("output", logged.output),
        "is_correct": passed,
        "attempt": attempt,
        "cost_usd": values.amount_or_none("cost_usd", logged.cost_usd),
        "e2e_ms": None if latency_ms is None else round(latency_ms),
        "input_tokens": values.count_or_none("input_tokens", logged.input_tokens),
        "output_tokens": values.count_or_none("output_tokens", logged.output_tokens),
        "availability_status": "ok" if failure is None else "error",
        "success": failure is None,
        "failure_type": failure,
        "extra": values.json_or_none("extra", logged.extra),
    }


def _checked_scores(scores: object) -> list[ResultScoreRow]:
    if scores is None:
        return []
    if not isinstance(scores, dict):
        raise BadInput(
            f"scores is of type {type(scores).__name__}: pass a dict of names and scores"
        )
    if "passed" in scores:
        raise BadInput("scores['passed'] is a verdict: pass it as passed")
    names = [values.name("a name in scores", name) for name in scores]
    return [_score(name, values.score(f"scores[{name!r}]", scores[name])) for name in sorted(names)]


def _score(metric: str, score: Score) -> ResultScoreRow:
    value = float(score) if isinstance(score, int | float) and math.isfinite(score) else None
    return {
        "metric": metric,
        "value": value,
        "text": None if score is None or value is not None else str(score),
        "passed": score if isinstance(score, bool) else None,
    }


def _known(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _mask(rows: Sequence[dict[str, Any]], mask: Mask) -> None:
    """Mask the texts of rows in place."""
    places = [(row, key) for row in rows for key, value in row.items() if isinstance(value, str)]
    for (row, key), text in zip(places, mask.texts([row[key] for row, key in places]), strict=True):
        row[key] = text


def _times(latency_ms: int | None) -> ResultRow:
    """Return when the call ended, which is when it is logged, and when it must have started."""
    now = datetime.now(UTC).replace(tzinfo=None)
    try:
        return {"started_at": now - timedelta(milliseconds=latency_ms or 0), "ended_at": now}
    except OverflowError:
        raise BadInput(f"latency_ms is {latency_ms:g}: pass milliseconds") from None
