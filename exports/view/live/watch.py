"""Watches the journals of a store: the runs in progress, and those that have just ended."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from exports.view.live.words import batch_words, run_words
from warehouse.analysis.live.run import LiveRun, WatchedJournal
from warehouse.lake.journal.journal import journal_paths
from warehouse.lake.journal.tail import JournalTail
from warehouse.lake.lake import Lake
from warehouse.lake.staging import staged_batches

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.core.types import JsonObject
    from warehouse.lake.batch import Generation

_MOST_RUNS = 12  # that a page shows; those that have ended go first


class Watch:
    """Reads what is new in the journals of a store whenever it is asked.

    Args:
        store_path: the store.
    """

    def __init__(self, store_path: Path) -> None:
        self._lake = Lake(store_path)
        self._lock = Lock()
        self._unnamed: dict[str, JournalTail] = {}  # their first lines are being written
        self._runs: dict[Generation, LiveRun] = {}
        self._lake_changed_at = 0

    def poll(self) -> JsonObject:
        """Return the runs and imports in progress, as pages show them.

        Raises:
            StoreUnreadable: the folder of journals cannot be listed.
            OSError: a journal cannot be read.
        """
        with self._lock:
            self._find_journals()
            for run in [*self._runs.values()]:
                self._read(run)
            self._read_lake()
            runs = [run for run in reversed(self._runs.values()) if run.is_run]
            runs.sort(key=lambda run: not run.is_active)
            for run in [*self._runs.values()]:
                if run.is_gone and run not in runs[:_MOST_RUNS]:
                    self._forget(run)
            journals = {name for run in runs for name in run.journals}
            batches = [b for b in staged_batches(self._lake) if b.name not in journals]
            return {
                "runs": [run_words(run) for run in runs[:_MOST_RUNS]],
                "n_more": len([run for run in runs[_MOST_RUNS:] if run.is_active]),
                "writing": [batch_words(batch) for batch in batches],
            }

    def close(self) -> None:
        """Forget all runs."""
        with self._lock:
            for run in [*self._runs.values()]:
                self._forget(run)
            for tail in self._unnamed.values():
                tail.close()
            self._unnamed.clear()

    def _find_journals(self) -> None:
        watched = {name for run in self._runs.values() for name in run.journals}
        for path in journal_paths(self._lake.store_path):
            if path.stem not in watched | self._unnamed.keys():
                with suppress(OSError):
                    self._unnamed[path.stem] = JournalTail(path)
        for name, tail in [*self._unnamed.items()]:
            entries = tail.read() or []
            if tail.run is not None:
                if tail.run not in self._runs:
                    self._runs[tail.run] = LiveRun(tail.run)
                    self._runs[tail.run].add_earlier(self._lake)
                run = self._runs[tail.run]
                run.journals[name] = WatchedJournal(tail=tail)
                run.add(name, entries)
            elif tail.is_gone:
                tail.close()
            else:
                continue
            del self._unnamed[name]

    def _read(self, run: LiveRun) -> None:
        for name, journal in run.journals.items():
            if journal.is_gone:
                continue
            if journal.tail.is_cut:
                self._forget(run)  # and read it again from its start
                return
            is_gone = journal.tail.is_gone  # before it is read: nothing comes after that
            has_grown = False
            while (entries := journal.tail.read()) is not None:
                has_grown = True
                run.add(name, entries)
            journal.is_gone = is_gone
            if is_gone:
                journal.tail.close()
                continue
            journal.check(self._lake.store_path, has_grown=has_grown)

    def _read_lake(self) -> None:
        """Read the earlier results of runs in progress, if the lake has changed."""
        with suppress(OSError):
            changed_at = self._lake.path.stat().st_mtime_ns
            if changed_at != self._lake_changed_at:
                self._lake_changed_at = changed_at
                for run in self._runs.values():
                    if run.is_active:
                        run.add_earlier(self._lake)

    def _forget(self, run: LiveRun) -> None:
        run.close()
        del self._runs[run.generation]
