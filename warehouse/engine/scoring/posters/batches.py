"""The poster functions over columns of JSON text, as SQL calls them.

None stands for NULL. A row that cannot be read gets a reason and does not affect the other rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from warehouse.engine.scoring.columns import (
    Distinct,
    map_distinct,
    parse_json,
    reason_of,
    write_json,
)
from warehouse.engine.scoring.posters.records.schema import (
    schema_exact,
    schema_strict,
    schema_valid,
)
from warehouse.engine.scoring.posters.records.schema_problems import SchemaProblem, schema_problems
from warehouse.engine.scoring.posters.records.text import extract_json, normalise, string_score
from warehouse.engine.scoring.posters.scores import (
    PosterScore,
    Prediction,
    read_prediction,
    score_records,
)

Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class _Parsed:
    value: Prediction
    problem: str | None


def score_batch(golds: Texts, predictions: Texts) -> list[dict[str, object] | None]:
    """Score each prediction against its gold record; see `PosterScore` for the keys.

    Without gold, the row is None. A prediction that is None or not JSON counts as missing, as in
    the benchmark. If gold is not JSON, the row has only a reason.

    Raises:
        ValueError: the columns differ in length.
    """
    parsed = Distinct(_parse)
    return [
        None if gold is None else _score_row(parsed[gold], parsed[prediction])
        for gold, prediction in zip(golds, predictions, strict=True)
    ]


def extract_json_batch(texts: Texts) -> list[dict[str, str | None] | None]:
    """Return the JSON in each model answer: rows have `json` as text and `reason`.

    NaN and infinity, which Python reads as numbers, are not valid JSON and give a reason.
    """
    extracted = Distinct(lambda text: _extracted(text or ""))
    return [None if text is None else extracted[text] for text in texts]


def string_score_batch(golds: Texts, predictions: Texts) -> list[float]:
    """Normalise and compare each pair of texts; NULL is the empty text. See `string_score`."""
    return map_distinct(
        lambda gold, text: string_score(normalise(gold), normalise(text)), golds, predictions
    )


def schema_strict_batch(predictions: Texts) -> list[bool | None]:
    """Check each prediction with `schema_strict`; text that is not JSON fails."""
    return _check_batch(schema_strict, predictions)


def schema_valid_batch(predictions: Texts) -> list[bool | None]:
    """Check each prediction with `schema_valid`; text that is not JSON fails."""
    return _check_batch(schema_valid, predictions)


def schema_exact_batch(predictions: Texts) -> list[bool | None]:
    """Check each prediction with `schema_exact`; text that is not JSON fails."""
    return _check_batch(schema_exact, predictions)


def schema_problems_batch(records: Texts) -> list[list[dict[str, str]] | None]:
    """List where each record breaks the schema: `field` and `reason`. See `schema_problems`."""
    listed = Distinct(_problems)
    return [None if text is None else listed[text] for text in records]


def _problems(text: str | None) -> list[dict[str, str]]:
    try:
        found = schema_problems(parse_json(text or ""))
    except (ValueError, RecursionError) as error:
        found = [SchemaProblem("record", f"is not JSON: {reason_of(error)}")]
    return [problem._asdict() for problem in found]


def _extracted(text: str) -> dict[str, str | None]:
    try:
        value = extract_json(text)
        if value is None:
            return {"json": None, "reason": "no JSON in the answer"}
        return {"json": write_json(value), "reason": None}
    except (ValueError, RecursionError) as error:
        return {"json": None, "reason": reason_of(error)}


def _check_batch(check: Callable[[object], bool], predictions: Texts) -> list[bool | None]:
    checked = Distinct(lambda text: check(_value(text)))
    return [None if text is None else checked[text] for text in predictions]


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


def _score_row(gold: _Parsed, prediction: _Parsed) -> dict[str, object]:
    if gold.problem:
        return dict.fromkeys(_COLUMNS) | {"reason": f"gold: {gold.problem}"}
    row = _as_row(score_records(gold.value.record, prediction.value))
    if prediction.problem:
        row["reason"] = f"prediction: {prediction.problem}"
    return row


def _as_row(score: PosterScore) -> dict[str, object]:
    """Return a score as a dict; `asdict` copies deeply, which takes longer than scoring."""
    row = {name: getattr(score, name) for name in _COLUMNS}
    return row | {
        "matches": [match._asdict() for match in score.matches],
        "core_matches": [match._asdict() for match in score.core_matches],
    }


_COLUMNS = tuple(field.name for field in fields(PosterScore))
