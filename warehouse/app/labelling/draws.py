"""Draws that favour answers of which a label says most, mixed with random ones.

Answers are drawn at random in two strata, the favoured and all others, so that each has a known
probability: at least 5 %, without which figures of all answers could not be estimated from labels.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.text.figures import whole_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

RANDOM, UNSURE, DISAGREE = "random", "unsure", "disagree"
DRAWS = (RANDOM, UNSURE, DISAGREE)
MIN_PROBABILITY = 0.05
_SHARE_OF_OTHERS = 0.25  # of a sample, at least, as far as there are so many

# The favoured answers of the runs in `chosen`, by draw. A judge is unsure of an answer if its
# reply could not be read, its number is in the middle half of the scale, or judges (or the same
# one, asked again) say different things.
FAVOURED = {
    UNSURE: """
        SELECT DISTINCT result_suite AS suite, result_run_id AS run_id, result_id
        FROM ratings
        WHERE rater_kind = 'judge' AND is_current AND result_id IS NOT NULL
        GROUP BY result_suite, result_run_id, result_id, criterion, scale_low, scale_high
        HAVING bool_or(status = 'unparsed')
            OR bool_or(
                (value - scale_low) / nullif(scale_high - scale_low, 0) BETWEEN 0.25 AND 0.75
            )
            OR count(DISTINCT value) > 1
            OR count(DISTINCT label) > 1
    """,
    DISAGREE: """
        SELECT suite, run_id, result_id
        FROM verdicts
        SEMI JOIN chosen USING (suite, run_id)
        WINDOW same_task AS (PARTITION BY suite, task_set, task_id)
        QUALIFY bool_and(passed) OVER same_task <> bool_or(passed) OVER same_task
    """,
}
_NONE_FAVOURED = {
    UNSURE: "no judge is unsure of an answer of these runs",
    DISAGREE: "there is no task that some answers of these runs pass and others fail",
}


def mixed_numbers(draw: str, sizes: Sequence[int], n_wanted: int) -> list[int]:
    """Return how many answers are drawn of the favoured ones, and of the others.

    Args:
        draw: the name of the draw.
        sizes: how many there are of both.
        n_wanted: how many are drawn together.

    Raises:
        BadInput: there are no favoured answers, or so few are drawn that the probability of some
            answer would be below 5 %.
    """
    n_favoured, n_others = sizes
    if not n_favoured:
        raise BadInput(f"{_NONE_FAVOURED[draw]}: draw at random")
    least = [ceil(MIN_PROBABILITY * size) for size in sizes]
    if n_wanted < sum(least):
        raise BadInput(
            f"draw {sum(least):,} answers or more of these {sum(sizes):,}: each needs a "
            f"probability of at least {whole_percent(MIN_PROBABILITY)}, or figures cannot be "
            "corrected by the labels"
        )
    n_first = min(n_favoured, n_wanted - max(least[1], ceil(_SHARE_OF_OTHERS * n_wanted)))
    n_first = max(n_first, least[0], n_wanted - n_others)
    return [n_first, n_wanted - n_first]
