"""The bootstrap over columns of score lists, as SQL calls it.

None stands for NULL: a NULL list gives None, and a NULL score in a list is left out (paired
functions leave out the pair). A row that cannot be computed gets a reason and does not affect the
other rows.
"""

from collections.abc import Callable, Sequence

from warehouse.core.types import Row
from warehouse.engine.scoring.bootstrap import (
    Difference,
    confidence_interval,
    difference,
    holm,
    paired_difference,
)
from warehouse.engine.scoring.columns import reason_of

Scores = Sequence[float | None]
Column = Sequence[Scores | None]

_EMPTY = dict.fromkeys(("mean", "low", "high", "p_value", "significant"))
_SINGLE = "a single score has neither an interval nor a p-value"


def confidence_interval_batch(scores: Column) -> list[Row | None]:
    """Return `low`, `high` and `reason` for each list; see `confidence_interval`.

    Unlike the benchmark, a single score has no interval.
    """
    return [None if row is None else _interval_row(row) for row in scores]


def difference_batch(a: Column, b: Column) -> list[Row | None]:
    """Compare each pair of lists without pairing their scores; see `difference`.

    Rows have `mean`, `low`, `high`, `p_value`, `significant` and `reason`. Unlike the benchmark, a
    single score has neither an interval nor a p-value.
    """
    return [
        None if x is None or y is None else _unpaired_row(_known(x), _known(y))
        for x, y in zip(a, b, strict=True)
    ]


def paired_difference_batch(a: Column, b: Column) -> list[Row | None]:
    """Compare each pair of lists over the same posters; see `paired_difference`.

    Rows have `mean`, `low`, `high`, `p_value`, `significant` and `reason`.
    """
    return [
        None if x is None or y is None else _paired_row(x, y) for x, y in zip(a, b, strict=True)
    ]


def holm_batch(families: Column) -> list[list[float | None] | None]:
    """Adjust the p-values of each family; see `holm`."""
    return [None if family is None else holm(family) for family in families]


def _known(scores: Scores) -> list[float]:
    return [score for score in scores if score is not None]


def _interval_row(scores: Scores) -> Row:
    known = _known(scores)
    if len(known) == 1:
        return {"low": None, "high": None, "reason": _SINGLE}
    try:
        bounds = confidence_interval(known)
    except (TypeError, ValueError) as error:
        return {"low": None, "high": None, "reason": reason_of(error)}
    if bounds is None:
        return {"low": None, "high": None, "reason": "no scores"}
    return {"low": bounds[0], "high": bounds[1], "reason": None}


def _unpaired_row(a: Sequence[float], b: Sequence[float]) -> Row:
    row = _difference_row(lambda: difference(a, b), "no scores")
    if row["reason"] is None and min(len(a), len(b)) == 1:
        return {**_EMPTY, "mean": row["mean"], "reason": _SINGLE}
    return row


def _paired_row(a: Scores, b: Scores) -> Row:
    return _difference_row(lambda: paired_difference(a, b), "fewer than two pairs of scores")


def _difference_row(compare: Callable[[], Difference | None], reason_if_none: str) -> Row:
    try:
        found = compare()
    except (TypeError, ValueError) as error:
        return {**_EMPTY, "reason": reason_of(error)}
    if found is None:
        return {**_EMPTY, "reason": reason_if_none}
    low, high = found.interval
    return {
        "mean": found.mean,
        "low": low,
        "high": high,
        "p_value": found.p_value,
        "significant": found.significant,
        "reason": None,
    }
