"""The pages of suites: every leaderboard in full, and the charts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from exports.site.addresses import chart_files, model_page, run_page, suite_page
from exports.site.audited import has_reported
from exports.site.boards import boards, rated_suites, unranked
from exports.site.labels import labelled_suites
from exports.site.page import Contents
from exports.site.pictures import drawings, shown_chart
from exports.site.site import PageType
from exports.site.tables import table
from warehouse.analysis.charts.panels import BOARD_SCORES, panels_of
from warehouse.app.commands.history_chart import outage_pieces
from warehouse.engine.query import query_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.boards import Board
    from exports.site.page import Addresses, Page
    from exports.site.site import Site
    from exports.site.tables import Address, Table
    from warehouse.analysis.charts.chart import Chart, Drawing, Panel
    from warehouse.core.types import Row

    _Panels = tuple[Chart, list[Panel]]

_SUITES = """
SELECT suite, count(*) AS n_runs, max(run_date) AS last_date
FROM scores.run_times
WHERE list_contains($suites, suite)
GROUP BY suite
ORDER BY suite
"""
_OUTAGES = "FROM outages WHERE suite = $suite"
# What the charts of tasks read, once for both: its plan takes as long as they do.
_SCORES = f"""
CREATE OR REPLACE TEMP TABLE suite_scores AS
SELECT
    suite, task_set, metric, scorer, filter, provider, model, settings, task_id, score, series,
    task, run_id, is_share
FROM {BOARD_SCORES}
WHERE suite = $suite AND metric = 'passed' AND scorer IS NULL AND filter IS NULL
"""  # noqa: S608 - a name of ours
_COLUMNS = (
    "task_set", "metric", "scorer", "filter", "model", "settings", "score", "score_low",
    "score_high", "n_scored", "run_id",
)  # fmt: skip
_REPORTED = "FROM reported_leaderboard"
_REPORTED_COLUMNS = (
    "task_set", "metric", "scorer", "filter", "reducer", "model", "settings", "reported",
    "n_reported", "run_date", "run_id",
)  # fmt: skip
_ELSEWHERE = {"leaderboard", "judges"}  # tables, and a page of their own
_LINKS: dict[str, Address] = {
    "model": lambda row: model_page(row["model"]),
    "run_id": lambda row: run_page(row["suite"], row["run_id"]),
}
_MODELS = 100
_OTHERS = 500


def _addresses(site: Site) -> Addresses:
    suites = site.rows("SELECT DISTINCT suite FROM scores.run_times ORDER BY suite")
    return {suite_page(row["suite"]): (row["suite"],) for row in suites}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    site.keep("latency", "leaderboard", "model_history")
    for row in site.rows(_SUITES, {"suites": [suite for (suite,) in addresses.values()]}):
        suite = row["suite"]
        of_suite = [board for board in boards(site) if board.suite == suite]
        outages = site.rows(_OUTAGES, {"suite": suite})
        reported = [each for each in site.once(_reported_rows) if each["suite"] == suite]
        task_sets = {board.task_set for board in of_suite}
        values = {
            "row": row,
            "n_task_sets": len(task_sets.union(each["task_set"] for each in reported)),
            "has_labels": suite in site.once(labelled_suites),
            "has_items": suite in rated_suites(site),
            "outages": [(each, outage_pieces(each)) for each in outages],
            "unranked": unranked(site, suite),
            "boards": [board for board in of_suite if board.is_main],
            "limit": _MODELS,
            "others": _others(of_suite),
            "reported": _reported(site, reported),
            "panels": list(_panels(site, suite)),
        }
        yield Contents(path=suite_page(suite), template="suite.html", title=suite, values=values)


def _render(site: Site, contents: Contents) -> Iterator[Page]:
    """Yield the pictures of the charts that have something to show, and the page."""
    values = dict(contents.values)
    charts = []
    for chart, panels in cast("list[_Panels]", values.pop("panels")):
        drawn = drawings(chart, panels)
        if drawn is None or (chart.name == "history" and not _has_several_runs(drawn[0])):
            continue
        shown, pictures = shown_chart(chart, drawn, chart_files(contents.title, chart.name))
        charts.append(shown)
        yield from pictures
    yield site.page(replace(contents, values={**values, "charts": charts}))


def _others(boards_of_suite: list[Board]) -> Table:
    """Return the figures by other than the main metrics, as one table."""
    rows = [place.row for board in boards_of_suite if not board.is_main for place in board.places]
    return table(rows, _COLUMNS, links=_LINKS, limit=_OTHERS)


def _reported(site: Site, rows: list[Row]) -> Table:
    """Return the figures that logs of a suite only report, as one table."""
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
    return site.rows(_REPORTED) if site.once(has_reported) else []


def _panels(site: Site, suite: str) -> Iterator[_Panels]:
    from warehouse.analysis.charts.registry import CHARTS  # Altair takes half a second

    with query_errors(is_users=False):
        site.connection.execute(_SCORES, {"suite": suite})
    for chart in CHARTS:
        if chart.name not in _ELSEWHERE:
            wanted = {**dict.fromkeys(chart.takes), "suite": suite}
            yield chart, panels_of(site.connection, chart, wanted, scores="suite_scores")


def _has_several_runs(drawing: Drawing) -> bool:
    """Return whether a model has two runs: a history of single runs is the leaderboard again."""
    models = Counter((row["panel"], row["label"]) for row in drawing.rows)
    return max(models.values(), default=0) > 1


PAGE_TYPE = PageType(
    name="suite", addresses=_addresses, load=_load, folder="suites", render=_render
)
