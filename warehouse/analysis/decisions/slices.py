"""Whether the difference between two sides depends on the slice of the tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.decisions.comparison import ALPHA
from warehouse.analysis.decisions.evidence import tested_differences
from warehouse.analysis.decisions.sentences import p_text
from warehouse.engine.statistics.adjustment import holm
from warehouse.engine.statistics.slices import slices_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.decisions.comparison import Contest


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTest:
    """The test of a pair's slices.

    Attributes:
        a: name of the first side.
        b: name of the second.
        place: suite, task set and metric.
        p_adjusted: p-value, adjusted for all pairs tested together (Holm).
    """

    a: str
    b: str
    place: str
    p_adjusted: float

    def sentence(self, column: str) -> str:
        """Return what the test shows; `column` is what the slices are made by."""
        shown = f"{self.place}: " if self.place else ""
        figure = f"(permutation test, p {p_text(self.p_adjusted)})"
        if self.p_adjusted < ALPHA:
            return f"{shown}The difference of {self.a} and {self.b} depends on {column} {figure}."
        return (
            f"{shown}The data do not show that the difference of {self.a} and {self.b} depends on "
            f"{column} {figure}."
        )


def slice_tests(
    contests: Sequence[Contest], slices: Sequence[Contest], *, seed: int
) -> list[SliceTest]:
    """Test for each pair whether its difference is the same in all slices of two or more.

    Pairs whose tasks are in clusters are left out: such tasks cannot be exchanged.

    Args:
        contests: the pairs on all their tasks.
        slices: the same on the tasks of each slice.
        seed: of the permutations.
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
    is_one_place = len(set(places)) == 1
    adjusted = holm([p_value for _, p_value in tested])
    return [
        SliceTest(
            a=contest.a, b=contest.b, place="" if is_one_place else place, p_adjusted=p_adjusted
        )
        for (contest, _), place, p_adjusted in zip(tested, places, adjusted, strict=True)
        if p_adjusted is not None
    ]


def _place(contest: Contest) -> str:
    panel = contest.paired.panel
    return ", ".join(dict.fromkeys((panel.suite, panel.task_set, panel.metric.metric)))
