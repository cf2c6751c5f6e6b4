"""Publications that are killed at random moments, or run at once, while others read."""

import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter

import polars as pl
import pytest
from delta_cases import add_run, check_equals_warehouse, traces
from deltalake import DeltaTable

from exports.delta.command import publish_tables
from warehouse.app.store import Store
from warehouse.core.errors import EvalstoreError, ExitCode
from warehouse.lake import places
from warehouse.lake.forgetting import forget

N_KILLS = int(os.environ.get("EVALSTORE_DELTA_KILLS", "6"))
# What a reader is told if its version was deleted, or not written yet, between two of its reads.
SAID = (
    *("not found", "no such file", "no files in log segment", "invalid table version"),
    "didn't find any checkpoints",
)
# A forked process would hang in the threads of polars and deltalake: children are of a server.
PROCESSES = multiprocessing.get_context("forkserver")


def publish(path, out, *, has_lock=True):
    """Publish, and end as the command does."""
    if not has_lock:
        places._lock = lambda *_: None
    try:
        publish_tables(Store(path), out)
    except EvalstoreError as error:
        print(error, file=sys.stderr)
        sys.exit(ExitCode.BUSY if "publish again" in str(error) else error.exit_code)


def read_by_polars(folder, version=None):
    return pl.read_delta(str(folder), version=version)


def read_by_deltalake(folder, version=None):
    return pl.from_arrow(DeltaTable(str(folder), version=version).to_pyarrow_table())


def read_snapshot(read, public):
    """Read the newest snapshot, and check that its tables belong together."""
    rows = read(public / "snapshots").filter(pl.col("snapshot") == pl.col("snapshot").max())
    tables = {row["table_name"]: row for row in rows.rows(named=True)}
    found = {name: read(public / name, tables[name]["version"]) for name in ("runs", "results")}
    for name, frame in found.items():
        assert len(frame) == tables[name]["n_rows"], name
    runs = set(found["runs"]["run_id"])
    assert set(found["results"]["run_id"]) == runs
    assert len(found["results"]) == 2 * len(runs)


def keep_reading(read, public, ended, counts):
    """Read until told to end; a read that fails says why, and one of the next succeeds."""
    n_failed = 0
    while not ended.is_set() and n_failed < 20:
        try:
            read_snapshot(read, public)
            counts[0] += 1
            n_failed = 0
        except AssertionError:
            raise
        except Exception as error:
            if not any(text in str(error).lower() for text in SAID):
                raise
            counts[1] += 1
            n_failed += 1
        time.sleep(0.05)
    assert n_failed < 20, "no snapshot can be read"


def change(store, n):
    """Add a run, and forget one of each three."""
    add_run(store, n % 28, texts=(f"text-{n}-a", f"text-{n}-b"))
    if n % 3 == 0:
        forget(store.lake, ("toys", f"run-{(n - 3) % 28}"))


def start(target, *arguments, **options):
    process = PROCESSES.Process(target=target, args=arguments, kwargs=options)
    process.start()
    return process


def publish_and_kill(arguments, n, seconds):
    """Kill a publication after some seconds, one of two every other time; return their ends."""
    has_lock = n % 4 != 0
    processes = [start(publish, *arguments, has_lock=has_lock) for _ in range(1 + (n % 2 == 0))]
    processes[0].join(seconds)
    processes[0].kill()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def publish_all(arguments):
    """Publish without a kill; return the seconds."""
    begin = time.monotonic()
    process = start(publish, *arguments)
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - begin


@pytest.mark.campaign
def test_kills_and_two_at_once_leave_a_snapshot_to_readers(store, tmp_path):
    """`EVALSTORE_DELTA_KILLS=50` is the full number; CI does 6."""
    PROCESSES.set_forkserver_preload([__name__, "exports.delta.publication"])
    arguments, chance = (store.path, tmp_path / "out"), random.Random(34)
    for n in range(2):
        change(store, n)
    publish_all(arguments)
    change(store, 2)
    seconds = publish_all(arguments)
    ended, codes = PROCESSES.Event(), []
    counts = [PROCESSES.Array("i", 2) for _ in range(2)]
    readers = [
        start(keep_reading, read, tmp_path / "out/public", ended, count)
        for read, count in zip((read_by_polars, read_by_deltalake), counts, strict=True)
    ]
    for n in range(3, 3 + N_KILLS):
        change(store, n)
        codes += publish_and_kill(arguments, n, chance.uniform(0, seconds))
        # The machine may have become faster.
        seconds *= 1.1 if -signal.SIGKILL in codes[-2:] else 0.7
    publish_all(arguments)
    ended.set()
    for reader in readers:
        reader.join()
        assert reader.exitcode == 0
    assert {-signal.SIGKILL} <= set(codes) <= {0, -signal.SIGKILL, ExitCode.BUSY}
    assert all(count[0] for count in counts)
    print(f"ends: {Counter(codes)}; read, refused: {[*map(list, counts)]}")
    check_equals_warehouse(store, tmp_path / "out")
    kept = {run for (run,) in store.sql("SELECT DISTINCT run_id FROM runs").fetchall()}
    for n in range(3 + N_KILLS):
        if f"run-{n % 28}" not in kept:
            assert traces(tmp_path / "out", f"text-{n}-a") == []
