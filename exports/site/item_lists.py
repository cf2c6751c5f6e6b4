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


def item_lists(site: Site) -> dict[str, list[WorkList]]:
    """Return the items by suite: of those of which two models have a pass rate, if any is found."""
    return site.once(_item_lists)


def _item_lists(site: Site) -> dict[str, list[WorkList]]:
    suites = sorted({board.suite for board in boards(site) if _has_several(board)})
    lists = {suite: _of_suite(site, suite) for suite in suites}
    return {
        suite: found
        for suite, found in lists.items()
        if any(row["findings"] for each in found for row in each.rows)
    }


def _has_several(board: Board) -> bool:
    rated = [place for place in board.places if place.row["pass_rate"] is not None]
    return board.is_main and len(rated) >= MIN_SYSTEMS


def _of_suite(site: Site, suite: str) -> list[WorkList]:
    try:
        return work_lists(site.connection, suite)
    except BadInput:  # their tasks have no ID
        return []
