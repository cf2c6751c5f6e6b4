"""Results logged by a user's code: checked, masked and written, one by one.

Compared with a plain loop that writes the same fields as JSON lines and flushes each, in alternate
rounds, so that other load on the machine affects both alike. The best round of each counts.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.ratios import Ratio
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESULTS, _ROUNDS = 4000, 5
_QUICK_RESULTS, _QUICK_ROUNDS = 100, 1
_PROMPT = "What is the capital of France, and since when? Answer in one sentence. " * 3
_OUTPUT = "Paris has been the capital of France since 987, with interruptions. " * 4
_TARGET = 2000
# Results per second, and per CPU second of this process, which a busy machine hardly affects.
Rates = tuple[float, float]


def measure(*, quick: bool) -> list[Ratio]:
    """Measure results per CPU second of both."""
    n, rounds = (_QUICK_RESULTS, _QUICK_ROUNDS) if quick else (_RESULTS, _ROUNDS)
    rates: dict[str, list[Rates]] = {"ours": [], "plain": []}
    for _ in range(rounds):
        with TemporaryDirectory(prefix="evalstore-bench-") as name:
            rates["plain"].append(_plain(Path(name), n))
            rates["ours"].append(_ours(Path(name), n))
    best = {side: [max(column) for column in zip(*rates[side], strict=True)] for side in rates}
    work = f"{n:,} results of {len(_PROMPT) + len(_OUTPUT)} characters with two scores recorded"
    units = ("results per second", "results per CPU second")
    figures = [
        f"{ours:,.0f} and {plain:,.0f} {unit}"
        for ours, plain, unit in zip(best["ours"], best["plain"], units, strict=True)
    ]
    return [
        Ratio(
            work,
            "`json.dumps`, write and flush of the same fields (relative CPU time)",
            best["plain"][1] / best["ours"][1],
            figures[1],
            is_lower_better=True,
        ),
        *(
            Ratio(work, f"{_TARGET:,} {unit}", rate / _TARGET, figure, at_least=1)
            for rate, unit, figure in zip(best["ours"], units, figures, strict=True)
        ),
    ]


def _results(n: int) -> Iterator[dict[str, object]]:
    for place in range(n):
        yield {
            "task_id": f"t{place}",
            "prompt": _PROMPT,
            "output": _OUTPUT,
            "scores": {"exact": place % 2 == 0, "f1": place / n},
            "passed": place % 2 == 0,
            "cost_usd": 0.001,
        }


def _ours(folder: Path, n: int) -> Rates:
    with Store(folder / "store").record(suite="bench", model="m") as run:
        began = time.perf_counter(), time.process_time()
        for result in _results(n):
            run.log(**result)  # type: ignore[arg-type]
        return _rates(n, began)


def _plain(folder: Path, n: int) -> Rates:
    with (folder / "plain.jsonl").open("w", encoding="utf-8") as file:
        began = time.perf_counter(), time.process_time()
        for result in _results(n):
            file.write(json.dumps(result) + "\n")
            file.flush()
        return _rates(n, began)


def _rates(n: int, began: Rates) -> Rates:
    return n / (time.perf_counter() - began[0]), n / (time.process_time() - began[1])
