"""A chart as an HTML page: the picture, its notes, and its figures as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from warehouse.analysis.charts.chart import MOST_ROWS, SHARES
from warehouse.analysis.charts.svg import as_svg
from warehouse.analysis.charts.theme import STYLE
from warehouse.app.output.html import render
from warehouse.core.text.figures import percent
from warehouse.core.text.formatting import human
from warehouse.core.text.headings import heading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warehouse.analysis.charts.chart import Drawing

_TEMPLATE = Path(__file__).with_name("templates") / "chart_page.html"
_STYLE = STYLE + "figure { margin: 1rem 0; }\n"


def as_page(drawing: Drawing) -> str:
    """Return a self-contained page without scripts."""
    shown = drawing.rows[:MOST_ROWS]
    rows = [[_shown(row, name) for name in drawing.columns] for row in shown]
    numeric = [any(_is_number(row[name]) for row in shown) for name in drawing.columns]
    return render(
        _TEMPLATE,
        drawing.title,
        style=_STYLE,
        picture=Markup(as_svg(drawing, has_style=False)),  # noqa: S704 - Vega escapes texts
        notes=drawing.notes,
        n_left_out=len(drawing.rows) - len(rows) + drawing.n_left_out,
        columns=[heading(human(name)) for name in drawing.columns],
        rows=rows,
        numeric=numeric,
    )


def _shown(row: Mapping[str, Any], name: str) -> object:
    """Return a figure as the picture has it: pass rates in per cent; what is not known, empty."""
    value = row[name]
    is_rate = name in SHARES and row["is_rate"]
    return percent(value) if is_rate and value is not None else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
