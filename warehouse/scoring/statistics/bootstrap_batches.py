"""The bootstrap over columns of score lists, as SQL calls it.

None stands for NULL: a NULL list gives None, and a NULL score in a list is left out (paired
functions leave out the pair). A row that cannot be computed gets a reason and does not affect the
other rows.
"""

from collections.abc import Callable, Sequence

from warehouse.scoring.columns import reason_of
from warehouse.scoring.statistics.bootstrap import (
    Difference,
    confidence_interval,
    difference,
    holm,
    paired_difference,
)
from warehouse.types import Row

Scores = Sequence[float | None]
Column = Sequence[Scores | None]

_EMPTY = dict.fromkeys(("mean", "low", "high", "p_value", "significant"))


def confidence_interval_batch(scores: Column) -> list[Row | None]:
    """Return `low`, `high` and `reason` for each list; see `confidence_interval`."""
    return [None if row is None else _interval_row(row) for row in scores]


def difference_batch(a: Column, b: Column) -> list[Row | None]:
    """Compare each pair of lists without pairing their scores; see `difference`.

    Rows have `mean`, `low`, `high`, `p_value`, `significant` and `reason`.
    """
    return _pairwise(lambda x, y: difference(_known(x), _known(y)), a, b)


def paired_difference_batch(a: Column, b: Column) -> list[Row | None]:
    """Compare each pair of lists over the same posters; see `paired_difference`.

    Rows have `mean`, `low`, `high`, `p_value`, `significant` and `reason`.
    """
    return _pairwise(paired_difference, a, b)


def holm_batch(families: Column) -> list[list[float | None] | None]:
    """Adjust the p-values of each family; see `holm`."""
    return [None if family is None else holm(family) for family in families]


def _pairwise(
    compare: Callable[[Scores, Scores], Difference | None], a: Column, b: Column
) -> list[Row | None]:
    return [
        None if x is None or y is None else _difference_row(compare, x, y)
        for x, y in zip(a, b, strict=True)
    ]


def _known(scores: Scores) -> list[float]:
    return [score for score in scores if score is not None]


def _interval_row(scores: Scores) -> Row:
    try:
        bounds = confidence_interval(_known(scores))
    except (TypeError, ValueError) as error:
        return {"low": None, "high": None, "reason": reason_of(error)}
    if bounds is None:
        return {"low": None, "high": None, "reason": "no scores"}
    return {"low": bounds[0], "high": bounds[1], "reason": None}


def _difference_row(
    compare: Callable[[Scores, Scores], Difference | None], a: Scores, b: Scores
) -> Row:
    try:
        found = compare(a, b)
    except (TypeError, ValueError) as error:
        return {**_EMPTY, "reason": reason_of(error)}
    if found is None:
        return {**_EMPTY, "reason": "no scores"}
    low, high = found.interval
    return {
        "mean": found.mean,
        "low": low,
        "high": high,
        "p_value": found.p_value,
        "significant": found.significant,
        "reason": None,
    }
