"""The judges behind the metrics of a gate, and how far people or gold agree with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.corrected import raw_metric
from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.rules import JUDGED, OF_METRIC
from warehouse.analysis.decisions.series import VERDICT
from warehouse.engine.query import rows_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.analysis.decisions.gate.decision import Decision
    from warehouse.analysis.decisions.gate.rules import Rules
    from warehouse.core.types import Row

# Who judged the answers of which run, next to people and gold: whoever labelled more comes last.
_JUDGED = """
WITH judged AS (
    SELECT
        calls.suite, calls.run_id, calls.task_set, calls.scorer, ratings.criterion,
        rater_name(ratings.rater, ratings.rater_kind, ratings.rater_config) AS judge,
        list(DISTINCT calls.task_id) FILTER (list_contains($task_ids, calls.task_id)) AS task_ids
    FROM ratings
    JOIN results AS calls
        ON ratings.result_suite = calls.suite
        AND ratings.result_run_id = calls.run_id
        AND ratings.result_id = calls.result_id
    WHERE ratings.rater_kind NOT IN ('human', 'gold')
        AND list_contains($run_ids, ratings.result_run_id)
    GROUP BY ALL
)

SELECT
    judged.*, traits.component_prefix, times.run_date,
    (
        SELECT list(DISTINCT metric) FROM lake.result_scores AS scored
        WHERE scored.suite = judged.suite AND scored.run_id = judged.run_id AND judge_in_metric
    ) AS metrics,
    {
        judge: judge, criterion: criterion, other: other, n_items: n_items,
        agreement_rate: agreement_rate, is_weighted: quadratic_kappa IS NOT NULL,
        kappa: coalesce(quadratic_kappa, kappa),
        kappa_low: if(quadratic_kappa IS NULL, kappa_low, quadratic_kappa_low),
        kappa_high: if(quadratic_kappa IS NULL, kappa_high, quadratic_kappa_high),
        newest_label_at: newest_label_at, age_days: NULL::BIGINT
    } AS figures
FROM judged
JOIN scores.run_times AS times USING (suite, run_id)
LEFT JOIN suite_traits AS traits USING (suite)
LEFT JOIN (FROM judge_agreement WHERE kind = 'rating' AND other_kind <> 'judge') AS labelled
    USING (suite, criterion, judge)
ORDER BY suite, criterion, judge, n_items, other DESC
"""


def with_judges(
    connection: duckdb.DuckDBPyConnection, rules: Rules, decisions: Sequence[Decision]
) -> list[Decision]:
    """Return decisions with the judges of their metrics, which must be good enough for the rules.

    Args:
        connection: an open warehouse.
        rules: the gate.
        decisions: its decisions by what the judges said.
    """
    parameters = {
        "run_ids": sorted({run for decision in decisions for run in decision.run_ids}),
        "task_ids": sorted({task for rule in rules.rules for task in rule.tasks}),
    }
    rows = rows_by_name(connection.execute(_JUDGED, parameters))
    return [_judged(each, rules, _figures(each, rules, rows)) for each in decisions]


def _figures(decision: Decision, rules: Rules, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the judges of what a rule is about; none for the verdicts of a re-score."""
    rule = decision.rule
    metric = raw_metric(rule.metric) if rule.kind in OF_METRIC else VERDICT
    if rule.kind not in JUDGED or (metric == VERDICT and rules.scorer is not None):
        return ()
    behind = [
        row
        for row in rows
        if row["run_id"] in decision.run_ids
        and decision.suite in {None, row["suite"]}
        and decision.task_set in {None, row["task_set"]}
        and (not rule.tasks or set(rule.tasks) & set(row["task_ids"] or ()))
        and _is_behind(row, metric, decision.scorer)
    ]
    dates = [row["run_date"] for row in behind if row["run_id"] in decision.candidate_run_ids]
    known = max(filter(None, dates), default=None)
    # Of several rows of a judge, the last counts.
    found = {(row["suite"], row["criterion"], row["judge"]): row["figures"] for row in behind}
    return tuple(
        {**judge, "age_days": (known - newest.date()).days}
        if known is not None and (newest := judge["newest_label_at"]) is not None
        else judge
        for judge in found.values()
    )


def _is_behind(row: Row, metric: str, scorer: str | None) -> bool:
    """Return whether a metric, of a scorer if it has one, is what a judge said."""
    judge, criterion, prefix = row["judge"], row["criterion"], row["component_prefix"]
    if scorer is not None:
        return bool((criterion, judge) == (metric, scorer))
    if metric == VERDICT and row["scorer"] in {judge, f"judge {judge}"}:
        return True
    if prefix is not None and criterion.startswith(prefix):
        return metric in {VERDICT, "score", criterion.removeprefix(prefix)}
    # `x_gpt_score` is what the judge `y gpt` said, and `x_score` the mean of all.
    end = f"_{judge.rpartition(' ')[2]}_score"
    names = row["metrics"] or ()
    return metric in names and (metric.endswith(end) or metric[: -len("_score")] + end in names)


def _judged(decision: Decision, rules: Rules, judges: tuple[Row, ...]) -> Decision:
    problems = [found for judge in judges if (found := _problem(decision, rules, judge))]
    demands = (decision.rule.min_judge_kappa, decision.rule.max_judge_age_days)
    if not judges and demands != (None, None) and decision.run_ids:
        problems = [(Outcome.INCONCLUSIVE, "the store knows of no judge of this metric")]
    if not problems:
        return replace(decision, judges=judges)
    outcome = Outcome.FAILED if Outcome.FAILED in dict(problems) else Outcome.INCONCLUSIVE
    reason = f"{decision.reason}; {outcome}: {'; '.join(text for _, text in problems)}"
    if outcome is Outcome.FAILED:
        # More runs do not help against a bad judge.
        decision = replace(decision, more_candidate_runs=0, more_baseline_runs=0)
    return replace(decision, outcome=outcome, reason=reason, judges=judges)


def _problem(decision: Decision, rules: Rules, judge: Row) -> tuple[Outcome, str] | None:
    """Return what a judge lacks; None if it is good enough."""
    least, oldest = decision.rule.min_judge_kappa, decision.rule.max_judge_age_days
    least = rules.min_judge_kappa if least is None else least
    oldest = rules.max_judge_age_days if oldest is None else oldest
    needs_kappa = least is not None or rules.require_calibrated
    low, high, age = judge["kappa_low"], judge["kappa_high"], judge["age_days"]
    outcome, text = Outcome.INCONCLUSIVE, None
    if judge["other"] is None:
        text = "no label shows how good it is" if needs_kappa or oldest is not None else None
    elif oldest is not None and (age is None or age > oldest):
        known = "of unknown age" if age is None else "too old"
        text = f"its newest label is {known}: max_judge_age_days is {oldest:,.0f}"
    elif needs_kappa and low is None:
        text = "its labels give no interval of kappa"
    elif least is not None and high < least:
        outcome = Outcome.FAILED
        text = f"its kappa, at most {high:.3f}, is below min_judge_kappa ({least:g})"
    elif least is not None and low < least:
        text = f"its kappa is not shown to be min_judge_kappa ({least:g}) or more"
    if text is None:
        return None
    advice = "" if outcome is Outcome.FAILED else "; label more of its answers"
    return outcome, f"judge {judge['judge']}: {text}{advice}"
