"""A metric over time: a line for each model, a point for each of its runs."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import date, timedelta
from functools import partial

import altair as alt

from warehouse.analysis.charts.axes import figure, heights, picture
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.theme import MODELS, PALE
from warehouse.core.text.formatting import visible
from warehouse.core.text.text_width import fold

_HEIGHT = 220
_NAMED_DAYS = 5
_TAGGED = 6  # runs: more marks would cover the points
_TAG_CELLS = 30
_DRAWN = ("label", "at", "value", "value_low", "value_high")


def _draw(panel: Panel) -> DrawnPanel:
    dated = [row for row in panel.rows if row["ran_at"] is not None]
    if not dated:
        return DrawnPanel(chart=None, words="", notes=_notes(panel, len(panel.rows), 0))
    runs: defaultdict[str, list[PanelRow]] = defaultdict(list)
    for row in dated:
        runs[row["label"]].append(row)
    shown = sorted(runs, key=lambda label: (-len(runs[label]), label))[: len(MODELS)]
    rows = [row for row in dated if row["label"] in shown]
    words = [_words(panel, runs[label]) for label in shown]
    if tagged := _tagged(rows):
        words.append("tags: " + "; ".join(f"{row['name']} {row['tag']}" for row in tagged))
    return DrawnPanel(
        chart=partial(_lines, panel, rows, shown),
        words="; ".join(words),
        notes=_notes(panel, len(panel.rows) - len(dated), len(runs) - len(shown)),
    )


def _lines(panel: Panel, rows: list[PanelRow], shown: list[str]) -> alt.LayerChart:
    x = _by_run(rows) if _has_busy_days(rows) else _by_day(rows)
    size = {"width": panel.width + 100, "height": _HEIGHT}
    base = picture(rows, _DRAWN, **size)
    scale = alt.Scale(domain=shown, range=list(MODELS[: len(shown)]))
    colour = alt.Color("label:N", scale=scale, title=None, legend=alt.Legend(symbolOpacity=1))
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=heights(panel), color=colour)
    intervals = base.mark_rule(opacity=0.35).encode(
        x=x, y=heights(panel, "value_low"), y2=alt.Y2("value_high:Q"), color=colour
    )
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        x=x, y=heights(panel), color=colour
    )
    chart: alt.LayerChart = intervals + lines + points
    if tagged := _tagged(rows):
        chart += _marks(picture(tagged, ("at", "tag"), **size), x)
    return chart


def _has_busy_days(rows: list[PanelRow]) -> bool:
    """Return whether a model has several runs on a day, which would be drawn as one point."""
    return len({(row["label"], row["ran_at"].date()) for row in rows}) < len(rows)


def _by_run(rows: list[PanelRow]) -> alt.X:
    """Place rows by the order of their runs; return the axis, with at most five days named."""
    runs = sorted({(row["ran_at"], row["run_id"]) for row in rows})
    places = {run: place for place, run in enumerate(runs)}
    for row in rows:
        row["at"] = places[row["ran_at"], row["run_id"]]
    first: dict[str, int] = {}
    for (ran_at, _), place in places.items():
        first.setdefault(f"{ran_at:%Y-%m-%d}", place)
    named = dict(list(first.items())[:: -(-len(first) // _NAMED_DAYS)])
    names = json.dumps({str(place): day for day, place in named.items()})
    axis = alt.Axis(
        values=list(named.values()),
        labelExpr=f"{names}[datum.value]",
        labelOverlap="greedy",
        labelBound=True,
    )
    scale = alt.Scale(domain=[0, max(len(runs) - 1, 1)])
    return alt.X("at:Q", scale=scale, axis=axis, title="runs in their order")


def _by_day(rows: list[PanelRow]) -> alt.X:
    """Place rows by time; return an axis of days, five named: hours would repeat a date."""
    for row in rows:
        row["at"] = f"{row['ran_at']:%Y-%m-%dT%H:%M:%SZ}"
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


def _tagged(rows: list[PanelRow]) -> list[PanelRow]:
    """Return the latest tagged runs, each once, with their tags as text."""
    runs = {(row["ran_at"], row["run_id"]): row for row in rows if row["tags"]}
    latest = [runs[run] for run in sorted(runs)[-_TAGGED:]]
    return [
        {**row, "name": visible(row["run_id"]), "tag": _tag_text(row["tags"])} for row in latest
    ]


def _tag_text(tags: dict[str, str]) -> str:
    text = ", ".join(f"{name}={value}" for name, value in sorted(tags.items()))
    return fold(visible(text), _TAG_CELLS)


def _marks(base: alt.Chart, x: alt.X) -> alt.LayerChart:
    """Return a line at each tagged run, with its tags along it."""
    lines = base.mark_rule(color=PALE, strokeDash=[3, 3]).encode(x=x)
    text = base.mark_text(color=PALE, angle=270, align="right", baseline="bottom", dx=-4, dy=-3)
    marks: alt.LayerChart = lines + text.encode(x=x, y=alt.value(0), text=alt.Text("tag:N"))
    return marks


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
