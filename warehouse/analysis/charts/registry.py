"""The charts, and how one is drawn of a store."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from warehouse.analysis.charts.chart import Chart, Drawing
from warehouse.analysis.charts.kinds import (
    costs,
    difficulty,
    heatmap,
    history,
    judges,
    latency,
    leaderboard,
)
from warehouse.analysis.charts.panels import panels_of
from warehouse.analysis.charts.theme import WIDTH
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warehouse.analysis.charts.chart import DrawnPanel, Panel, Picture
    from warehouse.core.types import Row
    from warehouse.engine.base_store import BaseStore

CHARTS = (
    leaderboard.CHART,
    history.CHART,
    costs.CHART,
    latency.CHART,
    difficulty.CHART,
    heatmap.CHART,
    judges.CHART,
)
_MAX_PANELS = 12


def draw_chart(
    store: BaseStore,
    name: str,
    *,
    suite: str | None = None,
    task_set: str | None = None,
    metric: str | None = None,
    width: int = WIDTH,
) -> Drawing:
    """Draw a chart of what a store has, with a panel for each task set and metric.

    Args:
        store: the store.
        name: name of the chart.
        suite: only this suite.
        task_set: only this task set.
        metric: this metric; by default the main one of each task set.
        width: width of the axes, pixels.

    Raises:
        BadInput: there is no such chart, it does not take an argument, or has nothing to show.
    """
    chart = _chart(name)
    given = {"suite": suite, "task_set": task_set, "metric": metric}
    for argument, value in given.items():
        if value is not None and argument not in chart.takes:
            raise BadInput(
                f"the chart {name!r} is not by {argument.replace('_', ' ')}; leave it out"
            )
    with store.reading() as connection:
        panels = panels_of(connection, chart, {name: given[name] for name in chart.takes})
    if not panels:
        raise BadInput(_nothing(chart, given))
    try:
        drawing = draw_panels(chart, panels, width=width)
    except BadInput as error:
        raise BadInput("; ".join([_nothing(chart, given), *filter(None, [str(error)])])) from None
    if not store.left_out:
        return drawing
    return replace(drawing, left_out=store.left_out, words=[store.left_out, *drawing.words])


def draw_panels(
    chart: Chart, panels: Sequence[Panel], *, width: int = WIDTH, has_table: bool = True
) -> Drawing:
    """Draw a chart of panels, one below the other.

    Args:
        chart: the chart.
        panels: its panels.
        width: width of the axes, pixels.
        has_table: whether the table behind it is wanted, too.

    Raises:
        BadInput: no panel has anything to show; the message says why, where that is known.
    """
    sized = [replace(panel, width=width) for panel in panels]
    drawn = [(panel, chart.draw(panel)) for panel in sized]
    shown = [(panel, picture) for panel, picture in drawn if picture.chart is not None]
    notes = [note for _, picture in drawn if picture.chart is None for note in picture.notes]
    if not shown:
        raise BadInput("; ".join(notes))
    if len(shown) > _MAX_PANELS:
        notes.append(
            f"the first {_MAX_PANELS} of {len(shown)} task sets and metrics; choose by suite, "
            "task set or metric"
        )
    drawing = _drawing(chart, shown[:_MAX_PANELS], notes, width)
    if not has_table:
        return drawing
    shown = shown[:_MAX_PANELS]
    return replace(
        drawing,
        rows=[row for panel, picture in shown for row in _table_rows(chart, panel, picture)],
        n_left_out=sum(picture.n_left_out for _, picture in shown),
    )


def _chart(name: str) -> Chart:
    known = {chart.name: chart for chart in CHARTS}
    if name not in known:
        names = f"the charts are: {', '.join(known)}"
        raise BadInput(f"there is no chart {name!r}; {did_you_mean(name, known, names)}")
    return known[name]


def _nothing(chart: Chart, given: dict[str, str | None]) -> str:
    wanted = [f"{name.replace('_', ' ')} {value!r}" for name, value in given.items() if value]
    of = f" of {', '.join(wanted)}" if wanted else ""
    return (
        f"the store has nothing{of} that the chart {chart.name!r} shows; `evalstore show "
        "leaderboard` lists suites, task sets and metrics"
    )


def _titled(draw: Callable[[], Picture], title: str) -> Picture:
    chart: Picture = draw().properties(title=title)
    return chart


def _drawing(
    chart: Chart, shown: list[tuple[Panel, DrawnPanel]], notes: list[str], width: int
) -> Drawing:
    return Drawing(
        title=chart.title,
        pictures=[
            partial(_titled, picture.chart, panel.title)
            for panel, picture in shown
            if picture.chart is not None
        ],
        width=width,
        words=[f"{panel.title}: {picture.words}" for panel, picture in shown],
        notes=[*(note for _, picture in shown for note in picture.notes), *notes],
        columns=("panel", *chart.columns),
        rows=[],
    )


def _table_rows(chart: Chart, panel: Panel, picture: DrawnPanel) -> Iterator[Row]:
    place = {"panel": panel.title, "is_rate": panel.is_rate}
    for row in panel.rows if picture.rows is None else picture.rows:
        yield place | {name: row.get(name) for name in chart.columns}
