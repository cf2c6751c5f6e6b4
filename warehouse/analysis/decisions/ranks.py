"""Ranks of models with intervals, and groups of models that the data cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warehouse.analysis.decisions.comparison import Comparison

_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The place of a model among those that it was compared with.

    Attributes:
        suite: suite.
        task_set: task set.
        metric: the metric.
        rank: place by the mean advantage over the others, from 1.
        rank_low: best place that the comparisons leave open: 1 + the models that are better.
        rank_high: worst place that they leave open: all but the models that are worse. Both hold
            for all models together with 95 % confidence (Mohamad, van Zwet, Solari and Goeman 2019,
            Biostatistics 20, 676).
        model: name of the side.
        mean: its mean over the most tasks that it shares with another.
        n_tasks: number of these tasks.
        n_better: models that are better.
        n_worse: models that are worse.
        groups: letters of the groups of models that cannot be told apart: two models with a letter
            in common may be equal.
    """

    suite: str
    task_set: str
    metric: str
    rank: int
    rank_low: int
    rank_high: int
    model: str
    mean: float
    n_tasks: int
    n_better: int
    n_worse: int
    groups: str


def ranks(comparisons: Sequence[Comparison]) -> list[Rank]:
    """Return the ranks of all sides by the comparisons of all their pairs, best first.

    Ranks are by suite, task set and metric. There are none of fewer than three sides, and where a
    pair of them was not compared.
    """
    families: dict[tuple[str, ...], list[Comparison]] = {}
    for row in comparisons:
        parts = (row.suite, row.task_set, row.metric, row.scorer, row.filter, row.slice)
        key = tuple(part or "" for part in parts)
        families.setdefault(key, []).append(row)
    return [rank for family in families.values() for rank in _of_family(family)]


def _of_family(rows: Sequence[Comparison]) -> list[Rank]:
    names = list(dict.fromkeys(name for row in rows for name in (row.a, row.b)))
    n_pairs = len({frozenset((row.a, row.b)) for row in rows})
    if len(names) < _FEWEST or n_pairs < len(names) * (len(names) - 1) / 2:
        return []
    sign = -1 if rows[0].less_is_better else 1
    # Of the comparison with the most tasks.
    means: dict[str, tuple[int, float]] = dict.fromkeys(names, (0, 0.0))
    advantages = dict.fromkeys(names, 0.0)
    better: dict[str, set[str]] = {name: set() for name in names}
    worse: dict[str, set[str]] = {name: set() for name in names}
    alike: dict[str, set[str]] = {name: set() for name in names}
    for row in rows:
        for name, mean in ((row.a, row.mean_a), (row.b, row.mean_b)):
            if row.n_tasks > means[name][0]:
                means[name] = row.n_tasks, mean
        advantages[row.a] += sign * row.difference
        advantages[row.b] -= sign * row.difference
        if row.conclusion == "unclear":
            alike[row.a].add(row.b)
            alike[row.b].add(row.a)
            continue
        winner, loser = (row.a, row.b) if row.conclusion == "a" else (row.b, row.a)
        better[loser].add(winner)
        worse[winner].add(loser)
    ordered = sorted(names, key=lambda name: (-advantages[name], name))
    letters = group_letters(ordered, alike)
    return [
        Rank(
            suite=rows[0].suite,
            task_set=rows[0].task_set,
            metric=rows[0].metric,
            rank=place,
            rank_low=1 + len(better[name]),
            rank_high=len(names) - len(worse[name]),
            model=name,
            mean=means[name][1],
            n_tasks=means[name][0],
            n_better=len(better[name]),
            n_worse=len(worse[name]),
            groups=letters[name],
        )
        for place, name in enumerate(ordered, 1)
    ]


def group_letters(ordered: Sequence[str], alike: Mapping[str, set[str]]) -> dict[str, str]:
    """Return letters so that two names share one if and only if they are alike.

    Each group is a largest set of names that are all alike (Piepho 2004, Journal of Computational
    and Graphical Statistics 13, 456).

    Args:
        ordered: the names, the best first; the groups are named in this order.
        alike: for each name, those that it cannot be told apart from.
    """
    places = {name: place for place, name in enumerate(ordered)}
    groups = _largest_groups(set(), set(ordered), set(), alike)
    groups.sort(key=lambda group: sorted(places[name] for name in group))
    return {
        name: ",".join(_letter(n) for n, group in enumerate(groups) if name in group)
        for name in ordered
    }


def _largest_groups(
    group: set[str], candidates: set[str], known: set[str], alike: Mapping[str, set[str]]
) -> list[set[str]]:
    """Return the maximal cliques that extend a group (Bron and Kerbosch 1973, with a pivot)."""
    if not candidates and not known:
        return [group]
    pivot = max(sorted(candidates | known), key=lambda name: len(candidates & alike[name]))
    found: list[set[str]] = []
    for name in sorted(candidates - alike[pivot]):
        near = alike[name]
        found += _largest_groups(group | {name}, candidates & near, known & near, alike)
        candidates = candidates - {name}
        known = known | {name}
    return found


def _letter(place: int) -> str:
    """Return a letter, after `z` two: aa, ab and so on."""
    before, last = divmod(place, 26)
    return ("" if before == 0 else _letter(before - 1)) + chr(ord("a") + last)


def groups_in_words(found: Iterable[Rank]) -> list[str]:
    """Return the groups of one family, the best first, each a list of names in words."""
    members: dict[str, list[str]] = {}
    for rank in found:
        for letter in rank.groups.split(","):
            members.setdefault(letter, []).append(rank.model)
    return [", ".join(names) for names in members.values()]
