"""Ranks, and groups of models that cannot be told apart."""

from itertools import combinations, pairwise, product
from types import SimpleNamespace

import pytest

from warehouse.analysis.decisions.ranks import group_letters, groups_in_words, ranks


def row(a, b, conclusion, means, metric="passed", *, n_tasks=10):
    return SimpleNamespace(
        suite="s", task_set="t", metric=metric, scorer=None, filter=None, slice=None, a=a, b=b,
        mean_a=means[a], mean_b=means[b], difference=means[a] - means[b], conclusion=conclusion,
        n_tasks=n_tasks, less_is_better=metric == "cost_usd",
    )  # fmt: skip


def test_ranks_with_what_the_comparisons_leave_open():
    means = {"x": 0.9, "y": 0.8, "z": 0.2}
    found = ranks([
        row("x", "y", "unclear", means), row("x", "z", "a", means), row("z", "y", "b", means),
    ])  # fmt: skip
    assert [(r.model, r.rank, r.rank_low, r.rank_high, r.groups) for r in found] == [
        ("x", 1, 1, 2, "a"),
        ("y", 2, 1, 2, "a"),
        ("z", 3, 3, 3, "b"),
    ]
    assert groups_in_words(found) == ["x, y", "z"]


def test_a_mean_is_over_the_most_tasks_shared_with_another():
    all_tasks, few_tasks = {"x": 0.9, "y": 0.8}, {"x": 1.0, "y": 0.95, "z": 0.5}
    found = ranks([
        row("x", "z", "a", few_tasks, n_tasks=4), row("x", "y", "unclear", all_tasks),
        row("y", "z", "a", few_tasks, n_tasks=4),
    ])  # fmt: skip
    assert [(r.model, r.mean, r.n_tasks) for r in found] == [
        ("x", 0.9, 10), ("y", 0.8, 10), ("z", 0.5, 4)
    ]  # fmt: skip


def test_less_is_better_of_costs():
    means = {"x": 0.9, "y": 0.8, "z": 0.2}
    pairs = combinations("xyz", 2)
    found = ranks([row(a, b, "b", means, "cost_usd") for a, b in pairs])
    assert [(r.model, r.rank_low, r.rank_high) for r in found] == [
        ("z", 1, 1), ("y", 2, 2), ("x", 3, 3),
    ]  # fmt: skip


def test_two_sides_and_missing_pairs_have_no_ranks():
    means = dict.fromkeys("xyz", 0.5)
    assert ranks([row("x", "y", "a", means)]) == []
    assert ranks([row("x", "y", "a", means), row("y", "z", "a", means)]) == []


@pytest.mark.parametrize("n", [1, 3, 4])
def test_models_share_a_letter_if_and_only_if_they_are_alike(n):
    names = "vwxyz"[:n]
    pairs = list(combinations(names, 2))
    for chosen in product((False, True), repeat=len(pairs)):
        alike = {name: set() for name in names}
        for (a, b), is_alike in zip(pairs, chosen, strict=True):
            if is_alike:
                alike[a].add(b)
                alike[b].add(a)
        letters = {name: set(text.split(",")) for name, text in group_letters(names, alike).items()}
        assert all(letters.values())
        for a, b in pairs:
            assert bool(letters[a] & letters[b]) == (b in alike[a])


def test_a_chain_of_models_has_a_group_for_each_step():
    names = [f"m{n:02}" for n in range(30)]
    alike = {name: set() for name in names}
    for a, b in pairwise(names):
        alike[a].add(b)
        alike[b].add(a)
    letters = group_letters(names, alike)
    assert (letters["m00"], letters["m01"], letters["m28"]) == ("a", "a,b", "ab,ac")
