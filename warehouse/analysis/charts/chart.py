"""What a chart is: panels of rows, a function that draws a panel, and one that puts it in words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from warehouse.analysis.charts.theme import WIDTH, themed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import altair as alt

    from warehouse.core.types import Row

    Picture = alt.LayerChart | alt.VConcatChart | alt.Chart

PanelRow = dict[str, Any]
# Of the table behind a chart that a page shows: a heat map of 50 models has 100,000 cells.
MOST_ROWS = 5_000
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
    width: int = WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPanel:
    """A panel as it was drawn.

    Attributes:
        chart: draws the picture, which takes most of the time; None if the panel has nothing to
            show.
        words: what it shows, for those who cannot see it.
        notes: what it leaves out, and why.
        rows: rows of the table behind it, at most `MOST_ROWS`; None for those of the panel.
        n_left_out: how many more such rows there are.
    """

    chart: Callable[[], Picture] | None
    words: str
    notes: list[str] = field(default_factory=list)
    rows: Iterable[PanelRow] | None = None
    n_left_out: int = 0


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
        pictures: draw the picture of each panel; they stand one below the other.
        width: width of the axes, pixels.
        words: what each panel shows.
        notes: what the picture leaves out, and why.
        columns: names of the columns of the table behind it.
        rows: the rows of that table; `is_rate` says whether those of `SHARES` are pass rates.
        n_left_out: how many more rows it would have.
        left_out: the sentence on tasks that all of it leaves out, a title; empty for none.
    """

    title: str
    pictures: list[Callable[[], Picture]]
    width: int
    words: list[str]
    notes: list[str]
    columns: tuple[str, ...]
    rows: list[Row]
    n_left_out: int = 0
    left_out: str = ""

    @property
    def chart(self) -> alt.VConcatChart:
        """The picture as a chart of Altair."""
        import altair as alt  # takes half a second: pages need it only for pictures

        panels = alt.vconcat(*(draw() for draw in self.pictures))
        joined = panels.resolve_scale(color="independent")
        if self.left_out:
            joined = joined.properties(title=self.left_out)
        return themed(joined, self.width)

    def spec(self) -> dict[str, Any]:
        """Return the specification of the picture.

        The same picture as that of `chart` in a third of the time: Altair copies all panels
        whenever it puts some together, and checks what it writes.
        """
        frame = replace(self, pictures=[]).chart.to_dict(validate=False)
        context: dict[str, Any] = {"datasets": {}, "top_level": False}
        panels = [draw().to_dict(validate=False, context=context) for draw in self.pictures]
        return {**frame, "vconcat": panels, "datasets": context["datasets"]}
