"""Scoring posters and comparing models, compared with plain Python that gives the same bits.

Both sides are single-threaded, so CPU time is measured, which other load affects less.
"""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Any

from bench.data.poster_samples import EVENTS, POSTERS, make_batch
from bench.ratios import Ratio
from bench.scores.poster_plain import plain_comparisons, plain_scores, plain_view
from warehouse.engine.scoring.bootstrap import compare_all
from warehouse.engine.scoring.posters.batches import score_batch
from warehouse.engine.scoring.posters.records import text as poster_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MODELS, _QUICK_MODELS = 20, 2
_ROUNDS, _PLAIN_ROUNDS = 5, 2
_SEED = 7


def measure(*, quick: bool) -> list[Ratio]:
    """Score the predictions of some models and compare the models, in both ways.

    Raises:
        ValueError: the results of the two differ.
    """
    models = _QUICK_MODELS if quick else _MODELS
    golds, predictions = make_batch(random.Random(_SEED), models)
    seconds, rows = _fastest(_ROUNDS, lambda: _score_cold(golds, predictions))
    plain_seconds, expected = _fastest(_PLAIN_ROUNDS, lambda: plain_scores(golds, predictions))
    _hold([plain_view(row) for row in rows], expected)
    scored = Ratio(
        work=f"scores of {len(golds):,} posters, {EVENTS} events each, cold",
        against="plain Python (speedup)",
        value=plain_seconds / seconds,
        figures=_figures(plain_seconds, seconds),
        at_least=20.0,
    )
    scores = {
        f"model-{n}": [row["app_quality"] for row in rows[n * POSTERS : (n + 1) * POSTERS]]
        for n in range(models)
    }
    return [scored, _compared(scores)]


def _compared(scores: dict[str, list[float]]) -> Ratio:
    seconds, compared = _fastest(_ROUNDS, lambda: compare_all(scores))
    plain_seconds, expected = _fastest(_PLAIN_ROUNDS, lambda: plain_comparisons(scores))
    _hold([(d.mean, *d.interval, d.p_value) for d in compared], expected)
    return Ratio(
        work=f"bootstrap of all {len(compared)} pairs of {len(scores)} models",
        against="plain Python (speedup)",
        value=plain_seconds / seconds,
        figures=_figures(plain_seconds, seconds),
        at_least=200.0,
    )


def _score_cold(golds: Sequence[str], predictions: Sequence[str]) -> list[Any]:
    """Score without the similarities cached by an earlier round."""
    poster_text._ratio.cache_clear()  # noqa: SLF001 - only a benchmark clears the cache
    return score_batch(golds, predictions)


def _fastest(rounds: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the fewest CPU seconds of several rounds, and the result of the work."""
    least = math.inf
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def _hold(ours: object, expected: object) -> None:
    if ours != expected:
        raise ValueError("the results differ from those of plain Python")


def _figures(plain: float, ours: float) -> str:
    return f"CPU time: {plain:.1f} s in plain Python, {ours:.3f} s in evalstore"
