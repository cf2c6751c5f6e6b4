"""The rules of a gate: what the candidate must keep, as data.

A rule is one limit of one metric. A rule that names neither suite nor task set holds for every task
set of the baseline, or, if it needs no baseline, of the candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from warehouse.decisions.series import VERDICT

# What to do about an inconclusive rule; without it, the gate ends with an exit code of its own.
Fallback: TypeAlias = Literal["fail", "warn", "pass"]
FALLBACKS: Final[tuple[Fallback, ...]] = ("fail", "warn", "pass")

# Limits by key: what each asks of the candidate.
LIMITS: Final = {
    "max_drop": "the candidate's mean is at most this much below the baseline's",
    "min_value": "the lower end of the interval of the candidate's mean is at least this",
    "max_cost_per_passed_usd": "the candidate's cost per passed call is not shown to exceed this",
    "max_p95_ms": "the 95th percentile of the candidate's latency is not shown to exceed this",
    "must_pass": "the candidate passes these tasks at every attempt",
}
OF_METRIC: Final = {"max_drop", "min_value"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule.

    Attributes:
        kind: one of `LIMITS`.
        limit: the limit, in the metric's unit, US dollars or milliseconds; 0 for `must_pass`.
        metric: the metric, for `max_drop` and `min_value`.
        suite: the only suite that it is about.
        task_set: the only task set that it is about.
        tasks: the tasks of `must_pass`.
        max_missed: as in `Rules`, for this rule only.
        on_inconclusive: what to do if it is inconclusive; by default, what the gate says.
    """

    kind: str
    limit: float = 0.0
    metric: str = VERDICT
    suite: str | None = None
    task_set: str | None = None
    tasks: tuple[str, ...] = ()
    max_missed: float | None = None
    on_inconclusive: Fallback | None = None

    @property
    def text(self) -> str:
        """The rule in words: `max_drop 0.02 of passed`."""
        if self.kind == "must_pass":
            return f"must_pass {', '.join(self.tasks)}"
        limit = f"{self.kind} {self.limit:g}"
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
