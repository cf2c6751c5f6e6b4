"""What the data show about a rule, and what follows from all of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.gate.words import judge_text, series_name
from warehouse.core.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.analysis.decisions.gate.rules import Rule, Rules
    from warehouse.analysis.decisions.paired import Panel
    from warehouse.core.types import Row


class Outcome(StrEnum):
    """What the data show about a rule, or about all of them."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision about a rule on one task set. Rates are 0 to 1.

    Attributes:
        rule: the rule.
        outcome: what the data show.
        reason: in a sentence, why.
        suite: suite; None if the rule could not be applied to any.
        task_set: task set, likewise.
        scorer: what gave the score, if known.
        filter: how the answer was extracted, if known.
        candidate: model and settings of the candidate.
        against: what it was compared with, `baseline` or `anchor`; the figures of the baseline are
            then the anchor's.
        baseline: model and settings of the baseline.
        candidate_run_ids: the candidate's runs; several are pooled.
        baseline_run_ids: the baseline's, likewise.
        more_candidate_runs: runs of the candidate that are needed to confirm a failure.
        more_baseline_runs: runs of the baseline that are needed for that.
        n_tasks: tasks that the decision is based on.
        n_clusters: clusters of these tasks; None if each task counts by itself.
        n_baseline_tasks: tasks with a value of the baseline.
        n_changed: tasks whose content differs between the two, left out.
        n_unjudged: tasks that the candidate was asked, but that have no value.
        baseline_value: mean of the baseline.
        candidate_value: mean of the candidate; for costs, US dollars for each passed call; for
            latency, milliseconds.
        drop: baseline_value - candidate_value.
        low: lower end of the interval of the drop; for `min_value` and `min_pass_hat_k`, of the
            candidate's mean; for costs and latency, the one-sided lower end of `candidate_value`.
        high: upper end of it.
        n_only_baseline: tasks that only the baseline passed, at one attempt each.
        n_only_candidate: tasks that only the candidate passed.
        p_value: of the one-sided test against the largest allowed drop.
        p_adjusted: the same, adjusted for all drop rules (Holm).
        p_missing: p_value with the verdicts that the candidate lacks, where the baseline has one,
            counted as failed; None if it lacks none.
        missed_drop: larger drop that would have been found four times in five.
        test: `score` (exact, paired proportions), `gaffke` (bounded values), `student` or
            `corrected` (the interval of the corrected difference, inverted).
        correction: of a judge's metric that labels correct, by how many of whom, or why by none.
        judges: the judges behind the metric, each with the labels that it is compared with.
    """

    rule: Rule
    outcome: Outcome
    reason: str
    suite: str | None = None
    task_set: str | None = None
    scorer: str | None = None
    filter: str | None = None
    candidate: str | None = None
    against: str = "baseline"
    baseline: str | None = None
    candidate_run_ids: tuple[str, ...] = ()
    baseline_run_ids: tuple[str, ...] = ()
    more_candidate_runs: int = 0
    more_baseline_runs: int = 0
    n_tasks: int = 0
    n_clusters: int | None = None
    n_baseline_tasks: int | None = None
    n_changed: int | None = None
    n_unjudged: int | None = None
    baseline_value: float | None = None
    candidate_value: float | None = None
    drop: float | None = None
    low: float | None = None
    high: float | None = None
    n_only_baseline: int | None = None
    n_only_candidate: int | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    p_missing: float | None = None
    missed_drop: float | None = None
    test: str | None = None
    correction: str | None = None
    judges: tuple[Row, ...] = ()

    @property
    def run_ids(self) -> set[str]:
        """All runs, of both sides."""
        return {*self.candidate_run_ids, *self.baseline_run_ids}

    @property
    def texts(self) -> list[str]:
        """Why it was decided so, and how good its judges are."""
        return [self.reason, *(judge_text(judge) for judge in self.judges)]

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it is a failure that waits for more runs."""
        return self.more_candidate_runs + self.more_baseline_runs > 0

    @property
    def place(self) -> str:
        """Suite and task set, once if they are the same."""
        names = dict.fromkeys(name for name in (self.suite, self.task_set) if name)
        return "/".join(names)


def undecided(rule: Rule, panel: Panel, candidate: int) -> Decision:
    """Return a decision without figures: about the series of a panel that is the candidate."""
    series = panel.series[candidate]
    return Decision(
        rule=rule,
        outcome=Outcome.INCONCLUSIVE,
        reason="",
        suite=panel.suite,
        task_set=panel.task_set,
        scorer=panel.metric.scorer,
        filter=panel.metric.filter,
        candidate=series_name(series.key),
        candidate_run_ids=tuple(series.runs),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decisions of a gate.

    Attributes:
        rules: the rules.
        decisions: one for each rule and task set, in the order of the rules.
        notes: what else the reader should know.
        left_out: the sentence on the tasks that the figures leave out; empty if they have all.
    """

    rules: Rules
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()
    left_out: str = ""

    def treatment(self, decision: Decision) -> str:
        """Return what a decision counts as: `passed`, `failed`, `warning` or `inconclusive`.

        A failure that waits for its confirmation is inconclusive, whatever the rules say.
        """
        if decision.outcome is not Outcome.INCONCLUSIVE:
            return decision.outcome.value
        fallback = decision.rule.on_inconclusive or self.rules.on_inconclusive
        if fallback is None or decision.is_unconfirmed:
            return Outcome.INCONCLUSIVE.value
        return {"fail": "failed", "warn": "warning", "pass": "passed"}[fallback]

    @property
    def outcome(self) -> Outcome:
        """What follows from all decisions: a failure outweighs what is inconclusive."""
        treated = {self.treatment(decision) for decision in self.decisions}
        for outcome in (Outcome.FAILED, Outcome.INCONCLUSIVE):
            if outcome.value in treated:
                return outcome
        return Outcome.PASSED

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        codes = {Outcome.PASSED: ExitCode.DONE, Outcome.FAILED: ExitCode.FAILED}
        return codes.get(self.outcome, ExitCode.INCONCLUSIVE)
