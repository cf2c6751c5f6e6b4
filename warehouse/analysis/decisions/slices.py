"""Whether the difference between two sides depends on the slice of the tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.decisions.comparison import ALPHA
from warehouse.analysis.decisions.evidence import tested_differences
from warehouse.analysis.decisions.sentences import p_text
from warehouse.engine.scoring.bootstrap import holm
from warehouse.engine.statistics.slices import slices_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.decisions.comparison import Contest


def slice_sentences(
    contests: Sequence[Contest], slices: Sequence[Contest], column: str, *, seed: int
) -> list[str]:
    """Test for each pair whether its difference is the same in all slices of two or more.

    Pairs whose tasks are in clusters are left out: such tasks cannot be exchanged. The p-values are
    adjusted for all pairs tested together (Holm).

    Args:
        contests: the pairs on all their tasks.
        slices: the same on the tasks of each slice.
        column: what the slices are made by.
        seed: of the permutations.

    Returns:
        What the test of each pair shows.
    """
    tested: list[tuple[Contest, float]] = []
    for contest in contests:
        paired = contest.paired
        parts = [
            np.isin(paired.tasks, part.paired.tasks)
            for part in slices
            if (part.paired.panel, part.a, part.b) == (paired.panel, contest.a, contest.b)
        ]
        parts = [part for part in parts if part.any()]
        if len(parts) > 1 and paired.clusters is None:
            is_sliced = np.logical_or.reduce(parts)
            labels = np.argmax(np.array(parts)[:, is_sliced], axis=0).astype(np.int64)
            values = tested_differences(paired)[is_sliced]
            tested.append((contest, slices_p_value(values, labels, seed=seed)))
    places = [_place(contest) for contest, _ in tested]
    shown = [f"{place}: " if len(set(places)) > 1 else "" for place in places]
    adjusted = holm([p_value for _, p_value in tested])
    return [
        place + _sentence(contest, column, p_adjusted)
        for (contest, _), place, p_adjusted in zip(tested, shown, adjusted, strict=True)
        if p_adjusted is not None
    ]


def _sentence(contest: Contest, column: str, p_adjusted: float) -> str:
    what = f"difference of {contest.a} and {contest.b} depends on {column}"
    figure = f"(permutation test, p {p_text(p_adjusted)})"
    if p_adjusted < ALPHA:
        return f"The {what} {figure}."
    return f"The data do not show that the {what} {figure}."


def _place(contest: Contest) -> str:
    panel = contest.paired.panel
    return ", ".join(dict.fromkeys((panel.suite, panel.task_set, panel.metric.metric)))
