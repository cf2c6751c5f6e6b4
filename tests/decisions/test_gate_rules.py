"""The rules of a gate as YAML: what is read, and what is refused with its line."""

import pytest

from warehouse.analysis.decisions.gate.rules import Rule, Rules
from warehouse.analysis.decisions.gate.rules_file import limit_problem, read_rules_file
from warehouse.core.errors import BadInput

FULL = b"""\
candidate: run:nightly-17
baseline: tag:branch=main
suite: mine
alpha: 0.01
min_tasks: 50
min_coverage: 1
max_missed: 0.1
baseline_runs: 3
anchor: run:v1
max_anchor_days: 90
confirm: 2
missing: fail
cluster: page
prove: true
min_judge_kappa: 0.6
max_judge_age_days: 180
require_calibrated: true
on_inconclusive: fail
rules:
  - metric: exact_match
    max_drop: 0.02
    max_missed: 0.05
    min_judge_kappa: 0.7
    max_judge_age_days: 90
    min_value: 0.5
  - {max_cost_per_passed_usd: 0.02, task_set: hard}
  - {max_p95_ms: 5000, on_inconclusive: warn}
  - must_pass: [refund, 12]
  - {min_pass_hat_k: 0.3, max_pass_hat_k_drop: 0.05, k: 4, max_missed: 0.1}
"""


def test_everything_is_read():
    assert Rules(**read_rules_file(FULL, "rules.yaml")) == Rules(
        candidate="run:nightly-17",
        baseline="tag:branch=main",
        suite="mine",
        alpha=0.01,
        min_tasks=50,
        min_coverage=1.0,
        max_missed=0.1,
        baseline_runs=3,
        anchor="run:v1",
        max_anchor_days=90.0,
        confirm=2,
        missing="fail",
        cluster="page",
        proves=True,
        min_judge_kappa=0.6,
        max_judge_age_days=180.0,
        require_calibrated=True,
        on_inconclusive="fail",
        rules=(
            Rule(
                kind="max_drop",
                limit=0.02,
                metric="exact_match",
                max_missed=0.05,
                min_judge_kappa=0.7,
                max_judge_age_days=90.0,
            ),
            Rule(
                kind="min_value",
                limit=0.5,
                metric="exact_match",
                min_judge_kappa=0.7,
                max_judge_age_days=90.0,
            ),
            Rule(kind="max_cost_per_passed_usd", limit=0.02, task_set="hard"),
            Rule(kind="max_p95_ms", limit=5000.0, on_inconclusive="warn"),
            Rule(kind="must_pass", tasks=("refund", "12")),
            Rule(kind="max_pass_hat_k_drop", limit=0.05, k=4, max_missed=0.1),
            Rule(kind="min_pass_hat_k", limit=0.3, k=4),
        ),
    )


def test_defaults():
    rules = Rules(**read_rules_file(b"candidate: a\nrules: [{max_p95_ms: 1}]", "r"))
    assert (rules.alpha, rules.min_tasks, rules.min_coverage) == (0.05, 20, 0.95)
    assert (rules.missing, rules.proves, rules.on_inconclusive) == ("exclude", False, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("candidat: a\nrules: [{max_p95_ms: 1}]", "r:1: candidat: unknown key of a gate; did you"),
        (
            "rules:\n  - max_p95: 1",
            "r:2: max_p95: unknown key of a rule; did you mean 'max_p95_ms'",
        ),
        ("rules:\n  - metric: passed", "r:2: the rule has no limit; the limits are: max_drop, min"),
        ("rules:\n  - {metric: x, max_p95_ms: 1}", "r:2: metric: only with max_drop or min_value"),
        ("candidate: a", "r:1: rules: missing; a gate needs at least one rule"),
        ("rules: []", "r:1: rules: must be a list with at least one item"),
        ("rules: [{max_drop: two}]", "r:1: max_drop: must be a number from -1e+15 to 1e+15"),
        ("rules: [{max_drop: .nan}]", "r:1: max_drop: must be a number"),
        ("rules: [{max_drop: true}]", "r:1: max_drop: must be a number"),
        ("rules: [{max_drop: 2}]", "r:1: max_drop: must be below 1: pass rates are 0 to 1"),
        ("rules: [{max_drop: -0.1}]", "r:1: max_drop: must not be negative"),
        ("rules: [{metric: latency_ms, max_drop: 1}]", "r:1: max_drop: latency_ms is better if"),
        (
            "min_judge_kapa: 1",
            "r:1: min_judge_kapa: unknown key of a gate; did you mean 'min_judge",
        ),
        ("max_judge_age_days: -1", "r:1: max_judge_age_days: must be a number from 0 to 1e+09"),
        ("require_calibrated: 1", "r:1: require_calibrated: must be true or false"),
        (
            "rules:\n  - {max_p95_ms: 0, max_judge_age_days: 9}",
            "r:2: max_judge_age_days: only with one of max_cost_per_passed_usd, max_drop, max_pass",
        ),
        (
            "rules: [{max_drop: 0, require_calibrated: true}]",
            "r:1: require_calibrated: unknown key",
        ),
        ("rules: [{max_drop: 0, min_judge_kappa: 2}]", "r:1: min_judge_kappa: must be a number"),
        (
            "rules: [{max_p95_ms: 1, min_judge_kappa: 0.5}]",
            "r:1: min_judge_kappa: only with one of max_cost_per_passed_usd, max_drop, max_pass",
        ),
        ("rules: [{must_pass: [a], max_missed: 1}]", "r:1: max_missed: only with max_drop"),
        ("rules: [{must_pass: t1}]", "r:1: must_pass: must be a list"),
        ("rules: [{min_pass_hat_k: 0.3}]", "r:1: min_pass_hat_k: needs k, how many attempts must"),
        ("rules: [{max_drop: 0.1, k: 4}]", "r:1: k: only with max_pass_hat_k_drop or min_pass_hat"),
        ("rules: [{min_pass_hat_k: 0.3, k: 0}]", "r:1: k: must be a number from 1 to 1000"),
        ("rules: [{min_pass_hat_k: 0.3, k: 1.5}]", "r:1: k: must be a whole number"),
        ("rules: [{min_pass_hat_k: 30, k: 4}]", "r:1: min_pass_hat_k: must be at most 1: pass^k"),
        ("rules: [{max_pass_hat_k_drop: 2, k: 4}]", "r:1: max_pass_hat_k_drop: must be below 1"),
        ("alpha: 1\nrules: [{max_drop: 0.1}]", "r:1: alpha: must be a number between 0 and 1"),
        ("alpha: 0.1\nalpha: 0.2\nrules: [{max_drop: 0.1}]", "r:2: alpha: duplicate key"),
        (
            "on_inconclusive: no\nrules: [{max_drop: 0.1}]",
            "r:1: on_inconclusive: must be one of fail, warn",
        ),
        ("prove: 1\nrules: [{max_drop: 0.1}]", "r:1: prove: must be true or false"),
        ("[a]", "r:1: a gate must be a mapping"),
        ("rules: [{max_drop: 0.1}", "r"),
        ("a: &a [*a]", "r"),
    ],
)
def test_anything_else_is_refused_with_its_line(text, message):
    with pytest.raises(BadInput) as caught:
        read_rules_file(text.encode(), "r")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("kind", "limit", "metric", "problem"),
    [
        ("max_drop", 0.99, "passed", None),
        ("max_drop", 1.0, "passed", "must be below 1"),
        ("max_drop", 1.0, "f1", None),
        ("max_drop", 0.0, "passed", None),
        ("max_drop", -0.01, "f1", "must not be negative"),
        ("min_value", -1.0, "f1", None),
        ("min_value", float("inf"), "f1", "must be a finite number"),
    ],
)
def test_limits_have_a_range(kind, limit, metric, problem):
    found = limit_problem(kind, limit, metric)
    assert found is None if problem is None else problem in found


def test_the_former_name_of_a_key_still_works():
    text = "cannot_tell: warn\nrules:\n  - {max_drop: 0.1, cannot_tell: fail}\n"
    found = read_rules_file(text.encode(), "r")
    assert found["on_inconclusive"] == "warn"
    assert found["rules"][0].on_inconclusive == "fail"
