"""A store of many small batches, before and after `evalstore compact`.

    python -m bench compaction

Measures rebuilds of the warehouse, and imports of one log with a sync, alternately on both.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.ratios import Ratio
from ingest.formats.palindrome.yaml_files import parsed
from ingest.importer import import_paths
from ingest.reading import ImportOptions, SourceFile
from warehouse.app.store import Store
from warehouse.core.schemas import BY_NAME
from warehouse.lake.batch import ROOT_GENERATION, Generation
from warehouse.lake.compaction import merge_small

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.lake.lake import Lake

_BATCHES, _BATCHES_QUICK = 2_000, 100
_ROUNDS = 3


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the two stores."""
    n = _BATCHES_QUICK if quick else _BATCHES
    with tempfile.TemporaryDirectory() as folder:
        many = Store(Path(folder) / "many")
        _fill(many.lake, Path(folder), n)
        few = Store(Path(folder) / "few")
        shutil.copytree(many.path, few.path)
        before = time.perf_counter()
        merge_small(few.lake)
        compacting = f"the compact took {time.perf_counter() - before:.1f} s"
        return [
            _ratio(
                f"rebuild from {n:,} small batches",
                _rebuild,
                many,
                few,
                at_least=3,
                more=compacting,
            ),
            # Most of the time is the import itself, which reads only the JSON of other batches.
            _ratio(
                f"import and sync of a log into a store of {n:,} batches",
                _import(folder),
                many,
                few,
                at_least=1.2,
            ),
        ]


def _ratio(
    work: str,
    act: Callable[[Store], None],
    many: Store,
    few: Store,
    *,
    at_least: float,
    more: str = "",
) -> Ratio:
    seconds: dict[Store, list[float]] = {many: [], few: []}
    for _ in range(_ROUNDS):
        for store, measured in seconds.items():
            before = time.perf_counter()
            act(store)
            measured.append(time.perf_counter() - before)
    left, right = median(seconds[many]), median(seconds[few])
    figures = f"{left:.2f} s not compacted, {right:.2f} s compacted"
    texts = "; ".join(filter(None, (figures, more)))
    return Ratio(f"{work}, compacted", "not compacted (speedup)", left / right, texts, at_least)


def _rebuild(store: Store) -> None:
    store.sync(rebuild=True)


def _import(folder: str) -> Callable[[Store], None]:
    logs = iter([_log(Path(folder), 10**6 + n) for n in range(2 * _ROUNDS)])

    def act(store: Store) -> None:
        import_paths(store.lake, [next(logs)], ImportOptions())
        store.sync()

    return act


def _fill(lake: Lake, folder: Path, n: int) -> None:
    """Add a batch for each log like an import, but without reading all earlier batches."""
    for number in range(n):
        path = _log(folder, number)
        data = path.read_bytes()
        reading = parsed(SourceFile(path, data, hashlib.sha256(data).hexdigest()))
        assert reading.run is not None  # noqa: S101 - the file is a log
        with lake.write("import") as writer:
            for name, rows in reading.rows.items():
                writer.add(BY_NAME[name], [{**row, "generation": ROOT_GENERATION} for row in rows])
            writer.commit(generations=[Generation(*reading.run)])


def _log(folder: Path, number: int) -> Path:
    path = folder / f"{number}.yaml"
    tasks = [
        {
            "timestamp": f"2026-04-01T10:00:{at:02}Z",
            "prompt": f"task {at}",
            "answer": f"answer {number} {at}",
            "is_correct": at % 2 == 0,
            "duration_seconds": 1.5,
        }
        for at in range(10)
    ]
    document = {"date": "2026-04-01", "model": f"models/m{number}.yaml"}
    path.write_text(json.dumps({**document, "prompt_template": "{prompt}", "tasks": tasks}))
    return path
