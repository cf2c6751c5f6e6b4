"""The pages of suites: every leaderboard in full, and the charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from altair.utils.schemapi import debug_mode

from exports.site.addresses import chart_file, model_page, run_page, suite_page
from exports.site.boards import boards
from exports.site.page import Page, PageType
from exports.site.tables import table
from warehouse.charts.registry import CHARTS, draw_chart
from warehouse.charts.svg import as_svg
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.boards import Board
    from exports.site.site import Site
    from exports.site.tables import Table
    from warehouse.charts.chart import Drawing

_SUITES = """
SELECT suite, count(*) AS n_runs, max(run_date) AS last_date
FROM runs
GROUP BY suite
ORDER BY suite
"""
_COLUMNS = (
    "task_set", "metric", "scorer", "filter", "model", "settings", "score", "score_low",
    "score_high", "n_scored", "run_id",
)  # fmt: skip
_IN_THE_TABLES = {"leaderboard"}
_MODELS = 100
_OTHERS = 500


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of each suite, and its charts."""
    known = boards(site)
    for row in site.rows(_SUITES):
        suite = row["suite"]
        of_suite = [board for board in known if board.suite == suite]
        pictures = list(_pictures(site, suite))
        for name, _, svg in pictures:
            yield Page(path=chart_file(suite, name), data=svg.encode())
        yield site.page(
            "suite.html",
            suite_page(suite),
            suite,
            row=row,
            boards=[board for board in of_suite if board.is_main],
            limit=_MODELS,
            others=_others(of_suite),
            charts=[
                (drawing.title, chart_file(suite, name), "; ".join(drawing.words), drawing.notes)
                for name, drawing, _ in pictures
            ],
        )


def _others(boards_of_suite: list[Board]) -> Table:
    """Return the figures by other than the main metrics, as one table."""
    rows = [place.row for board in boards_of_suite if not board.is_main for place in board.places]
    return table(
        rows,
        _COLUMNS,
        links={
            "model": lambda row: model_page(row["model"]),
            "run_id": lambda row: run_page(row["suite"], row["run_id"]),
        },
        limit=_OTHERS,
    )


def _pictures(site: Site, suite: str) -> Iterator[tuple[str, Drawing, str]]:
    """Yield the charts of a suite that have something to show: name, drawing and SVG."""
    for chart in CHARTS:
        if chart.name in _IN_THE_TABLES:
            continue
        try:
            # Altair checks its own specifications: most of the time of a chart, and never wrong.
            with debug_mode(arg=False):
                drawing = draw_chart(site.store, chart.name, suite=suite)
                yield chart.name, drawing, as_svg(drawing)
        except BadInput:  # nothing to draw: no costs, no dates, a single model
            continue


PAGE_TYPE = PageType(name="suite", pages=pages)
