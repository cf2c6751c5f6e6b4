"""Comparisons and gates by a judge's metric that labels correct: the truth is known."""

import re

import numpy as np
import pytest
from corrected_cases import JUDGE, add, drawn_at_random, lenient, run, truth
from support import command, new_store

from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.gate import run_gate
from warehouse.analysis.decisions.gate.reports import text_report
from warehouse.analysis.decisions.gate.rules import Rule, Rules
from warehouse.core.errors import BadInput

# The judge takes bee's wrong answers for right ones, and few of ant's.
RATES = {"ant": 0.7, "bee": 0.5}
ERRORS = {"ant": 0.1, "bee": 0.9}


def of_model(model, drawn, **fields):
    right = truth(model, RATES[model])
    judged = lenient(right, ERRORS[model])
    return run(right, judged, drawn, run_id=f"run of {model}", model=model, **fields)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("labelled") / "store")
    drawn = drawn_at_random(200)
    add(store, *(of_model(model, drawn, chance=0.5) for model in RATES))
    store.sync()
    return store


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Return a store where both answers are labelled for 10 tasks only."""
    store = new_store(tmp_path_factory.mktemp("few") / "store")
    drawn = [np.arange(400) // 40 == 0, np.arange(400) // 30 == 1]
    add(store, *(of_model(m, each, chance=0.1) for m, each in zip(RATES, drawn, strict=True)))
    store.sync()
    return store


def compared(store, *arguments):
    found = command(store.path, "compare", *arguments)
    assert found.code == 0, found.err
    return found


def corrected_line(text):
    [line] = [line for line in text.splitlines() if line.startswith(f"correct by {JUDGE}")]
    return line


@pytest.mark.slow
def test_a_corrected_difference_stands_next_to_the_raw_one(labelled):
    text = compared(labelled, "ant", "bee", "--metric", "correct").out
    [(raw,)] = labelled.sql(
        f"SELECT sum(CASE model WHEN 'ant' THEN mean ELSE -mean END) FROM metrics "
        f"WHERE metric = 'correct' AND scorer = '{JUDGE}'"
    ).fetchall()
    assert raw < -0.2  # the judge has it the wrong way round
    line = corrected_line(text)
    found = re.search(r"ant less bee: (\S+) \(95 % interval (\S+) to (\S+); (.*)\)", line)
    _, low, high = map(float, found.groups()[:3])
    assert 0 < low < 0.2 < high  # the truth
    assert found[4] == "corrected by 200 labels (people)"
    swapped = corrected_line(compared(labelled, "bee", "ant", "--metric", "correct").out)
    assert f"bee less ant: -{found[1]} (95 % interval -{found[3]} to -{found[2]};" in swapped


def test_the_corrected_metric_can_be_asked_for_by_name(labelled):
    found = compared(labelled, "ant", "bee", "--metric", "correct (corrected)", "--format", "csv")
    assert "ant less bee: 0." in found.err
    assert "corrected by" not in found.out


def test_too_few_labels_of_both_say_why_not(few):
    line = corrected_line(compared(few, "ant", "bee", "--metric", "correct").out)
    assert line.endswith(
        "ant less bee: not corrected; labelled answers only: 10 of 400 tasks of both; it takes 30."
    )


@pytest.mark.slow
def test_a_judge_without_labels(tmp_path):
    store = add(new_store(tmp_path / "store"), *(of_model(m, drawn_at_random(0)) for m in RATES))
    store.sync()
    line = corrected_line(compared(store, "ant", "bee", "--metric", "correct").out)
    assert line.endswith("labelled answers only: neither side has labels of one run's answers.")


def decided(store, rule, **fields):
    rules = Rules(candidate="bee", baseline="ant", rules=(rule,), **fields)
    with store.reading() as connection:
        return run_gate(connection, rules)


def rule_of(kind, limit, metric="correct (corrected)", **fields):
    return Rule(kind=kind, limit=limit, metric=metric, **fields)


@pytest.mark.slow
def test_the_gate_finds_a_drop_that_the_judge_does_not_see(labelled):
    raw = decided(labelled, rule_of("max_drop", 0.02, "correct"))
    assert [d.outcome for d in raw.decisions if d.scorer == JUDGE] == [Outcome.PASSED]
    [decision] = decided(labelled, rule_of("max_drop", 0.02)).decisions
    assert (decision.outcome, decision.scorer, decision.test) == ("failed", JUDGE, "corrected")
    assert decision.low < 0.2 < decision.high
    assert decision.reason.startswith("21.9 points below the baseline on 400 tasks (95 % interval")
    assert "corrected by 200 labels (people)" in decision.reason
    [decision] = decided(labelled, rule_of("max_drop", 0.4)).decisions
    assert (decision.outcome, decision.p_value > 0.999) == (Outcome.PASSED, True)


@pytest.mark.slow
def test_the_p_value_is_the_level_at_which_the_interval_ends_at_the_limit(labelled):
    [at_five] = decided(labelled, rule_of("max_drop", 0.0), alpha=0.1).decisions
    [decision] = decided(labelled, rule_of("max_drop", at_five.low)).decisions
    assert decision.p_value == pytest.approx(0.05, rel=1e-3)
    [proved] = decided(labelled, rule_of("max_drop", at_five.high), proves=True).decisions
    assert proved.p_value == pytest.approx(0.05, rel=1e-3)


@pytest.mark.slow
def test_a_least_value_is_of_the_corrected_interval(labelled):
    [high] = decided(labelled, rule_of("min_value", 0.6)).decisions
    [low] = decided(labelled, rule_of("min_value", 0.4)).decisions
    assert (high.outcome, low.outcome) == (Outcome.FAILED, Outcome.PASSED)
    [row] = labelled.sql(
        "SELECT mean, mean_low, mean_high FROM metrics "
        "WHERE metric = 'correct (corrected)' AND model = 'bee'"
    ).fetchall()
    assert (low.candidate_value, low.low, low.high) == pytest.approx(row)
    assert "(200 labels (people) alone: the judge narrows nothing)" in low.reason


@pytest.mark.slow
def test_too_few_labels_are_inconclusive(few):
    [drop] = decided(few, rule_of("max_drop", 0.02)).decisions
    assert drop.outcome is Outcome.INCONCLUSIVE
    assert drop.reason == "labelled answers only: 10 of 400 tasks of both; it takes 30"
    report = text_report(decided(few, rule_of("max_drop", 0.02)), width=80)
    assert "10 of 400 tasks of both" in report


@pytest.mark.slow
def test_a_corrected_metric_without_labels_is_inconclusive(tmp_path):
    store = add(new_store(tmp_path / "store"), *(of_model(m, drawn_at_random(0)) for m in RATES))
    store.sync()
    [decision] = decided(store, rule_of("max_drop", 0.02)).decisions
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert decision.reason.startswith("the store has no value of correct (corrected)")


@pytest.mark.parametrize(
    ("name", "value"), [("confirm", 1), ("baseline_runs", 2), ("max_missed", 0.1)]
)
def test_rules_that_do_not_go_with_a_corrected_metric(labelled, name, value):
    with pytest.raises(BadInput, match=f"{name} does not go with a corrected metric"):
        decided(labelled, rule_of("max_drop", 0.02), **{name: value})
