"""Agreement, bias and accuracy of judges in published data sets, as other programs compute them.

The oracles are figures of scikit-learn, krippendorff and statsmodels on the same files. Figures of
the sources that nothing here computes:

- JUDGE-BENCH's kappas and correlations of its judges: the answers to each item are not published.
- JUDGE-BENCH's alpha of the experts of DICES-350: one rating for each item.
- LLMBar's `kappa_False`, `kappa_True` and `kappa_average`: against labels in a coding of its own.
- LLMBar's `kappa_agreement` of judges some of whose winners could not be read: it counts them in
  another way. The kappa of scikit-learn with "None" as a third label is reproduced.
- MT-Bench's 80 % agreement with people: their votes are not in these files.
"""

from collections import Counter
from math import nan

import numpy as np
import pytest
from judge_cases import (
    PREFERENCES,
    judge_bench_ratings,
    judgebench_decisions,
    llmbar_winners,
    llmfao_votes,
    mt_bench_pairs,
    mt_bench_scores,
    pandalm_votes,
    read_json,
)

from warehouse.engine.statistics.agreement import (
    agreement_share,
    cohen_kappa,
    correlations,
    fleiss_kappa,
    krippendorff_alpha,
    label_counts,
    rating_table,
)
from warehouse.engine.statistics.arrays import cluster_indices
from warehouse.engine.statistics.classification import label_detection
from warehouse.engine.statistics.position_bias import FIRST, SECOND, TIE, position_bias
from warehouse.engine.statistics.shares import share_of_counts, share_of_votes

pytestmark = pytest.mark.skipif(not PREFERENCES.is_dir(), reason=f"no data in {PREFERENCES}")
MT_BENCH_JUDGES = ("gpt/judge_gpt4omini", "qwen/judge_7B")
UNREADABLE_LLMBAR = {
    f"LLMBar/Natural/evaluators/{judge}/result.json"
    for judge in ("ChatGPT/CoT", "PaLM2/CoT", "PaLM2/Swap", "PaLM2/Vanilla")
}


def exact(expected):
    return pytest.approx(expected, rel=0, abs=1e-9)


def table_of(pairs):
    """Return the table of pairs of labels, in the order of the labels."""
    labels = sorted({label for pair in pairs for label in pair})
    first, second = np.array([[labels.index(label) for label in pair] for pair in pairs]).T
    return rating_table(first, second, len(labels))


def counts_of(units):
    codes = {value: code for code, value in enumerate(sorted({x for unit in units for x in unit}))}
    is_text = any(isinstance(value, str) for value in codes)
    values = [codes[x] if is_text else x for unit in units for x in unit]
    items = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
    return label_counts(items, np.array(values, dtype=float))


def test_two_judges_of_mt_bench():
    oracle = read_json("mt_bench/oracle.json")["agreement_single_grade"]["by_lang"]["en"]
    expected = oracle["pairs"][" ~ ".join(MT_BENCH_JUDGES)]
    scores = [mt_bench_scores(judge) for judge in MT_BENCH_JUDGES]
    shared = sorted(set(scores[0]) & set(scores[1]))
    first, second = (np.array([each[key] for key in shared]) for each in scores)
    table = rating_table(*((each.round() - 1).astype(int) for each in (first, second)), 10)
    assert table.sum() == expected["n"]
    assert agreement_share(table) == exact(expected["percent_agreement"])
    for weights in ("none", "linear", "quadratic"):
        key = "kappa" if weights == "none" else f"kappa_{weights}"
        assert cohen_kappa(table, weights) == exact(expected[key])
    assert correlations(first, second).pearson == exact(expected["pearson"])
    counts = label_counts(np.tile(np.arange(len(shared)), 2), np.concatenate([first, second]))
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(counts, level) == exact(oracle[f"krippendorff_{level}"])


@pytest.mark.parametrize("judge", MT_BENCH_JUDGES)
def test_positions_of_mt_bench(judge):
    expected = read_json("mt_bench/oracle.json")["pairwise"][f"en|{judge}"]
    codes = {"A": FIRST, "B": SECOND, "tie": TIE}
    pairs = [pair for pair in mt_bench_pairs(judge) if set(pair) <= set(codes)]
    first, second = np.array([[codes[winner] for winner in pair] for pair in pairs]).T
    found = position_bias(rating_table(first, second, 3))
    assert found.n_pairs == expected["valid"]
    assert (found.n_first_twice, found.n_second_twice) == (
        expected["first_twice"],
        expected["second_twice"],
    )
    assert 100 * (1 - found.consistent.value) == exact(expected["rate_pct"])
    assert found.p_value < 1e-12


def test_alphas_of_judge_bench():
    oracle = read_json("judge_bench/oracle.json")["sets"]
    ratings = judge_bench_ratings()
    assert set(ratings) == set(oracle)
    for name, units in ratings.items():
        counts, expected = counts_of(units), oracle[name]
        assert counts.counts.sum() == expected["n_ratings"]
        levels = [key for key in expected if key.startswith("alpha_")]
        assert len(levels) == (1 if expected["category"] == "categorical" else 3)
        for key in levels:
            found = krippendorff_alpha(counts, key.removeprefix("alpha_"))
            assert found == (None if expected[key] is None else exact(expected[key]))


def test_people_of_pandalm():
    expected = read_json("pandalm/oracle.json")["humans"]
    votes, _ = pandalm_votes()
    counts = np.array([[vote.count(label) for label in (0, 1, 2)] for vote in votes], dtype=float)
    assert fleiss_kappa(counts) == exact(expected["fleiss_kappa"]["value"])
    alpha = krippendorff_alpha(counts_of(votes), "nominal")
    assert alpha == exact(expected["krippendorff_nominal"])
    for pair, kappa in expected["cohen"].items():
        slots = [int(name[-1]) - 1 for name in pair.split("~")]
        table = table_of([[vote[slot] for slot in slots] for vote in votes])
        assert cohen_kappa(table) == exact(kappa)
        assert agreement_share(table) == exact(expected["percent_agreement"][pair])


@pytest.mark.parametrize("judge", ["gpt", "pan"])
def test_judges_of_pandalm(judge):
    oracle = read_json("pandalm/oracle.json")
    expected = oracle["judges_vs_majority"][judge]
    votes, judged = pandalm_votes()
    gold = np.array([Counter(vote).most_common(1)[0][0] for vote in votes])
    # Replies that could not be read are a label that people never give.
    table = rating_table(gold, np.array(judged[judge]), 4)
    assert table[:, 3].sum() == expected["unparsed"]
    assert agreement_share(table) == exact(expected["accuracy"])
    assert cohen_kappa(table) == exact(expected["cohen_kappa"])
    found = [label_detection(table, label) for label in (0, 1, 2)]
    figures = np.array(
        [(each.precision.value, each.sensitivity.value, each.f1.value) for each in found]
    )
    assert figures.mean(axis=0).tolist() == exact(expected["macro_p_r_f1"])
    weighted = table.sum(axis=1)[:3] @ figures / table.sum()
    assert weighted.tolist() == exact(expected["weighted_p_r_f1"])
    target = oracle["binary_target"][judge]
    assert found[1].sensitivity.value == exact(target["sensitivity_full"])
    assert found[1].specificity.value == exact(target["specificity_full"])


def test_both_orders_of_llmbar():
    oracle = read_json("llmbar/oracle.json")["sets"]
    different = set()
    for name, expected in oracle.items():
        table = table_of(llmbar_winners(name))
        assert np.trace(table) == expected["equal"]
        assert cohen_kappa(table) == exact(expected["kappa_swap_agreement"])
        published = expected["published"].get("kappa_agreement", nan)
        if cohen_kappa(table) != exact(published):
            different.add(name)
    assert different == UNREADABLE_LLMBAR


def test_accuracy_on_judgebench_pairs():
    [expected] = read_json("judgebench_pairs/oracle.json")["files"].values()
    turned = {"A>B": "B>A", "B>A": "A>B", "A=B": "A=B", None: None}
    n, correct, first_only = 0, 0, 0
    table = np.zeros((3, 3))
    codes = {"A>B": FIRST, "B>A": SECOND, "A=B": TIE}
    for label, first, second in judgebench_decisions():
        votes = (first, turned[second])
        n += 1
        correct += votes.count(label) > votes.count(turned[label])
        first_only += first == label
        if first and second:
            table[codes[first], codes[second]] += 1
    assert 100 * share_of_counts(correct, n).value == exact(expected["accuracy_pct"])
    assert 100 * share_of_counts(first_only, n).value == exact(expected["first_order_only_pct"])
    found = position_bias(table)
    assert found.n_pairs == expected["n_pairs"] - expected["null"]
    assert found.n_pairs - round(found.consistent.value * found.n_pairs) == (
        expected["inconsistent"] - expected["null"]
    )
    # It takes the answer shown first: 89 against 33 of the pairs that favour a position.
    assert (found.n_more_first, found.n_more_second) == (89, 33)
    assert found.p_value < 1e-6


def test_the_crowd_of_llmfao_favours_the_left():
    votes = [row for row in llmfao_votes() if row["winner"] != "tie"]
    is_left = np.array([row["winner"] == "left" for row in votes], dtype=float)
    assert (is_left.sum(), len(votes)) == (2911, 2911 + 2549)
    found = share_of_votes(is_left, cluster_indices([row["worker"] for row in votes]))
    assert found.value == 2911 / 5460
    assert 0.5 < found.interval.low < found.value < found.interval.high < 0.58
