"""Kappa and alpha: worked examples, definitions, and what is not defined."""

from itertools import chain, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.engine.statistics.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    label_counts,
)

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part C: four observers, 12 units.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
LEVELS = ("nominal", "ordinal", "interval")


def counts_of(units):
    """Return the counts of a list of ratings for each item."""
    items = [place for place, ratings in enumerate(units) for _ in ratings]
    return label_counts(np.array(items, dtype=np.int64), np.array(list(chain(*units)), dtype=float))


def alpha_by_definition(units, level):
    """Return alpha as defined: the mean distance within items, over that between all ratings."""
    units = [unit for unit in units if len(unit) > 1]
    pooled = list(chain(*units))
    n_of = {value: pooled.count(value) for value in pooled}

    def distance(a, b):
        if level == "nominal":
            return a != b
        if level == "interval":
            return (a - b) ** 2
        low, high = sorted((a, b))
        between = sum(n for value, n in n_of.items() if low <= value <= high)
        return (between - (n_of[a] + n_of[b]) / 2) ** 2 if a != b else 0

    within = sum(
        sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    overall = sum(distance(a, b) for a, b in permutations(pooled, 2)) / (len(pooled) - 1)
    return 1 - within / overall if overall else None


def test_published_example_of_alpha():
    units = [[x for x in unit if x is not None] for unit in zip(*OBSERVERS, strict=True)]
    found = [krippendorff_alpha(counts_of(units), level) for level in LEVELS]
    assert found == pytest.approx([0.743, 0.815, 0.849], abs=5e-4)


@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from(LEVELS),
)
def test_alpha_is_as_defined(units, level):
    expected = alpha_by_definition(units, level)
    found = krippendorff_alpha(counts_of(units), level)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_alpha_of_large_values_keeps_its_digits():
    units = [[1, 2, 2], [4, 4], [3, 1, 2], [5, 4, 5]]
    far = [[x + 1e9 for x in unit] for unit in units]
    expected = krippendorff_alpha(counts_of(units), "interval")
    assert krippendorff_alpha(counts_of(far), "interval") == pytest.approx(expected, rel=1e-9)


def test_published_example_of_kappa():
    # Fleiss, Levin and Paik 2003, Statistical Methods for Rates and Proportions, table 18.1.
    diagnoses = np.array([[75, 1, 4], [5, 4, 1], [0, 0, 10]])
    assert cohen_kappa(diagnoses) == pytest.approx(0.676, abs=5e-4)


@given(st.lists(st.integers(0, 9), min_size=16, max_size=16))
def test_kappa_is_as_defined(cells):
    table = np.array(cells, dtype=float).reshape(4, 4)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    is_defined = min(np.count_nonzero(rows), np.count_nonzero(columns)) > 1
    for weights, power in (("none", 0), ("linear", 1), ("quadratic", 2)):
        found = cohen_kappa(table, weights)
        if not is_defined:
            assert found is None
            continue
        pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
        observed = sum(abs(a - b) ** power * table[a, b] for a, b in pairs) / table.sum()
        chance = sum(abs(a - b) ** power * rows[a] * columns[b] for a, b in pairs)
        assert found == pytest.approx(1 - observed / (chance / table.sum() ** 2), abs=1e-12)


def test_kappa_does_not_depend_on_labels_that_nobody_uses():
    table = np.array([[8.0, 1.0], [2.0, 5.0]])
    wider = np.zeros((4, 4))
    wider[:2, :2] = table
    for weights in ("none", "linear", "quadratic"):
        assert cohen_kappa(wider, weights) == pytest.approx(cohen_kappa(table, weights))


@pytest.mark.parametrize("table", [np.zeros((2, 2)), np.diag([30.0, 0.0]), np.eye(2)[[0, 0]] * 9])
def test_kappa_of_one_label_is_not_defined(table):
    assert cohen_kappa(table) is None


def test_alpha_of_one_label_or_one_rater_is_not_defined():
    for level in LEVELS:
        assert krippendorff_alpha(counts_of([[1, 1], [1, 1]]), level) is None
        assert krippendorff_alpha(counts_of([[1], [2], [3]]), level) is None
