"""Scores from votes: equal to evalica's, to another optimiser's, and to sums done by hand."""

import csv
import json
from functools import cache

import numpy as np
import pytest
from scipy import optimize, special
from support import REFERENCE, needs_reference

from warehouse.core.errors import BadInput
from warehouse.engine.statistics import bradley_terry as module
from warehouse.engine.statistics.bradley_terry import Votes, bradley_terry

PREFERENCES = REFERENCE / "preferences"
RESULTS = np.array(["left", "right", "tie"])


@cache
def oracle(name):
    return json.loads((PREFERENCES / name / "oracle.json").read_text("utf-8"))


@cache
def llmfao(cluster=None):
    """Return the names of the models and their votes, clustered by a column."""
    with (PREFERENCES / "llmfao" / "llmfao.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    left, right, winner = (
        np.array([row[key] for row in rows]) for key in ("left", "right", "winner")
    )
    names = np.unique([left, right])
    counts = (RESULTS[:, None] == winner).astype(float)
    clusters = None
    if cluster:
        clusters = np.unique([row[cluster] for row in rows], return_inverse=True)[1]
    return names.tolist(), Votes(
        np.searchsorted(names, left), np.searchsorted(names, right), *counts, clusters
    )


def of_models(names, key):
    theta = oracle("llmfao")["newton_mle"]["theta"]
    return [theta[name][key] for name in names]


def centred_logs(scores, names):
    logs = np.log([scores[name] for name in names])
    return logs - logs.mean()


@needs_reference
def test_scores_equal_evalicas():
    names, votes = llmfao()
    found = bradley_terry(names, votes)
    theirs = oracle("llmfao")["evalica"]["bradley_terry"]["scores"]
    assert found.log_scores == pytest.approx(centred_logs(theirs, names), abs=1e-12)
    assert found.log_scores == pytest.approx(of_models(names, "theta"), abs=1e-12)
    assert (found.n_votes, found.n_clusters, found.tie_parameter) == (8931, 8931, None)


@needs_reference
def test_davidsons_model_is_newmans_with_half_the_parameter():
    names, votes = llmfao()
    found = bradley_terry(names, votes, ties="davidson")
    theirs = oracle("llmfao")["evalica"]["newman"]
    assert found.tie_parameter == pytest.approx(2 * theirs["v"], abs=1e-8)
    assert found.log_scores == pytest.approx(centred_logs(theirs["scores"], names), abs=1e-8)


@needs_reference
@pytest.mark.parametrize(
    ("cluster", "key"),
    [(None, "se_sandwich"), ("worker", "se_cluster_worker"), ("prompt", "se_cluster_prompt")],
)
def test_standard_errors_equal_those_of_votes(cluster, key, monkeypatch):
    names, votes = llmfao(cluster)
    monkeypatch.setattr(module, "MIN_CLUSTERS", 13)
    found = bradley_terry(names, votes)
    assert found.standard_errors == pytest.approx(of_models(names, key), abs=1e-12)


@needs_reference
def test_the_inverse_information_is_the_naive_variance():
    names, votes = llmfao()
    model = module._model(votes, len(names), "half", "tanh")
    chances, _ = module._predicted(model, bradley_terry(names, votes).log_scores)
    inverse = module._inverse(model, chances)
    expected = of_models(names, "se_model")
    assert np.sqrt(np.diagonal(inverse)) == pytest.approx(expected, abs=1e-12)


@needs_reference
def test_below_twenty_clusters_there_are_no_errors():
    names, votes = llmfao("prompt")
    found = bradley_terry(names, votes)
    assert found.n_clusters == 13
    assert found.covariance is None
    assert found.standard_errors is None


@needs_reference
def test_three_people_judge_every_pair_of_pandalm():
    rows = json.loads((PREFERENCES / "pandalm" / "testset-v1.json").read_text("utf-8"))
    pairs = [row["cmp_key"].split("_") for row in rows for _ in range(3)]
    labels = np.array([row[f"annotator{n}"] for row in rows for n in (1, 2, 3)])
    names = np.unique(pairs)
    first, second = np.searchsorted(names, np.array(pairs).T)
    counts = (np.array([[1], [2], [0]]) == labels).astype(float)
    found = bradley_terry(names.tolist(), Votes(first, second, *counts))
    expected = oracle("pandalm")["bt_human_votes"]
    assert found.n_votes == expected["n"]
    theta = [expected["theta"][name] for name in names]
    assert found.log_scores == pytest.approx(theta, abs=1e-11)


NAMES = ["a", "b", "c"]


def drawn(n=600, seed=1, *, n_clusters=30, effect=0.0):
    """Return votes between three systems, each its own row, with lengths and clusters."""
    random = np.random.default_rng(seed)
    first = random.integers(0, 3, n)
    second = (first + random.integers(1, 3, n)) % 3
    lengths = random.normal(50, 400, n)
    strengths = np.array([0.5, 0.0, -0.5])
    margins = strengths[first] - strengths[second] + effect * np.tanh(lengths / lengths.std())
    weights = np.exp([margins / 2, -margins / 2, np.full(n, -0.5)])
    results = (random.random(n) > np.cumsum(weights / weights.sum(axis=0), axis=0)).sum(axis=0)
    counts = (np.arange(3)[:, None] == results).astype(float)
    return Votes(first, second, *counts, random.integers(0, n_clusters, n), lengths)


def fitted_by_scipy(votes, *, has_tie, style):
    """Return log scores, effect of length, and log tie parameter, by a general optimiser."""
    lengths = votes.lengths / np.sqrt((votes.lengths**2).mean())
    lengths = {"tanh": np.tanh(lengths), "plain": lengths}[style]

    def loss(parameters):
        scores = parameters[:3] - parameters[:3].mean()
        margins = scores[votes.first] - scores[votes.second] + parameters[3] * lengths
        if has_tie:
            logits = np.array([margins / 2, -margins / 2, np.full(len(margins), parameters[4])])
            logs = logits - special.logsumexp(logits, axis=0)
        else:
            logs = special.log_expit([margins, -margins])
            logs = np.vstack([logs, logs.mean(axis=0)])
        counts = np.array([votes.wins_first, votes.wins_second, votes.ties])
        return -float((counts * logs).sum())

    found = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-6}).x
    return found[:3] - found[:3].mean(), found[3], found[4]


@pytest.mark.parametrize("ties", ["half", "davidson"])
@pytest.mark.parametrize("style", ["tanh", "plain"])
def test_the_fit_is_that_of_another_optimiser(ties, style):
    votes = drawn(effect=0.7)
    found = bradley_terry(NAMES, votes, ties=ties, style=style)
    scores, effect, log_tie = fitted_by_scipy(votes, has_tie=ties == "davidson", style=style)
    assert found.log_scores == pytest.approx(scores, abs=1e-5)
    assert found.style_effect == pytest.approx(effect, abs=1e-5)
    if ties == "davidson":
        assert found.tie_parameter == pytest.approx(np.exp(log_tie), abs=1e-5)
        assert found.style_effect == pytest.approx(0.7, abs=3 * found.style_error)


@pytest.mark.slow
def test_errors_are_those_of_samples_of_clusters():
    """A jackknife of clusters gives nearly the same errors."""
    votes = drawn(900, n_clusters=40, effect=0.5)
    found = bradley_terry(NAMES, votes, ties="davidson")
    left = []
    for cluster in range(40):
        kept = votes.clusters != cluster
        rest = Votes(*(each[kept] for each in votes))._replace(clusters=None)
        without = bradley_terry(NAMES, rest, ties="davidson")
        left.append([*without.log_scores, without.style_effect])
    errors = np.sqrt(39 / 40 * ((left - np.mean(left, axis=0)) ** 2).sum(axis=0))
    ours = [*found.standard_errors, found.style_error]
    assert ours == pytest.approx(errors, rel=0.08)


def test_clusters_of_one_vote_are_independent_votes():
    votes = drawn()._replace(lengths=None)
    alone = bradley_terry(NAMES, votes._replace(clusters=np.arange(600)), ties="davidson")
    independent = bradley_terry(NAMES, votes._replace(clusters=None), ties="davidson")
    assert alone.covariance == pytest.approx(independent.covariance, abs=1e-15)
    assert alone.n_effective == independent.n_effective == 600


def test_counts_say_the_same_as_their_votes():
    votes = drawn()._replace(lengths=None)
    keys = np.array([votes.first, votes.second, votes.clusters])
    cells, places = np.unique(keys, axis=1, return_inverse=True)
    sums = [np.bincount(places, weights=each) for each in votes[2:5]]
    counted = bradley_terry(NAMES, Votes(cells[0], cells[1], *sums, cells[2]))
    found = bradley_terry(NAMES, votes)
    assert counted.log_scores == pytest.approx(found.log_scores, abs=1e-12)
    assert counted.covariance == pytest.approx(found.covariance, abs=1e-14)


def counts_of(*rows):
    """Return votes of rows (first, second, wins, losses, ties)."""
    columns = np.array(rows).T
    return Votes(columns[0], columns[1], *columns[2:].astype(float))


def test_two_systems_have_the_odds_of_their_votes():
    found = bradley_terry(["a", "b"], counts_of((0, 1, 60, 20, 20)))
    assert found.log_scores == pytest.approx([np.log(7 / 3) / 2, -np.log(7 / 3) / 2])
    found = bradley_terry(["a", "b"], counts_of((0, 1, 60, 15, 25)), ties="davidson")
    assert found.log_scores[0] - found.log_scores[1] == pytest.approx(np.log(60 / 15))
    assert found.tie_parameter == pytest.approx(25 / np.sqrt(60 * 15))


def test_lopsided_votes_are_fitted():
    found = bradley_terry(["a", "b"], counts_of((0, 1, 1_000_000, 1, 0)))
    assert found.log_scores[0] - found.log_scores[1] == pytest.approx(np.log(1e6))


def test_groups_without_votes_between_them_are_named():
    votes = counts_of((0, 1, 5, 5, 0), (2, 3, 5, 4, 1))
    with pytest.raises(BadInput, match=r"no votes, or one won all of them: a, b \| c, d;"):
        bradley_terry(["a", "b", "c", "d"], votes)


def test_a_system_that_never_lost_is_refused():
    votes = counts_of((0, 1, 5, 5, 0), (0, 2, 0, 4, 0), (1, 2, 0, 9, 0))
    with pytest.raises(BadInput, match=r": a, b \| c; rate"):
        bradley_terry(NAMES, votes)
    tied = votes._replace(ties=np.array([0.0, 1.0, 0.0]))
    assert bradley_terry(NAMES, tied).log_scores[2] == max(bradley_terry(NAMES, tied).log_scores)


def test_many_groups_are_shortened():
    names = [f"system {n}" for n in range(20)]
    rows = [(n, n + 1, 1, 1, 0) for n in range(7)] + [(n, n + 1, 1, 0, 0) for n in range(7, 19)]
    with pytest.raises(BadInput, match=r"and 3 more.* and 8 more; rate"):
        bradley_terry(names, counts_of(*rows))


def test_without_ties_davidsons_model_is_bradley_and_terrys():
    votes = counts_of((0, 1, 6, 4, 0), (1, 2, 6, 4, 0), (2, 0, 3, 7, 0))
    ours, theirs = (bradley_terry(NAMES, votes, ties=ties) for ties in ("davidson", "half"))
    assert ours.log_scores.tolist() == theirs.log_scores.tolist()
    assert ours.tie_parameter is None


def test_nothing_but_ties_has_no_parameter_of_ties():
    votes = counts_of((0, 1, 0, 0, 6), (1, 2, 0, 0, 6))
    assert bradley_terry(NAMES, votes).log_scores == pytest.approx([0, 0, 0])
    with pytest.raises(BadInput, match="all votes are ties"):
        bradley_terry(NAMES, votes, ties="davidson")


def test_lengths_that_follow_from_the_systems_are_refused():
    votes = drawn()
    typical = np.array([100.0, 250.0, 700.0])
    for lengths in (np.zeros(600), typical[votes.first] - typical[votes.second]):
        with pytest.raises(BadInput, match="the lengths of answers follow from the systems"):
            bradley_terry(NAMES, votes._replace(lengths=lengths), style="plain")


def test_votes_that_only_length_decides_are_refused():
    votes = drawn()
    is_longer = (votes.lengths > 0).astype(float)
    votes = votes._replace(wins_first=is_longer, wins_second=1 - is_longer, ties=np.zeros(600))
    with pytest.raises(BadInput, match="wins nearly always"):
        bradley_terry(NAMES, votes)
    # Two votes against it make the effect finite: hundreds of logits.
    least = np.argsort(np.abs(votes.lengths))[:2]
    is_longer[least] = 1 - is_longer[least]
    votes = votes._replace(wins_first=is_longer, wins_second=1 - is_longer)
    with pytest.raises(BadInput, match="wins nearly always"):
        bradley_terry(NAMES, votes)


def test_the_effect_of_length_does_not_depend_on_who_is_first():
    votes = drawn(effect=0.7)
    is_turned = np.arange(600) % 3 == 0
    turned = Votes(
        np.where(is_turned, votes.second, votes.first),
        np.where(is_turned, votes.first, votes.second),
        np.where(is_turned, votes.wins_second, votes.wins_first),
        np.where(is_turned, votes.wins_first, votes.wins_second),
        votes.ties,
        votes.clusters,
        np.where(is_turned, -votes.lengths, votes.lengths),
    )
    ours, theirs = (bradley_terry(NAMES, each, ties="davidson") for each in (votes, turned))
    assert ours.log_scores == pytest.approx(theirs.log_scores, abs=1e-12)
    assert ours.covariance == pytest.approx(theirs.covariance, abs=1e-14)
    assert ours.style_effect == pytest.approx(theirs.style_effect, abs=1e-12)
