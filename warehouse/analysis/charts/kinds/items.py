"""Items: a point for each, the share that passes across, and how far it tells systems apart."""

from __future__ import annotations

from functools import partial

import altair as alt

from warehouse.analysis.charts.axes import picture
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.theme import ACCENT, MUTED

_HEIGHT = 260  # pixels
_DRAWN = ("pass_rate", "discrimination", "is_suspect")
_ZERO = ({"discrimination": 0},)


def _draw(panel: Panel) -> DrawnPanel:
    rows = [row for row in panel.rows if row["discrimination"] is not None]
    if not rows:
        return DrawnPanel(chart=None, words="", notes=[f"{panel.title}: no item varies"])
    suspects = [row for row in rows if row["is_suspect"]]
    n_left_out = len(panel.rows) - len(rows)
    items = "1 item" if n_left_out == 1 else f"{n_left_out} items"
    note = f"{panel.title}: no discrimination of {items} that all or none pass"
    n_negative = sum(row["discrimination"] < 0 for row in rows)
    words = (
        f"{panel.title}: {len(rows)} items, {n_negative} with a negative discrimination; "
        f"{len(suspects)} suspect ones are filled"
    )
    chart = partial(_points, panel.width, rows, suspects)
    return DrawnPanel(chart=chart, words=words, notes=[note] if n_left_out else [])


def _points(width: int, rows: list[PanelRow], suspects: list[PanelRow]) -> alt.LayerChart:
    y = alt.Y("discrimination:Q", scale=alt.Scale(domain=[-1, 1]), title="discrimination")
    x = alt.X(
        "pass_rate:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="pass rate"
    )
    size = {"width": width, "height": _HEIGHT}
    line = picture(_ZERO, ("discrimination",), **size).mark_rule(color=MUTED).encode(y=y)
    points = picture(rows, _DRAWN, **size).mark_point(size=45, color=ACCENT, strokeWidth=1.5)
    filled = picture(suspects, _DRAWN, **size).mark_point(
        size=45, color=ACCENT, filled=True, opacity=1
    )
    chart: alt.LayerChart = line + points.encode(x=x, y=y) + filled.encode(x=x, y=y)
    return chart


CHART = Chart(
    name="items",
    title="Difficulty and discrimination",
    purpose="the share of attempts that pass each item, and its correlation with the other items: "
    "suspect items are filled, and below 0 stronger systems fail",
    columns=("label", "pass_rate", "discrimination", "n_systems"),
    draw=_draw,
    takes=("suite", "task_set"),
)
