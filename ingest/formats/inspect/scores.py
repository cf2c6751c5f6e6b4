"""The scores of a sample as rows of `result_scores`, with Inspect's rule for their values."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ingest.formats.common.fields import finite_number, object_of, text_of
from ingest.formats.inspect.documents import LogObject
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from warehouse.core.types import ResultScoreRow

# Inspect's letters: correct, partial, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_IN_COLUMNS = {"value", "answer", "explanation"}
_EXACT = (str, float)  # values that a column holds as they were


def as_number(value: object) -> float | None:
    """Return the number that Inspect makes of a score: `value_to_float`.

    A letter or word has its value, any other text 0. NaN means that no score was given: it is None,
    like what is neither text nor a finite number.
    """
    if isinstance(value, str):
        return _number_of_text(value)
    return float(value) if isinstance(value, bool) else finite_number(value)


def verdict(value: object, *, is_graded: bool) -> bool | None:
    """Return whether a score means a pass; None if it does not say.

    A letter, a word or a boolean says so. A number does if its scorer's figure is the accuracy:
    1 passes, as in Inspect's own reducers, and less does not.

    Args:
        value: the score, as recorded.
        is_graded: whether the log declares the accuracy of its scorer.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        known = _known_number(value)
        return None if known is None else known == 1
    number = as_number(value) if is_graded else None
    return None if number is None else number >= 1


def score_rows(
    log: LogObject, scores: Mapping[str, Any], result_id: str, graded: Collection[str]
) -> Iterator[ResultScoreRow]:
    """Yield a row for each score of a sample; of a score with several values one for each.

    Args:
        log: the sample.
        scores: its scores by scorer, as recorded.
        result_id: content id of the result.
        graded: the scorers whose figure is the accuracy.
    """
    position = 0
    for scorer, given in scores.items():
        score = given if isinstance(given, dict) else {"value": given}
        value = score.get("value")
        is_rated = has_number(score)
        parts = value if isinstance(value, dict) and value else {scorer: value}
        answer = text_of(score.get("answer"))
        explanation = text_of(score.get("explanation"))
        extra = {
            key: item
            for key, item in score.items()
            if key not in _IN_COLUMNS or not _is_held(key, item)
        }
        for place, (metric, part) in enumerate(parts.items()):
            position += 1
            number = as_number(part) if is_rated else None
            is_text = part is not None and (number is None or isinstance(part, str))
            yield {
                "content_id": f"{result_id}/{_short(scorer, metric, is_plain=log.is_plain)}",
                "result_id": result_id,
                "scorer": utf8(scorer),
                "metric": utf8(metric),
                "position": position,
                "value": number,
                "text": _as_recorded(log, part) if is_text else None,
                "passed": verdict(part, is_graded=scorer in graded) if is_rated else None,
                "answer": answer,
                "explanation": explanation,
                "extra": log.as_json(extra) if extra and not place else None,
            }


def has_number(score: Mapping[str, Any]) -> bool:
    """Return whether Inspect's rule gives the number of a score.

    An export of ours says of a text that it is none: Inspect takes any text for a number.
    """
    metadata = score.get("metadata")
    return not (isinstance(metadata, dict) and metadata.get("is_text") is True)


def _is_held(key: str, item: object) -> bool:
    """Return whether columns reproduce a field of a score that they have."""
    if key != "value":
        return isinstance(item, str)
    if isinstance(item, dict) and item:
        return all(isinstance(part, _EXACT) for part in item.values())
    return isinstance(item, _EXACT)


def first_score(scores: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the scorer and score that the sample's verdict is taken from: the first."""
    for scorer, score in scores.items():
        return scorer, object_of(score)
    return None, {}


@lru_cache(maxsize=256)
def _short(scorer: str, metric: str, *, is_plain: bool) -> str:
    """Return what identifies a score among those of a result: the same for all samples."""
    log = LogObject({}, None if is_plain else "")
    return log.digest([scorer, metric])[:16]


def _as_recorded(log: LogObject, value: object) -> str:
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, float):
        return str(value)
    return log.as_json(value)  # type: ignore[arg-type]  # a part of the log's JSON


def _known_number(text: str) -> float | None:
    """Return the number of a letter or a word; None for any other text."""
    letter = _LETTERS.get(text)
    return _WORDS.get(text.lower()) if letter is None else letter


def _number_of_text(text: str) -> float:
    known = _known_number(text)
    if known is not None:
        return known
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0
