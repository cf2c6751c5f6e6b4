"""What a chart is: panels of rows, a function that draws a panel, and one that puts it in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from warehouse.core.types import Row

PanelRow = dict[str, Any]
# Columns of the tables behind charts that are pass rates in panels of rates.
SHARES = ("value", "value_low", "value_high", "task_mean", "model_mean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The rows that are drawn on the same axes: those of one task set by one metric.

    Attributes:
        title: suite, task set and metric.
        metric: name of the metric, with scorer and filter if they are known; empty for latencies.
        is_rate: whether the values are pass rates, from 0 to 1.
        rows: rows of the query, each with the model's `label`, unique in the panel.
        width: width of the axes, pixels.
    """

    title: str
    metric: str
    is_rate: bool
    rows: list[PanelRow]
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPanel:
    """A panel as it was drawn.

    Attributes:
        chart: the picture; None if the panel has nothing to show.
        words: what it shows, for those who cannot see it.
        notes: what it leaves out, and why.
    """

    chart: alt.LayerChart | alt.VConcatChart | alt.Chart | None
    words: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart that can be asked for by name.

    Attributes:
        name: its name, and that of its query.
        title: its title.
        purpose: what it answers, for the help.
        columns: columns of the query that the table behind it shows.
        draw: draws a panel.
        takes: which rows can be selected: `suite`, `task_set`, `metric`.
    """

    name: str
    title: str
    purpose: str
    columns: tuple[str, ...]
    draw: Callable[[Panel], DrawnPanel]
    takes: tuple[str, ...] = ("suite", "task_set", "metric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart of a store, ready to be written.

    Attributes:
        title: its title.
        chart: the picture, its panels one below the other.
        words: what each panel shows.
        notes: what the picture leaves out, and why.
        columns: names of the columns of the table behind it.
        rows: the rows of that table; `is_rate` says whether those of `SHARES` are pass rates.
    """

    title: str
    chart: alt.VConcatChart
    words: list[str]
    notes: list[str]
    columns: tuple[str, ...]
    rows: list[Row]
