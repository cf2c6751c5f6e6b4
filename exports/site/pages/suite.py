"""The pages of suites: every leaderboard in full, and the charts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from altair.utils.schemapi import debug_mode

from exports.site.addresses import chart_file, model_page, run_page, suite_page
from exports.site.boards import boards
from exports.site.page import Contents, Page
from exports.site.site import PageType
from exports.site.tables import table
from warehouse.analysis.charts.chart import SHARES
from warehouse.analysis.charts.panels import panels_of
from warehouse.analysis.charts.registry import CHARTS, draw_panels
from warehouse.analysis.charts.svg import as_svg
from warehouse.analysis.charts.theme import WIDE, WIDTH
from warehouse.app.commands.history_chart import outage_pieces
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exports.site.boards import Board
    from exports.site.page import Addresses
    from exports.site.site import Site
    from exports.site.tables import Address, Table
    from warehouse.analysis.charts.chart import Chart, Drawing, Panel
    from warehouse.core.types import Row

    _Panels = tuple[Chart, list[Panel]]

_SUITES = """
SELECT suite, count(*) AS n_runs, max(run_date) AS last_date
FROM runs
WHERE list_contains($suites, suite)
GROUP BY suite
ORDER BY suite
"""
_OUTAGES = "FROM outages WHERE suite = $suite"
_COLUMNS = (
    "task_set", "metric", "scorer", "filter", "model", "settings", "score", "score_low",
    "score_high", "n_scored", "run_id",
)  # fmt: skip
_REPORTED = "FROM reported_leaderboard"
_REPORTED_COLUMNS = (
    "task_set", "metric", "scorer", "filter", "reducer", "model", "settings", "reported",
    "n_reported", "run_date", "run_id",
)  # fmt: skip
_IN_THE_TABLES = {"leaderboard"}
_LINKS: dict[str, Address] = {
    "model": lambda row: model_page(row["model"]),
    "run_id": lambda row: run_page(row["suite"], row["run_id"]),
}
_MODELS = 100
_OTHERS = 500
_FIGURES = 100  # rows of the table behind a chart


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chart:
    """A chart as the page shows it.

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


def _addresses(site: Site) -> Addresses:
    suites = site.rows("SELECT DISTINCT suite FROM runs ORDER BY suite")
    return {suite_page(row["suite"]): (row["suite"],) for row in suites}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    site.keep("latency", "leaderboard", "model_history")
    for row in site.rows(_SUITES, {"suites": [suite for (suite,) in addresses.values()]}):
        suite = row["suite"]
        of_suite = [board for board in boards(site) if board.suite == suite]
        outages = site.rows(_OUTAGES, {"suite": suite})
        values = {
            "row": row,
            "outages": [(each, outage_pieces(each)) for each in outages],
            "boards": [board for board in of_suite if board.is_main],
            "limit": _MODELS,
            "others": _others(of_suite),
            "reported": _reported(site, suite),
            "panels": list(_panels(site, suite)),
        }
        yield Contents(path=suite_page(suite), template="suite.html", title=suite, values=values)


def _render(site: Site, contents: Contents) -> Iterator[Page]:
    """Yield the pictures of the charts that have something to show, and the page."""
    values = dict(contents.values)
    charts = []
    for chart, panels in cast("list[_Panels]", values.pop("panels")):
        if (drawn := _drawn(chart, panels, contents.title)) is not None:
            charts.append(_chart(chart, *drawn))
            yield from drawn[1]
    yield site.page(replace(contents, values={**values, "charts": charts}))


def _others(boards_of_suite: list[Board]) -> Table:
    """Return the figures by other than the main metrics, as one table."""
    rows = [place.row for board in boards_of_suite if not board.is_main for place in board.places]
    return table(rows, _COLUMNS, links=_LINKS, limit=_OTHERS)


def _reported(site: Site, suite: str) -> Table:
    """Return the figures that logs of a suite only report, as one table."""
    rows = [row for row in site.once(_reported_rows) if row["suite"] == suite]
    links = {"run_id": _LINKS["run_id"]}  # most of these models have no page
    return table(
        site.timed(rows),
        _REPORTED_COLUMNS,
        headings={"n_reported": "tasks"},
        links=links,
        unknown={"n_reported": "unknown"},
        limit=_OTHERS,
    )


def _reported_rows(site: Site) -> list[Row]:
    return site.rows(_REPORTED)


def _chart(chart: Chart, drawing: Drawing, pictures: Sequence[Page]) -> _Chart:
    return _Chart(
        title=drawing.title,
        purpose=chart.purpose,
        path=pictures[0].path,
        narrow=pictures[1].path,
        words="; ".join(drawing.words),
        notes=drawing.notes,
        figures=list(_figures(drawing)),
    )


def _figures(drawing: Drawing) -> Iterator[Table]:
    """Yield the tables behind a chart: pass rates, in per cent as it is drawn, other figures."""
    for shares in (SHARES, ()):
        rows = [row for row in drawing.rows if row["is_rate"] is bool(shares)]
        if rows:
            yield table(rows, drawing.columns, shares=shares, limit=_FIGURES)


def _panels(site: Site, suite: str) -> Iterator[_Panels]:
    for chart in CHARTS:
        if chart.name not in _IN_THE_TABLES:
            wanted = {**dict.fromkeys(chart.takes), "suite": suite}
            yield chart, panels_of(site.connection, chart, wanted)


def _drawn(chart: Chart, panels: Sequence[Panel], suite: str) -> tuple[Drawing, list[Page]] | None:
    """Return a chart and its pictures, wide and for phones; None if it has nothing to show."""
    try:
        # Altair checks its own specifications: most of the time of a chart, and never wrong.
        with debug_mode(arg=False):
            wide, narrow = (draw_panels(chart, panels, width=width) for width in (WIDE, WIDTH))
            if chart.name == "history" and not _has_several_runs(wide):
                return None
            pictures = [
                Page(
                    path=chart_file(suite, chart.name, is_narrow=each is narrow),
                    data=as_svg(each).encode(),
                )
                for each in (wide, narrow)
            ]
    except BadInput:  # nothing to draw: no costs, no dates, a single model
        return None
    return wide, pictures


def _has_several_runs(drawing: Drawing) -> bool:
    """Return whether a model has two runs: a history of single runs is the leaderboard again."""
    models = Counter((row["panel"], row["label"]) for row in drawing.rows)
    return max(models.values(), default=0) > 1


PAGE_TYPE = PageType(name="suite", addresses=_addresses, load=_load, render=_render)
