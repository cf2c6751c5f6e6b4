"""The poster functions over columns of JSON text, as SQL calls them.

None stands for NULL. A row that cannot be read gets its reason; no row fails the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from warehouse.scoring.columns import Distinct, map_distinct, parse_json, reason_of, write_json
from warehouse.scoring.posters.schema import schema_exact, schema_strict, schema_valid
from warehouse.scoring.posters.scores import (
    PosterScore,
    Prediction,
    read_prediction,
    score_records,
)
from warehouse.scoring.posters.text import extract_json, normalise, string_score

Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class _Parsed:
    read: Prediction
    problem: str | None


def score_batch(golds: Texts, predictions: Texts) -> list[dict[str, Any] | None]:
    """Score each prediction against its gold record; see ``PosterScore`` for the keys.

    A row without gold is None. A prediction that is None or not JSON counts as missing, as in the
    benchmark; gold that is not JSON gives a row of None with a reason.

    Raises:
        ValueError: the columns differ in length.
    """
    parsed = Distinct(_parse)
    return [
        None if gold is None else _score_row(parsed[gold], parsed[prediction])
        for gold, prediction in zip(golds, predictions, strict=True)
    ]


def extract_json_batch(texts: Texts) -> list[dict[str, str | None] | None]:
    """Read the JSON in each model answer; rows have ``json`` as text and ``reason``.

    NaN and infinity, which Python reads as numbers, are no JSON and give a reason.
    """
    answers = Distinct(lambda text: _extracted(text or ""))
    return [None if text is None else answers[text] for text in texts]


def string_score_batch(golds: Texts, predictions: Texts) -> list[float]:
    """Compare each pair of raw texts, normalised first; NULL is blank. See ``string_score``."""
    return map_distinct(
        lambda gold, text: string_score(normalise(gold), normalise(text)), golds, predictions
    )


def schema_strict_batch(predictions: Texts) -> list[bool | None]:
    """Check each prediction with ``schema_strict``; text that is not JSON fails."""
    return _check_batch(schema_strict, predictions)


def schema_valid_batch(predictions: Texts) -> list[bool | None]:
    """Check each prediction with ``schema_valid``; text that is not JSON fails."""
    return _check_batch(schema_valid, predictions)


def schema_exact_batch(predictions: Texts) -> list[bool | None]:
    """Check each prediction with ``schema_exact``; text that is not JSON fails."""
    return _check_batch(schema_exact, predictions)


def _extracted(text: str) -> dict[str, str | None]:
    try:
        value = extract_json(text)
        if value is None:
            return {"json": None, "reason": "no JSON in the answer"}
        return {"json": write_json(value), "reason": None}
    except (ValueError, RecursionError) as error:
        return {"json": None, "reason": reason_of(error)}


def _check_batch(check: Callable[[object], bool], predictions: Texts) -> list[bool | None]:
    answers = Distinct(lambda text: check(_value(text)))
    return [None if text is None else answers[text] for text in predictions]


def _value(text: str | None) -> object:
    try:
        return None if text is None else parse_json(text)
    except ValueError:
        return None


def _parse(text: str | None) -> _Parsed:
    try:
        value = None if text is None else parse_json(text)
        return _Parsed(read_prediction(value), None)
    except (ValueError, RecursionError) as error:  # str() of a deep value recurses too
        return _Parsed(read_prediction(None), reason_of(error))


def _score_row(gold: _Parsed, prediction: _Parsed) -> dict[str, Any]:
    if gold.problem:
        return dict.fromkeys(_COLUMNS) | {"reason": f"gold: {gold.problem}"}
    row = _as_row(score_records(gold.read.record, prediction.read))
    if prediction.problem:
        row["reason"] = f"prediction: {prediction.problem}"
    return row


def _as_row(score: PosterScore) -> dict[str, Any]:
    """Turn a score into a dict; ``asdict`` copies deeply and takes longer than the scoring."""
    row = {name: getattr(score, name) for name in _COLUMNS}
    for name in ("matches", "core_matches"):
        row[name] = [
            {"gold": m.gold, "prediction": m.prediction, "similarity": m.similarity}
            for m in row[name]
        ]
    return row


_COLUMNS = tuple(field.name for field in fields(PosterScore))
