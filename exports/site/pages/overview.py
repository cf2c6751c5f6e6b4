"""The overview: what the store has, who leads each task set, and what has changed."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from exports.site.addresses import OVERVIEW
from exports.site.boards import boards
from exports.site.figures import counted
from exports.site.page import Page, PageType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.site import Site

_MODELS = 8
_TASK_SETS = 3
_HOLDS = """
SELECT
    count(*) AS n_runs,
    count(DISTINCT suite) AS n_suites,
    coalesce(sum(n_results), 0)::BIGINT AS n_results,
    min(run_date) AS first_date,
    max(run_date) AS last_date
FROM runs
"""


def pages(site: Site) -> Iterator[Page]:
    """Yield the overview."""
    mains = [board for board in boards(site) if board.is_main]
    suites = [
        {"name": suite, "boards": list(of_suite)[:_TASK_SETS]}
        for suite, of_suite in groupby(mains, key=lambda board: board.suite)
    ]
    yield site.page(
        "overview.html", OVERVIEW, "Overview", holds=_holds(site), suites=suites, limit=_MODELS
    )


def _holds(site: Site) -> list[tuple[str, str]]:
    [row] = site.rows(_HOLDS)
    days = "" if row["first_date"] is None else f"{row['first_date']} to {row['last_date']}"
    return [
        ("suites", f"{row['n_suites']:,}"),
        ("runs", counted(row["n_runs"], "run")),
        ("results", f"{row['n_results']:,}"),
        ("dates", days or "unknown"),
    ]


PAGE_TYPE = PageType(name="overview", pages=pages, title="Overview", entry=OVERVIEW)
