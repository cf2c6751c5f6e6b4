"""A recording: a user's own code logs results of a run, each of which survives the process.

Every process that records has a journal of its own, as our own runs do, and shares the lock of the
run. A forked process begins a new journal with the first result that it logs.
"""

from __future__ import annotations

import os
import platform
import secrets
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Self

from warehouse.app.recording import values
from warehouse.app.recording.recorded import ORIGIN, RecordedRun, find_recorded, result_key
from warehouse.app.recording.rows import Logged, result_and_scores
from warehouse.app.recording.run_journal import RunJournal
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.masking import Mask, secrets_of_environment
from warehouse.engine.views.suite_traits import built_in_suites
from warehouse.lake.batch import Generation, evalstore_version
from warehouse.lake.journal.run_lock import release_shared, shared_run_lock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from warehouse.app.recording.values import Score
    from warehouse.core.types import ResultRow, RunRow
    from warehouse.engine.base_store import BaseStore


class Recording:
    """A run that results are logged to, inside a `with` block.

    Any thread may log, and any process forked inside the block.

    Attributes:
        suite: name of the suite.
        run_id: ID of the run.
    """

    def __init__(
        self,
        store: BaseStore,
        *,
        suite: str,
        model: str,
        task_set: str | None,
        settings: Mapping[str, object] | None,
        config: Mapping[str, object] | None,
        run_id: str | None,
    ) -> None:
        self.suite = values.name("suite", suite)
        # Their results have columns and rules that a recording does not know.
        if self.suite in built_in_suites():
            raise BadInput(f"suite {suite!r} is built in: choose another name for your own")
        self._is_new = run_id is None
        self.run_id = _new_run_id() if run_id is None else values.name("run_id", run_id)
        self._store = store
        self._mask = Mask(secrets_of_environment())
        self._config = self._json("config", config)
        self._of_run: ResultRow = {
            "run_date": f"{datetime.now().astimezone():%Y-%m-%d}",
            "model": self._mask.text(values.name("model", model)),
            "task_set": self._mask.text(values.name("task_set", task_set or self.suite)),
            "settings": self._json("settings", settings),
        }
        self._lock = Lock()
        self._run = RecordedRun(Generation(self.suite, self.run_id))
        self._journal: RunJournal | None = None
        self._is_open = False

    def __repr__(self) -> str:
        return f"Recording(suite={self.suite!r}, run_id={self.run_id!r})"

    def __enter__(self) -> Self:
        """Begin the run, or go on with it.

        Raises:
            BadInput: the run is not a recorded one, or has another configuration.
            StoreBusy: another process runs or forgets it.
            StoreDamaged, StoreUnreadable: the store cannot be read.
            StoreReadOnly: the store cannot be written.
        """
        if self._is_open:
            raise BadInput(f"{self!r} is open already")
        journal = self._begin(is_new=self._is_new)
        with _open_lock:
            self._journal, self._is_open = journal, True
            _open.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the run; after an exception it is marked as interrupted, and keeps its results."""
        with _open_lock:
            _open.discard(self)
        with self._lock:
            journal, self._journal, self._is_open = self._journal, None, False
            # The run is continued if the block is entered again.
            self._is_new = False
        if journal is not None:
            journal.end(kind)

    def log(
        self,
        *,
        task_id: str,
        prompt: str | None = None,
        output: str | None = None,
        scores: Mapping[str, Score] | None = None,
        passed: bool | None = None,
        attempt: int = 1,
        cost_usd: float | None = None,
        latency_ms: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        failure: str | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        """Log a result. When this returns, the result survives the end of the process.

        The same task and attempt with the same values is the same result, and is logged once.

        Args:
            task_id: ID of the task in its task set.
            prompt: what was sent to the model.
            output: text that the model returned.
            scores: any number of scores by name: a number, a boolean, text, or None if unknown.
            passed: the verdict; None if there is none.
            attempt: which repetition of the task this is, from 1.
            cost_usd: cost of the call, US dollars; None if unknown.
            latency_ms: how long the call took, milliseconds; None if unknown.
            input_tokens: number of tokens in the prompt.
            output_tokens: number of tokens in the output.
            failure: why there is no answer, such as `timeout`; None if there is one.
            extra: anything else, as JSON.

        Raises:
            BadInput: a value cannot be stored, or the attempt was logged with other values.
            EvalstoreError: the store cannot be written; the result was not logged.
        """
        logged = Logged(
            task_id=task_id,
            prompt=prompt,
            output=output,
            scores=scores,
            passed=passed,
            attempt=attempt,
            cost_usd=cost_usd,
            latency_ms=latency_ms,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            failure=failure,
            extra=extra,
        )
        self.add(logged)

    def add(self, logged: Logged) -> None:
        """Log a result, as `log` does.

        Raises:
            BadInput, EvalstoreError: as `log`.
        """
        row, scores = result_and_scores(logged, self._of_run, self._mask)
        with self._lock:
            if self._is_known(row):
                return
            if self._journal is None:  # this process was forked inside the block
                self._journal = self._begin(is_new=True)
            row["seq"] = len(self._run.results) + 1
            self._journal.add(row, scores)
            self._run.results[result_key(row)] = row["content_id"]

    def has(self, task_id: str, attempt: int = 1) -> bool:
        """Return whether a task was logged in this run, by this or an earlier process."""
        key = {**self._of_run, "task_id": self._mask.text(task_id), "attempt": attempt}
        with self._lock:
            return result_key(key) in self._run.results

    def _is_known(self, row: ResultRow) -> bool:
        if not self._is_open:
            raise BadInput("nothing can be logged outside the `with` block of a recording")
        known = self._run.results.get(result_key(row))
        if known not in {None, row["content_id"]}:
            raise BadInput(
                f"run {self.run_id!r} has another result for task {row['task_id']!r}, attempt "
                f"{row['attempt']}: pass another `attempt`, or leave out the tasks that `has` says "
                "are there"
            )
        return known is not None

    def _leave(self) -> None:
        """Leave the journal to the process that this one was forked from."""
        if self._journal is not None:
            self._journal.leave()
            self._journal = None

    def _begin(self, *, is_new: bool) -> RunJournal:
        """Begin a journal; unless the run is new, after reading what the store has of it."""
        lock = shared_run_lock(self._store.path, self.suite, self.run_id)
        try:
            if not is_new:
                self._store.recover_journals()
                self._run = self._checked(find_recorded(self._store.lake, self.suite, self.run_id))
            return RunJournal(self._store.path, self._run.generation, self._header(), lock)
        except BaseException:
            release_shared(lock)
            raise

    def _checked(self, run: RecordedRun) -> RecordedRun:
        if run.origins - {ORIGIN}:
            raise BadInput(
                f"run {self.run_id!r} of suite {self.suite!r} was not recorded, but imported or "
                "run: choose another run_id"
            )
        if None not in {run.config, self._config} and run.config != self._config:
            raise BadInput(
                f"run {self.run_id!r} has another config, {run.config}: choose another run_id"
            )
        return run

    def _header(self) -> RunRow:
        return {
            "origin": ORIGIN,
            "run_date": self._of_run["run_date"],
            "task_set": self._of_run["task_set"],
            "config": self._config,
            "versions": json_text(
                {"evalstore": evalstore_version(), "python": platform.python_version()}
            ),
        }

    def _json(self, field: str, value: Mapping[str, object] | None) -> str | None:
        text = values.json_or_none(field, value)
        return None if text is None else self._mask.text(text)


def _new_run_id() -> str:
    """Return the local time, and enough that no other process gets the same ID."""
    return f"{datetime.now().astimezone():%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"


# The recordings whose blocks this process is in. A fork waits until none of them is writing.
_open: set[Recording] = set()
_open_lock = Lock()


def _before_fork() -> None:
    _open_lock.acquire()
    for recording in _open:
        recording._lock.acquire()  # noqa: SLF001 - of this module


def _after_fork() -> None:
    for recording in _open:
        recording._lock.release()  # noqa: SLF001 - of this module
    _open_lock.release()


def _after_fork_in_child() -> None:
    for recording in _open:
        recording._leave()  # noqa: SLF001 - of this module
    _after_fork()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
)
