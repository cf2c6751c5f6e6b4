"""A run in progress: its journals, its plan, and what has become of it."""

from __future__ import annotations

import json
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ulid import ULID

from warehouse.analysis.live.results import N_PACED, LiveResults
from warehouse.core.errors import EvalstoreError
from warehouse.lake.journal.tail import is_being_written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from warehouse.core.types import Row
    from warehouse.lake.batch import Generation
    from warehouse.lake.journal.journal import Entry
    from warehouse.lake.journal.tail import JournalTail
    from warehouse.lake.lake import Lake

_N_LATEST = 12  # results that a page shows
# A journal is unlocked for a moment before the command that wrote it adds it to the lake.
_UNLOCKED_SECONDS = 2.0
_CHECK_SECONDS = 1.0
_MINUTE = 60
_NO_SCORE = dict.fromkeys(("pass_rate", "pass_rate_low", "pass_rate_high"))


@dataclass(slots=True, kw_only=True)
class WatchedJournal:
    """A journal of a run.

    Attributes:
        tail: reads it.
        checked_at: when its lock was tried last, in seconds of a monotonic clock.
        unlocked_at: since when no process has it locked; None if one has.
        is_gone: whether it has become a batch.
        is_complete: whether it says that its part of a recording is complete.
    """

    tail: JournalTail
    checked_at: float = 0.0
    unlocked_at: float | None = None
    is_gone: bool = False
    is_complete: bool = False

    @property
    def is_written(self) -> bool:
        """Whether a process is still writing it."""
        if self.is_gone:
            return False
        return self.unlocked_at is None or time.monotonic() - self.unlocked_at < _UNLOCKED_SECONDS

    def check(self, store_path: Path, *, has_grown: bool) -> None:
        """Find out whether a process has it locked: not often, and not if it has just grown."""
        now = time.monotonic()
        if has_grown:
            self.checked_at, self.unlocked_at = now, None
        elif not self.is_gone and now - self.checked_at >= _CHECK_SECONDS:
            self.checked_at = now
            with suppress(OSError):
                is_locked = is_being_written(store_path, self.tail.path)
                self.unlocked_at = None if is_locked else self.unlocked_at or now


class LiveRun:
    """A run whose journals are watched.

    Attributes:
        generation: the run.
        journals: its journals by name; those of its shards, and of processes that record it.
        n_planned: calls of its plan, of all its shards; None if it has no plan.
        is_adaptive: whether each task is chosen by the answers before, so that there may be fewer
            calls, and the share that passed is no score.
        latest: its latest results, the last one first.
        problem: why earlier results may be missing; empty if they are not.
    """

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.journals: dict[str, WatchedJournal] = {}
        self.n_planned: int | None = None
        self.is_adaptive = False
        self.latest: deque[Row] = deque(maxlen=_N_LATEST)
        self.problem = ""
        self._results = LiveResults()

    def add(self, journal: str, entries: Sequence[Entry]) -> None:
        """Add rows of one of its journals."""
        results = [entry.row for entry in entries if entry.table == "results"]
        self._results.add(journal, results)
        self.latest.extendleft(results)
        for entry in entries:
            if entry.table == "runs":
                is_complete = entry.row.get("ended_at") is not None
                self.journals[journal].is_complete |= is_complete
                self._add_plan(entry.row.get("plan"))

    def add_earlier(self, lake: Lake) -> None:
        """Add what the lake has of it."""
        try:
            self._results.add_earlier(lake, self.generation)
        except EvalstoreError as error:
            self.problem = str(error)

    def close(self) -> None:
        """Stop watching it."""
        for journal in self.journals.values():
            journal.tail.close()
        self._results.close()

    @property
    def is_run(self) -> bool:
        """Whether it has calls: a journal can also hold what people say."""
        return self.n_planned is not None or bool(self.latest)

    @property
    def is_gone(self) -> bool:
        """Whether all of its journals have become batches."""
        return all(journal.is_gone for journal in self.journals.values())

    @property
    def is_active(self) -> bool:
        """Whether a process is still running it."""
        return any(journal.is_written for journal in self.journals.values())

    def figures(self) -> Row:
        """Return what it has done so far, for `exports.view.live.words`."""
        now = datetime.now(UTC).replace(tzinfo=None)
        written = {name: each for name, each in self.journals.items() if each.is_written}
        started_at = min(map(_begun_at, written or self.journals))
        totals = self._results.totals(written, started_at, now)
        last = max((each.tail.written_at for each in written.values()), default=None)
        return {
            **totals,
            "state": self._state(totals.get("n_done", 0)),
            "n_planned": self.n_planned,
            "is_adaptive": self.is_adaptive,
            "n_processes": len(written),
            "n_bad_lines": sum(each.tail.n_bad_lines for each in self.journals.values()),
            "started_at": started_at,
            "idle_seconds": None if last is None else max(time.time() - last, 0.0),
            "per_second": _pace(totals, now, started_at),
            "models": [
                {**row, **(_NO_SCORE if self.is_adaptive else {})} for row in self._results.models()
            ],
            "failures": self._results.failures(),
        }

    def _state(self, n_done: int) -> str:
        if self.is_active:
            return "running"
        if self.n_planned is None:
            is_whole = all(journal.is_complete for journal in self.journals.values())
        else:
            is_whole = n_done >= self.n_planned
        if not self.is_gone:
            return "ended" if is_whole else "interrupted"
        if is_whole:
            return "complete"
        return "partial"

    def _add_plan(self, text: str | None) -> None:
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            plan = json.loads(text or "")
            tasks: Sequence[Mapping[str, str]] = plan["tasks"]
            clusters = {each["task_id"]: each["cluster"] for each in tasks if each.get("cluster")}
            self.is_adaptive = bool(plan.get("adaptive"))
            self.n_planned = len(plan["models"]) * len(tasks) * plan["attempts"]
            if clusters:
                self._results.set_clusters(clusters)


def _begun_at(journal: str) -> datetime:
    return ULID.from_str(journal).datetime.replace(tzinfo=None)


def _pace(totals: Row, now: datetime, started_at: datetime) -> float | None:
    """Return results per second: of the last minute, or the last twenty if it has fewer."""
    n_latest = totals.get("n_latest", 0)
    if not n_latest:
        return None
    age = (now - started_at).total_seconds()
    if totals["n_last_minute"] >= n_latest:
        return float(totals["n_last_minute"] / max(min(age, _MINUTE), 0.5))
    since = (now - totals["latest_since"]).total_seconds() if n_latest == N_PACED else age
    return float(n_latest / max(since, 0.5))
