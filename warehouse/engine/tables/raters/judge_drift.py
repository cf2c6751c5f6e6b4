"""Whether judges change: the kappa of their earlier and later labels, and of configurations."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.agreement_intervals import kappa_change
from warehouse.engine.tables.raters.rater_pairs import (
    MOST_LABELS,
    MOST_UNITS,
    label_tables,
    with_ends,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warehouse.engine.tables.raters.rated_items import Contest
    from warehouse.engine.tables.raters.rater_pairs import Bools, Pair


def drifts(found: Sequence[tuple[Contest, Pair]]) -> Iterator[dict[str, object]]:
    """Yield the rows of `scores.judge_drift`: by time, and a judge's configurations one by one.

    Args:
        found: pairs of raters; the configurations of a judge come after each other.
    """
    for contest, pair in found:
        if pair.judge.rank == 0 and pair.other.rank and pair.judge.version is None:
            yield from _over_time(contest, pair)
    versions = [each for each in found if each[1].judge.version is not None]
    by_judge = sorted(versions, key=lambda each: (each[0], each[1].judge.name, each[1].other.rank))
    for (contest, _, _), group in groupby(
        by_judge, key=lambda each: (each[0], each[1].judge.name, each[1].other.rank)
    ):
        in_order = sorted((pair for _, pair in group), key=_start)
        for before, after in pairwise(in_order):
            pair = before.joined(after)
            is_later = np.arange(len(pair.tasks)) >= len(before.tasks)
            names = [str(each.judge.version) for each in (before, after)]
            yield from _drift(contest, pair, is_later, "version", names)


def _start(pair: Pair) -> tuple[str, str]:
    """Return what configurations are ordered by: the first rating, if known, then their text."""
    dated = pair.times[~np.isnat(pair.times)]
    return str(dated.min()) if len(dated) else "", str(pair.judge.version)


def _over_time(contest: Contest, pair: Pair) -> Iterator[dict[str, object]]:
    pair = pair.take(~np.isnat(pair.times))
    if not len(pair.tasks):
        return
    is_later = pair.times > np.sort(pair.times)[(len(pair.times) - 1) // 2]
    halves = (pair.times[~is_later], pair.times[is_later])
    if is_later.any():
        names = [f"{str(half.min())[:10]} to {str(half.max())[:10]}" for half in halves]
        yield from _drift(contest, pair, is_later, "time", names)


def _drift(
    contest: Contest, pair: Pair, is_later: Bools, split: str, names: Sequence[str]
) -> Iterator[dict[str, object]]:
    if len(pair.names) > MOST_LABELS:
        return
    # What two configurations say of the same items depends on each other.
    in_tasks = split == "version" or pair.n_tasks < len(pair.tasks)
    units = pair.tasks % MOST_UNITS if in_tasks else np.zeros(len(pair.tasks), dtype=np.int64)
    tables = label_tables(pair, 2 * units + is_later)
    before, after = tables[::2], tables[1::2]
    after = np.concatenate([after, np.zeros_like(before[len(after) :])])
    if not in_tasks:
        before, after = before[0], after[0]
    change = kappa_change(before, after, "quadratic" if pair.is_number else "none")
    yield {
        **pair.key(contest),
        "split": split,
        **dict(zip(("before", "after"), names, strict=True)),
        "n_before": int(before.sum()),
        "n_after": int(after.sum()),
        "kappa_before": change.before,
        "kappa_after": change.after,
        **with_ends("difference", change.difference, change.interval),
        "p_value": change.p_value,
    }
