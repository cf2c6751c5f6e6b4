"""The overview: what the store has, who leads each task set, and what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

from exports.site.addresses import OVERVIEW
from exports.site.boards import boards, unranked
from exports.site.figures import cost, count
from exports.site.page import Contents
from exports.site.series import Series, series
from exports.site.site import PageType, only, suite_places
from warehouse.app.commands.history_chart import drift_pieces, outage_pieces
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exports.site.boards import Board
    from exports.site.page import Addresses
    from exports.site.site import Site

# The page and what it loads stay below 300 kB: 12 suites × 3 task sets × 8 models are 150 kB.
_SUITES = 12
_TASK_SETS = 3
_MODELS = 8
_CHANGES = 12
_DRIFTS = 5
_MOST_OUTAGES = 5
_HOLDS = """
SELECT
    count(*) AS n_runs,
    coalesce(sum(n_results), 0)::BIGINT AS n_results,
    count(*) FILTER (is_replay) AS n_replays,
    coalesce(sum(n_cost_known), 0)::BIGINT AS n_cost_known,
    exact_sum(total_cost_usd) AS total_cost_usd,
    min(run_date) AS first_date,
    max(run_date) AS last_date
FROM run_overview
"""
_N_MODELS = """
SELECT count(DISTINCT model) AS n FROM scores.entry_calls JOIN scores.entries USING (entry)
"""
_HISTORY = "FROM model_history ORDER BY rowid"
_OUTAGES = "FROM outages ORDER BY since DESC NULLS LAST, suite, task_set, model, settings, provider"
_DRIFT = """
SELECT * FROM drift WHERE is_drift
ORDER BY changed_on DESC NULLS LAST, suite, task_set, metric, provider, model, settings
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite on the overview.

    Attributes:
        name: its name.
        boards: the leaderboards of its task sets with the most models.
        n_others: task sets that the overview leaves out.
    """

    name: str
    boards: list[Board]
    n_others: int


def _load(site: Site, _: Addresses) -> Iterator[Contents]:
    site.keep("drift", "model_history")
    known = boards(site)
    places = site.once(suite_places)
    suites = _suites([board for board in known if board.is_main], places)
    shown = {each.name for each in suites[:_SUITES]}
    supported, n_changes = _changes(site, known)
    drifts = site.rows(_DRIFT)
    outages = site.rows(_OUTAGES)
    yield Contents(
        path=OVERVIEW,
        template="overview.html",
        title="Overview",
        values={
            "holds": _holds(site),
            "unranked": unranked(site),
            "first": next(
                (board for suite in suites for board in suite.boards if _is_drawn(board)), None
            ),
            "suites": suites[:_SUITES],
            "other_suites": [name for name in places if name not in shown],
            "limit": _MODELS,
            "changes": supported[:_CHANGES],
            "n_supported": len(supported),
            "n_changes": n_changes,
            "drifts": [(row, drift_pieces(row)) for row in drifts[:_DRIFTS]],
            "n_drifts": len(drifts),
            "outages": [(row, outage_pieces(row)) for row in outages[:_MOST_OUTAGES]],
            "n_outages": len(outages),
        },
    )


def _is_drawn(board: Board) -> bool:
    return any(place.mark and place.row["is_comparable"] for place in board.places)


def _suites(mains: list[Board], places: Mapping[str, int]) -> list[Suite]:
    """Return the suites by their places."""
    of_suite = {
        suite: list(group) for suite, group in groupby(mains, key=lambda board: board.suite)
    }
    suites = []
    for suite in sorted(of_suite, key=lambda suite: places.get(suite, len(places))):
        ranked = sorted(of_suite[suite], key=lambda b: (-b.n_ranked, -len(b.places), b.task_set))
        shown = ranked[:_TASK_SETS]
        suites.append(Suite(name=suite, boards=shown, n_others=len(ranked) - len(shown)))
    return suites


def _changes(site: Site, known: list[Board]) -> tuple[list[Series], int]:
    """Return the series whose latest change is supported, and how many have a change at all."""
    mains = {(b.suite, b.task_set, b.metric) for b in known if b.is_main}
    all_series, _ = series(site.rows(_HISTORY), n_series=None, n_runs=1)
    of_mains = [
        each
        for each in all_series
        if (each.row["suite"], each.row["task_set"], each.metric) in mains and each.points[0].change
    ]
    supported = [each for each in of_mains if each.points[0].is_supported]
    supported.sort(
        key=lambda each: (each.points[0].row["run_date"] or date.min).toordinal(), reverse=True
    )
    return supported, len(of_mains)


def _holds(site: Site) -> list[tuple[str, str]]:
    [row] = site.rows(_HOLDS)
    [models] = site.rows(_N_MODELS)
    first, last = row["first_date"], row["last_date"]
    facts = [
        ("suites", count(len(site.once(suite_places)))),
        ("models", count(models["n"])),
        ("runs", count(row["n_runs"])),
        ("results", count(row["n_results"])),
        ("cost", cost(row["total_cost_usd"], row["n_cost_known"], row["n_results"])),
        (
            "dates",
            "unknown" if first is None else " to ".join(dict.fromkeys(map(str, (first, last)))),
        ),
    ]
    if row["n_replays"]:
        facts.append(("rehearsals", counted(row["n_replays"], "run")))
    return facts


PAGE_TYPE = PageType(
    name="overview",
    addresses=only(OVERVIEW),
    load=_load,
    title="Overview",
    entry=OVERVIEW,
    is_main=True,
)
