"""Difficulty against models: how each does on tasks that are easy or hard for all."""

from __future__ import annotations

from functools import partial

import altair as alt

from warehouse.analysis.charts.axes import HEIGHT, MAX_MODELS, MODELS, figure, picture
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.kinds.shares import DARK_FROM, shares
from warehouse.analysis.charts.theme import GRID, INK, ON_DARK

_BANDS = ("100", "75–100", "50–75", "25–50", "0–25", "0")

_DRAWN = ("label", "band_name", "value", "percent")


def _draw(panel: Panel) -> DrawnPanel:
    labels = list(dict.fromkeys(row["label"] for row in panel.rows))
    shown = labels[:MAX_MODELS]
    rows = [
        {**row, "band_name": _BANDS[row["band"] - 1], "percent": f"{100 * row['value']:.0f}"}
        for row in panel.rows
        if row["label"] in shown
    ]
    notes = []
    if len(labels) == 1:
        notes.append(f"{panel.title}: with one model, its own scores say how hard a task is")
    if len(labels) > len(shown):
        notes.append(f"{panel.title}: the best {MAX_MODELS} of {len(labels)} models")
    return DrawnPanel(chart=partial(_squares, panel, rows), words=_words(panel, shown), notes=notes)


def _squares(panel: Panel, rows: list[PanelRow]) -> alt.LayerChart:
    names = [name for name in _BANDS if any(row["band_name"] == name for row in rows)]
    title = "mean of all models on the task, %"
    axis = alt.Axis(domain=False, ticks=False, labelAngle=0)
    x = alt.X("band_name:N", sort=names, axis=axis, title=title)
    base = picture(rows, _DRAWN, width=panel.width, height=HEIGHT)
    squares = base.mark_rect(stroke=GRID).encode(x=x, y=MODELS, color=shares("share passed"))
    on_dark = {"test": f"datum.value >= {DARK_FROM}", "value": ON_DARK}
    ink = alt.ColorValue(INK, condition=on_dark)
    text = base.mark_text().encode(x=x, y=MODELS, text=alt.Text("percent:N"), color=ink)
    chart: alt.LayerChart = squares + text
    return chart


def _words(panel: Panel, labels: list[str]) -> str:
    models = []
    for label in labels[:5]:
        own = (row for row in panel.rows if row["label"] == label)
        bands = (f"{figure(panel, row['value'])} at {_BANDS[row['band'] - 1]}" for row in own)
        models.append(f"{label}: {', '.join(bands)}")
    return "; ".join(models)


CHART = Chart(
    name="difficulty",
    title="Difficulty against models",
    purpose="how each model does on tasks that are easy or hard for all of them",
    columns=("label", "model", "settings", "band", "value", "n_tasks"),
    draw=_draw,
)
