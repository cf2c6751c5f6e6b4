"""The items of each suite, where the data say something of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.boards import boards
from warehouse.analysis.items.audit import MIN_SYSTEMS
from warehouse.analysis.items.work_list import work_lists
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from exports.site.boards import Board
    from exports.site.site import Site
    from warehouse.analysis.items.work_list import WorkList


def item_lists(site: Site, suite: str) -> list[WorkList]:
    """Return the items of a suite of which two models have a pass rate; empty if none is found."""
    known = site.once(_known_lists)
    if suite not in known:
        known[suite] = _read_lists(site, suite) if suite in rated_suites(site) else []
    return known[suite]


def rated_suites(site: Site) -> list[str]:
    """Return the suites on whose boards two models or more have a pass rate."""
    return site.once(_rated_suites)


def _known_lists(_: Site) -> dict[str, list[WorkList]]:
    return {}


def _rated_suites(site: Site) -> list[str]:
    return sorted({board.suite for board in boards(site) if _has_several(board)})


def _has_several(board: Board) -> bool:
    rated = [place for place in board.places if place.row["pass_rate"] is not None]
    return board.is_main and len(rated) >= MIN_SYSTEMS


def _read_lists(site: Site, suite: str) -> list[WorkList]:
    try:
        lists = work_lists(site.connection, suite)
    except BadInput:  # their tasks have no ID
        return []
    return lists if any(row["findings"] for each in lists for row in each.rows) else []
