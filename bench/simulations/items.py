"""How many wrong keys the audit of items finds, how many sound items it suspects, its intervals.

Abilities are normal; the probability to know an item is logistic, with a slope of its own. Of 100
items, five have a wrong key: the wrong answers are the key and the right one is not. The right
answers to these would be given by the stated share of systems; other items are of any difficulty.
Wrong answers are chosen at random, or at 30 % of the items 60 to 95 % of those who do not know the
item give the same one.

    python -m bench.simulations.items [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from tools.simulation_tables import print_table
from warehouse.analysis.items.answers import FailedAnswers, rival_answers
from warehouse.analysis.items.audit import Finding, audit_items
from warehouse.analysis.items.responses import Responses
from warehouse.analysis.items.statistics import item_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats

_SEED = 33
SIMULATIONS = 200
_ITEMS, WRONG, _FIRST = 100, 5, 10
_SLOPE, _SLOPES_SPREAD, _DIFFICULTY_SPREAD = 1.5, 0.3, 1.5
_ATTRACTIVE, _ATTRACTION = 0.3, (0.6, 0.95)
SYSTEMS = (10, 30, 100)
WOULD_PASS = (0.9, 0.7, 0.5)
ANSWERS = (2, 4, 20)
_MANY = 20_000  # systems, for the truth


def _difficulties(random: np.random.Generator, slopes: Floats, would_pass: float) -> Floats:
    """Return difficulties, of which the first are those that the stated share would pass."""
    abilities = np.random.default_rng(_SEED).normal(size=1000)
    wanted = [
        brentq(lambda at, a=slope: expit(a * (abilities - at)).mean() - would_pass, -20, 20)
        for slope in slopes[:WRONG]
    ]
    return np.concatenate([wanted, random.normal(0, _DIFFICULTY_SPREAD, _ITEMS - WRONG)])


def draw(
    random: np.random.Generator,
    n_systems: int,
    would_pass: float,
    n_answers: int,
    attractive: float,
) -> tuple[Responses, FailedAnswers]:
    """Return the responses to a bank whose first items have a wrong key, and the failed answers."""
    slopes = _SLOPE * np.exp(random.normal(0, _SLOPES_SPREAD, _ITEMS))
    difficulties = _difficulties(random, slopes, would_pass)
    shape = n_systems, _ITEMS
    abilities = random.normal(size=(n_systems, 1))
    knows = random.random(shape) < expit(slopes * (abilities - difficulties))
    # Answer 0 is right, and 1 attracts.
    attraction = np.where(
        random.random(_ITEMS) < attractive, random.uniform(*_ATTRACTION, _ITEMS), 0
    )
    guesses = random.integers(1, n_answers, shape)
    wrong = np.where(random.random(shape) < attraction, 1, guesses)
    given = np.where(knows, 0, wrong)
    key = np.zeros(_ITEMS, dtype=np.int64)
    key[:WRONG] = random.integers(1, n_answers, WRONG)
    system, item = np.nonzero(given != key)
    cell, answer = system * _ITEMS + item, item * n_answers + given[system, item]
    texts = [str(n) for n in range(n_answers)] * _ITEMS
    failed = FailedAnswers(cell, answer, np.ones(len(system)), texts)
    return Responses.from_matrix(given == key), failed


def _keys(simulations: int) -> Iterator[Row]:
    for would_pass, n_systems, n_answers in product(WOULD_PASS, SYSTEMS, ANSWERS):
        cells = [
            cell
            for attractive in (0.0, _ATTRACTIVE)
            for cell in _found(n_systems, would_pass, n_answers, attractive, simulations)
        ]
        yield f"{would_pass:.0%}", str(n_systems), str(n_answers), *cells


def _found(
    n_systems: int, would_pass: float, n_answers: int, attractive: float, simulations: int
) -> Row:
    """Return the shares of wrong keys suspected and among the first, of sound ones suspected."""
    seed = (int(100 * would_pass), n_systems, n_answers, int(100 * attractive))
    random = np.random.default_rng([_SEED, *seed])
    suspected, first = [], []
    for _ in range(simulations):
        rivals = rival_answers(*draw(random, n_systems, would_pass, n_answers, attractive))
        suspected.append(rivals.is_suspected)
        first.append(
            (np.argsort(-np.nan_to_num(rivals.probability))[:_FIRST] < WRONG).sum() / WRONG
        )
    of_items = np.mean(suspected, axis=0)
    figures = of_items[:WRONG].mean(), np.mean(first)
    return (*(f"{figure:.2f}" for figure in figures), f"{of_items[WRONG:].mean():.3f}")


def _intervals(simulations: int) -> Iterator[Row]:
    """Half of the items have nothing to do with ability."""
    for n_systems in (8, 30, 100):
        random = np.random.default_rng([_SEED, n_systems])
        slopes = np.where(np.arange(_ITEMS) % 2, _SLOPE, 0)
        difficulties = random.normal(0, _DIFFICULTY_SPREAD, _ITEMS)
        chances = np.where(slopes > 0, 0, difficulties)

        def drawn(n: int) -> Responses:
            logits = slopes * (random.normal(size=(n, 1)) - difficulties) - chances  # noqa: B023
            return Responses.from_matrix(random.random((n, _ITEMS)) < expit(logits))  # noqa: B023

        truth = item_statistics(drawn(_MANY)).discrimination
        inside, alarms = [], []
        for _ in range(simulations):
            audit = audit_items(drawn(n_systems))
            found = audit.statistics
            covers = (found.discrimination_low <= truth) & (truth <= found.discrimination_high)
            inside.append(np.where(np.isnan(found.discrimination), np.nan, covers))
            alarms.append(audit.findings[Finding.STRONGER_FAIL].any())
        cover = np.nanmean(np.array(inside), axis=0)
        yield (
            str(n_systems), f"{np.nanmean(cover[1::2]):.3f}", f"{np.nanmean(cover[::2]):.3f}",
            f"{np.mean(alarms):.3f}",
        )  # fmt: skip


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    simulations = SIMULATIONS // 10 if parser.parse_args().quick else SIMULATIONS
    figures = ("found", f"first {_FIRST}", "sound")
    attracted = (f"{name}, attractive" for name in figures)
    columns: tuple[str, ...] = ("would pass", "systems", "answers", *figures, *attracted)
    print_table(columns, _keys(simulations))
    columns = ("systems", "coverage, discriminating", "coverage, not", "banks with a false alarm")
    print_table(columns, _intervals(simulations))


if __name__ == "__main__":
    main()
