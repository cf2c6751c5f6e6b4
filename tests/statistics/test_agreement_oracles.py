"""Agreement of raters in published data sets, as other programs compute them.

The oracles are figures of scikit-learn, krippendorff and statsmodels on the same files. Figures of
the sources that nothing here computes:

- JUDGE-BENCH's kappas and correlations of its judges: the answers to each item are not published.
- JUDGE-BENCH's alpha of the experts of DICES-350: one rating for each item.
- LLMBar's `kappa_False`, `kappa_True` and `kappa_average`: against labels in a coding of its own.
- LLMBar's `kappa_agreement` of judges some of whose winners could not be read: it counts them in
  another way. The kappa of scikit-learn with "None" as a third label is reproduced.
- PandaLM's Fleiss' kappa (Krippendorff's alpha says the same), precision, recall and F1; MT-Bench's
  correlation: no view has them.
- MT-Bench's 80 % agreement with people: their votes are not in these files.
"""

from collections import Counter
from math import nan

import numpy as np
import pytest
from judge_cases import (
    PREFERENCES,
    judge_bench_ratings,
    llmbar_winners,
    llmfao_votes,
    mt_bench_scores,
    pandalm_votes,
    read_json,
)

from warehouse.engine.statistics.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    label_counts,
)
from warehouse.engine.statistics.arrays import cluster_indices
from warehouse.engine.statistics.shares import share_of_votes

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
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, tuple(np.searchsorted(labels, np.array(pairs)).T), 1)
    return table


def agreement(table):
    return np.trace(table) / table.sum()


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
    table = np.zeros((10, 10))
    np.add.at(table, tuple((each.round() - 1).astype(int) for each in (first, second)), 1)
    assert table.sum() == expected["n"]
    assert agreement(table) == exact(expected["percent_agreement"])
    for weights in ("none", "linear", "quadratic"):
        key = "kappa" if weights == "none" else f"kappa_{weights}"
        assert cohen_kappa(table, weights) == exact(expected[key])
    counts = label_counts(np.tile(np.arange(len(shared)), 2), np.concatenate([first, second]))
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(counts, level) == exact(oracle[f"krippendorff_{level}"])


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
    alpha = krippendorff_alpha(counts_of(votes), "nominal")
    assert alpha == exact(expected["krippendorff_nominal"])
    for pair, kappa in expected["cohen"].items():
        slots = [int(name[-1]) - 1 for name in pair.split("~")]
        table = table_of([[vote[slot] for slot in slots] for vote in votes])
        assert cohen_kappa(table) == exact(kappa)
        assert agreement(table) == exact(expected["percent_agreement"][pair])


@pytest.mark.parametrize("judge", ["gpt", "pan"])
def test_judges_of_pandalm(judge):
    expected = read_json("pandalm/oracle.json")["judges_vs_majority"][judge]
    votes, judged = pandalm_votes()
    gold = np.array([Counter(vote).most_common(1)[0][0] for vote in votes])
    # Replies that could not be read are a label that people never give.
    table = np.zeros((4, 4))
    np.add.at(table, (gold, np.array(judged[judge])), 1)
    assert table[:, 3].sum() == expected["unparsed"]
    assert agreement(table) == exact(expected["accuracy"])
    assert cohen_kappa(table) == exact(expected["cohen_kappa"])


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


def test_the_crowd_of_llmfao_favours_the_left():
    votes = [row for row in llmfao_votes() if row["winner"] != "tie"]
    is_left = np.array([row["winner"] == "left" for row in votes], dtype=float)
    assert (is_left.sum(), len(votes)) == (2911, 2911 + 2549)
    found = share_of_votes(is_left, cluster_indices([row["worker"] for row in votes]))
    assert found.value == 2911 / 5460
    assert 0.5 < found.interval.low < found.value < found.interval.high < 0.58
