"""The runs of a model over time: figures with intervals, and which changes are supported."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from exports.site.figures import Mark, are_shares, change, interval, marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.core.types import Row

_SERIES = ("suite", "task_set", "metric", "scorer", "filter", "provider", "model", "settings")
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A run of a series.

    Attributes:
        row: its row of the view `model_history`.
        value: its pass rate or score.
        low: lower end of its 95 % interval.
        high: upper end of its 95 % interval.
        mark: where the figure and its interval are drawn.
        change: the change against the runs before, with its interval; empty if there are none.
        is_supported: whether the data support the change.
    """

    row: Row
    value: float | None
    low: float | None
    high: float | None
    mark: Mark | None
    change: str
    is_supported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The runs of a model on a task set by a metric, the latest first.

    Attributes:
        row: a row of the series, with its suite, task set, provider, model and settings.
        metric: the metric, with scorer and filter if they are known.
        is_rate: whether the figures are pass rates, from 0 to 1.
        points: the latest runs.
        n_runs: number of all runs.
    """

    row: Row
    metric: str
    is_rate: bool
    points: list[Point]
    n_runs: int


def series(rows: Iterable[Row], *, n_series: int | None, n_runs: int) -> tuple[list[Series], int]:
    """Return series of `model_history`, and how many are left out.

    Args:
        rows: rows of the view, those of a series together, the earliest run first.
        n_series: maximum number of series, None for all; those by the verdict, and with the most
            runs, first.
        n_runs: maximum number of runs of a series.
    """
    all_series = [
        list(of_series)
        for _, of_series in groupby(rows, key=lambda row: [row[name] for name in _SERIES])
    ]
    all_series.sort(key=lambda each: (each[0]["metric"] != "passed", -len(each)))
    shown = [_series(each, n_runs) for each in all_series[:n_series]]
    return shown, len(all_series) - len(shown)


def points(rows: Sequence[Row], *, is_rate: bool) -> list[Point]:
    """Return rows of `model_history` by one metric as points on one scale."""
    values = [value_of(row) for row in rows]
    drawn = marks(values, is_rate=is_rate or are_shares(values))
    return [
        Point(
            row=row,
            value=value["value"],
            low=value["low"],
            high=value["high"],
            mark=mark,
            change=change_text(row, is_rate=is_rate),
            is_supported=is_supported(row),
        )
        for row, value, mark in zip(rows, values, drawn, strict=True)
    ]


def is_rate_of(row: Row) -> bool:
    """Return whether the figure of a row of `model_history` or `leaderboard` is a pass rate.

    Verdicts that a scorer recorded are averaged as a score, and are pass rates, too.
    """
    score = row["score"]
    return row["metric"] == "passed" and (score is None or 0 <= score <= 1)


def is_supported(row: Row) -> bool:
    """Return whether the data support the change of a row of `model_history`."""
    return row["p_holm"] is not None and row["p_holm"] < _SIGNIFICANT


def value_of(row: Row) -> dict[str, float | None]:
    """Return the figure of a row with its interval, of `model_history` or `leaderboard`."""
    name = "score" if row["pass_rate"] is None else "pass_rate"
    return {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}


def metric_of(row: Row) -> str:
    """Return the metric of a row, with scorer and filter if they are known."""
    names = (row["metric"], row["scorer"], row["filter"])
    return ", ".join(dict.fromkeys(name for name in names if name))


def change_text(row: Row, *, is_rate: bool) -> str:
    """Return the change of a row of `model_history` with its interval; empty if there is none."""
    if row["change"] is None:
        return ""
    ends = interval(row["change_low"], row["change_high"], is_rate=is_rate)
    return f"{change(row['change'], is_rate=is_rate)} {ends}".rstrip()


def _series(rows: list[Row], n_runs: int) -> Series:
    is_rate = all(map(is_rate_of, rows))
    return Series(
        row=rows[0],
        metric=metric_of(rows[0]),
        is_rate=is_rate,
        points=points(rows[: -n_runs - 1 : -1], is_rate=is_rate),
        n_runs=len(rows),
    )
