"""The rules of a gate: what the candidate must keep, as data.

A rule is one limit of one metric. A rule that names neither suite nor task set holds for every task
set of the baseline, or, if it needs no baseline, of the candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from warehouse.analysis.decisions.corrected import raw_metric
from warehouse.analysis.decisions.series import VERDICT
from warehouse.core.errors import BadInput

# What to do about an inconclusive rule; without it, the gate ends with an exit code of its own.
Fallback: TypeAlias = Literal["fail", "warn", "pass"]
FALLBACKS: Final[tuple[Fallback, ...]] = ("fail", "warn", "pass")

# Limits by key: what each asks of the candidate.
LIMITS: Final = {
    "max_drop": "the candidate's mean is at most this much below the baseline's",
    "min_value": "the lower end of the interval of the candidate's mean is at least this",
    "max_pass_hat_k_drop": "the candidate's pass^k is at most this much below the baseline's",
    "min_pass_hat_k": "the lower end of the interval of the candidate's pass^k is at least this",
    "max_cost_per_passed_usd": "the candidate's cost per passed call is not shown to exceed this",
    "max_p95_ms": "the 95th percentile of the candidate's latency is not shown to exceed this",
    "must_pass": "the candidate passes these tasks at every attempt",
}
OF_METRIC: Final = {"max_drop", "min_value"}
OF_PASS_HAT: Final = {"max_pass_hat_k_drop", "min_pass_hat_k"}
# Rules of what may be a judge's opinion, and what can be demanded of the judge.
JUDGED: Final = LIMITS.keys() - {"max_p95_ms"}
OF_JUDGE: Final = ("min_judge_kappa", "max_judge_age_days", "require_calibrated")
DROPS: Final = {"max_drop", "max_pass_hat_k_drop"}
# Rules that fail by evidence, which more runs may not bear out. What is to be proved must not get a
# second chance.
CONFIRMED: Final = DROPS | {"max_cost_per_passed_usd", "max_p95_ms"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule.

    Attributes:
        kind: one of `LIMITS`.
        limit: the limit, in the metric's unit, US dollars or milliseconds; 0 for `must_pass`.
        metric: the metric, for `max_drop` and `min_value`.
        k: attempts that must all pass, for rules of pass^k; None for others.
        suite: the only suite that it is about.
        task_set: the only task set that it is about.
        tasks: the tasks of `must_pass`.
        max_missed: as in `Rules`, for this rule only.
        min_judge_kappa: as in `Rules`, for this rule only.
        max_judge_age_days: likewise.
        on_inconclusive: what to do if it is inconclusive; by default, what the gate says.
    """

    kind: str
    limit: float = 0.0
    metric: str = VERDICT
    k: int | None = None
    suite: str | None = None
    task_set: str | None = None
    tasks: tuple[str, ...] = ()
    max_missed: float | None = None
    min_judge_kappa: float | None = None
    max_judge_age_days: float | None = None
    on_inconclusive: Fallback | None = None

    @property
    def is_corrected(self) -> bool:
        """Whether it is about a judge's metric that labels correct."""
        return self.kind in OF_METRIC and self.metric != raw_metric(self.metric)

    @property
    def text(self) -> str:
        """The rule in words: `max_drop 0.02 of passed`."""
        if self.kind == "must_pass":
            return f"must_pass {', '.join(self.tasks)}"
        limit = f"{self.kind} {self.limit:g}"
        if self.k is not None:
            return f"{limit} with k = {self.k}"
        return f"{limit} of {self.metric}" if self.kind in OF_METRIC else limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a gate.

    Attributes:
        candidate: the side that is judged, as written.
        baseline: the side that it is compared with, if any.
        rules: the rules, at least one.
        suite: the only suite that counts.
        task_set: the only task set that counts.
        alpha: level of all drop rules together, and of each rule of cost or latency.
        min_tasks: fewer tasks than this are inconclusive; with `cluster`, fewer clusters.
        min_coverage: smallest share of the baseline's tasks that the candidate answered, 0 to 1.
        missing: whether tasks that were asked but not judged are left out or count as 0.
        proves: whether a rule of a drop, cost or latency passes only if more is excluded.
        on_inconclusive: what to do about inconclusive rules; None for an exit code of its own.
        max_missed: a drop rule that passes is inconclusive if only a drop larger than this would
            have been found with 80 % power; None for no such limit.
        scorer: the re-score whose verdicts count as `passed`, as written: `NAME` or `NAME@VERSION`.
        cluster: the column of tasks whose equal values mark tasks that are not independent.
        baseline_runs: how many of the baseline's last runs are pooled.
        anchor: a second side that the candidate is compared with, which stays the same for long.
        max_anchor_days: a drop from an anchor that is older than the candidate by more days is
            inconclusive.
        confirm: how many more runs of the candidate and of the baseline decide a rule that fails.
        min_judge_kappa: least kappa of a judge with people or gold: a rule on its metric fails if
            the interval of kappa is below it, and is inconclusive if it is inside.
        max_judge_age_days: such a rule is inconclusive if the newest label that the judge is
            compared with is older than the candidate by more days.
        require_calibrated: whether such a rule is inconclusive without an interval of kappa.
    """

    candidate: str
    rules: tuple[Rule, ...]
    baseline: str | None = None
    suite: str | None = None
    task_set: str | None = None
    alpha: float = 0.05
    min_tasks: int = 20
    min_coverage: float = 0.95
    missing: Literal["exclude", "fail"] = "exclude"
    proves: bool = False
    on_inconclusive: Fallback | None = field(default=None)
    max_missed: float | None = None
    scorer: str | None = None
    cluster: str | None = None
    baseline_runs: int = 1
    anchor: str | None = None
    max_anchor_days: float = 365
    confirm: int = 0
    min_judge_kappa: float | None = None
    max_judge_age_days: float | None = None
    require_calibrated: bool = False

    @property
    def of_judge(self) -> list[str]:
        """What is demanded of judges: the names of these attributes."""
        values = {name: getattr(self, name) for name in OF_JUDGE}
        return [name for name, value in values.items() if value is not None and value is not False]


def missed_limit(rule: Rule, rules: Rules) -> float | None:
    """Return the largest drop that a drop rule may miss; None if it has no such limit."""
    return rules.max_missed if rule.max_missed is None else rule.max_missed


def check_rules(rules: Rules) -> None:
    """Check that the rules go together.

    Raises:
        BadInput: they do not.
    """
    drops = [rule for rule in rules.rules if rule.kind in DROPS]
    if drops and rules.baseline is None:
        raise BadInput(f"{drops[0].text}: needs a baseline; name one with `baseline`")
    if rules.anchor is not None and not drops:
        raise BadInput("anchor: only with a drop rule: no other compares with it")
    if rules.confirm and rules.proves:
        raise BadInput("confirm: does not go with prove: what is to be proved gets one chance")
    if rules.confirm and not CONFIRMED.intersection(rule.kind for rule in rules.rules):
        raise BadInput(f"confirm: only with one of {', '.join(sorted(CONFIRMED))}")
    if rules.of_judge and not JUDGED.intersection(rule.kind for rule in rules.rules):
        raise BadInput(f"{rules.of_judge[0]}: only with one of {', '.join(sorted(JUDGED))}")
    _check_corrected(rules)
    for rule in drops:
        max_missed = missed_limit(rule, rules)
        if max_missed is None:
            continue
        if rules.proves:
            raise BadInput(f"{rule.text}: max_missed does not go with prove, which misses no drop")
        if max_missed <= rule.limit:
            raise BadInput(
                f"{rule.text}: max_missed ({max_missed:g}) must be larger than {rule.kind}: "
                "smaller drops are allowed"
            )


def _check_corrected(rules: Rules) -> None:
    asked = {"confirm": rules.confirm > 0, "baseline_runs": rules.baseline_runs > 1}
    for rule in rules.rules:
        if not rule.is_corrected:
            continue
        named = [name for name, is_given in asked.items() if is_given]
        if rule.kind in DROPS and missed_limit(rule, rules) is not None:
            named.append("max_missed")
        if named:
            raise BadInput(f"{rule.text}: {named[0]} does not go with a corrected metric")
