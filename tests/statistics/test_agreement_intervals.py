"""Intervals of kappa and alpha: what they keep, by clusters, and where there are none."""

import time

import numpy as np
import pytest

from warehouse.engine.statistics.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    label_counts,
)
from warehouse.engine.statistics.agreement_intervals import (
    alpha_interval,
    kappa_change,
    kappa_interval,
)

TABLE = np.array([[16.0, 3.0], [2.0, 9.0]])
N_SIMULATIONS = 120


def width(interval):
    return interval.high - interval.low


def by_cluster(table):
    """Return a table for each item."""
    cells = np.repeat(np.arange(table.size), table.ravel().astype(int))
    return np.eye(table.size)[cells].reshape(-1, *table.shape)


def random_ratings(random, n_items, n_raters, alpha, n_labels=2):
    """Return ratings whose alpha is known: shape (items, raters)."""
    of_item = random.integers(n_labels, size=(n_items, 1))
    own = random.integers(n_labels, size=(n_items, n_raters))
    return np.where(random.random(own.shape) < np.sqrt(alpha), of_item, own)


def table_of(ratings):
    """Return how many items have which pair of labels, 0 or 1."""
    return np.bincount(ratings @ [2, 1], minlength=4).reshape(2, 2).astype(float)


def counts_of(ratings):
    items = np.repeat(np.arange(len(ratings)), ratings.shape[1])
    return label_counts(items, ratings.ravel().astype(float))


def test_an_interval_is_the_same_each_time():
    assert kappa_interval(TABLE) == kappa_interval(TABLE)
    assert kappa_interval(TABLE) != kappa_interval(TABLE, seed=1)
    counts = counts_of(random_ratings(np.random.default_rng(1), 30, 3, 0.5))
    assert alpha_interval(counts, "nominal") == alpha_interval(counts, "nominal")
    assert alpha_interval(counts, "nominal") != alpha_interval(counts, "nominal", seed=1)


def test_an_interval_is_close_to_that_of_theory():
    # Fleiss, Cohen and Everitt 1969: the standard error of kappa, of many items.
    table = 30 * TABLE
    n, kappa = table.sum(), cohen_kappa(table)
    p, rows, columns = table / n, table.sum(axis=1) / n, table.sum(axis=0) / n
    chance = rows @ columns
    own = np.diag(p) * (1 - (rows + columns) * (1 - kappa)) ** 2
    other = (p * (columns[:, None] + rows[None, :]) ** 2).sum()
    other -= (np.diag(p) * (rows + columns) ** 2).sum()
    square = own.sum() + (1 - kappa) ** 2 * other - (kappa - chance * (1 - kappa)) ** 2
    error = np.sqrt(square / n) / (1 - chance)
    found = kappa_interval(table)
    assert found == pytest.approx((kappa - 1.96 * error, kappa + 1.96 * error), abs=0.01)


@pytest.mark.parametrize("table", [np.diag([30.0, 0.0]), np.array([[20.0, 10.0], [0, 0]])])
def test_without_kappa_there_is_no_interval(table):
    assert kappa_interval(table) is None
    assert kappa_interval(by_cluster(table)) is None
    change = kappa_change(TABLE, table)
    assert change == (cohen_kappa(TABLE), None, None, None, None)


def test_below_six_items_or_clusters_there_is_no_interval():
    few = np.array([[3.0, 0.0], [1.0, 1.0]])
    assert kappa_interval(few) is None
    assert kappa_interval(np.array([TABLE] * 5)) is None
    assert kappa_interval(np.array([TABLE] * 6)) is not None
    # Clusters without an item do not count.
    assert kappa_interval(np.concatenate([[TABLE] * 5, np.zeros((9, 2, 2))])) is None
    ratings = random_ratings(np.random.default_rng(2), 30, 3, 0.5)
    clusters = np.arange(30) // 6
    assert alpha_interval(counts_of(ratings), "nominal", clusters=clusters) is None
    assert alpha_interval(counts_of(ratings[:5]), "nominal") is None
    assert alpha_interval(counts_of(np.ones((30, 2))), "nominal") is None
    assert kappa_change(TABLE, few).interval is None
    assert kappa_change(TABLE, few).difference == cohen_kappa(few) - cohen_kappa(TABLE)


@pytest.mark.parametrize("table", [np.diag([20.0, 10.0]), np.array([[0.0, 15.0], [15.0, 0.0]])])
def test_an_interval_contains_its_figure_and_has_a_width(table):
    low, high = kappa_interval(table)
    assert low <= cohen_kappa(table) <= high
    assert high - low > 0.1


def test_items_that_are_clusters_of_one_have_the_same_interval():
    found = kappa_interval(by_cluster(10 * TABLE))
    assert found == pytest.approx(kappa_interval(10 * TABLE), abs=0.02)
    counts = counts_of(random_ratings(np.random.default_rng(3), 80, 3, 0.5))
    by_item = alpha_interval(counts, "ordinal", clusters=np.arange(80)[::-1])
    assert by_item == pytest.approx(alpha_interval(counts, "ordinal"), abs=0.02)


def test_copies_of_an_item_are_worth_one():
    # Four answers to each prompt, rated alike: the interval is nearly that of the prompts.
    random = np.random.default_rng(4)
    ratings = random_ratings(random, 60, 2, 0.5)
    copies, clusters = np.repeat(ratings, 4, axis=0), np.repeat(np.arange(60), 4)
    table = table_of(ratings)
    tables = 4 * by_cluster(table)
    assert width(kappa_interval(tables)) == pytest.approx(width(kappa_interval(table)), rel=0.1)
    assert width(kappa_interval(4 * table)) < 0.6 * width(kappa_interval(tables))
    found = alpha_interval(counts_of(copies), "nominal", clusters=clusters)
    expected = alpha_interval(counts_of(ratings), "nominal")
    assert width(found) == pytest.approx(width(expected), rel=0.1)


@pytest.mark.slow
def test_more_than_a_thousand_clusters_are_joined_without_narrowing():
    random = np.random.default_rng(5)
    ratings = random_ratings(random, 4000, 2, 0.5)
    found = alpha_interval(counts_of(ratings), "nominal")
    table = table_of(ratings)
    assert width(found) == pytest.approx(width(kappa_interval(table)), rel=0.1)
    assert width(kappa_interval(by_cluster(table))) == pytest.approx(width(found), rel=0.1)


@pytest.mark.slow
def test_the_interval_of_alpha_covers_it_where_raters_are_missing():
    random = np.random.default_rng(6)
    covered = []
    for _ in range(N_SIMULATIONS):
        ratings = random_ratings(random, 30, 4, 0.5, n_labels=4)
        items, raters = np.nonzero(random.random(ratings.shape) < 0.7)
        counts = label_counts(items, ratings[items, raters].astype(float))
        low, high = alpha_interval(counts, "interval")
        covered.append(low <= 0.5 <= high)
    assert np.mean(covered) >= 0.93 - 3.3 * np.sqrt(0.93 * 0.07 / N_SIMULATIONS)


def test_an_interval_of_rare_labels_covers():
    # One label is 90 % of all; the plain bootstrap covers kappa in about two thirds of samples.
    random = np.random.default_rng(7)
    cells = (0.8 * np.diag([0.9, 0.1]) + 0.2 * np.outer([0.9, 0.1], [0.9, 0.1])).ravel()
    tables = random.multinomial(30, cells, N_SIMULATIONS).reshape(-1, 2, 2).astype(float)
    found = [kappa_interval(table) for table in tables]
    covered = [low <= 0.8 <= high for low, high in filter(None, found)]
    assert len(covered) > 0.9 * N_SIMULATIONS
    assert np.mean(covered) >= 0.93 - 3.3 * np.sqrt(0.93 * 0.07 / N_SIMULATIONS)


def test_a_judge_that_has_drifted_is_found():
    later = np.array([[60.0, 40.0], [40.0, 60.0]])
    found = kappa_change(np.array([[90.0, 10.0], [10.0, 90.0]]), later)
    assert found.difference == pytest.approx(0.2 - 0.8)
    assert found.interval.low < found.difference < found.interval.high < -0.3


def test_items_judged_twice_are_resampled_together():
    # The later version judges nearly all items as the earlier one did.
    before = by_cluster(5 * TABLE)
    after = before.copy()
    after[:3] = after[:3, ::-1]
    together = kappa_change(before, after)
    apart = kappa_change(before.sum(axis=0), after.sum(axis=0))
    assert together.difference == apart.difference
    assert width(together.interval) < 0.5 * width(apart.interval)


@pytest.mark.slow
def test_a_million_ratings_take_less_than_two_seconds():
    random = np.random.default_rng(8)
    items = np.repeat(np.arange(200_000), 5)
    ratings = random.integers(300, size=len(items)).astype(float)
    started = time.process_time()
    counts = label_counts(items, ratings)
    for level in ("nominal", "ordinal", "interval"):
        assert abs(krippendorff_alpha(counts, level)) < 0.01
        assert alpha_interval(counts, level) is not None
    assert time.process_time() - started < 2
