"""Axes that several charts share."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import altair as alt

from warehouse.analysis.charts.theme import ROW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.charts.chart import Panel, PanelRow

MODELS = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False))
HEIGHT = alt.Step(ROW)
MAX_MODELS = 40
_WIDE = 20  # times: from this ratio on, an axis is logarithmic
_MAX_TICKS = 6


def picture(
    rows: Sequence[PanelRow], columns: Sequence[str], *, width: int, height: int | alt.Step
) -> alt.Chart:
    """Return an empty picture of some columns of rows.

    Args:
        rows: the rows.
        columns: the columns that are drawn.
        width: width of the axes, pixels.
        height: height of the axes, or of a row, pixels.
    """
    # A tuple: Altair copies what it draws again and again, and lists and dictionaries with it.
    values = tuple({column: row[column] for column in columns} for row in rows)
    data = alt.InlineData(values=values)
    return alt.Chart(data, width=width, height=height)


def values(panel: Panel, column: str = "value") -> alt.X:
    """Return the axis of a panel's figures: a rate from 0 to 100 %, or a score on its scale.

    Args:
        panel: the panel.
        column: the column with the figures.
    """
    return alt.X(f"{column}:Q", **_scaled(panel))


def heights(panel: Panel, column: str = "value") -> alt.Y:
    """Return the same as `values`, from bottom to top."""
    return alt.Y(f"{column}:Q", **_scaled(panel))


def _scaled(panel: Panel) -> dict[str, Any]:
    if panel.is_rate:
        axis = alt.Axis(format="%", tickCount=5)
        return {"scale": alt.Scale(domain=[0, 1]), "axis": axis, "title": "pass rate"}
    axis = alt.Axis(tickCount=5)
    return {"scale": alt.Scale(zero=False, nice=True), "axis": axis, "title": panel.metric}


def amounts(column: str, low: float, high: float, *, title: str, number: str) -> alt.X:
    """Return an axis of amounts from 0, or a logarithmic one if they differ much.

    Args:
        column: the column.
        low: smallest amount.
        high: largest amount.
        title: title of the axis.
        number: format of its labels.
    """
    if low <= 0 or high / low < _WIDE:
        axis = alt.Axis(format=number, tickCount=4, labelOverlap="greedy")
        return alt.X(f"{column}:Q", scale=alt.Scale(zero=True), axis=axis, title=title)
    scale = alt.Scale(type="log", domain=[low, high], nice=False, padding=10)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    shown = [tick for tick in ticks if low <= tick <= high]
    every = max(1, -(-len(shown) // _MAX_TICKS))
    axis = alt.Axis(format=number, values=shown[::every], labelOverlap="greedy")
    return alt.X(f"{column}:Q", scale=scale, axis=axis, title=title)


def figure(panel: Panel, value: float) -> str:
    """Return a figure of a panel as text."""
    return f"{100 * value:.1f} %" if panel.is_rate else f"{value:.4g}"


def with_values(panel: Panel) -> tuple[list[PanelRow], list[str]]:
    """Return the rows with a figure, at most `MAX_MODELS`, and notes about the others."""
    known = [row for row in panel.rows if row["value"] is not None]
    notes = []
    if n_unknown := len(panel.rows) - len(known):
        notes.append(f"{panel.title}: {n_unknown} without a figure")
    return _first(panel, known, notes), notes


def _first(panel: Panel, rows: list[PanelRow], notes: list[str]) -> list[PanelRow]:
    if len(rows) > MAX_MODELS:
        notes.append(f"{panel.title}: the first {MAX_MODELS} of {len(rows)} models")
    return rows[:MAX_MODELS]
