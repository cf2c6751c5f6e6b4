"""Publications of a long history as Delta tables: what has changed next to everything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.data.long_history import RESULTS_PER_RUN, make_history, repeat_calls, write_runs
from bench.processes import evalstore
from bench.ratios import Ratio
from warehouse.app.store import Store
from warehouse.lake.forgetting import forget

if TYPE_CHECKING:
    from collections.abc import Callable

_RESULTS, _QUICK_RESULTS = 2_000_000, 20_000
_REPEATED, _QUICK_REPEATED = 10_000, 50
_PER_REPEATED = 10


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a publication took.

    Attributes:
        seconds: processor time of the command.
        megabytes: peak memory of the command.
        written: bytes of new data files, in megabytes.
    """

    seconds: float
    megabytes: float
    written: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.written:.1f} MB, {self.megabytes:,.0f} MB of memory"


def measure(*, quick: bool) -> list[Ratio]:
    """Measure a small change, and a run that repeats calls of many others."""
    results = _QUICK_RESULTS if quick else _RESULTS
    n_repeated = _QUICK_REPEATED if quick else _REPEATED
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        store = make_mixed(Path(name) / "store", results, results // 200)
        change = _costs(store, lambda: change_some(store, results // 200))
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        store = Store(Path(name) / "store")
        make_history(store.path, n_repeated * _PER_REPEATED, _PER_REPEATED)
        repeats = _costs(store, lambda: repeat_calls(store.path, "20190101_000000", "seq = 1"))
    return [
        _compared("10 replaced runs, 1 forgotten and 1 new", f"{results:,} results", *change),
        _compared(
            "a run that repeats calls", f"{n_repeated:,} runs, all of them repeated", *repeats
        ),
    ]


def make_mixed(path: Path, results: int, per_run: int = RESULTS_PER_RUN) -> Store:
    """Make a store of runs, of which some are replaced, repeated, replayed or forgotten."""
    store = Store(path)
    make_history(path, results, per_run)
    n_runs = results // per_run
    write_runs(path, range(20, 30), per_run, {"content_id": "'new ' || n"}, replaces=True)
    write_runs(path, range(n_runs, n_runs + 5), per_run, {"provider": "'replay'"})
    repeat_calls(path, "20180101_000000", f"suite = 'questions' AND seq <= {per_run // 100}")
    forget(store.lake, _run(store, 30))
    store.sync()
    return store


def change_some(store: Store, per_run: int) -> None:
    """Replace ten runs, forget one and add one."""
    write_runs(store.path, range(10), per_run, {"content_id": "'new ' || n"}, replaces=True)
    forget(store.lake, _run(store, 11))
    write_runs(store.path, range(1_000, 1_001), per_run, {})


def _run(store: Store, number: int) -> tuple[str, str]:
    query = f"SELECT suite, run_id FROM runs ORDER BY run_id LIMIT 1 OFFSET {number}"
    [(suite, run_id)] = store.sql(query).fetchall()
    return suite, run_id


def _costs(store: Store, change: Callable[[], None]) -> tuple[_Cost, _Cost]:
    """Return the cost of a full publication, and of one after a change."""
    everything = _publish(store)
    change()
    store.sync()
    return everything, _publish(store)


def _publish(store: Store) -> _Cost:
    folder = store.path.parent / "out"
    before = set(folder.rglob("*.parquet"))
    done = evalstore("--store", str(store.path), "publish", "delta", "--to", str(folder))
    written = sum(path.stat().st_size for path in set(folder.rglob("*.parquet")) - before)
    return _Cost(float(done.output.split()[-1]), done.megabytes, written / 1e6)


def _compared(change: str, size: str, everything: _Cost, changed: _Cost) -> Ratio:
    return Ratio(
        f"`evalstore publish delta` after {change}, CPU",
        f"publishing {size} (speedup)",
        everything.seconds / changed.seconds,
        f"{everything} / {changed}",
    )
