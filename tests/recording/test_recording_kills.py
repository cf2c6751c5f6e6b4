"""Recordings killed at every operation and at any byte: what `log` returned from is there, once."""

import os
import shutil
from collections import Counter
from contextlib import suppress

import pytest

from tests.campaigns.killing import forked
from warehouse.app.store import Store
from warehouse.core.schemas import BY_NAME
from warehouse.lake.compaction import rows_of
from warehouse.lake.journal.journal import journal_paths
from warehouse.lake.journal.recovery import recover_journals
from warehouse.lake.lake import Lake

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
N_TASKS = 4


class Attempted:
    """A recording in a child process, which reports each result that it has logged."""

    def __init__(self, folder):
        self.store = Store(folder)
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        self.returned = set()

    def __call__(self):
        with self.store.record(suite="mine", model="m", run_id="r") as run:
            for n in range(N_TASKS):
                if not run.has(f"t{n}"):
                    run.log(task_id=f"t{n}", output=f"{n}" * 900, scores={"a": n, "b": None})
                os.write(self.writing, f"t{n} ".encode())

    def check(self):
        """Check what is stored; return it."""
        with suppress(BlockingIOError):
            self.returned |= set(os.read(self.reading, 1 << 16).decode().split())
        lake = Lake(self.store.path)
        assert recover_journals(lake) == []
        results, scores = rows(lake, "results"), rows(lake, "result_scores")
        stored = Counter(row["task_id"] for row in results)
        assert self.returned <= stored.keys()
        assert set(stored.values()) <= {1}
        # A result has all of its scores, and no score is without its result.
        assert Counter(row["result_id"] for row in scores) == {r["content_id"]: 2 for r in results}
        return stored.keys()


def rows(lake, table):
    found = [
        row
        for batch in lake.current()
        if table in batch.files
        for row in rows_of(lake, batch, BY_NAME[table]).to_pylist()
    ]
    return list({row["content_id"]: row for row in found}.values())


def test_a_recording_killed_at_every_operation_goes_on(tmp_path):
    operation, n_kills, is_killed = 0, 0, True
    while is_killed:
        # Killed one operation later each time, from what the last kill left.
        work = Attempted(tmp_path / "store")
        while (ended := forked(work, at_operation=(operation := operation + 1))).is_killed:
            n_kills += 1
            work.check()
        assert not ended.error, ended.error
        assert work.check() == {f"t{n}" for n in range(N_TASKS)}
        assert not journal_paths(work.store.path)
        is_killed = n_kills < 10 and operation < 100
        shutil.rmtree(work.store.path)
    assert n_kills >= 10


@pytest.mark.campaign
@pytest.mark.parametrize("stop", ["at_bytes", "full_at_bytes"])
def test_a_recording_stopped_at_any_byte_has_what_it_logged(tmp_path, stop):
    whole = Attempted(tmp_path / "whole")
    assert not forked(whole).error
    (path,) = journal_paths(whole.store.path)
    size, n_stopped, seen = path.stat().st_size, 0, set()
    assert whole.check() == {f"t{n}" for n in range(N_TASKS)}
    for n_bytes in range(0, size, 61):
        work = Attempted(tmp_path / f"{n_bytes}")
        ended = forked(work, **{stop: n_bytes})
        assert ended.is_killed == (stop == "at_bytes")
        # A message, not a traceback of ours.
        assert ended.is_killed or "EvalstoreError" in ended.error or "StoreReadOnly" in ended.error
        n_stopped += 1
        seen.add(len(work.check()))
        assert work.returned == work.check()
        shutil.rmtree(work.store.path)
    assert n_stopped > 50
    assert seen == set(range(N_TASKS + 1))
