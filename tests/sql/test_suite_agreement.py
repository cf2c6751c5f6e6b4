"""`suite_agreement` next to scipy, and what it says where models are few, or equal."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from support import add_rows, new_store

from warehouse.engine.statistics.macros import macros


def agreement(path, suites, tasks=()):
    """Return the rows of pairs of suites, each given as the verdicts of models at its tasks."""
    results = [
        {
            "suite": suite,
            "run_id": "r",
            "generation": "root",
            "content_id": f"{suite}-{model}-{task}",
            "seq": 1,
            "task_set": "core",
            "task_id": f"t{task}",
            "model": f"model {model}",
            "raw_output": "an answer",
            "success": True,
            "is_correct": bool(passed),
        }
        for suite, verdicts in suites.items()
        for (model, task), passed in np.ndenumerate(verdicts)
    ]
    runs = [
        {"suite": suite, "run_id": "r", "generation": "root", "content_id": suite}
        for suite in suites
    ]
    store = new_store(path / "store")
    add_rows(store.lake, runs=runs, results=results, tasks=list(tasks))
    return store.sql("FROM suite_agreement").df().set_index(["suite", "other_suite"])


def verdicts(seed, abilities, n_tasks=30):
    random = np.random.default_rng(seed)
    hard = random.normal(0, 1, n_tasks)
    rates = 1 / (1 + np.exp(hard - np.reshape(abilities, (-1, 1))))
    return random.random(rates.shape) < rates


def cronbach_alpha(scores):
    n, total = scores.shape[1], scores.sum(axis=1).var(ddof=1)
    return n / (n - 1) * (1 - scores.var(axis=0, ddof=1).sum() / total)


@pytest.mark.slow
def test_correlations_are_those_of_scipy(tmp_path):
    abilities = np.linspace(-2, 2, 12)
    suites = {f"s{seed}": verdicts(seed, abilities * (-1) ** (seed == 2)) for seed in range(3)}
    rows = agreement(tmp_path, suites)
    assert rows.finding.tolist() == ["related", "opposed", "opposed"]
    for pair in combinations(suites, 2):
        x, y = (suites[name].mean(axis=1) for name in pair)
        row = rows.loc[pair]
        assert row.n_models == len(abilities)
        expected = [stats.kendalltau(x, y)[0], stats.spearmanr(x, y)[0], stats.pearsonr(x, y)[0]]
        assert row[["tau", "spearman", "correlation"]].tolist() == pytest.approx(expected, abs=1e-9)
        alphas = [cronbach_alpha(suites[name].astype(float)) for name in pair]
        found = [row.reliability, row.other_reliability]
        assert found == pytest.approx(alphas, abs=1e-9)
        assert row.correlation_ceiling == pytest.approx(np.sqrt(np.prod(alphas)), abs=1e-9)
        assert row.tau_low < row.tau < row.tau_high
        assert row.spearman_low < row.spearman < row.spearman_high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("abilities", "finding"),
    [(np.linspace(-2, 2, 4), "too_few_models"), (np.zeros(12), "equal_models")],
)
def test_no_disagreement_of_few_or_equal_models(tmp_path, abilities, finding):
    rows = agreement(tmp_path, {f"s{seed}": verdicts(seed, abilities) for seed in range(4)})
    assert set(rows.finding) == {finding}
    assert rows.tau_low.isna().all() == (finding == "too_few_models")


@pytest.mark.slow
def test_sets_of_the_same_tasks_are_marked(tmp_path):
    tasks = [
        {
            "suite": suite,
            "task_set": "core",
            "task_id": f"t{task}",
            "task_hash": f"{suite}{task}",
            "task_set_hash": suite,
            "content_id": f"{suite}{task}",
            "seq": task,
            "question": f"What is {task}?" if task < 20 else f"What is {task} in {suite}?",
        }
        for suite in ("a", "b")
        for task in range(30)
    ]
    [row] = agreement(
        tmp_path, dict.fromkeys("ab", verdicts(1, np.linspace(-2, 2, 12))), tasks
    ).itertuples()
    assert (row.finding, row.shared_share) == ("same_tasks", pytest.approx(2 / 3))


def intervals(coefficients, n, *, is_tau):
    query = "SELECT rank_interval(r, $n, $is_tau) FROM (SELECT unnest($r::DOUBLE[]) AS r)"
    values = {"r": coefficients, "n": n, "is_tau": is_tau}
    rows = macros().cursor().execute(query, values).fetchall()
    return [None if ends is None else tuple(ends) for (ends,) in rows]


def test_intervals_end_at_1_for_a_perfect_correlation():
    for is_tau in (True, False):
        [(low, high), (other_low, other_high), none] = intervals(
            [1.0, -1.0, None], 8, is_tau=is_tau
        )
        assert (high, other_low) == (1, -1)
        assert low == pytest.approx(-other_high)
        assert 0.3 < low < 1
        assert none is None
    assert intervals([0.5], 4, is_tau=True) == [None]
