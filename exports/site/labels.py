"""Which suites have ratings or votes: those that the page of judges is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exports.site.site import Site
    from warehouse.core.types import Row

_LABELS = """
SELECT
    suite,
    count(*) FILTER (rater_kind NOT IN ('human', 'gold')) AS n_judges,
    count(*) FILTER (rater_kind = 'human' AND status <> 'not_applicable') AS n_people,
    count(*) FILTER (rater_kind = 'gold') AS n_gold
FROM (
    SELECT coalesce(result_suite, suite) AS suite, rater_kind, status FROM ratings
    UNION ALL
    SELECT answers_suite, rater_kind, status FROM preferences
)
GROUP BY suite
ORDER BY suite
"""


def labelled_suites(site: Site) -> dict[str, Row]:
    """Return for each suite with ratings or votes how many are from judges, people and gold."""
    return {row["suite"]: row for row in site.rows(_LABELS)}
