"""The part of a recorded run that one process writes: its journal, and its share of the lock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warehouse.core.errors import EvalstoreError
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.masking import NoMask
from warehouse.core.hashing import content_hash
from warehouse.lake.journal.journal import Entry, Journal
from warehouse.lake.journal.run_lock import release_shared

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import BinaryIO

    from warehouse.core.types import ResultRow, ResultScoreRow, RunRow
    from warehouse.lake.batch import Generation


class RunJournal:
    """A journal of a recorded run, begun with the first result.

    Args:
        store_path: folder of the store.
        generation: the run.
        header: what this process knows of the run.
        lock: the shared lock of the run; it is released at the end.
    """

    def __init__(
        self, store_path: Path, generation: Generation, header: RunRow, lock: BinaryIO
    ) -> None:
        self._lock = lock
        # The process may be killed, and the computer may not: a write to the file is enough.
        self._journal = Journal(store_path, generation, mask=NoMask(), survives_power_loss=False)
        run = content_hash("run", *generation.run, self._journal.name)
        self._header: RunRow = {**header, "content_id": run, "started_at": _now()}
        self._is_empty = True

    def add(self, result: ResultRow, scores: Sequence[ResultScoreRow]) -> None:
        """Write a result with its scores.

        Raises:
            EvalstoreError: they could not be written; nothing of them is there.
        """
        entries = [Entry("results", result), *(Entry("result_scores", score) for score in scores)]
        if self._is_empty:
            entries.insert(0, Entry("runs", self._header))
        try:
            self._journal.append_together(entries)
        except OSError as error:
            raise EvalstoreError(
                f"{self._journal.path}: {error.strerror or error}; this result was not logged, "
                "those before are safe"
            ) from error
        self._is_empty = False

    def end(self, interruption: type[BaseException] | None) -> None:
        """Close the journal; the next command turns it into a batch.

        Args:
            interruption: what ended the run before its time; None if it is complete.

        Raises:
            EvalstoreError: the end could not be recorded; every result is safe.
        """
        try:
            if self._is_empty:
                self._journal.discard()
                return
            with self._journal:
                self._journal.append([Entry("runs", self._header | _ending(interruption))])
        except OSError as error:
            raise EvalstoreError(
                f"{self._journal.path}: {error.strerror or error}; the results are safe, but the "
                "end of the run was not recorded"
            ) from error
        finally:
            release_shared(self._lock)

    def leave(self) -> None:
        """Leave journal and lock to the process that this one was forked from."""
        self._journal.leave()
        self._lock.close()


def _ending(interruption: type[BaseException] | None) -> RunRow:
    if interruption is None:
        return {"ended_at": _now()}
    return {"extra": json_text({"interrupted_by": interruption.__name__})}


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
