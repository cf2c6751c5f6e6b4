"""Scoring and comparing 20 models on 60 posters, against plain Python that does the same.

Run with ``python bench/posters.py``; ``--quick`` takes two models.
"""

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

from poster_plain import plain_comparisons, plain_scores, plain_view
from poster_samples import POSTERS, make_batch

from warehouse.udfs.bootstrap import compare_all
from warehouse.udfs.poster_batches import score_batch

MODELS, QUICK_MODELS = 20, 2


def main() -> None:
    """Measure, check that the results are equal, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    models = QUICK_MODELS if parser.parse_args().quick else MODELS
    golds, predictions = make_batch(random.Random(7), models)
    seconds, rows = timed(lambda: score_batch(golds, predictions))
    plain_seconds, expected = timed(lambda: plain_scores(golds, predictions))
    check([plain_view(row) for row in rows], expected)
    report(f"scores of {len(golds):,} predictions", plain_seconds, seconds)

    scores = {
        f"model-{n}": [row["app_quality"] for row in rows[n * POSTERS : (n + 1) * POSTERS]]
        for n in range(models)
    }
    compare_all({"a": [1.0], "b": [2.0]})  # numpy's import is not what is measured
    seconds, compared = timed(lambda: compare_all(scores))
    plain_seconds, expected = timed(lambda: plain_comparisons(scores))
    check([(d.mean, *d.interval, d.p_value) for d in compared], expected)
    report(f"bootstrap of {len(compared)} pairs of models", plain_seconds, seconds)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds the work took, and what came of it."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def check(ours: object, expected: object) -> None:
    """Stop unless both are equal to the last bit."""
    if ours != expected:
        raise SystemExit("results differ from plain Python's")


def report(name: str, plain: float, ours: float) -> None:
    """Print one comparison."""
    print(f"{name}: plain {plain:.2f} s, ours {ours:.4f} s, {plain / ours:.0f} x")


if __name__ == "__main__":
    main()
