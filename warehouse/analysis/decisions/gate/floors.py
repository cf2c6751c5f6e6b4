"""Judges the rules about the candidate only: its values, costs, latency and single tasks."""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.decisions.gate.decision import Decision, Outcome, undecided
from warehouse.analysis.decisions.gate.words import (
    amount,
    few_words,
    in_brackets,
    tasks_words,
    too_few_attempts,
)
from warehouse.analysis.decisions.paired import least_means
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.statistics.distributions import student_quantile
from warehouse.engine.statistics.macros import TaskMeans, share_intervals
from warehouse.engine.statistics.margins import mean_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warehouse.analysis.decisions.gate.calls import CallTotals
    from warehouse.analysis.decisions.gate.rules import Rule, Rules
    from warehouse.analysis.decisions.paired import Panel
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.proportions import Interval

_SHOWN = 10


def decide_values(
    rule: Rule, rules: Rules, rows: Sequence[tuple[Panel, int]]
) -> Iterator[Decision]:
    """Decide a rule of the least value or pass^k, by the lower end of the candidate's interval.

    Args:
        rule: the rule.
        rules: the gate.
        rows: the panels with a series of the candidate, and its position.
    """
    judged, worst = [], []
    for panel, row in rows:
        least = least_means(panel, row, is_rescored=rules.scorer is not None)
        judged.append(_task_means(rule, panel, row, panel.means[row]))
        worst.append(_task_means(rule, panel, row, least))
    limits = _intervals([*judged, *worst], 1 - rules.alpha)
    for (panel, row), values, *ends in zip(
        rows, judged, limits[: len(rows)], limits[len(rows) :], strict=True
    ):
        decision = _value(rule, panel, row, values)
        if reason := too_few_attempts(rule, panel, row):
            yield replace(decision, reason=reason)
        else:
            yield decided_value(decision, rules, panel.scale, ends)


def _task_means(rule: Rule, panel: Panel, row: int, means: Floats) -> TaskMeans:
    """Return the values that are known; a task that has one without a verdict counts once."""
    tasks = np.flatnonzero(~np.isnan(means))
    n_unjudged = len(tasks) - int((~np.isnan(panel.means[row])).sum())
    # A task's pass^k is one value, behind which there are no trials.
    n_attempts = inf if rule.k is not None else int(panel.n_attempts[row].sum()) + n_unjudged
    return TaskMeans(means[tasks], n_attempts, panel.scale, panel.clusters_of(tasks))


def _value(rule: Rule, panel: Panel, row: int, values: TaskMeans) -> Decision:
    """Return the figures of a candidate's value; the outcome is not decided."""
    means, clusters = values.means, values.clusters
    return replace(
        undecided(rule, panel, row),
        n_tasks=len(means),
        n_clusters=None if clusters is None else len(set(clusters.tolist())),
        n_unjudged=int(panel.is_asked[row].sum()) - len(means),
        candidate_value=float(means.mean()) if len(means) else None,
    )


def decided_value(
    decision: Decision,
    rules: Rules,
    scale: float | None,
    ends: Sequence[Interval | None],
) -> Decision:
    """Decide a least value by intervals: as judged, and with missing verdicts counted as failed.

    Args:
        decision: the figures; its outcome is not decided.
        rules: the gate.
        scale: largest possible value, if known.
        ends: both intervals; None where there is none.
    """
    n_tasks, least, (limits, worst) = decision.n_tasks, decision.rule.limit, ends
    n_asked = n_tasks + (decision.n_unjudged or 0)
    if n_tasks < rules.min_coverage * n_asked:
        return replace(
            decision,
            reason=f"{n_tasks:,} of the {n_asked:,} tasks asked have a value, less than "
            f"min_coverage ({100 * rules.min_coverage:.3g} %)",
        )
    if few := few_words(n_tasks, decision.n_clusters, rules.min_tasks):
        return replace(decision, reason=few)
    if limits is None:
        return replace(decision, reason=f"only {tasks_words(n_tasks)}, too few for an interval")
    is_kept = limits.low >= least
    value = amount(decision.candidate_value or 0.0, scale)
    if (k := decision.rule.k) is not None:
        value = f"pass^{k} is {value}"
    low, limit = amount(limits.low, scale), amount(least, scale)
    reason = (
        f"{value} on {tasks_words(n_tasks)}{in_brackets(decision.correction)}; the lower end of "
        f"its interval, {low}, is {'at least' if is_kept else 'below'} {limit}"
    )
    outcome = Outcome.PASSED if is_kept else Outcome.FAILED
    if is_kept and worst is not None and worst.low < least:
        outcome = Outcome.INCONCLUSIVE
        low = amount(worst.low, scale)
        reason += f"; inconclusive: with the missing verdicts counted as failed, it is {low}"
    return replace(decision, outcome=outcome, reason=reason, low=limits.low, high=limits.high)


def _intervals(values: Sequence[TaskMeans], level: float) -> list[Interval | None]:
    """Return the intervals of means: of shares those of the leaderboard, else Student's.

    None without tasks, and where there are too few.
    """
    known = [each for each in values if len(each.means)]
    shares = iter(share_intervals([each for each in known if each.scale], level=level))
    limits = iter(
        next(shares) if each.scale else mean_limits(each.means, clusters=each.clusters, level=level)
        for each in known
    )
    return [next(limits) if len(each.means) else None for each in values]


def decide_cost(rule: Rule, rules: Rules, totals: CallTotals) -> Decision:
    """Decide a rule of the largest cost for each passed call."""
    decision = _of_calls(rule, totals)
    if totals.n_cost_known < rules.min_coverage * totals.n_calls or not totals.n_cost_known:
        return replace(
            decision,
            reason=f"the cost of {totals.n_cost_known:,} of {totals.n_calls:,} calls is known",
        )
    if totals.n_tasks < rules.min_tasks:
        return replace(decision, reason=_few(totals, rules))
    spent = f"{totals.cost_usd:.4g} US dollars"
    if not totals.n_passed:
        return _none_passed(decision, rules, totals, spent)
    cost = totals.cost_usd / totals.n_passed
    decision = replace(decision, candidate_value=cost)
    # Of what costs nothing there is no error.
    error = totals.cost_error if totals.cost_usd else 0.0
    if error is None:
        # Nothing tells a model that hardly ever passes from one that is cheap enough.
        return replace(
            decision,
            reason=f"{cost:.4g} US dollars for each passed call, but {totals.n_passed_tasks} of "
            f"{tasks_words(totals.n_tasks)} passed, too few for an interval",
        )
    reach = error and error * student_quantile(1 - rules.alpha, totals.n_tasks - 1)
    return _within(
        replace(decision, low=cost * exp(-reach), high=cost * exp(reach)),
        rules,
        f"{cost:.4g} US dollars for each passed call ({spent}, {totals.n_passed:,} passed)",
        "{:.4g}",
    )


def _none_passed(decision: Decision, rules: Rules, totals: CallTotals, spent: str) -> Decision:
    """Decide a cost without a passed call: on few tasks, it may be chance."""
    # With a larger share of passes, one of so many tasks would have passed (Clopper and Pearson).
    most = 1 - rules.alpha ** (1 / totals.n_tasks)
    limit, low = decision.rule.limit, totals.cost_usd / totals.n_cost_known / most
    decision = replace(decision, low=low)
    reason = f"no call passed, for {spent}: a passed call likely costs at least {low:.4g}"
    if low > limit:
        return replace(
            decision, outcome=Outcome.FAILED, reason=f"{reason}, more than {limit:.4g} US dollars"
        )
    return replace(decision, reason=f"{reason}; too few tasks to decide about {limit:.4g}")


def decide_latency(rule: Rule, rules: Rules, totals: CallTotals) -> Decision:
    """Decide a rule of the largest 95th percentile of the latency."""
    decision = _of_calls(rule, totals)
    if totals.p95_ms is None or totals.n_timed < rules.min_coverage * totals.n_answered:
        return replace(
            decision,
            reason=f"the latency of {totals.n_timed:,} of {totals.n_answered:,} answers is known",
        )
    if totals.n_tasks < rules.min_tasks:
        return replace(decision, reason=_few(totals, rules))
    return _within(
        replace(
            decision,
            candidate_value=totals.p95_ms,
            low=totals.p95_low_ms,
            high=totals.p95_high_ms,
        ),
        rules,
        f"95 % of {totals.n_timed:,} answers took at most {totals.p95_ms:,.0f} ms",
        "{:,.0f}",
    )


def _within(decision: Decision, rules: Rules, figure: str, form: str) -> Decision:
    """Decide a largest value by the one-sided ends of the candidate's; between them it is noise."""
    limit, low, high = decision.rule.limit, decision.low, decision.high
    if low is not None and low > limit:
        reason = f"{figure}, likely at least {form.format(low)}: more than {form.format(limit)}"
        return replace(decision, outcome=Outcome.FAILED, reason=reason)
    if high is not None and high <= limit:
        reason = f"{figure}, likely at most {form.format(high)}: within {form.format(limit)}"
        return replace(decision, outcome=Outcome.PASSED, reason=reason)
    noise = "within noise of the limit"
    if high is None and (decision.candidate_value or 0.0) <= limit:
        noise = "on too few tasks to exclude more than the limit"
    reason = f"{figure}, {noise}, {form.format(limit)}"
    outcome = Outcome.INCONCLUSIVE if rules.proves else Outcome.PASSED
    return replace(decision, outcome=outcome, reason=reason)


def decide_tasks(rule: Rule, panels: Sequence[tuple[Panel, int]]) -> Decision:
    """Decide a rule of tasks that must pass, wherever the candidate was asked them.

    Args:
        rule: the rule.
        panels: the panels with a series of the candidate by the verdict, and its position.
    """
    failed, unknown = [], []
    for task_id in rule.tasks:
        rates = [
            float(panel.means[row, place])
            for panel, row in panels
            for place in _place(panel, row, task_id)
        ]
        if any(rate < 1 for rate in rates):
            failed.append(task_id)
        elif not rates or any(np.isnan(rate) for rate in rates):
            unknown.append(task_id)
    runs = {run for panel, row in panels for run in panel.series[row].runs}
    decision = Decision(
        rule=rule,
        outcome=Outcome.PASSED,
        reason="",
        candidate_run_ids=tuple(sorted(runs)),
        n_tasks=len(rule.tasks),
    )
    if failed:
        reason = f"{tasks_words(len(failed))} failed at least once: {_names(failed)}"
        return replace(decision, outcome=Outcome.FAILED, reason=reason)
    if unknown:
        asked = {task_id for panel, row in panels for task_id in panel.series[row].asked}
        what = f"{tasks_words(len(unknown))} without a verdict of the candidate"
        reason = f"{what}: {_names(unknown)}"
        unasked = [task_id for task_id in unknown if task_id not in asked]
        if hint := did_you_mean(unasked[0], asked) if unasked else "":
            reason += f"; {hint}"
        return replace(decision, outcome=Outcome.INCONCLUSIVE, reason=reason)
    return replace(decision, reason=f"{tasks_words(len(rule.tasks))} passed at every attempt")


def _place(panel: Panel, row: int, task_id: str) -> list[int]:
    """Return the position of a task among those that a series was asked; none if it was not."""
    if task_id not in panel.series[row].asked:
        return []
    return [panel.task_ids.index(task_id)]


def _names(tasks: Sequence[str]) -> str:
    more = len(tasks) - _SHOWN
    return ", ".join(tasks[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _few(totals: CallTotals, rules: Rules) -> str:
    return f"only {tasks_words(totals.n_tasks)}, less than min_tasks ({rules.min_tasks:,})"


def _of_calls(rule: Rule, totals: CallTotals) -> Decision:
    return Decision(
        rule=rule,
        outcome=Outcome.INCONCLUSIVE,
        reason="",
        suite=totals.suite,
        task_set=totals.task_set,
        candidate=totals.name,
        n_tasks=totals.n_tasks,
    )
