"""Decides rules of a judge's metric that labels correct."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.corrected import corrected_difference, labelled_tasks
from warehouse.analysis.decisions.gate.decision import undecided
from warehouse.analysis.decisions.gate.drops import Tested
from warehouse.analysis.decisions.gate.floors import decided_value
from warehouse.engine.labelled_tasks import Corrected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb

    from warehouse.analysis.decisions.gate.decision import Decision
    from warehouse.analysis.decisions.gate.rules import Rule, Rules
    from warehouse.analysis.decisions.paired import Panel

_LEAST_P, _HALVINGS = 1e-6, 24


def has_labels(connection: duckdb.DuckDBPyConnection, panel: Panel) -> bool:
    """Return whether the scores of a panel are a judge's, and labels are on some of the answers."""
    return any(labelled_tasks(connection, one, panel.metric) for one in panel.series)


def decide_corrected_values(
    connection: duckdb.DuckDBPyConnection,
    rule: Rule,
    rules: Rules,
    rows: Sequence[tuple[Panel, int]],
) -> Iterator[Decision]:
    """Decide a rule of the least value by the lower end of the corrected interval."""
    for panel, row in rows:
        tasks = labelled_tasks(connection, panel.series[row], panel.metric)
        found = Corrected("labelled answers only: none of one run's is labelled", 0)
        n_tasks = 0
        if tasks is not None:
            found, n_tasks = tasks.corrected(level=1 - rules.alpha), len(tasks.task_ids)
        decision = replace(
            undecided(rule, panel, row),
            n_tasks=n_tasks,
            n_unjudged=int(panel.is_asked[row].sum()) - n_tasks,
            candidate_value=found.mean,
            correction=found.remark,
        )
        if found.interval is None:
            yield replace(decision, reason=found.remark)
        else:
            yield decided_value(decision, rules, panel.scale, (found.interval, None))


def corrected_drop(
    connection: duckdb.DuckDBPyConnection, tested: Tested, rules: Rules
) -> Decision | Tested:
    """Test a drop rule by the corrected difference; a decision at once if there is none.

    Args:
        connection: an open warehouse.
        tested: the rule, tested by the judge's own values.
        rules: the gate.
    """
    paired = tested.paired
    of_baseline, of_candidate = (
        labelled_tasks(connection, paired.panel.series[row], paired.panel.metric)
        for row in (paired.a, paired.b)
    )

    def at(level: float) -> Corrected:
        return corrected_difference(paired, (of_baseline, of_candidate), level=level)

    found = at(1 - rules.alpha)
    decision = replace(
        tested.decision,
        reason=found.remark,
        correction=found.remark,
        drop=found.mean,
        # What follows is of the judge's own values.
        low=None,
        high=None,
        baseline_value=None,
        candidate_value=None,
        n_only_baseline=None,
        n_only_candidate=None,
        p_value=None,
        p_missing=None,
        test=None,
    )
    if found.interval is None:
        return decision
    low, high = found.interval
    p_value = _p_value(at, decision.rule.limit, is_below=rules.proves)
    decision = replace(decision, low=low, high=high, p_value=p_value, test="corrected")
    return Tested(decision, paired, None, None)


def _p_value(at: Callable[[float], Corrected], limit: float, *, is_below: bool) -> float:
    """Return the one-sided level at which the interval of a difference ends at a limit.

    Args:
        at: the difference with an interval of a level.
        limit: the limit.
        is_below: whether the difference is to be shown to be below it, and not above.
    """

    def excludes(tail: float) -> bool:
        interval = at(1 - 2 * tail).interval
        if interval is None:
            return False
        return interval.high < limit if is_below else interval.low > limit

    low, high = _LEAST_P, 0.5 - _LEAST_P
    if not excludes(high):
        return 1.0
    if excludes(low):
        return low
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if excludes(middle) else (middle, high)
    return high
