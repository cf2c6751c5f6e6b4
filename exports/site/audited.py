"""Figures that logs, summaries and reports state, next to those that follow from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exports.site.site import Site
    from warehouse.core.types import Row

# The second is of summaries without any figure: planning `summary_audit` takes longer.
_REPORTED = "SELECT suite FROM reported_metrics LIMIT 1"
_MISSING = "SELECT run_id FROM scores.recorded_summaries LIMIT 1"


def has_reported(site: Site) -> bool:
    """Return whether a log, summary or report of the store has figures, or should have some."""
    return bool(site.rows(_REPORTED) or site.rows(_MISSING))


def audited(site: Site, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
    """Return the rows of a query on `metric_audit`, which is computed once for all pages.

    There are none where nothing is reported, and the view is not read: its plan alone takes 0.3 s.
    """
    if not site.once(has_reported):
        return []
    site.keep("metric_audit")
    return site.rows(query, parameters)
