"""What distinguishes suites, for Python: the rows of `suite_traits`, see `sql/suites/`."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from warehouse.core.in_memory import open_in_memory
from warehouse.engine.views.sql_files import traits_sql


class SuiteTraits(NamedTuple):
    """Traits of a suite, as in the view `suite_traits`."""

    main_metric: str | None = None
    percent_metrics: tuple[str, ...] = ()
    declares_versions: bool = False


def suite_traits(suite: str) -> SuiteTraits:
    """Return the traits of a suite; most have none."""
    return _all_traits().get(suite, SuiteTraits())


@cache
def _all_traits() -> dict[str, SuiteTraits]:
    with open_in_memory(threads=1) as connection:
        traits = connection.sql(traits_sql())
        rows = traits.select("suite, main_metric, percent_metrics, declares_versions").fetchall()
    return {
        suite: SuiteTraits(metric, tuple(percents or ()), bool(declares))
        for suite, metric, percents, declares in rows
    }


def built_in_suites() -> list[str]:
    """Return the suites that ship with evalstore: those whose task files declare versions."""
    return [suite for suite, traits in _all_traits().items() if traits.declares_versions]
