"""Judges a rule of the largest allowed drop, on the tasks that both sides have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.decisions.gate.decision import Decision, Outcome, undecided
from warehouse.analysis.decisions.gate.rules import missed_limit
from warehouse.analysis.decisions.gate.runs import ANCHOR, NAMES
from warehouse.analysis.decisions.gate.words import (
    amount,
    few_words,
    interval_words,
    p_words,
    series_name,
    tasks_words,
    too_few_attempts,
)
from warehouse.engine.scoring.bootstrap import holm
from warehouse.engine.statistics.bounded_means import (
    bounded_mean_limits,
    excess_of_bounded_means,
    missed_bounded_mean,
)
from warehouse.engine.statistics.margins import (
    excess_of_means,
    mean_limits,
    missed_mean,
    missed_proportion,
)
from warehouse.engine.statistics.score_test import difference_interval, excess_of_proportions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.decisions.gate.rules import Rule, Rules
    from warehouse.analysis.decisions.paired import Paired
    from warehouse.engine.statistics.arrays import Indices
    from warehouse.engine.statistics.proportions import Interval

# The share of the anchor's tasks that are left unchanged, below which it is inconclusive.
_LEAST_OF_ANCHOR = 0.5


@dataclass(frozen=True, slots=True)
class Tested:
    """A drop rule whose test was made, but not yet adjusted for the other rules.

    Attributes:
        decision: the figures; its outcome is not decided.
        paired: the tasks.
        clusters: the number of each task's cluster; None if the tasks are independent.
        p_baseline: p-value with the verdicts that the first side lacks counted as failed; None if
            it lacks none.
    """

    decision: Decision
    paired: Paired
    clusters: Indices | None
    p_baseline: float | None


def tested_drop(
    rule: Rule,
    rules: Rules,
    paired: Paired,
    *,
    against: str,
    age_days: int | None,
) -> Decision | Tested:
    """Test a drop rule; a decision at once if it is inconclusive.

    Args:
        rule: the rule.
        rules: the gate.
        paired: the baseline and the candidate, in this order.
        against: whether the first is the baseline or the anchor.
        age_days: by how many days the anchor is older than the candidate, if known.
    """
    clusters = paired.clusters
    decision = replace(_figures(rule, paired, clusters), against=against)
    reason = _too_old(rules, age_days)
    for row in (paired.a, paired.b):
        reason = reason or too_few_attempts(rule, paired.panel, row)
    if reason := reason or _too_little(rules, decision, paired):
        return replace(decision, reason=reason)
    tested = _tested(decision, rules, paired, clusters)
    of_baseline, p_missing = (
        _p_failed(rule, rules, paired, is_first=is_first) for is_first in (True, False)
    )
    return Tested(replace(tested, p_missing=p_missing), paired, clusters, of_baseline)


def _p_failed(
    rule: Rule,
    rules: Rules,
    paired: Paired,
    *,
    is_first: bool,
) -> float | None:
    """Return the p-value with what a side lacks counted as failed; None if it lacks nothing."""
    is_rescored = rules.scorer is not None
    failed = paired.with_missing_failed(is_rescored=is_rescored, is_first=is_first)
    if failed is None:
        return None
    clusters = failed.clusters
    return _tested(_figures(rule, failed, clusters), rules, failed, clusters).p_value


def decide_drops(tested: Sequence[Tested], rules: Rules) -> list[Decision]:
    """Decide the drop rules together: their p-values are adjusted by Holm's method."""
    decisions = [each.decision for each in tested]
    adjusted = holm([each.p_value for each in decisions])
    with_failed = holm(
        [each.p_value if each.p_missing is None else each.p_missing for each in decisions]
    )
    of_baseline = holm(
        [each.decision.p_value if each.p_baseline is None else each.p_baseline for each in tested]
    )
    level = rules.alpha / max(1, len(tested))
    return [
        _decided(replace(each, decision=decision), rules, p_values, level)
        for each, decision, *p_values in zip(
            tested, decisions, adjusted, with_failed, of_baseline, strict=True
        )
    ]


def _tested(decision: Decision, rules: Rules, paired: Paired, clusters: Indices | None) -> Decision:
    if paired.panel.is_binary and paired.is_single and clusters is None:
        return _of_proportions(decision, rules, paired)
    return _of_means(decision, rules, paired, clusters)


def _figures(rule: Rule, paired: Paired, clusters: Indices | None) -> Decision:
    panel = paired.panel
    n_tasks = len(paired.tasks)
    values = (float(paired.means_a.mean()), float(paired.means_b.mean())) if n_tasks else None
    return replace(
        undecided(rule, panel, paired.b),
        baseline=series_name(panel.series[paired.a].key),
        baseline_run_ids=tuple(panel.series[paired.a].runs),
        n_tasks=n_tasks,
        n_clusters=None if clusters is None else len(set(clusters.tolist())),
        n_baseline_tasks=int((~np.isnan(panel.means[paired.a])).sum()),
        n_changed=paired.n_changed,
        n_unjudged=paired.n_unjudged_b,
        baseline_value=values[0] if values else None,
        candidate_value=values[1] if values else None,
        drop=values[0] - values[1] if values else None,
    )


def _too_old(rules: Rules, age_days: int | None) -> str | None:
    if age_days is None or age_days <= rules.max_anchor_days:
        return None
    return (
        f"the anchor is {age_days:,} days older than the candidate, more than max_anchor_days "
        f"({rules.max_anchor_days:,.0f}); name a newer one"
    )


def _too_little(rules: Rules, decision: Decision, paired: Paired) -> str | None:
    """Return why it is inconclusive; None if it is not."""
    n_tasks, n_baseline, against = (
        decision.n_tasks,
        decision.n_baseline_tasks or 0,
        decision.against,
    )
    changed = _changed(paired.n_changed, against)
    if n_tasks == 0:
        return f"no task has a value of both the {against} and the candidate{changed}"
    coverage = n_tasks / n_baseline
    # Tasks come and go while an anchor stays; that a run was cut off is seen by the baseline.
    least, limit = rules.min_coverage, f"min_coverage ({100 * rules.min_coverage:.3g} %)"
    if against == NAMES[ANCHOR] and least > _LEAST_OF_ANCHOR:
        least, limit = _LEAST_OF_ANCHOR, "half; name a newer anchor"
    if coverage < least:
        return (
            f"the candidate has values of {n_tasks:,} of the {against}'s {n_baseline:,} tasks "
            f"({100 * coverage:.3g} %), less than {limit}{changed}"
        )
    few = few_words(n_tasks, decision.n_clusters, rules.min_tasks)
    return None if few is None else few + changed


def _changed(n_changed: int, against: str) -> str:
    if not n_changed:
        return ""
    verb = "has" if n_changed == 1 else "have"
    return f"; {tasks_words(n_changed)} {verb} other content than in the {against}"


def _of_proportions(decision: Decision, rules: Rules, paired: Paired) -> Decision:
    n, limit = decision.n_tasks, decision.rule.limit
    only_a, only_b = (int((sign * paired.differences > 0).sum()) for sign in (1, -1))
    if rules.proves:
        p_value = excess_of_proportions(only_b, only_a, n, -limit)
    else:
        p_value = excess_of_proportions(only_a, only_b, n, limit)
    tested = replace(
        decision,
        n_only_baseline=only_a,
        n_only_candidate=only_b,
        p_value=p_value,
        test="score",
    )
    return _with_limits(tested, difference_interval(only_a, only_b, n, level=1 - rules.alpha))


def _of_means(
    decision: Decision, rules: Rules, paired: Paired, clusters: Indices | None
) -> Decision:
    drops, scale, level = paired.differences, paired.panel.scale, 1 - rules.alpha
    sign = -1 if rules.proves else 1
    limit = sign * decision.rule.limit
    if scale is None:
        test, p_value = "student", excess_of_means(sign * drops, limit, clusters=clusters)
        limits = mean_limits(drops, clusters=clusters, level=level)
    else:
        test = "gaffke"
        p_value = excess_of_bounded_means(sign * drops, limit, largest=scale, clusters=clusters)
        limits = bounded_mean_limits(drops, -scale, scale, clusters=clusters, level=level)
    if p_value is None:
        return replace(decision, reason=f"{_found(decision)} are too few for a test")
    return _with_limits(replace(decision, p_value=p_value, test=test), limits)


def _with_limits(decision: Decision, limits: Interval | None) -> Decision:
    return decision if limits is None else replace(decision, low=limits.low, high=limits.high)


def _decided(
    tested: Tested, rules: Rules, p_values: Sequence[float | None], level: float
) -> Decision:
    """Decide a rule by its adjusted p-values.

    Args:
        tested: the rule and its test.
        rules: the gate.
        p_values: as judged, and with the missing verdicts of the candidate, then of the baseline,
            counted as failed.
        level: of a single rule.
    """
    decision, scale = tested.decision, tested.paired.panel.scale
    p_adjusted, p_failed, p_baseline = p_values
    if p_adjusted is None:
        return decision
    is_rejected = p_adjusted <= rules.alpha
    outcome = Outcome.PASSED if is_rejected == rules.proves else Outcome.FAILED
    missed = None if rules.proves else _missed(tested, level)
    decided = replace(decision, outcome=outcome, p_adjusted=p_adjusted, missed_drop=missed)
    decided = replace(decided, reason=_reason(decided, rules, scale))
    reason = _undecided(decided, rules, scale, p_failed)
    is_drop = decided.outcome is Outcome.FAILED and not rules.proves
    # A baseline that lacks verdicts of its failures looks better than it is.
    if reason is None and is_drop and p_baseline is not None and p_baseline > rules.alpha:
        reason = (
            f"with the missing verdicts of the {decided.against} counted as failed, it passes "
            f"({p_words(p_baseline)})"
        )
    if reason is None:
        return decided
    return replace(
        decided, outcome=Outcome.INCONCLUSIVE, reason=f"{decided.reason}; inconclusive: {reason}"
    )


def _undecided(
    decision: Decision, rules: Rules, scale: float | None, p_failed: float | None
) -> str | None:
    """Return why a test does not decide its rule; None if it does."""
    is_rejected = (decision.outcome is Outcome.PASSED) == rules.proves
    if p_failed is not None and (p_failed <= rules.alpha) != is_rejected:
        other = "fails" if decision.outcome is Outcome.PASSED else "passes"
        return f"with the missing verdicts counted as failed, it {other} ({p_words(p_failed)})"
    allowed = missed_limit(decision.rule, rules)
    if decision.outcome is Outcome.FAILED or allowed is None:
        return None
    if decision.missed_drop is None or decision.missed_drop > allowed:
        return f"the power to detect a drop of max_missed ({amount(allowed, scale)}) is below 80 %"
    return None


def _missed(tested: Tested, level: float) -> float | None:
    decision, paired, clusters = tested.decision, tested.paired, tested.clusters
    limit = decision.rule.limit
    if decision.rule.is_corrected:
        return None  # it depends on the labels, too
    if decision.n_only_baseline is None or decision.n_only_candidate is None:
        drops, scale = paired.differences, paired.panel.scale
        if scale is None:
            return missed_mean(drops, limit, clusters=clusters, alpha=level)
        return missed_bounded_mean(drops, limit, largest=scale, clusters=clusters, alpha=level)
    return missed_proportion(
        decision.n_only_baseline, decision.n_only_candidate, decision.n_tasks, limit, alpha=level
    )


def _reason(decision: Decision, rules: Rules, scale: float | None) -> str:
    limit = amount(decision.rule.limit, scale)
    p_value = p_words(decision.p_adjusted or 0.0)
    found = f"{_difference(decision, scale)} on {_found(decision)}"
    details = [interval_words(decision.low, decision.high, scale, rules.alpha), *_counts(decision)]
    found += f" ({'; '.join(filter(None, details))})"
    if rules.proves:
        if decision.outcome is Outcome.PASSED:
            return f"{found}: a drop of {limit} or more is excluded ({p_value})"
        return f"{found}: a drop of {limit} or more is not excluded ({p_value})"
    if decision.outcome is Outcome.FAILED:
        return f"{found}: the drop is larger than the {limit} allowed ({p_value})"
    text = f"{found}: the data do not show a drop of more than {limit} ({p_value})"
    if decision.missed_drop is not None and decision.missed_drop < (scale or np.inf):
        missed = amount(decision.missed_drop, scale)
        text += f"; 80 % power to detect a drop of {missed}"
    return text


def _found(decision: Decision) -> str:
    """Return how many tasks there are, and clusters if they are counted."""
    tasks = tasks_words(decision.n_tasks)
    n_clusters = decision.n_clusters
    if n_clusters is None:
        return tasks
    return f"{tasks} in {n_clusters:,} cluster{'' if n_clusters == 1 else 's'}"


def _difference(decision: Decision, scale: float | None) -> str:
    drop = decision.drop or 0.0
    if drop == 0:
        return f"the same as the {decision.against}"
    direction = "below" if drop > 0 else "above"
    return f"{amount(abs(drop), scale)} {direction} the {decision.against}"


def _counts(decision: Decision) -> list[str]:
    counts = [decision.correction] if decision.correction else []
    if decision.n_only_baseline is not None and decision.n_only_candidate is not None:
        counts.append(
            f"{decision.n_only_baseline:,} passed by the {decision.against} only, "
            f"{decision.n_only_candidate:,} by the candidate only"
        )
    if decision.n_unjudged:
        counts.append(f"{decision.n_unjudged:,} asked but without a value")
    if decision.n_changed:
        counts.append(f"{decision.n_changed:,} with other content left out")
    return counts
