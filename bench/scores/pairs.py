"""All pairs of many models on the same tasks, compared with scipy, pair by pair.

Wall-clock time on all cores for ours, with Holm's adjustment; scipy has the same number of flips
and resamples, is measured on one pair and multiplied. Where evalstats is installed, its pairs are
too.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from itertools import combinations

import numpy as np
from scipy import stats

from bench.ratios import Ratio
from warehouse.analysis.decisions.comparison import Contest, compare
from warehouse.analysis.decisions.paired import pair, panels
from warehouse.analysis.decisions.series import Asked, MetricKey, Series, SeriesKey

_MODELS, _TASKS, _RESAMPLES = 20, 10_000, 10_000
_QUICK_MODELS, _QUICK_TASKS = 4, 200
_SECONDS, _VERDICT_SECONDS = 15.0, 2.0
_SEED = 23


def measure(*, quick: bool) -> list[Ratio]:
    """Compare all pairs of models with one attempt at each task, and with three."""
    n_models, n_tasks = (_QUICK_MODELS, _QUICK_TASKS) if quick else (_MODELS, _TASKS)
    single, several = _models(n_models, n_tasks, 1), _models(n_models, n_tasks, 3)
    size = f"{n_models * (n_models - 1) // 2} pairs of {n_models} models, {n_tasks:,} tasks"
    verdicts, ours = _ours(single), _ours(several)
    found = [
        _limit(f"{size}, pass or fail", verdicts, _VERDICT_SECONDS),
        _limit(f"{size}, three attempts", ours, _SECONDS),
        _ratio(size, "scipy (speedup)", _scipy(several), ours, None),
    ]
    if find_spec("evalstats"):
        found.append(_ratio(size, "evalstats (speedup)", _evalstats(several), ours, 20.0))
    return found


def _models(n_models: int, n_tasks: int, attempts: int) -> np.ndarray:
    """Return the outcomes of models of similar ability: shape (models, tasks, attempts)."""
    random = np.random.default_rng(_SEED)
    chances = random.random(n_tasks)
    abilities = random.normal(0, 0.03, n_models)
    return np.stack(
        [
            (random.random((n_tasks, attempts)) < np.clip(chances + ability, 0, 1)[:, np.newaxis])
            for ability in abilities
        ]
    ).astype(float)


def _ours(outcomes: np.ndarray) -> float:
    series = []
    for number, rows in enumerate(outcomes.tolist()):
        values = {f"task-{n}": tuple(row) for n, row in enumerate(rows)}
        asked = {task: Asked("run", None) for task in values}
        key = SeriesKey(number, "mine", "set", None, f"model-{number}", "")
        metric = MetricKey("passed", None, None)
        series.append(Series(key=key, metric=metric, asked=asked, values=values))
    start = time.perf_counter()
    (panel,) = panels(series)
    pairs = combinations(range(len(series)), 2)
    compare([Contest(a=f"{a}", b=f"{b}", paired=pair(panel, a, b)) for a, b in pairs])
    return time.perf_counter() - start


def _scipy(outcomes: np.ndarray) -> float:
    """Return the seconds of all pairs, by those of one."""
    differences = outcomes[0].mean(axis=1) - outcomes[1].mean(axis=1)
    start = time.perf_counter()
    stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=_RESAMPLES,
        vectorized=True, batch=100,
    )  # fmt: skip
    stats.bootstrap((differences,), np.mean, n_resamples=_RESAMPLES, method="BCa", batch=100)
    return (time.perf_counter() - start) * _n_pairs(outcomes)


def _evalstats(outcomes: np.ndarray) -> float:
    """Return the seconds of all pairs, by those of three models."""
    from evalstats.core.paired import all_pairwise

    few = outcomes[:3].mean(axis=2)
    start = time.perf_counter()
    all_pairwise(
        few, ["a", "b", "c"], method="permutation", n_bootstrap=_RESAMPLES, correction="holm",
        simultaneous_ci=False, rng=np.random.default_rng(_SEED),
    )  # fmt: skip
    return (time.perf_counter() - start) / _n_pairs(few) * _n_pairs(outcomes)


def _n_pairs(outcomes: np.ndarray) -> int:
    return len(outcomes) * (len(outcomes) - 1) // 2


def _limit(work: str, seconds: float, most: float) -> Ratio:
    return Ratio(
        work=work,
        against=f"{most:g} s",
        value=seconds / most,
        figures=f"{seconds:.1f} s",
        at_most=1.0,
    )


def _ratio(work: str, against: str, theirs: float, ours: float, at_least: float | None) -> Ratio:
    figures = f"{theirs:.0f} s and {ours:.1f} s"
    return Ratio(
        work=work, against=against, value=theirs / ours, figures=figures, at_least=at_least
    )
