"""A metric over time: a line for each model, a point for each of its runs."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta

import altair as alt

from warehouse.charts.axes import figure, heights, picture
from warehouse.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.charts.theme import MODELS

_HEIGHT = 220
_NAMED_DAYS = 5
_DRAWN = ("label", "at", "value", "value_low", "value_high")


def _draw(panel: Panel) -> DrawnPanel:
    dated = [row for row in panel.rows if row["ran_at"] is not None]
    if not dated:
        return DrawnPanel(chart=None, words="", notes=_notes(panel, len(panel.rows), 0))
    runs: defaultdict[str, list[PanelRow]] = defaultdict(list)
    for row in dated:
        runs[row["label"]].append(row)
    shown = sorted(runs, key=lambda label: (-len(runs[label]), label))[: len(MODELS)]
    rows = [
        {**row, "at": f"{row['ran_at']:%Y-%m-%dT%H:%M:%SZ}"}
        for row in dated
        if row["label"] in shown
    ]
    base = picture(rows, _DRAWN, width=panel.width + 100, height=_HEIGHT)
    x = _days(rows)
    scale = alt.Scale(domain=shown, range=list(MODELS[: len(shown)]))
    colour = alt.Color("label:N", scale=scale, title=None, legend=alt.Legend(symbolOpacity=1))
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=heights(panel), color=colour)
    intervals = base.mark_rule(opacity=0.35).encode(
        x=x, y=heights(panel, "value_low"), y2="value_high:Q", color=colour
    )
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        x=x, y=heights(panel), color=colour
    )
    words = "; ".join(_words(panel, runs[label]) for label in shown)
    return DrawnPanel(
        chart=intervals + lines + points,
        words=words,
        notes=_notes(panel, len(panel.rows) - len(dated), len(runs) - len(shown)),
    )


def _days(rows: list[PanelRow]) -> alt.X:
    """Return an axis of whole days, at most five of them named; hours would repeat a date."""
    days = sorted({row["ran_at"].date() for row in rows})
    named = days[:: -(-len(days) // _NAMED_DAYS)]
    ends = [days[0], days[-1] + timedelta(days=1)]
    scale = alt.Scale(type="utc", domain=list(map(_midnight, ends)))
    axis = alt.Axis(
        format="%Y-%m-%d",
        values=list(map(_midnight, named)),
        labelOverlap="greedy",
        labelBound=True,
    )
    return alt.X("at:T", scale=scale, axis=axis, title=None)


def _midnight(day: date) -> alt.DateTime:
    return alt.DateTime(year=day.year, month=day.month, date=day.day, utc=True)


def _words(panel: Panel, runs: list[PanelRow]) -> str:
    first, last = runs[0], runs[-1]
    start = f"{first['label']} {figure(panel, first['value'])} on {first['ran_at']:%Y-%m-%d}"
    if len(runs) == 1:
        return start
    return f"{start}, {figure(panel, last['value'])} on {last['ran_at']:%Y-%m-%d}"


def _notes(panel: Panel, n_undated: int, n_others: int) -> list[str]:
    notes = []
    if n_undated:
        runs = "1 run" if n_undated == 1 else f"{n_undated} runs"
        notes.append(f"{panel.title}: without {runs} of unknown date")
    if n_others:
        notes.append(
            f"{panel.title}: the {len(MODELS)} models with the most runs; {n_others} are left out"
        )
    return notes


CHART = Chart(
    name="history",
    title="History",
    purpose="a metric over time, a line for each model",
    columns=("label", "model", "settings", "ran_at", "run_id", "value", "value_low", "value_high"),
    draw=_draw,
)
