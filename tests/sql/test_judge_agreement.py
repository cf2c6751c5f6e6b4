"""`judge_agreement` next to what other programs computed of the same judgements."""

import json
from collections import defaultdict

import pytest
from preferences import PREFERENCES, imported, needs_preferences
from scipy.stats import binomtest

pytestmark = needs_preferences
MT_BENCH_JUDGES = ("gpt/judge_gpt4omini", "qwen/judge_7B")
QUERY = """
SELECT n_items, agreement_rate, kappa, linear_kappa, quadratic_kappa
FROM judge_agreement
WHERE kind = $kind AND judge = $judge AND other = $other
"""


def oracle(name):
    return json.loads((PREFERENCES / name / "oracle.json").read_text("utf-8"))


def agreement(store, kind, judge, other):
    [row] = store.sql(QUERY, {"kind": kind, "judge": judge, "other": other}).fetchall()
    return row


@pytest.mark.slow
def test_two_judges_of_mt_bench_agree_as_scikit_learn_says(tmp_path):
    store = imported(tmp_path, PREFERENCES / "mt_bench" / "en")
    [expected] = oracle("mt_bench")["agreement_single_grade"]["by_lang"]["en"]["pairs"].values()
    names = ("n", "percent_agreement", "kappa", "kappa_linear", "kappa_quadratic")
    found = agreement(store, "rating", "Qwen2.5-7B-Instruct", "gpt-4o-mini")
    assert found == pytest.approx([expected[name] for name in names], abs=1e-12)


@pytest.mark.slow
def test_a_judge_of_pandalm_agrees_with_the_people_as_scikit_learn_says(tmp_path):
    store = imported(tmp_path, PREFERENCES / "pandalm")
    expected = oracle("pandalm")["judges_vs_majority"]["pan"]
    found = agreement(store, "preference", "pandalm-7b", "people")
    accuracy, kappa = expected["accuracy"], expected["cohen_kappa"]
    assert found[:3] == pytest.approx([999, accuracy, kappa], abs=1e-12)


@pytest.mark.slow
def test_agreement_with_gold_is_the_published_accuracy_of_judgebench(tmp_path):
    store = imported(tmp_path, PREFERENCES / "judgebench_pairs")
    [(n, rate)] = store.sql(
        "SELECT n_items, agreement_rate FROM judge_agreement WHERE other = 'gold'"
    ).fetchall()
    [expected] = oracle("judgebench_pairs")["files"].values()
    assert (n, round(rate * n)) == (expected["n_pairs"], expected["correct"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "folder"),
    [("gpt-4o-mini", "gpt/judge_gpt4omini"), ("Qwen2.5-7B-Instruct", "qwen/judge_7B")],
)
def test_positions_that_judges_of_mt_bench_prefer(tmp_path, judge, folder):
    store = imported(tmp_path, PREFERENCES / "mt_bench" / "en" / "judgments" / folder / "pairwise")
    expected = oracle("mt_bench")["pairwise"][f"en|{folder}"]
    [found] = store.sql(
        """
        SELECT n_both_orders, n_both_orders - n_consistent, n_first_twice, n_second_twice,
            100 * (1 - consistent_rate), p_value
        FROM position_bias WHERE rater = $judge
        """,
        {"judge": judge},
    ).fetchall()
    names = ("valid", "inconsistent", "first_twice", "second_twice", "rate_pct")
    assert found[:-1] == pytest.approx([expected[name] for name in names], abs=1e-9)
    leads = list(leads_of_the_first(store).values())
    first, second = sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    assert found[-1] == pytest.approx(binomtest(first, first + second).pvalue, rel=1e-9)
    assert found[-1] < 1e-6


def leads_of_the_first(store):
    """Return by task how many more pairs in both orders favour the first answer than the second."""
    orders, votes = defaultdict(set), defaultdict(int)
    query = "SELECT task_id, model_a, model_b, first_shown, outcome FROM preferences"
    for task, a, b, first, outcome in store.sql(query).fetchall():
        if first is None or outcome is None:
            continue
        pair = task, frozenset((a, b))
        orders[pair].add(a if first == "a" else b)
        votes[pair] += (outcome == first) - (outcome in {"a", "b"} - {first})
    leads = defaultdict(int)
    for pair, shown_first in orders.items():
        if len(shown_first) == 2:
            leads[pair[0]] += (votes[pair] > 0) - (votes[pair] < 0)
    return leads


@pytest.mark.slow
def test_the_judge_of_judgebench_takes_the_answer_shown_first(tmp_path):
    store = imported(tmp_path, PREFERENCES / "judgebench_pairs")
    [expected] = oracle("judgebench_pairs")["files"].values()
    [found] = store.sql(
        """
        SELECT n_both_orders, n_both_orders - n_consistent, n_more_first, n_more_second
        FROM position_bias WHERE rater_kind = 'judge'
        """
    ).fetchall()
    n_read = expected["n_pairs"] - expected["null"]
    assert found == (n_read, expected["inconsistent"] - expected["null"], 89, 33)


def alphas(store, raters, criterion="overall"):
    query = (
        "SELECT level, alpha FROM rater_alphas WHERE raters = $raters AND criterion = $criterion"
    )
    return dict(store.sql(query, {"raters": raters, "criterion": criterion}).fetchall())


@pytest.mark.slow
def test_alpha_of_two_judges_of_mt_bench_is_that_of_krippendorff(tmp_path):
    judgments = PREFERENCES / "mt_bench" / "en" / "judgments"
    store = imported(tmp_path, *(judgments / each / "single_grade" for each in MT_BENCH_JUDGES))
    expected = oracle("mt_bench")["agreement_single_grade"]["by_lang"]["en"]
    query = "SELECT level, alpha, alpha_low < alpha, alpha < alpha_high, n_items FROM rater_alphas"
    found = {row[0]: row[1:] for row in store.sql(f"{query} WHERE kind = 'rating'").fetchall()}
    for level, (alpha, *inside, n_items) in found.items():
        assert alpha == pytest.approx(expected[f"krippendorff_{level}"], abs=1e-9)
        assert inside == [True, True]
        assert n_items > 900
    assert len(found) == 3


@pytest.mark.slow
def test_alpha_of_the_people_of_pandalm_is_that_of_krippendorff(tmp_path):
    store = imported(tmp_path, PREFERENCES / "pandalm")
    expected = oracle("pandalm")["humans"]["krippendorff_nominal"]
    assert alphas(store, "people") == {"nominal": pytest.approx(expected, abs=1e-9)}


@pytest.mark.slow
def test_alphas_of_people_in_judge_bench_are_those_of_krippendorff(tmp_path):
    store = imported(tmp_path, PREFERENCES / "judge_bench")
    rows = store.sql("SELECT suite, criterion, level, alpha, n_items FROM rater_alphas").fetchall()
    found = {(criterion, level): alpha for _, criterion, level, alpha, _ in rows}
    compared = 0
    for name, figures in oracle("judge_bench")["sets"].items():
        for level in ("nominal", "ordinal", "interval"):
            expected = figures.get(f"alpha_{level}")
            criterion = name.partition("|")[2]
            if expected is not None and (criterion, level) in found:
                assert found[criterion, level] == pytest.approx(expected, abs=1e-9), name
                compared += 1
    assert compared > 20
