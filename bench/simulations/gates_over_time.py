"""What gates do over many merges and nights, by simulation.

    python -m bench.simulations.gates_over_time [--quick]

It prints tables of `docs/gates.md`. Each task passes with a rate of its own, a draw from a beta
distribution, one attempt in each run. *Erosion*: each merge lowers all rates by the same factor, by
1 point in the mean; the gate compares with the run before, and with an anchor, the run before the
first merge. A gate that fails ends the series. *False alarms*: nothing changes. *Confirmed*: a
month of nights is compared with one baseline of several runs; a failure is decided by further runs.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.bounded_means import excess_of_bounded_means
from warehouse.engine.statistics.score_test import excess_of_proportions

if TYPE_CHECKING:
    import numpy.typing as npt

    from warehouse.engine.statistics.arrays import Floats

SEED = 41
ALPHA = 0.05
# Beta distributions of the tasks' pass rates with a mean of 80 %, by what they are called.
TASKS = {"alike": (8.0, 2.0), "mixed": (1.6, 0.4), "mostly fixed": (0.4, 0.1)}
_SIMULATIONS, _QUICK = 4_000, 400
_EROSION_MERGES, _SOON, _MERGES, _NIGHTS = 40, 15, 20, 30
_LOSS, _DROP = 0.01, 0.08


@cache
def _needed(gained: int, n_tasks: int, margin: float, alpha: float) -> int:
    """Return how many tasks must be lost for the gate to fail, if so many are gained."""
    quantile = NormalDist().inv_cdf(1 - alpha)
    excess = n_tasks * margin
    lost = gained + round(excess + quantile * sqrt(2 * gained + excess + quantile**2))

    def fails(lost: int) -> bool:
        return excess_of_proportions(lost, gained, n_tasks, margin) <= alpha

    step = -1 if fails(lost) else 1
    while fails(lost + min(step, 0)) == (step < 0):
        lost += step
    return lost


def _fails(base: Floats, run: Floats, margin: float, alpha: float) -> npt.NDArray[np.bool_]:
    """Return which simulations fail: single attempts, shape (simulations, tasks)."""
    lost, gained = ((base > run).sum(axis=1), (run > base).sum(axis=1))
    each, places = np.unique(gained, return_inverse=True)
    needed = [_needed(int(count), base.shape[1], margin, alpha) for count in each]
    return np.asarray(lost >= np.array(needed)[places])


def first_failures(
    random: np.random.Generator,
    *,
    n_tasks: int,
    tasks: str,
    loss: float,
    merges: int,
    margin: float,
    has_anchor: bool,
    simulations: int,
) -> npt.NDArray[np.int64]:
    """Return the merge at which each series of merges is stopped; one more than all if never.

    Args:
        random: the generator.
        n_tasks: tasks.
        tasks: one of `TASKS`.
        loss: what each merge takes from the mean pass rate, 0 to 1.
        merges: how many merges there are.
        margin: the drop that is allowed.
        has_anchor: whether the run before the first merge is an anchor.
        simulations: series of merges.
    """
    rates = random.beta(*TASKS[tasks], size=(simulations, n_tasks))
    mean = TASKS[tasks][0] / sum(TASKS[tasks])
    anchor = before = (random.random(rates.shape) < rates).astype(np.int8)
    stopped = np.full(simulations, merges + 1)
    for merge in range(1, merges + 1):
        kept = max(0.0, 1 - merge * loss / mean)
        run = (random.random(rates.shape) < rates * kept).astype(np.int8)
        # Of two p-values, Holm rejects any if the smaller is at most half the level. At the first
        # merge both sides are the same run.
        level = ALPHA / 2 if has_anchor and merge > 1 else ALPHA
        fails = _fails(before, run, margin, level)
        if has_anchor and merge > 1:
            fails |= _fails(anchor, run, margin, level)
        stopped = np.where((stopped > merges) & fails, merge, stopped)
        before = run
    return stopped


def failed_months(
    random: np.random.Generator,
    *,
    n_tasks: int,
    tasks: str,
    confirm: int,
    margin: float,
    simulations: int,
    drop: float = 0.0,
) -> tuple[float, float]:
    """Return the shares of nights and of months in which the gate fails.

    All nights of a month have the same baseline, and its further runs.

    Args:
        random: the generator.
        n_tasks: tasks.
        tasks: one of `TASKS`.
        confirm: further runs by which a failure is decided.
        margin: the drop that is allowed.
        simulations: months.
        drop: how far the candidates' mean pass rate is below the baseline's, 0 to 1.
    """
    rates = random.beta(*TASKS[tasks], size=(simulations, n_tasks))
    bases = random.binomial(1, rates, size=(confirm + 1, *rates.shape))
    of_candidate = rates * (1 - drop / (TASKS[tasks][0] / sum(TASKS[tasks])))
    nights = np.zeros((simulations, _NIGHTS), dtype=np.bool_)
    for night in range(_NIGHTS):
        run = random.binomial(1, of_candidate)
        nights[:, night] = _fails(bases[0], run, margin, ALPHA)
        for at in np.flatnonzero(nights[:, night]) if confirm else ():
            pooled = run[at] + random.binomial(confirm, of_candidate[at])
            drops = (bases[:, at].sum(axis=0) - pooled) / (confirm + 1)
            p_value = excess_of_bounded_means(drops, margin, largest=1.0)
            nights[at, night] = p_value is not None and p_value <= ALPHA
    return float(nights.mean()), float(nights.any(axis=1).mean())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few simulations")
    n = _QUICK if parser.parse_args().quick else _SIMULATIONS
    _print_erosion(np.random.default_rng(SEED), n)
    _print_alarms(np.random.default_rng([SEED, 1]), n)
    _print_months(np.random.default_rng([SEED, 2]), n // 2)


def _row(*cells: object) -> None:
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")
    sys.stdout.flush()


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _print_erosion(random: np.random.Generator, simulations: int) -> None:
    _row("tasks", "max_drop", "anchor", "median", "95 % within", "within 15", "never")
    _row(*["---"] * 7)
    for tasks in TASKS:
        for margin in (0.0, 0.02):
            for has_anchor in (False, True):
                stopped = first_failures(
                    random,
                    n_tasks=200,
                    tasks=tasks,
                    loss=_LOSS,
                    merges=_EROSION_MERGES,
                    margin=margin,
                    has_anchor=has_anchor,
                    simulations=simulations,
                )
                shown = [
                    "never" if merge > _EROSION_MERGES else f"{merge:.0f} merges"
                    for merge in np.quantile(stopped, [0.5, 0.95], method="higher")
                ]
                within, never = (stopped <= _SOON).mean(), (stopped > _EROSION_MERGES).mean()
                anchor = "yes" if has_anchor else "no"
                _row(tasks, f"{margin:g}", anchor, *shown, _percent(within), _percent(never))


def _print_alarms(random: np.random.Generator, simulations: int) -> None:
    _row("tasks", "max_drop", "200 tasks", "with anchor", "1,000 tasks", "with anchor")
    _row(*["---"] * 6)
    for tasks in TASKS:
        for margin in (0.0, 0.02):
            shares = [
                first_failures(
                    random,
                    n_tasks=n_tasks,
                    tasks=tasks,
                    loss=0.0,
                    merges=_MERGES,
                    margin=margin,
                    has_anchor=has_anchor,
                    simulations=simulations // (n_tasks // 200),
                )
                <= _MERGES
                for n_tasks in (200, 1_000)
                for has_anchor in (False, True)
            ]
            _row(tasks, f"{margin:g}", *(_percent(share.mean()) for share in shares))


def _print_months(random: np.random.Generator, simulations: int) -> None:
    _row("tasks", "max_drop", "share", *(f"N = {n}" for n in range(4)))
    _row(*["---"] * 7)
    for tasks in TASKS:
        for margin in (0.0, 0.02):
            found = [
                [
                    failed_months(
                        random,
                        n_tasks=200,
                        tasks=tasks,
                        confirm=confirm,
                        margin=margin,
                        simulations=simulations // (20 if drop else 1),
                        drop=drop,
                    )
                    for confirm in range(4)
                ]
                for drop in (0.0, margin + _DROP)
            ]
            start = tasks, f"{margin:g}"
            _row(*start, "months with a false alarm", *(_percent(each[1]) for each in found[0]))
            _row(*start, "found, 8 points more", *(_percent(each[0]) for each in found[1]))


if __name__ == "__main__":
    main()
