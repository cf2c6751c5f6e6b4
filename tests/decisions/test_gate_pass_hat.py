"""Rules of pass^k: the probability that all of k attempts at a task pass."""

from dataclasses import replace
from math import comb, sqrt

import numpy as np
import pytest
from gate_cases import decide, drop, only, run_rows, write
from peers import query
from support import command, queried_store

from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.rules import Rule
from warehouse.analysis.decisions.pass_hat import pass_hat_series
from warehouse.analysis.decisions.series import Asked, MetricKey, Series, SeriesKey
from warehouse.core.errors import BadInput
from warehouse.engine.statistics.bounded_means import excess_of_bounded_means
from warehouse.engine.statistics.distributions import normal_quantile
from warehouse.engine.statistics.score_test import excess_of_proportions

BASE, WORSE = [5] * 48 + [3] * 12, [5] * 30 + [4] * 18 + [0] * 12


def without_verdicts(run, **n_missing):
    """Take the verdict from the last attempts at some tasks of a run."""
    header, results = run
    for task_id, n in n_missing.items():
        for row in [row for row in results if row["task_id"] == task_id][-n:]:
            row["is_correct"] = None
    return header, results


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store of models that made five attempts at 60 tasks, or fewer."""
    store = queried_store(tmp_path_factory.mktemp("gate") / "store")
    short = run_rows("m/short", BASE, attempts=5)
    short[1][:] = [row for row in short[1] if row["seq"] >= 7 or row["attempt"] <= 3]
    uneven = run_rows("m/uneven", BASE, attempts=5)
    uneven[1][:] = [row for row in uneven[1] if row["seq"] < 30 or row["attempt"] <= 4]
    write(
        store,
        run_rows("m/base", BASE, attempts=5),
        run_rows("m/same", BASE, attempts=5),
        run_rows("m/worse", WORSE, attempts=5),
        without_verdicts(run_rows("m/gaps", BASE, attempts=5), **{f"t{n}": 1 for n in range(9)}),
        without_verdicts(run_rows("m/holes", BASE, attempts=5), t0=2),
        run_rows("m/unjudged", [None, *BASE[1:]], attempts=5),
        short,
        uneven,
    )
    store.sync()
    return store


def floor(limit=0.5, k=4, **fields):
    return Rule(kind="min_pass_hat_k", limit=limit, k=k, **fields)


def hat_drop(limit=0.02, k=4):
    return Rule(kind="max_pass_hat_k_drop", limit=limit, k=k)


def pass_hat(passed, attempts, k):
    return [comb(c, k) / comb(attempts, k) for c in passed]


@pytest.mark.parametrize("k", range(1, 6))
def test_the_value_is_the_mean_over_tasks_and_that_of_the_view(store, k):
    decision = only(decide(store, floor(k=k), candidate="m/worse"))
    assert decision.candidate_value == pytest.approx(np.mean(pass_hat(WORSE, 5, k)))
    [row] = query(store, f"SELECT * FROM pass_at_k WHERE run_id = 'm-worse' AND k = {k}")
    assert decision.candidate_value == pytest.approx(row["pass_hat_k"])
    assert (decision.n_tasks, row["n_tasks"]) == (60, 60)


@pytest.mark.slow
def test_the_lower_end_decides(store):
    # All of five attempts passed at 48 of 60 tasks: Wilson's interval.
    z, p = normal_quantile(0.975), 48 / 60
    low = (p + z**2 / 120 - z * sqrt(p * (1 - p) / 60 + z**2 / 4 / 60**2)) / (1 + z**2 / 60)
    kept = only(decide(store, floor(low - 0.001, k=5), candidate="m/base", baseline=None))
    assert kept.low == pytest.approx(low)
    assert kept.outcome is Outcome.PASSED
    assert kept.reason.startswith("pass^5 is 80 points on 60 tasks; the lower end of its interval")
    failed = only(decide(store, floor(low + 0.001, k=5), candidate="m/base", baseline=None))
    assert failed.outcome is Outcome.FAILED
    # A task's value for fewer attempts says more than one that passed or failed.
    of_three = only(decide(store, floor(k=3), candidate="m/worse", baseline=None))
    p = of_three.candidate_value
    wilson = (p + z**2 / 120 - z * sqrt(p * (1 - p) / 60 + z**2 / 4 / 60**2)) / (1 + z**2 / 60)
    assert wilson < of_three.low < p


@pytest.mark.parametrize(
    ("candidate", "k", "tasks"),
    [("m/short", 4, "7 of 60 tasks"), ("m/uneven", 5, "30 of 60 tasks"), ("m/base", 6, "60 of 60")],
)
def test_a_task_with_too_few_attempts_makes_it_inconclusive(store, candidate, k, tasks):
    verdict = decide(store, floor(0.0, k=k), candidate=candidate, baseline=None)
    decision = only(verdict)
    assert (decision.outcome, verdict.exit_code) == (Outcome.INCONCLUSIVE, 3)
    assert decision.reason.startswith(tasks)
    assert f"of the candidate have fewer than {k} attempts with a verdict; make {k} attempts" in (
        decision.reason
    )


def test_tasks_may_have_more_attempts_than_others(store):
    decision = only(decide(store, floor(k=4), candidate="m/uneven"))
    of_four = [min(passed, 4) for passed in BASE[30:]]
    values = pass_hat(BASE[:30], 5, 4) + pass_hat(of_four, 4, 4)
    assert decision.candidate_value == pytest.approx(np.mean(values))


@pytest.mark.slow
def test_missing_verdicts_are_bounds(store):
    # Nine tasks passed four of four, and one verdict is missing: C(4, 4) / C(5, 4) if it failed.
    judged = only(decide(store, floor(0.0), candidate="m/base", baseline=None))
    missing = only(decide(store, floor(0.0), candidate="m/gaps"))
    assert missing.candidate_value == pytest.approx(judged.candidate_value)
    undecided = only(decide(store, floor(judged.low - 0.001), candidate="m/gaps"))
    assert undecided.outcome is Outcome.INCONCLUSIVE
    assert "with the missing verdicts counted as failed" in undecided.reason
    failed = only(decide(store, floor(0.0), candidate="m/gaps", missing="fail"))
    values = [1 / 5] * 9 + [1.0] * 39 + [0.0] * 12
    assert failed.candidate_value == pytest.approx(np.mean(values))


@pytest.mark.parametrize("candidate", ["m/holes", "m/unjudged"])
def test_attempts_without_a_verdict_are_none(store, candidate):
    decision = only(decide(store, floor(0.0), candidate=candidate))
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert decision.reason.startswith("1 of 60 tasks of the candidate have fewer than 4 attempts")
    # Counted as failed they are attempts: none of five passed, or three.
    rules = [Rule(kind="min_value", limit=0.0), floor(0.0)]
    decision = decide(store, *rules, candidate=candidate, missing="fail").decisions[1]
    assert decision.candidate_value == pytest.approx(47 / 60)


@pytest.mark.slow
def test_a_drop_of_pass_hat_is_tested_by_task(store):
    exact = only(decide(store, hat_drop(k=5), candidate="m/worse", baseline="m/base"))
    assert exact.test == "score"
    assert exact.p_value == excess_of_proportions(18, 0, 60, 0.02)
    assert (exact.outcome, exact.drop) == (Outcome.FAILED, pytest.approx(18 / 60))
    bounded = only(decide(store, hat_drop(k=3), candidate="m/worse", baseline="m/base"))
    drops = np.array(pass_hat(BASE, 5, 3)) - np.array(pass_hat(WORSE, 5, 3))
    assert bounded.test == "gaffke"
    p_value = excess_of_bounded_means(drops, 0.02, largest=1.0)
    assert bounded.p_value == pytest.approx(p_value)
    assert only(decide(store, hat_drop(), candidate="m/same")).outcome is Outcome.PASSED


def test_drops_of_both_kinds_are_adjusted_together(store):
    rules = [drop(), hat_drop(), hat_drop(k=5)]
    decisions = decide(store, *rules, candidate="m/worse").decisions
    smallest, middle, largest = sorted(decisions, key=lambda each: each.p_value)
    assert smallest.p_adjusted == pytest.approx(3 * smallest.p_value)
    assert smallest.p_value < middle.p_value < largest.p_value
    assert middle.p_adjusted == pytest.approx(max(smallest.p_adjusted, 2 * middle.p_value))


def test_a_baseline_with_too_few_attempts_is_named(store):
    decision = only(decide(store, hat_drop(), candidate="m/base", baseline="m/short"))
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert decision.reason.startswith("7 of 60 tasks of the baseline have fewer than 4 attempts")


def test_a_drop_needs_a_baseline(store):
    with pytest.raises(BadInput, match=r"max_pass_hat_k_drop 0\.02 with k = 4: needs a baseline"):
        decide(store, hat_drop(), baseline=None)


@pytest.mark.parametrize("fmt", ["table", "json", "junit", "markdown", "github"])
def test_every_report_shows_k(store, fmt):
    limits = ["--min-pass-hat-k", 0.9, "--max-pass-hat-k-drop", 0.02, "--k", 3]
    sides = ["--candidate", "m/worse", "--baseline", "m/base"]
    ended = command(store.path, "gate", *sides, *limits, "--format", fmt)
    assert ended.code == 1, ended.err
    for rule in ("min_pass_hat_k 0.9 with k = 3", "max_pass_hat_k_drop 0.02 with k = 3"):
        assert rule in ended.out
    assert "pass^3 is" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-pass-hat-k", 0.5], "--min-pass-hat-k: needs k, how many attempts must all pass"),
        (["--min-value", 0.5, "--k", 4], "--k: only with max-pass-hat-k-drop or min-pass-hat-k"),
        (["--min-pass-hat-k", 1.5, "--k", 4], "--min-pass-hat-k: must be at most 1"),
        (["--min-pass-hat-k", 0.5, "--k", 4, "--metric", "f1"], "--metric: only with --max-drop"),
    ],
)
def test_misuse_is_refused(store, arguments, message):
    ended = command(store.path, "gate", "--candidate", "m/base", *arguments)
    assert ended.code == 2
    assert message in ended.err


def test_runs_are_pooled_as_attempts_and_so_are_their_missing_verdicts():
    key = SeriesKey(0, "s", "set", None, "m", "{}")
    asked = {"a": Asked("r", None), "b": Asked("r", None), "c": Asked("r", None)}
    first = Series(key=key, metric=MetricKey("passed", None, None), asked=asked)
    first.values.update(a=(1.0, 1.0), b=(1.0, 0.0))
    second = replace(first, values={"a": (1.0,), "b": (1.0,)})
    second = replace(second, n_missing={"a": 1}, bounds={"a": (0.5, 1.0)})
    [pooled] = pass_hat_series([first, second], 2, missing="exclude")
    assert pooled.values == {"a": (1.0,), "b": (1 / 3,)}
    assert pooled.bounds == {"a": (3 / 6, 1.0)}
    assert pooled.n_too_few == 0  # nothing judges c
    [of_four] = pass_hat_series([first, second], 4, missing="exclude")
    assert (of_four.values, of_four.n_too_few) == ({}, 2)
    [failed] = pass_hat_series([first, second], 4, missing="fail")
    assert (failed.values, failed.n_too_few) == ({"a": (0.0,)}, 1)
