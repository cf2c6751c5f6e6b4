"""Judges: a point for each one's kappa with people, or gold, with its 95 % interval."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.analysis.charts.axes import HEIGHT, picture, values
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel
from warehouse.analysis.charts.kinds import leaderboard
from warehouse.analysis.charts.theme import MUTED

if TYPE_CHECKING:
    from warehouse.analysis.charts.chart import Picture

_ENDS = ({"value": 0}, {"value": 1})  # agreement by chance, and always


def _draw(panel: Panel) -> DrawnPanel:
    drawn = leaderboard.CHART.draw(panel)
    points = drawn.chart
    if points is None:
        return drawn

    def with_ends() -> Picture:
        ends = picture(_ENDS, ("value",), width=panel.width, height=HEIGHT)
        chart: Picture = ends.mark_rule(color=MUTED).encode(x=values(panel)) + points()
        return chart

    return replace(drawn, chart=with_ends)


CHART = Chart(
    name="judges",
    title="Judges",
    purpose="how far each judge agrees with people, or gold, beyond chance (0) to always (1), with "
    "95 % intervals",
    columns=("label", "value", "value_low", "value_high", "n_items", "n_tasks"),
    draw=_draw,
    takes=("suite",),
)
