"""How often intervals of scores by votes, and ranks, hold where the votes of a person are alike.

Six systems are compared in pairs by people who vote on random pairs; systems are equal, or evenly
spaced. People agree on the systems, or each has an own opinion of each system. All give as many
votes, or few of them most. A third or so of the votes are ties. The truth is what very many people
would show. Next to the intervals are those that take all votes to be independent.

    python -m bench.simulations.votes [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.engine.statistics.bradley_terry import Votes, bradley_terry
from warehouse.engine.statistics.vote_ranks import vote_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.bradley_terry import Scores, Ties

_SEED = 23
SIMULATIONS = 200
PEOPLE = (20, 50, 200)
SIZES = {
    "10 each": lambda _, n: np.full(n, 10),
    "few give most": lambda random, n: 3 + np.minimum(200, 5 * random.pareto(1.2, n)).astype(int),
}
TIES = ("half", "davidson")
_NAMES = tuple("abcdef")
_SPREADS = (0.0, 0.6)  # the best and the worst differ from the mean by so much, in logits
_OPINIONS = (0.0, 1.0)  # standard deviation, in logits
_TIE = 0.9  # Davidson's parameter
_PEOPLE_OF_TRUTH = 1000


def _outcomes(margins: Floats) -> Floats:
    """Return the probability of a win of the first, of the second, and of a tie."""
    weights = np.stack([np.exp(margins / 2), np.exp(-margins / 2), np.full(margins.shape, _TIE)])
    return weights / weights.sum(axis=0)


def _truth(strengths: Floats, opinions: float, ties: Ties) -> Floats:
    """Return the log scores that very many people would give, all pairs equally often."""
    random = np.random.default_rng(_SEED)
    first, second = np.triu_indices(len(strengths), 1)
    own = random.normal(0, np.sqrt(2) * opinions, _PEOPLE_OF_TRUTH // 2)
    own = np.concatenate([own, -own])  # symmetric, as their distribution is
    margins = (strengths[first] - strengths[second])[:, np.newaxis] + own
    counts = 1000 * _outcomes(margins).mean(axis=2)
    return bradley_terry(_NAMES, Votes(first, second, *counts), ties=ties).log_scores


def _drawn(
    random: np.random.Generator, strengths: Floats, opinions: float, sizes: np.ndarray
) -> Votes:
    people = np.repeat(np.arange(len(sizes)), sizes)
    n, n_systems = len(people), len(strengths)
    own = strengths + random.normal(0, opinions, (len(sizes), n_systems))
    first = random.integers(0, n_systems, n)
    second = (first + random.integers(1, n_systems, n)) % n_systems
    limits = np.cumsum(_outcomes(own[people, first] - own[people, second]), axis=0)
    results = (random.random(n) > limits[:2]).sum(axis=0)
    counts = (np.arange(3)[:, np.newaxis] == results).astype(np.float64)
    return Votes(first, second, *counts, people)


def _share_covered(scores: Scores, truth: Floats) -> tuple[float, list[tuple[int, int]]]:
    """Return the share of systems whose interval has the truth, and the intervals of the ranks."""
    ranks = vote_ranks(scores)
    covers = [
        each.interval.low <= at <= each.interval.high for each, at in zip(ranks, truth, strict=True)
    ]
    return float(np.mean(covers)), [(each.rank_low, each.rank_high) for each in ranks]


def cell(
    n_people: int, sizes: str, ties: Ties, *, opinions: float, spread: float, n: int
) -> Floats:
    """Return the coverage by people and by votes, and how often a rank is wrong by either."""
    random = np.random.default_rng([_SEED, n_people, int(10 * opinions), int(10 * spread)])
    strengths = np.linspace(spread, -spread, len(_NAMES))
    truth = _truth(strengths, opinions, ties)
    places = 1 + np.arange(len(_NAMES))
    found = np.zeros((n, 4))
    for row in found:
        votes = _drawn(random, strengths, opinions, SIZES[sizes](random, n_people))
        for column, each in enumerate((votes, votes._replace(clusters=None))):
            row[column], ranks = _share_covered(bradley_terry(_NAMES, each, ties=ties), truth)
            # Of equal systems any rank but all is wrong.
            wrong = (
                ends != (1, len(_NAMES)) if spread == 0 else not ends[0] <= place <= ends[1]
                for ends, place in zip(ranks, places, strict=True)
            )
            row[2 + column] = any(wrong)
    return found.mean(axis=0)


def _rows(n: int) -> Iterator[Row]:
    for ties, sizes, n_people in product(TIES, SIZES, PEOPLE):
        cells = [
            cell(n_people, sizes, ties, opinions=opinions, spread=spread, n=n)
            for opinions, spread in product(_OPINIONS, _SPREADS)
        ]
        people, votes, wrong, wrong_by_votes = np.stack(cells, axis=1)
        figures = (
            *(people.mean(), people.min(), wrong.max()),
            *(votes.mean(), votes.min(), wrong_by_votes.max()),
        )
        yield ties, sizes, str(n_people), *(f"{figure:.3f}" for figure in figures)


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // (10 if parser.parse_args().quick else 1)
    columns = (
        *("ties", "votes", "people", "mean coverage", "least", "wrong ranks: most"),
        *("as independent votes: mean", "least", "wrong ranks: most"),
    )
    print_table(columns, _rows(n))


if __name__ == "__main__":
    main()
