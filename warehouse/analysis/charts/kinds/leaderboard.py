"""The leaderboard: a point for each model, with its 95 % interval."""

from __future__ import annotations

from functools import partial

import altair as alt

from warehouse.analysis.charts.axes import HEIGHT, MODELS, figure, picture, values, with_values
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.theme import ACCENT, MUTED

_NAMED = 5  # models
_DRAWN = ("label", "value", "value_low", "value_high", "is_comparable")


def _draw(panel: Panel) -> DrawnPanel:
    rows, notes = with_values(panel)
    if not rows:
        return DrawnPanel(chart=None, words="", notes=notes)
    if not all(row["is_comparable"] for row in rows):
        why = "were not asked the same tasks, and cannot be compared"
        notes.append(f"{panel.title}: grey models {why}")
    if any(row.get("min_pass_rate") is not None for row in rows):
        notes.append(
            f"{panel.title}: where verdicts are missing, figures are of the judged tasks, and the "
            "order counts the missing ones as failures"
        )
    if unanswered := [row for row in rows if row.get("n_unanswered")]:
        most = sorted(
            unanswered, key=lambda row: row["n_unanswered"] / row["n_results"], reverse=True
        )
        named = [
            f"{row['label']} {row['n_unanswered']:,} of {row['n_results']:,}"
            for row in most[:_NAMED]
        ]
        more = f" and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
        notes.append(
            f"{panel.title}: calls that got no answer count as not passed: {', '.join(named)}{more}"
        )
    words = "; ".join(_words(panel, row) for row in rows[:_NAMED])
    return DrawnPanel(chart=partial(_points, panel, rows), words=words, notes=notes)


def _points(panel: Panel, rows: list[PanelRow]) -> alt.LayerChart:
    base = picture(rows, _DRAWN, width=panel.width, height=HEIGHT)
    colour = alt.ColorValue(MUTED, condition={"test": "datum.is_comparable", "value": ACCENT})
    low = values(panel, "value_low")
    intervals = base.mark_rule(strokeWidth=2, opacity=0.55).encode(
        y=MODELS, x=low, x2=alt.X2("value_high:Q"), color=colour
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y=MODELS, x=values(panel), color=colour
    )
    chart: alt.LayerChart = intervals + points
    return chart


def _words(panel: Panel, row: PanelRow) -> str:
    text = f"{row['label']} {figure(panel, row['value'])}"
    if row["value_low"] is None:
        return text
    low, high = figure(panel, row["value_low"]), figure(panel, row["value_high"])
    of_what = "" if row["remark"] is None else f", {row['remark']}"
    return f"{text} (95 % interval {low} to {high}{of_what})"


CHART = Chart(
    name="leaderboard",
    title="Leaderboard",
    purpose="the models of each task set, with 95 % intervals",
    columns=(
        *("label", "model", "settings", "value", "value_low", "value_high", "min_pass_rate"),
        *("max_pass_rate", "remark", "n_tasks", "run_id"),
    ),
    draw=_draw,
)
