"""A chart as an HTML page: the picture, its notes, and its figures as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from warehouse.charts.svg import STYLE, as_svg
from warehouse.output.html import render

if TYPE_CHECKING:
    from warehouse.charts.chart import Drawing

_TEMPLATE = Path(__file__).with_name("page.html")
_ROWS = 5_000  # a heat map of 50 models has 100,000 cells: 10 MB
_STYLE = STYLE + "figure { margin: 1rem 0; }\n"


def as_page(drawing: Drawing) -> str:
    """Return a self-contained page without scripts."""
    rows = [[row[name] for name in drawing.columns] for row in drawing.rows[:_ROWS]]
    kinds = list(zip(*rows, strict=True)) or [() for _ in drawing.columns]
    return render(
        _TEMPLATE,
        drawing.title,
        style=_STYLE,
        picture=Markup(as_svg(drawing, has_style=False)),  # noqa: S704 - Vega escapes texts
        notes=drawing.notes,
        n_left_out=len(drawing.rows) - len(rows),
        columns=drawing.columns,
        rows=rows,
        numeric=[any(map(_is_number, column)) for column in kinds],
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
