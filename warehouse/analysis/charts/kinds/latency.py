"""Latencies: the median of each model, and a line to its 95th percentile."""

from __future__ import annotations

from functools import partial

import altair as alt

from warehouse.analysis.charts.axes import HEIGHT, MAX_MODELS, MODELS, amounts, picture
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.theme import ACCENT

_DRAWN = ("label", "p50", "p95")
# Units of an axis: milliseconds of each, and the longest time from which on it is taken.
_UNITS = (
    ("hours", 3_600_000, 7_200_000),
    ("minutes", 60_000, 120_000),
    ("seconds", 1_000, 1_000),
    ("milliseconds", 1, 0),
)


def _draw(panel: Panel) -> DrawnPanel:
    rows = panel.rows[:MAX_MODELS]
    n_others = len(panel.rows) - len(rows)
    note = f"{panel.title}: the {MAX_MODELS} fastest of {len(panel.rows)} models"
    words = "; ".join(
        f"{row['label']} median {row['p50_ms']:,.0f} ms, 95th percentile {row['p95_ms']:,.0f} ms "
        f"({_ends(row)})"
        for row in rows[:5]
    )
    return DrawnPanel(
        chart=partial(_lines, panel, rows), words=words, notes=[note] if n_others else []
    )


def _lines(panel: Panel, rows: list[PanelRow]) -> alt.LayerChart:
    longest = max(row["p95_ms"] for row in rows)
    unit, unit_ms = next((name, ms) for name, ms, least in _UNITS if longest >= least)
    times = [
        {**row, "p50": row["p50_ms"] / unit_ms, "p95": row["p95_ms"] / unit_ms} for row in rows
    ]
    base = picture(times, _DRAWN, width=panel.width, height=HEIGHT)
    low, high = min(row["p50"] for row in times), longest / unit_ms
    title = f"median and 95th percentile, {unit}"
    x, upper = (amounts(column, low, high, title=title, number=",~f") for column in ("p50", "p95"))
    lines = base.mark_rule(color=ACCENT, strokeWidth=2, opacity=0.55)
    ends = base.mark_tick(color=ACCENT, thickness=2, size=10)
    points = base.mark_point(filled=True, size=55, opacity=1, color=ACCENT)
    chart: alt.LayerChart = (
        lines.encode(y=MODELS, x=x, x2=alt.X2("p95:Q"))
        + ends.encode(y=MODELS, x=upper)
        + points.encode(y=MODELS, x=x)
    )
    return chart


def _ends(row: PanelRow) -> str:
    if row["p95_ms_high"] is None:
        return f"more than {row['p95_ms_low']:,.0f} ms"
    return f"95 % interval {row['p95_ms_low']:,.0f} to {row['p95_ms_high']:,.0f} ms"


CHART = Chart(
    name="latency",
    title="Latency",
    purpose="median and 95th percentile of the latency of each model's latest run",
    columns=(
        *("label", "model", "settings", "p50_ms", "p95_ms", "p95_ms_low", "p95_ms_high"),
        *("n_timed", "run_id"),
    ),
    draw=_draw,
    takes=("suite",),
)
