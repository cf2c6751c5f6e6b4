"""The gate: what it decides, and what it says when the data are inconclusive."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from gate_cases import decide, drop, only, run_rows, write
from support import command, queried_store

from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.reports import text_report
from warehouse.analysis.decisions.gate.rules import Rule
from warehouse.core.errors import BadInput
from warehouse.engine.statistics.bounded_means import excess_of_bounded_means
from warehouse.engine.statistics.score_test import difference_interval, excess_of_proportions

HOSTILE = 'm/<b>|`x`\n::error::%0A@all,"&'


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store of models that passed known tasks out of 60."""
    store = queried_store(tmp_path_factory.mktemp("gate") / "store")
    chosen, results = run_rows("m/chosen", [1] * 30)
    write(
        store,
        run_rows("m/base", [1] * 54 + [0] * 6),
        run_rows("m/same", [1] * 54 + [0] * 6),
        run_rows("m/worse", [0] * 20 + [1] * 34 + [1, 1, 0, 0, 0, 0]),
        run_rows("m/better", [1] * 60),
        run_rows("m/cut", [1] * 30),
        run_rows("m/unjudged", [None] * 10 + [1] * 50),
        run_rows("m/changed", [1] * 54 + [0] * 6, version="2"),
        run_rows("m/free", [1] * 60, cost=None),
        run_rows("m/lost", [0] * 60),
        run_rows("m/one", [1], suite="tiny"),
        run_rows("m/none", [0], suite="tiny"),
        run_rows("m/often", [3] * 54 + [0] * 6, attempts=3),
        run_rows("m/rarer", [2] * 54 + [0] * 6, attempts=3),
        run_rows(HOSTILE, [0] * 60, run_id="hostile"),
        ({**chosen, "plan": '{"adaptive": {}}'}, results),
    )
    store.sync()
    return store


def test_no_difference_at_all_passes_and_says_what_would_have_been_found(store):
    verdict = decide(store, drop())
    decision = only(verdict)
    assert (verdict.exit_code, decision.outcome) == (0, Outcome.PASSED)
    assert decision.reason.startswith("the same as the baseline on 60 tasks (95 % interval of the")
    assert decision.p_value > 0.5
    assert (
        f"80 % power to detect a drop of {100 * decision.missed_drop:.3g} points" in decision.reason
    )
    assert 0.02 < decision.missed_drop < 0.2


def test_a_drop_fails_with_the_figures(store):
    verdict = decide(store, drop(), candidate="m/worse")
    decision = only(verdict)
    # 54 and 36 of 60: 20 only by the baseline, 2 only by the candidate.
    assert (verdict.exit_code, decision.outcome) == (1, Outcome.FAILED)
    assert (decision.n_only_baseline, decision.n_only_candidate) == (20, 2)
    assert decision.drop == pytest.approx(18 / 60)
    assert decision.p_value == excess_of_proportions(20, 2, 60, 0.02)
    assert decision.reason.startswith("30 points below the baseline on 60 tasks (")
    assert decision.reason.endswith(": the drop is larger than the 2 points allowed (p = 0.0001)")


def test_drops_have_the_intervals_of_compare_at_their_own_level(store):
    # A rule of means is in between.
    rules = [drop(), drop(1000.0, metric="latency_ms"), drop(0.3)]
    first, latency, second = decide(store, *rules, candidate="m/worse", alpha=0.1).decisions
    limits = difference_interval(20, 2, 60, level=0.9)
    assert (first.low, first.high) == (second.low, second.high) == limits
    assert "90 % interval" in first.reason
    assert latency.test == "student"
    assert (latency.low, latency.high) != limits


def test_several_attempts_are_averaged_within_the_task(store):
    decision = only(decide(store, drop(), candidate="m/rarer", baseline="m/often"))
    drops = [1 / 3] * 54 + [0.0] * 6
    assert decision.test == "gaffke"
    p = excess_of_bounded_means(np.array(drops), 0.02, largest=1.0)
    assert decision.p_value == pytest.approx(p)
    assert decision.drop == pytest.approx(0.3)
    assert decision.n_tasks == 60


def test_holm_adjusts_all_drop_rules_together(store):
    rules = [drop(0.02), drop(0.2), drop(0.3)]
    decisions = decide(store, *rules, candidate="m/worse").decisions
    p = [excess_of_proportions(20, 2, 60, limit) for limit in (0.02, 0.2, 0.3)]
    assert [each.p_value for each in decisions] == p
    adjusted = [3 * p[0], max(3 * p[0], 2 * p[1]), max(2 * p[1], p[2])]
    assert [each.p_adjusted for each in decisions] == pytest.approx(adjusted)
    assert [each.outcome.value for each in decisions] == ["failed", "passed", "passed"]


def test_prove_passes_only_if_a_drop_is_excluded(store):
    unproven = decide(store, drop(0.02), proves=True)
    assert (unproven.exit_code, only(unproven).p_value > 0.05) == (1, True)
    assert "a drop of 2 points or more is not excluded" in only(unproven).reason
    proven = decide(store, drop(0.1), proves=True, candidate="m/better")
    assert (proven.exit_code, only(proven).outcome) == (0, Outcome.PASSED)
    assert "a drop of 10 points or more is excluded" in only(proven).reason


@pytest.mark.parametrize(
    ("candidate", "baseline", "fields", "reason"),
    [
        ("m/same", "m/lacking", {}, "there is no baseline: the store has no results of a model"),
        ("m/same", "run:lacking", {}, "there is no baseline: run:lacking: no such run"),
        ("m/same", "tag:branch=main", {}, "there is no baseline: tag:branch=main"),
        (
            "m/cut",
            "m/base",
            {},
            "the candidate has values of 30 of the baseline's 60 tasks (50 %), less than min_cov",
        ),
        (
            "m/unjudged",
            "m/base",
            {},
            "the candidate has values of 50 of the baseline's 60 tasks (83.3 %)",
        ),
        ("m/none", "m/one", {"suite": "tiny"}, "only 1 task, less than min_tasks (20)"),
        (
            "m/none",
            "m/one",
            {"suite": "tiny", "min_tasks": 1, "metric": "cost"},
            "the store has no value of cost for these sides of tiny",
        ),
        (
            "m/none",
            "m/one",
            {"suite": "tiny", "task_set": "tiny", "min_tasks": 1, "metric": "cost"},
            "the store has no value of cost for these sides of tiny/tiny",
        ),
    ],
)
def test_it_says_why_it_is_inconclusive(store, candidate, baseline, fields, reason):
    rule = drop(metric=fields.pop("metric", "passed"))
    verdict = decide(store, rule, candidate=candidate, baseline=baseline, **fields)
    assert verdict.exit_code == 3
    assert only(verdict).reason.startswith(reason)


def test_changed_tasks_are_not_compared(store):
    verdict = decide(store, drop(), candidate="m/changed")
    assert verdict.exit_code == 3
    reason = only(verdict).reason
    assert reason == (
        "no task has a value of both the baseline and the candidate; 60 tasks have other content "
        "than in the baseline"
    )


def test_one_task_is_decided_only_if_the_rules_ask_for_it(store):
    verdict = decide(store, drop(), candidate="m/none", baseline="m/one", suite="tiny", min_tasks=1)
    # One task lost of one: under a drop of 2 points that happens at half of the shares.
    assert only(verdict).outcome is Outcome.PASSED
    assert only(verdict).n_tasks == 1


def test_missing_answers_count_as_failures_if_asked_for(store):
    decision = only(decide(store, drop(), candidate="m/unjudged", missing="fail"))
    assert (decision.n_tasks, decision.n_only_baseline, decision.n_only_candidate) == (60, 10, 6)


@pytest.mark.slow
def test_missing_verdicts_decide_nothing_that_they_could_undo(tmp_path):
    store = queried_store(tmp_path / "store")
    write(
        store,
        run_rows("m/base", [1] * 180 + [0] * 20),
        run_rows("m/lost", [1] * 170 + [None] * 10 + [0] * 20),
        run_rows("m/little", [1] * 179 + [None] + [0] * 20),
        run_rows("m/worse", [1] * 150 + [0] * 20 + [None] * 10 + [0] * 20),
    )
    verdict = decide(store, drop(0.0), candidate="m/lost")
    lost = only(verdict)
    assert (verdict.exit_code, lost.drop, lost.n_unjudged) == (3, 0.0, 10)
    assert lost.p_missing == excess_of_proportions(10, 0, 200, 0.0) < 0.05 < lost.p_value
    assert lost.reason.endswith(
        "inconclusive: with the missing verdicts counted as failed, it fails (p = 0.00077)"
    )
    # Where the decision is the same either way, it stands.
    assert only(decide(store, drop(0.0), candidate="m/little")).outcome is Outcome.PASSED
    assert only(decide(store, drop(0.0), candidate="m/worse")).outcome is Outcome.FAILED
    assert only(decide(store, drop(), candidate="m/base", baseline="m/lost")).p_missing is None


@pytest.mark.slow
def test_a_baseline_that_lacks_verdicts_fails_no_equal_candidate(tmp_path):
    store = queried_store(tmp_path / "store")
    # The baseline lacks the verdicts of 20 failures; the candidate passes half of those tasks.
    known = [True] * 80 + [None] * 20
    equal = [True] * 70 + [False] * 10 + [True] * 10 + [False] * 10
    worse = [True] * 40 + [False] * 60
    for run_id, verdicts in (("base", known), ("equal", equal), ("worse", worse)):
        with store.record(suite="mine", model=f"m/{run_id}", run_id=run_id) as log:
            for n, verdict in enumerate(verdicts):
                log.log(task_id=f"t{n}", output="x", passed=verdict)
    fields = {"baseline": "run:base", "min_tasks": 50}
    judged = only(decide(store, drop(0.0), candidate="run:equal", **fields))
    assert judged.p_value == excess_of_proportions(10, 0, 80, 0.0) < 0.05
    p_words = f"{excess_of_proportions(10, 10, 100, 0.0):.2g}"
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert judged.reason.endswith(
        "inconclusive: with the missing verdicts of the baseline counted as failed, it passes "
        f"(p = {p_words})"
    )
    # A drop that the missing verdicts cannot explain still fails.
    assert only(decide(store, drop(0.0), candidate="run:worse", **fields)).outcome == "failed"


@pytest.mark.slow
def test_missing_scores_decide_nothing_that_they_could_undo(tmp_path):
    store = queried_store(tmp_path / "store")
    for run_id, scores in (("base", [1.0] * 90 + [0.0] * 10), ("next", [1.0] * 81 + [None] * 9)):
        with store.record(suite="mine", model=f"m/{run_id}", run_id=run_id) as log:
            for n in range(100):
                score = [*scores, *[0.0] * 100][n]
                log.log(task_id=f"t{n}", output="x", scores={} if score is None else {"f1": score})
    fields = {"candidate": "run:next", "baseline": "run:base", "min_coverage": 0.9}
    decision = only(decide(store, drop(metric="f1"), **fields))
    assert (decision.outcome, decision.drop, decision.n_unjudged) == ("inconclusive", 0.0, 9)
    assert decision.p_missing == excess_of_proportions(9, 0, 100, 0.02) < 0.05 < decision.p_value
    value = only(decide(store, Rule(kind="min_value", metric="f1", limit=0.75), **fields))
    assert value.outcome == "inconclusive"
    # Wilson's lower end of 81 of 91 is 80.9 points, that of 81 of 100 is 72.2.
    assert value.reason.endswith(
        "80.9 points, is at least 75 points; inconclusive: with the missing verdicts counted as "
        "failed, it is 72.2 points"
    )


@pytest.mark.slow
def test_a_pass_that_could_have_missed_too_much_is_inconclusive(store):
    passed = only(decide(store, drop(), max_missed=0.2))
    assert (passed.outcome, passed.missed_drop < 0.2) == (Outcome.PASSED, True)
    verdict = decide(store, drop(), max_missed=0.03)
    assert (verdict.exit_code, only(verdict).missed_drop) == (3, passed.missed_drop)
    assert only(verdict).reason.endswith(
        "inconclusive: the power to detect a drop of max_missed (3 points) is below 80 %"
    )
    # The rule's own limit counts before that of all, and a drop that was found still fails.
    assert only(decide(store, drop(max_missed=0.2), max_missed=0.03)).outcome is Outcome.PASSED
    assert only(decide(store, drop(), candidate="m/worse", max_missed=0.03)).outcome == "failed"
    with pytest.raises(BadInput, match=r"max_missed \(0.02\) must be larger than max_drop"):
        decide(store, drop(), max_missed=0.02)
    with pytest.raises(BadInput, match="max_missed does not go with prove"):
        decide(store, drop(), max_missed=0.1, proves=True)
    arguments = ["--candidate", "m/same", "--baseline", "m/base", "--suite", "mine"]
    limits = ["--max-drop", "0.02", "--max-missed", "0.03"]
    assert command(store.path, "gate", *arguments, *limits).code == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fallback", "code", "treated"),
    [
        (None, 3, "inconclusive"),
        ("fail", 1, "failed"),
        ("warn", 0, "warning"),
        ("pass", 0, "passed"),
    ],
)
def test_the_rules_decide_what_inconclusive_data_count_as(store, fallback, code, treated):
    verdict = decide(store, drop(), candidate="m/cut", on_inconclusive=fallback)
    assert (verdict.exit_code, verdict.treatment(only(verdict))) == (code, treated)
    rule = drop(on_inconclusive=fallback)
    assert decide(store, rule, candidate="m/cut").exit_code == code


def test_a_failure_outweighs_what_is_inconclusive(store):
    unknown = Rule(kind="must_pass", tasks=("t999",))
    assert decide(store, unknown, drop(), candidate="m/worse").exit_code == 1


@pytest.mark.parametrize(
    ("rule", "candidate", "outcome", "reason"),
    [
        # Wilson's lower end of 54 of 60 is 0.7985.
        (Rule(kind="min_value", limit=0.79), "m/base", "passed", "79.9 points, is at least 79"),
        (Rule(kind="min_value", limit=0.8), "m/base", "failed", "79.9 points, is below 80 points"),
        (
            Rule(kind="min_value", limit=0.8),
            "m/unjudged",
            "inconclusive",
            "50 of the 60 tasks asked",
        ),
        # 60 calls of 0.01 and 36 passed: 0.01667 by or times exp(1.671 * sqrt(24 / 36 / 59)).
        (
            Rule(kind="max_cost_per_passed_usd", limit=0.02),
            "m/worse",
            "passed",
            "passed call (0.6 US dollars, 36 passed), likely at most 0.01991: within 0.02",
        ),
        (
            Rule(kind="max_cost_per_passed_usd", limit=0.015),
            "m/worse",
            "passed",
            "within noise of the limit, 0.015",
        ),
        (
            Rule(kind="max_cost_per_passed_usd", limit=0.0139),
            "m/worse",
            "failed",
            "likely at least 0.01395: more than 0.0139",
        ),
        # If more than 1 - 0.05 ** (1 / 60) of the calls passed, one of 60 likely had.
        (
            Rule(kind="max_cost_per_passed_usd", limit=0.2),
            "m/lost",
            "failed",
            "no call passed, for 0.6 US dollars: a passed call likely costs at least 0.2053, more",
        ),
        (
            Rule(kind="max_cost_per_passed_usd", limit=0.21),
            "m/lost",
            "inconclusive",
            "too few tasks to decide about 0.21",
        ),
        (
            Rule(kind="max_cost_per_passed_usd", limit=1),
            "m/free",
            "inconclusive",
            "the cost of 0 of 60 calls is known",
        ),
        # A latency of 100 to 159 ms, 156.05 at 0.95 * 59. Of 60 values the 54th and the largest:
        # P(Bin(60, 0.95) <= 53) = 0.030, <= 54 0.079; P(60) = 0.046.
        (
            Rule(kind="max_p95_ms", limit=159),
            "m/base",
            "passed",
            "likely at most 159: within 159",
        ),
        (Rule(kind="max_p95_ms", limit=158), "m/base", "passed", "156 ms, within noise of the"),
        (Rule(kind="max_p95_ms", limit=153), "m/base", "passed", "156 ms, within noise of the"),
        (
            Rule(kind="max_p95_ms", limit=152),
            "m/base",
            "failed",
            "likely at least 153: more than 152",
        ),
        (Rule(kind="must_pass", tasks=("t0", "t1")), "m/base", "passed", "2 tasks passed at every"),
        (Rule(kind="must_pass", tasks=("t0", "t59")), "m/base", "failed", "at least once: t59"),
        (Rule(kind="must_pass", tasks=("t0",)), "m/unjudged", "inconclusive", "without a verdict"),
        (Rule(kind="must_pass", tasks=("t_0",)), "m/base", "inconclusive", ": t_0; did you mean"),
        (Rule(kind="must_pass", tasks=("t0",)), "m/rarer", "failed", "failed at least once: t0"),
    ],
)
def test_rules_about_the_candidate_need_no_baseline(store, rule, candidate, outcome, reason):
    decision = only(decide(store, rule, candidate=candidate, baseline=None))
    assert decision.outcome.value == outcome
    assert reason in decision.reason


@pytest.mark.parametrize("kind", ["min_value", "min_pass_hat_k", "max_cost_per_passed_usd"])
def test_what_passed_of_chosen_tasks_decides_nothing(store, kind):
    """All thirty passed, but which tasks were asked depended on the answers."""
    rule = Rule(kind=kind, limit=0.5, k=1 if kind == "min_pass_hat_k" else None)
    decision = only(decide(store, rule, candidate="run:m-chosen", baseline=None))
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert "chose its tasks by the answers" in decision.reason
    assert decision.candidate_value is None


@pytest.mark.parametrize(("n_tasks", "n_passed"), [(200, 9), (15, 12)])
def test_a_cost_without_an_interval_is_never_passed(tmp_path, n_tasks, n_passed):
    store = queried_store(tmp_path / "store")
    with store.record(suite="mine", model="m/rare") as log:
        for n in range(n_tasks):
            log.log(task_id=f"t{n}", output="x", passed=n < n_passed, cost_usd=1.0)
    rule = Rule(kind="max_cost_per_passed_usd", limit=0.01)
    decision = only(decide(store, rule, candidate="m/rare", baseline=None, min_tasks=5))
    assert decision.outcome.value == "inconclusive"
    assert f"{n_passed} of {n_tasks} tasks passed, too few for an interval" in decision.reason


@pytest.mark.slow
def test_a_model_that_costs_nothing_is_within_every_limit(tmp_path):
    store = queried_store(tmp_path / "store")
    with store.record(suite="mine", model="m/free") as log:
        for n in range(30):
            log.log(task_id=f"t{n}", output="x", passed=True, cost_usd=0.0)
    rule = Rule(kind="max_cost_per_passed_usd", limit=0.0)
    decision = only(decide(store, rule, candidate="m/free", baseline=None, proves=True))
    assert decision.outcome.value == "passed"


@pytest.mark.parametrize(
    ("kind", "limit"), [("max_p95_ms", 156.0), ("max_cost_per_passed_usd", 0.0167)]
)
def test_within_noise_of_a_limit_nothing_is_proved(store, kind, limit):
    rule = Rule(kind=kind, limit=limit)
    decision = only(decide(store, rule, candidate="m/worse", baseline=None, proves=True))
    assert decision.outcome.value == "inconclusive"
    assert decision.low < limit < decision.high


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a store of 150 tasks on 30 pages; the candidate fails all tasks of five pages."""
    store = queried_store(tmp_path_factory.mktemp("pages") / "store")
    runs = [
        run_rows("m/base", [1] * 150),
        run_rows("m/next", [0] * 25 + [1] * 125),
        run_rows("m/other", [1] * 30, suite="plain"),
        run_rows("m/plain", [1] * 30, suite="plain"),
    ]
    for _, results in runs[:2]:
        for n, row in enumerate(results):
            row["extra"] = json.dumps({"page": f"p{n // 5}"})
    write(store, *runs)
    return store


@pytest.mark.slow
def test_tasks_of_a_cluster_are_not_independent(pages):
    sides = {"candidate": "m/next", "baseline": "m/base"}
    apart = only(decide(pages, drop(0.1), **sides))
    together = only(decide(pages, drop(0.1), cluster="page", **sides))
    drops, clusters = np.repeat([1.0, 0.0], [25, 125]), np.repeat(np.arange(30), 5)
    p = excess_of_bounded_means(drops, 0.1, largest=1.0, clusters=clusters)
    assert together.p_value == pytest.approx(p)
    assert apart.p_value < 0.05 < together.p_value
    assert (apart.n_clusters, together.n_clusters, together.test) == (None, 30, "gaffke")
    assert "16.7 points below the baseline on 150 tasks in 30 clusters (" in together.reason
    assert together.low < apart.low < apart.high < together.high
    assert together.missed_drop > 0.2
    proof = only(decide(pages, drop(0.3), cluster="page", proves=True, **sides))
    p = excess_of_bounded_means(-drops, -0.3, largest=1.0, clusters=clusters)
    assert proof.p_value == pytest.approx(p)


@pytest.mark.slow
def test_the_interval_of_a_value_is_wider_over_clusters(pages):
    rule = Rule(kind="min_value", limit=0.7)
    apart = only(decide(pages, rule, candidate="m/next", baseline=None))
    together = only(decide(pages, rule, candidate="m/next", baseline=None, cluster="page"))
    assert together.n_clusters == 30
    assert together.low < apart.low < 125 / 150 < together.high


def test_clusters_count_for_the_least_number_of_tasks(pages):
    fields = {"candidate": "m/next", "baseline": "m/base", "cluster": "page", "min_tasks": 31}
    for rule in (drop(0.1), Rule(kind="min_value", limit=0.7)):
        decision = only(decide(pages, rule, **fields))
        assert decision.reason == "only 30 clusters of 150 tasks, less than min_tasks (31)"


def test_tasks_without_a_value_are_clusters_of_their_own(pages):
    sides = {"candidate": "m/plain", "baseline": "m/other", "suite": "plain"}
    verdict = decide(pages, drop(), cluster="page", **sides)
    assert only(verdict).n_clusters is None
    note = "plain/plain: no two tasks have the same 'page': each is its own cluster"
    assert verdict.notes == (note,)


@pytest.mark.slow
def test_the_command_takes_the_column_of_clusters(pages, tmp_path):
    text = "candidate: m/next\nbaseline: m/base\ncluster: page\nrules: [{max_drop: 0.1}]"
    (tmp_path / "rules.yaml").write_text(text)
    document = json.loads(
        command(pages.path, "gate", tmp_path / "rules.yaml", "--format", "json").out
    )
    assert (document["cluster"], document["decisions"][0]["n_clusters"]) == ("page", 30)
    arguments = ["--candidate", "m/next", "--baseline", "m/base", "--max-drop", "0.1"]
    ended = command(pages.path, "gate", *arguments, "--cluster", "pages")
    assert (ended.code, "did you mean 'page'" in ended.err) == (2, True)


def test_misuse_is_refused(store):
    with pytest.raises(BadInput, match="needs a baseline"):
        decide(store, drop(), baseline=None)
    with pytest.raises(BadInput, match="are the same calls; name a run"):
        decide(store, drop(), baseline="m/same")
    with pytest.raises(BadInput, match="no results of a model 'm/sama'; did you mean 'm/same'"):
        decide(store, drop(), candidate="m/sama")


# --- the command


RULES = """
candidate: m/worse
baseline: m/base
suite: mine
rules:
  - {metric: passed, max_drop: 0.02}
  - {must_pass: [t59], on_inconclusive: warn}
"""


def test_the_command_reads_rules_and_writes_reports(store, tmp_path):
    (tmp_path / "rules.yaml").write_text(
        RULES + "  - {must_pass: [lacking], on_inconclusive: warn}\n"
    )
    reports = {kind: tmp_path / f"gate.{kind}" for kind in ("junit", "markdown", "json")}
    options = [f"--{kind}={path}" for kind, path in reports.items()]
    ended = command(store.path, "gate", tmp_path / "rules.yaml", *options)
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines()[0] == "m/worse against m/base"
    assert ended.out.splitlines()[-1] == "gate failed: 2 failed, 1 not decided (warning)"
    root = ET.fromstring(reports["junit"].read_text())
    counts = [root.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["3", "2", "0", "1"]
    assert [case.get("name") for case in root.iter("testcase")] == [
        "max_drop 0.02 of passed (mine)",
        "must_pass t59",
        "must_pass lacking",
    ]
    document = json.loads(reports["json"].read_text())
    assert (document["outcome"], document["exit_code"]) == ("failed", 1)
    assert document["decisions"][0]["n_only_baseline"] == 20
    row = "| ❌ failed | max_drop 0.02 of passed (mine) | 30 points below the baseline on 60 tasks"
    assert row in reports["markdown"].read_text()


def test_options_replace_values_of_the_file(store, tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    ended = command(store.path, "gate", tmp_path / "rules.yaml", "--candidate", "m/better")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "gate passed: 2 passed")


@pytest.mark.slow
def test_the_option_replaces_what_a_rule_may_miss(store, tmp_path):
    text = "candidate: m/same\nbaseline: m/base\nsuite: mine\n"
    text += "rules: [{max_drop: 0.02, max_missed: 0.03}]"
    (tmp_path / "rules.yaml").write_text(text)
    assert command(store.path, "gate", tmp_path / "rules.yaml").code == 3
    assert command(store.path, "gate", tmp_path / "rules.yaml", "--max-missed", "0.5").code == 0


def test_a_limit_of_zero_is_a_limit(store):
    arguments = ["--candidate", "m/worse", "--baseline", "m/base", "--suite", "mine"]
    ended = command(store.path, "gate", *arguments, "--max-drop", "0", "--format", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["decisions"][0]["limit"]) == (1, 0.0)
    ended = command(
        store.path, "gate", *arguments, "--max-drop", "0", "--min-coverage", "0", "--format", "json"
    )
    assert json.loads(ended.out)["min_coverage"] == 0


@pytest.mark.slow
def test_the_simple_case_needs_no_file(store):
    arguments = ["--candidate", "m/cut", "--baseline", "m/base", "--suite", "mine"]
    ended = command(store.path, "gate", *arguments, "--max-drop", "0.02")
    assert (ended.code, ended.out.splitlines()[-1]) == (3, "gate inconclusive: 1 not decided")
    github = command(store.path, "gate", *arguments, "--max-drop", "0.02", "--format", "github")
    assert github.out.startswith(
        "::error title=inconclusive%3A max_drop 0.02 of passed (mine)::the"
    )
    warned = command(
        store.path, "gate", *arguments, "--max-drop", "0.02", "--on-inconclusive", "warn",
        "--format", "github",
    )  # fmt: skip
    assert (warned.code, warned.out.startswith("::warning title=")) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--candidate", "m/same"], "no rule: give a file"),
        (["--max-drop", "0.1", "--baseline", "m/base"], "no candidate: name it"),
        (["--candidate", "m/same", "--max-drop", "2"], "--max-drop: must be below 1"),
        (["--candidate", "m/same", "--metric", "x", "--max-p95-ms", "1"], "--metric: only with"),
        (
            ["--candidate", "m/same", "--metric", "cost_usd", "--min-value", "1"],
            "--min-value: cost_usd is better if it is lower",
        ),
        (["lacking.yaml"], "lacking.yaml: No such file"),
    ],
)
def test_misuse_of_the_command(store, arguments, message):
    ended = command(store.path, "gate", *arguments)
    assert ended.code == 2
    assert message in ended.err


@pytest.mark.parametrize("fmt", ["table", "json", "junit", "markdown", "github"])
def test_hostile_names_are_escaped(store, fmt):
    arguments = ["--candidate", "run:hostile", "--baseline", "m/base", "--suite", "mine"]
    tasks = ["--must-pass", "<script>|\n::error::x", "--max-drop", "0.02"]
    ended = command(store.path, "gate", *arguments, *tasks, "--format", fmt)
    assert ended.code == 1
    assert "\n::error::" not in ended.out
    if fmt == "json":
        assert json.loads(ended.out)["decisions"][0]["candidate"] == HOSTILE
    elif fmt == "junit":
        names = [case.get("name") for case in ET.fromstring(ended.out).iter("testcase")]
        assert names[1] == r"must_pass <script>|\n::error::x"
    elif fmt == "markdown":
        assert "<script>" not in ended.out
        assert r"&lt;script&gt;\|" in ended.out
    elif fmt == "github":
        assert all(re.match("::(error|warning) title=[^:,]*::", x) for x in ended.out.splitlines())
        assert len(ended.out.splitlines()) == 2


@pytest.mark.slow
def test_settings_without_a_partner_are_named(tmp_path):
    other = queried_store(tmp_path / "store")
    run, results = run_rows("m/base", [1] * 30, run_id="base")
    write(other, (run, [row | {"settings": '{"temperature":0}'} for row in results]))
    candidate, results = run_rows("m/base", [1] * 30, run_id="next")
    both = [
        row | {"settings": text, "content_id": row["content_id"] + text}
        for row in results
        for text in ('{"temperature":0}', '{"temperature":1}')
    ]
    write(other, (candidate, both))
    arguments = ["--candidate", "run:next", "--baseline", "run:base", "--max-drop", "0.02"]
    ended = command(other.path, "gate", *arguments, "--max-p95-ms", "1000")
    assert ended.code == 0
    assert "m/base (temperature 1) of the candidate was not compared" in ended.err
    headings = [line[14:] for line in ended.out.splitlines() if line.startswith("passed")]
    assert headings == [
        "max_drop 0.02 of passed (mine)",
        "max_p95_ms 1000 (mine), m/base (temperature 0)",
        "max_p95_ms 1000 (mine), m/base (temperature 1)",
    ]


def test_a_terminal_wraps_the_reasons(store):
    verdict = decide(store, drop(), candidate="m/worse")
    lines = text_report(verdict, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    # The runs of both sides, the heading, and then the reason.
    assert all(line.startswith(" " * 13) for line in [*lines[1:3], *lines[4:-1]])
    assert " ".join(line.strip() for line in lines[4:-1]) == only(verdict).reason
