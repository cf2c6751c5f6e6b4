"""Cost against score, and the front of models that no other beats in both."""

from __future__ import annotations

from functools import partial

import altair as alt

from warehouse.analysis.charts.axes import amounts, figure, heights, picture
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.theme import ACCENT, INK, MUTED
from warehouse.core.text.figures import money

_HEIGHT = 240
_DRAWN = ("cost_usd", "value", "is_on_front")
_MAX_NAMES = 12


def _draw(panel: Panel) -> DrawnPanel:
    rows = [row for row in panel.rows if row["is_on_front"] is not None]
    if not rows:
        return DrawnPanel(chart=None, words="", notes=_notes(panel, [], []))
    front = [row for row in rows if row["is_on_front"]]
    # By number, so that names on the picture cannot overlap; the legend below has the names.
    for n, row in enumerate(front, start=1):
        row["number"] = str(n)
    return DrawnPanel(
        chart=partial(_points, panel, rows, front),
        words=_words(panel, front),
        notes=_notes(panel, rows, front),
    )


def _points(panel: Panel, rows: list[PanelRow], front: list[PanelRow]) -> alt.VConcatChart:
    base = picture(rows, _DRAWN, width=panel.width, height=_HEIGHT)
    best = picture(front, (*_DRAWN, "number"), width=panel.width, height=_HEIGHT)
    x, y = _costs(rows), heights(panel)
    colour = alt.ColorValue(MUTED, condition={"test": "datum.is_on_front", "value": ACCENT})
    line = best.mark_line(interpolate="step-after", color=ACCENT, strokeWidth=1.5, opacity=0.6)
    points = base.mark_point(filled=True, size=60, opacity=0.9).encode(x=x, y=y, color=colour)
    names = best.mark_text(dy=-10, color=INK, fontWeight="bold").encode(
        x=x, y=y, text=alt.Text("number:N")
    )
    return alt.vconcat(line.encode(x=x, y=y) + points + names, _key(panel, front), spacing=6)


def _costs(rows: list[PanelRow]) -> alt.X:
    costs = [row["cost_usd"] for row in rows]
    title = "cost of a call, US dollars"
    return amounts("cost_usd", min(costs), max(costs), title=title, number="~g")


def _key(panel: Panel, front: list[PanelRow]) -> alt.Chart:
    """Return the names of the numbered models, one below the other."""
    lines = [{"line": f"{row['number']}  {_name(panel, row)}"} for row in front[:_MAX_NAMES]]
    text = picture(lines, ("line",), width=panel.width, height=alt.Step(16))
    y = alt.Y("line:N", sort=None, axis=None)
    key: alt.Chart = text.mark_text(align="left", color=INK).encode(
        y=y, x=alt.value(0), text=alt.Text("line:N")
    )
    return key


def _name(panel: Panel, row: PanelRow) -> str:
    cost = money(float(f"{row['cost_usd']:.3g}"))
    return f"{row['label']}: {figure(panel, row['value'])} for ${cost}"


def _words(panel: Panel, front: list[PanelRow]) -> str:
    models = "; ".join(_name(panel, row) for row in front[:_MAX_NAMES])
    return f"on the front: {models}"


def _notes(panel: Panel, rows: list[PanelRow], front: list[PanelRow]) -> list[str]:
    notes = []
    if len(front) > _MAX_NAMES:
        notes.append(f"{panel.title}: only {_MAX_NAMES} of {len(front)} on the front are named")
    if n_unknown := len(panel.rows) - len(rows):
        why = "of unknown cost or score, or not asked the same tasks"
        models = "1 model" if n_unknown == 1 else f"{n_unknown} models"
        notes.append(f"{panel.title}: without {models} {why}")
    return notes


CHART = Chart(
    name="costs",
    title="Cost against score",
    purpose="cost of a call against the score, with the Pareto front",
    columns=(
        "number",
        "label",
        "model",
        "settings",
        "value",
        "cost_usd",
        "n_cost_known",
        "is_on_front",
        "run_id",
    ),
    draw=_draw,
)
