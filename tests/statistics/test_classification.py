"""Shares with Wilson's interval, and how well a judge finds a label."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.classification import label_detection
from warehouse.engine.statistics.macros import TaskMeans, share_intervals
from warehouse.engine.statistics.shares import ShareEstimate, share_of_counts, share_of_votes


@pytest.mark.parametrize(("hits", "n"), [(0, 4), (3, 20), (20, 20), (599, 600)])
def test_the_interval_of_a_share_is_wilsons(hits, n):
    found = share_of_counts(hits, n)
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert found.value == hits / n
    assert found.interval == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_a_share_of_nothing_is_not_known():
    assert share_of_counts(0, 0) == ShareEstimate(None, None)
    assert share_of_votes(np.array([])) == ShareEstimate(None, None)


def test_votes_in_clusters_have_the_interval_of_the_boards():
    votes, clusters = np.tile([1.0, 1.0, 0.5, 0.0], 10), np.arange(40) // 4
    found = share_of_votes(votes, clusters)
    [expected] = share_intervals([TaskMeans(means=votes, n_attempts=40, clusters=clusters)])
    assert found == ShareEstimate(0.625, expected)
    alike = share_of_votes(np.repeat([1.0, 0.0], [28, 12]), clusters)
    independent = share_of_votes(np.repeat([1.0, 0.0], [28, 12]))
    assert alike.interval.low < independent.interval.low - 0.1
    assert share_of_votes(votes, clusters // 2).interval is None


def test_a_judge_against_gold():
    # 8 of 10 with the label are found, and 3 of 30 without it are taken for it.
    found = label_detection(np.array([[27.0, 3.0], [2.0, 8.0]]), 1)
    values = [share.value for share in found]
    assert values == pytest.approx([8 / 10, 27 / 30, 8 / 11, 2 * 8 / (2 * 8 + 3 + 2)])
    assert found.sensitivity.interval == share_of_counts(8, 10).interval
    assert found.specificity.interval == share_of_counts(27, 30).interval
    assert found.precision.interval == share_of_counts(8, 11).interval
    low, high = share_of_counts(8, 13).interval
    assert found.f1.interval == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))


def test_what_no_gold_label_shows_is_not_known():
    found = label_detection(np.array([[5.0, 2.0], [0.0, 0.0]]), 1)
    assert found.sensitivity == ShareEstimate(None, None)
    assert (found.precision.value, found.f1.value) == (0, 0)
    nobody = label_detection(np.array([[5.0, 0.0], [0.0, 0.0]]), 1)
    assert nobody.f1 == nobody.precision == nobody.sensitivity == ShareEstimate(None, None)
    assert nobody.specificity.value == 1


def test_the_interval_of_f1_covers_it():
    shares = np.array([[0.55, 0.1], [0.05, 0.3]])
    truth = 2 * 0.3 / (2 * 0.3 + 0.15)
    random = np.random.default_rng(7)
    covered = []
    for cells in random.multinomial(40, shares.ravel(), 400):
        low, high = label_detection(cells.reshape(2, 2).astype(float), 1).f1.interval
        covered.append(low <= truth <= high)
    # 3.3 standard errors below 93 %.
    assert np.mean(covered) >= 0.93 - 3.3 * np.sqrt(0.93 * 0.07 / 400)
