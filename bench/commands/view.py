"""`evalstore view`: its pages over stores of several sizes, idle, and next to an import.

    python -m bench.commands.view 1e7

prints the pages of a store of another size. Seconds of pages are processor time of the server, once
what it prepares after its first answer is done.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from bench.data.long_history import make_history
from bench.data.openclaw_rows import write_rows
from bench.processes import ROOT, environment
from bench.ratios import Ratio
from exports.site.addresses import COMPARISONS, MODELS, OVERVIEW, RUNS, chart_files
from exports.site.registry import PAGE_TYPES
from exports.site.site import opened_site
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZES, _QUICK_SIZES = (10_000, 100_000, 1_000_000, 10_000_000), (10_000,)
_IMPORTED, _QUICK_IMPORTED = 100_000, 5_000  # results
_PER_SECOND = 50  # requests
_PAGE_SECONDS = 0.3
_IDLE_SECONDS = 10
_TOKEN = "a-token-of-this-benchmark"  # noqa: S105 - of a server that runs for seconds
_FRESH_SECONDS = 2.2  # after which a page is made from a warehouse that is opened again
_OF_TYPE = 3  # pages
_NAMED = 3  # pages


class Spent(NamedTuple):
    """Seconds until an answer is there: of processor time, and by the clock."""

    cpu: float
    clock: float

    def __str__(self) -> str:
        return f"{self.cpu:.2f} s ({self.clock:.2f} by the clock)"


def measure(*, quick: bool) -> list[Ratio]:
    """Time pages, the idle server, and an import next to requests."""
    ratios = []
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        for n_results in _QUICK_SIZES if quick else _SIZES:
            ratios += _pages(Path(name), n_results)
        ratios.append(_import(Path(name), _QUICK_IMPORTED if quick else _IMPORTED))
    return ratios


def _pages(folder: Path, n_results: int) -> list[Ratio]:
    store = Store(folder / str(n_results))
    make_history(store.path, n_results)
    store.sync()
    others = _some_pages(store)
    with _served(store.path) as (process, port):
        start = _processor_seconds(process.pid)
        first = _spent(process.pid, port, OVERVIEW)
        prepared = _settled(process.pid)
        spent = {path: _spent(process.pid, port, path) for path in others}
        again = max(_get(port, path) for path in (OVERVIEW, *others))
        time.sleep(_FRESH_SECONDS)
        before = _processor_seconds(process.pid)
        time.sleep(_IDLE_SECONDS)
        idle = _processor_seconds(process.pid) - before
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        process.wait()
        ended = time.perf_counter() - began
    print(f"start {start:.2f} s, prepared after the first page {prepared:.2f} s")
    _print_types(n_results, first, spent)
    work = f"`evalstore view` of {n_results:,} results"
    return [
        Ratio(f"{work}, first page, CPU", "one second", first.cpu, str(first), at_most=1),
        Ratio(
            f"{work}, slowest other page, made, CPU",
            "300 ms",
            max(each.cpu for each in spent.values()) / _PAGE_SECONDS,
            _slowest(spent),
            at_most=1,
        ),
        Ratio(
            f"{work}, slowest page, kept",
            "300 ms",
            again / _PAGE_SECONDS,
            f"{again * 1000:.0f} ms",
            at_most=1,
        ),
        Ratio(
            f"{work}, idle",
            "a hundredth of a processor",
            idle / _IDLE_SECONDS * 100,
            f"{idle:.2f} s in {_IDLE_SECONDS} s",
            at_most=1,
        ),
        Ratio(f"{work}, Ctrl-C", "two seconds", ended / 2, f"{ended:.2f} s", at_most=1),
    ]


def _some_pages(store: Store) -> list[str]:
    """Return the first pages of each type, but for the overview, and the largest charts."""
    with opened_site(store, PAGE_TYPES, samples="all") as site:
        found = [list(each.addresses(site))[:_OF_TYPE] for each in site.types]
        suites = site.rows("SELECT DISTINCT suite FROM runs ORDER BY suite")
    charts = [path for row in suites for path in chart_files(row["suite"], "heatmap")]
    return [*(path for paths in found for path in paths if path != OVERVIEW), *charts]


def _print_types(n_results: int, first: Spent, spent: dict[str, Spent]) -> None:
    by_type = defaultdict(list)
    for path, each in spent.items():
        by_type[path.partition("/")[0]].append(each)
    print(
        f"{n_results:,} results: first page {first.cpu:.2f} s of CPU; others, median and longest:"
    )
    for name, times in by_type.items():
        cpu = [each.cpu for each in times]
        print(f"    {name:12} {statistics.median(cpu):.2f} {max(cpu):.2f}", flush=True)


def _slowest(spent: dict[str, Spent]) -> str:
    """Return the slowest pages, one of each type, with their seconds."""
    by_type: dict[str, str] = {}
    for path in sorted(spent, key=lambda path: -spent[path].cpu):
        by_type.setdefault(path.partition("/")[0], f"{path} {spent[path]}")
    return ", ".join(list(by_type.values())[:_NAMED])


def _spent(pid: int, port: int, path: str) -> Spent:
    """Return the seconds until an answer is there."""
    before = _processor_seconds(pid)
    clock = _get(port, path)
    return Spent(_processor_seconds(pid) - before, clock)


def _settled(pid: int) -> float:
    """Return the seconds of processor time until the server is idle."""
    start = _processor_seconds(pid)
    before = float("-inf")
    while (spent := _processor_seconds(pid)) > before:
        before = spent
        time.sleep(1)
    return before - start


def _import(folder: Path, n_results: int) -> Ratio:
    """Import into a store that nobody looks at, and into one that 50 requests a second look at."""
    rows = folder / "results.jsonl"
    write_rows(rows, n_results, broken=0)
    alone, watched = (Store(folder / name) for name in ("alone", "watched"))
    for store in (alone, watched):
        make_history(store.path, 10_000)
        store.sync()
    seconds = _imported_seconds(alone.path, rows)
    with _served(watched.path) as (_, port):
        stop = threading.Event()
        asking = threading.Thread(target=_ask, args=(port, stop))
        asking.start()
        busy = _imported_seconds(watched.path, rows)
        stop.set()
        asking.join()
    return Ratio(
        f"import of {n_results:,} results next to {_PER_SECOND} requests a second",
        "the same import alone (relative time)",
        busy / seconds,
        f"{busy:.1f} s / {seconds:.1f} s",
        at_most=1.2,
    )


def _imported_seconds(store: Path, rows: Path) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-m", "evalstore", "--store", str(store), "import", str(rows)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - began


def _ask(port: int, stop: threading.Event) -> None:
    """Ask for pages, so many a second, whatever becomes of them."""
    paths = [OVERVIEW, RUNS, MODELS, COMPARISONS]
    asked = []
    at = 0
    while not stop.wait(1 / _PER_SECOND):
        asked.append(threading.Thread(target=_get, args=(port, paths[at % len(paths)])))
        asked[-1].start()
        at += 1
    for each in asked:
        each.join()


def _get(port: int, path: str) -> float:
    """Return the seconds until an answer is there, whichever it is."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    began = time.perf_counter()
    connection.request("GET", f"/{path}", headers={"Cookie": f"evalstore-{port}={_TOKEN}"})
    connection.getresponse().read()
    connection.close()
    return time.perf_counter() - began


@contextmanager
def _served(store: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "evalstore", "--store", str(store), "view", "--token", _TOKEN]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment()
    )
    with process:
        try:
            address = process.stdout.readline() if process.stdout is not None else ""
            yield process, int(address.split(":")[2].split("/")[0])
        finally:
            process.send_signal(signal.SIGINT)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    with TemporaryDirectory(prefix="evalstore-bench-") as temporary:
        for size in sys.argv[1:]:
            for ratio in _pages(Path(temporary), int(float(size))):
                print(ratio.work, ratio.figures, sep=": ")
