"""Pairs of raters on the same items: how far they agree, and whether that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from warehouse.engine.statistics.agreement import cohen_kappa
from warehouse.engine.statistics.agreement_intervals import kappa_interval
from warehouse.engine.statistics.macros import TaskMeans, share_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from warehouse.engine.statistics.agreement import Weights
    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.proportions import Interval
    from warehouse.engine.tables.raters.rated_items import Contest, RatedItems, Side

Bools: TypeAlias = "npt.NDArray[np.bool_]"

KINDS = ("judge", "people", "gold")  # by rank
# More tasks are joined: their tables would not fit into memory, and change an interval by 2 %.
MOST_UNITS = 1000
MOST_LABELS = 101
_PAIR = 2
_ARRAYS = ("tasks", "labels", "other_labels", "differences", "times")


class Pair(NamedTuple):
    """Two raters on the same items: arrays with a row for each.

    Attributes:
        judge: the one that is looked at.
        other: the one that it is compared with.
        tasks: the number of the item's task.
        labels: the number of the judge's label in `names`.
        other_labels: that of the other's.
        names: the labels of both, in the order of their numbers, or of their text.
        differences: the judge's number less the other's; NaN for labels.
        times: when the judge rated the item; NaT if not recorded.
        newest: when the other rated the last of the items; NaT if not recorded.
    """

    judge: Side
    other: Side
    tasks: Indices
    labels: Indices
    other_labels: Indices
    names: list[str]
    differences: Floats
    times: npt.NDArray[np.datetime64]
    newest: np.datetime64

    @property
    def is_number(self) -> bool:
        """Whether all labels are numbers."""
        return not np.isnan(self.differences).any()

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return int(np.count_nonzero(np.bincount(self.tasks)))

    def take(self, chosen: Bools) -> Pair:
        """Return the pair on some of its items."""
        tasks, labels, other_labels, differences, times = (
            getattr(self, name)[chosen] for name in _ARRAYS
        )
        return self._replace(
            tasks=tasks,
            labels=labels,
            other_labels=other_labels,
            differences=differences,
            times=times,
        )

    def joined(self, after: Pair) -> Pair:
        """Return one pair of these items and those of another, with the labels of both."""
        names = [*self.names, *(name for name in after.names if name not in self.names)]
        is_number = self.is_number and after.is_number
        names.sort(key=float if is_number else str)
        numbers = [np.array([names.index(n) for n in each.names]) for each in (self, after)]
        coded = [
            [ns[each.labels], ns[each.other_labels]]
            for ns, each in zip(numbers, (self, after), strict=True)
        ]
        return self._replace(
            names=names,
            tasks=np.concatenate([self.tasks, after.tasks]),
            labels=np.concatenate([labels for labels, _ in coded]),
            other_labels=np.concatenate([labels for _, labels in coded]),
            differences=np.concatenate([self.differences, after.differences]),
            times=np.concatenate([self.times, after.times]),
        )

    def key(self, contest: Contest) -> dict[str, object]:
        """Return what names the pair in a table."""
        names = {"judge": self.judge.name, "other": self.other.name}
        return {**contest._asdict(), **names, "other_kind": KINDS[self.other.rank]}


def pairs(rated: RatedItems) -> Iterator[tuple[Contest, Pair]]:
    """Yield the pairs of raters with items in common: a judge, or people, and who comes after.

    A single configuration of a judge is compared with people and gold only.
    """
    row_of = np.full(rated.n_items, -1)
    for contest, sides in rated.contests.items():
        whole = [side for side in sides if side.version is None]
        for at, judge in enumerate(sides):
            others = [side for side in whole if side.rank] if judge.version else whole[at + 1 :]
            row_of[judge.items] = np.arange(len(judge.items))
            for other in others:
                pair = _pair(judge, other, row_of[other.items], rated.labels)
                if len(pair.tasks):
                    yield contest, pair
            row_of[judge.items] = -1


def _pair(judge: Side, other: Side, rows: Indices, names: Sequence[str]) -> Pair:
    """Return the pair; `rows` has the judge's row of each item of the other, or -1."""
    theirs = np.flatnonzero(rows >= 0)
    mine = rows[theirs]
    # 3 of 5 is not 3 of 100.
    lower, higher = judge.lows[mine] - other.lows[theirs], judge.highs[mine] - other.highs[theirs]
    alike = ~((np.abs(lower) > 0) | (np.abs(higher) > 0))
    mine, theirs = mine[alike], theirs[alike]
    labels, other_labels = judge.labels[mine], other.labels[theirs]
    differences = judge.values[mine] - other.values[theirs]
    used = np.flatnonzero(np.bincount(np.concatenate([labels, other_labels]))).tolist()
    if not np.isnan(differences).any():
        used.sort(key=lambda n: float(names[n]))
    number_of = np.zeros(len(names), dtype=np.int64)
    number_of[used] = np.arange(len(used))
    return Pair(
        judge=judge,
        other=other,
        tasks=judge.tasks[mine],
        labels=number_of[labels],
        other_labels=number_of[other_labels],
        names=[names[n] for n in used],
        differences=differences,
        times=judge.times[mine],
        newest=np.fmax.reduce(other.times[theirs], initial=np.datetime64("NaT", "us")),
    )


def agreements(found: Sequence[tuple[Contest, Pair]]) -> list[dict[str, object]]:
    """Return the rows of `scores.judge_agreement`, but for the mean differences."""
    rows, shares = [], []
    for contest, pair in found:
        units = pair.tasks % MOST_UNITS if pair.n_tasks < len(pair.tasks) else None
        row = pair.key(contest) | {"n_items": len(pair.tasks), "n_tasks": pair.n_tasks}
        row["newest_label_at"] = pair.newest.astype("datetime64[us]").item()
        row |= _kappas(pair, units)
        rows.append(row)
        for name, among, hits in _hits(pair):
            means = hits[among].astype(np.float64)
            clusters = None if units is None else np.unique(units[among], return_inverse=True)[1]
            shares.append((row, name, TaskMeans(means, len(means), clusters=clusters)))
    # All at once: each query takes some milliseconds.
    intervals = share_intervals([sample for _, _, sample in shares])
    for (row, name, sample), interval in zip(shares, intervals, strict=True):
        row.update(with_ends(name, float(sample.means.mean()), interval))
    return rows


def _hits(pair: Pair) -> Iterator[tuple[str, Bools, Bools]]:
    """Yield the name of each share, the items that it is of, and whether each counts."""
    yield "agreement_rate", np.ones(len(pair.tasks), dtype=bool), pair.labels == pair.other_labels
    if pair.is_number and pair.other.rank and [float(name) for name in pair.names] == [0, 1]:
        for label, name in enumerate(("specificity", "sensitivity")):
            if (among := pair.other_labels == label).any():
                yield name, among, pair.labels == label


def _kappas(pair: Pair, units: Indices | None) -> dict[str, object]:
    if len(pair.names) > MOST_LABELS:
        return {}
    tables = label_tables(pair, units)
    row = _kappa("kappa", tables, "none", pair)
    if pair.is_number and len(pair.names) <= _PAIR:  # all distances are alike
        row |= {key.replace("kappa", "quadratic_kappa"): value for key, value in row.items()}
        row["linear_kappa"] = row["kappa"]
    elif pair.is_number:
        row["linear_kappa"] = cohen_kappa(_total(tables), "linear")
        row |= _kappa("quadratic_kappa", tables, "quadratic", pair)
    return row


def label_tables(pair: Pair, units: Indices | None) -> Floats:
    """Return how many items have which labels, the judge's by row; for each unit if there are."""
    n = len(pair.names)
    cells = pair.labels * n + pair.other_labels
    n_units = 1 if units is None else int(units.max()) + 1
    of_units = cells if units is None else units * n * n + cells
    counts = np.bincount(of_units, minlength=n_units * n * n).astype(np.float64)
    return counts.reshape((n, n) if units is None else (n_units, n, n))


def _total(tables: Floats) -> Floats:
    total: Floats = tables.reshape(-1, *tables.shape[-2:]).sum(axis=0)
    return total


def _kappa(name: str, tables: Floats, weights: Weights, pair: Pair) -> dict[str, object]:
    # Of many judges, the intervals of all pairs would take minutes.
    interval = kappa_interval(tables, weights) if pair.other.rank else None
    return with_ends(name, cohen_kappa(_total(tables), weights), interval)


def with_ends(name: str, value: float | None, interval: Interval | None) -> dict[str, object]:
    """Return a figure and the ends of its interval, by their columns."""
    low, high = interval or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}
