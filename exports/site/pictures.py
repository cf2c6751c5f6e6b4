"""Charts on pages: pictures for wide pages and for phones, in words, and as figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from exports.site.page import Page
from exports.site.tables import table
from warehouse.analysis.charts.chart import SHARES
from warehouse.analysis.charts.theme import WIDE, WIDTH
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exports.site.tables import Table
    from warehouse.analysis.charts.chart import Chart, Drawing, Panel

_FIGURES = 100  # rows of the table behind a chart


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChart:
    """A chart as the macro `chart` of `parts.html` writes it.

    Attributes:
        title: its title.
        purpose: what it answers.
        path: path of its picture.
        narrow: path of its picture for phones.
        words: what the picture shows.
        notes: what the picture leaves out, and why.
        figures: the tables behind it: that of pass rates, and that of other figures.
    """

    title: str
    purpose: str
    path: str
    narrow: str
    words: str
    notes: list[str]
    figures: list[Table]


def drawings(chart: Chart, panels: Sequence[Panel]) -> tuple[Drawing, Drawing] | None:
    """Return a chart for wide pages and for phones; None if it has nothing to show."""
    # Imported here, and below: the server has begun before Altair is there.
    from warehouse.analysis.charts.registry import draw_panels

    try:
        wide = draw_panels(chart, panels, width=WIDE)
        return wide, draw_panels(chart, panels, width=WIDTH, has_table=False)
    except BadInput:  # nothing to draw: no costs, no dates, a single model
        return None


def shown_chart(
    chart: Chart, drawn: tuple[Drawing, Drawing], paths: tuple[str, str]
) -> tuple[ShownChart, list[Page]]:
    """Return what a page shows of a chart, and its pictures, which are at these paths."""
    wide, _ = drawn
    pictures = [
        Page(path=path, content=partial(_svg, each))
        for path, each in zip(paths, drawn, strict=True)
    ]
    shown = ShownChart(
        title=wide.title,
        purpose=chart.purpose,
        path=paths[0],
        narrow=paths[1],
        words="; ".join(wide.words),
        notes=wide.notes,
        figures=list(_figures(wide)),
    )
    return shown, pictures


def _svg(drawing: Drawing) -> bytes:
    from altair.utils.schemapi import debug_mode

    from warehouse.analysis.charts.svg import as_svg

    # Altair checks its own specifications: most of the time of a chart, and never wrong.
    with debug_mode(arg=False):
        return as_svg(drawing).encode()


def _figures(drawing: Drawing) -> Iterator[Table]:
    """Yield the tables behind a chart: pass rates, in per cent as it is drawn, other figures."""
    for shares in (SHARES, ()):
        rows = [row for row in drawing.rows if row["is_rate"] is bool(shares)]
        if rows:
            # Rows that a drawing leaves out are all of one kind.
            n_rows = len(rows) + drawing.n_left_out
            yield table(rows, drawing.columns, shares=shares, limit=_FIGURES, n_rows=n_rows)
