"""Rows of SWE-bench trials: what their files have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, id_in, part_id
from ingest.formats.common.documents import run_reading
from ingest.formats.common.fields import list_of
from ingest.formats.common.trials import system_row
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ingest.formats.common.trials import Cause
    from ingest.reading import Block, Reading
    from warehouse.core.types import Json, JsonObject, ResultRow, Row, RunRow, SystemRow

    Blocks = Callable[[], Iterator[Block]]

SUITE = "swe-bench"
TASK_SET = "swe-bench"
PRO = "swe-bench-pro"

_TABLES = (
    *("results", "systems", "steps", "messages"),
    *("result_scores", "reported_metrics", "artifacts"),
)
_LONGEST_NAME = 200
_PART_DIGITS = len(part_id(""))
# Names that every run gives to its file or folder.
_GENERIC = {"all_preds", "preds", "predictions", "results", "metrics", "eval_results", "report"}
_SUBFOLDERS = {"trajs", "logs", "results"}
_LIMITS = ("exit_cost", "exit_context", "exit_total_cost", "limit", "exit_api")
_TIMEOUTS = ("timeout", "timeexceeded", "exit_total_execution_time")
_STOPPED = ("submitted", "exit_format", "repeatedformaterror", "early_exit", "exit_forfeit", "skip")


def run_name(path: Path) -> str:
    """Return the run of a file that does not state one: its own name, or that of its folder."""
    stem = path.name.partition(".")[0] if path.name.endswith(".traj.json") else path.stem
    folder = path.parent
    if stem not in _GENERIC and path.suffix == ".jsonl":
        return utf8(stem)
    if folder.name == stem:
        folder = folder.parent
    if folder.name in _SUBFOLDERS and folder.parent.name:
        folder = folder.parent
    return utf8(folder.name or stem)


def end_cause(end: str | None) -> Cause:
    """Return why a trial ended, from the word of its agent; None if it stopped by itself."""
    word = (end or "").lower()
    if any(each in word for each in _TIMEOUTS):
        return "timeout"
    if any(each in word for each in _LIMITS):
        return "limit"
    if not word or any(each in word for each in _STOPPED):
        return None
    return "error"


class TrialRows:
    """The rows of a file's trials; each id begins with that of its trial.

    Attributes:
        rows: collects the rows.
        path: the file.
        run_id: the run.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.rows = RowCollector(path, run_id)
        self.path = path
        self.run_id = run_id
        self._seen: dict[str, int] = {}
        self._records: set[str] = set()
        self._n_results = 0

    def add_system(self, row: SystemRow) -> str:
        """Add what was tested, and return its label."""
        label = row["system"]
        self.add("systems", f"system {label}", row, row["content_id"])
        return label

    def add_judged(self, label: str, harness: str = "swe-bench") -> str:
        """Add a system of which a harness has only the name, and return it."""
        return self.add_system(system_row(agent=None, harness=harness, label=label))

    def name_trial(self, label: str, instance: str, record: Json) -> str | None:
        """Return the id of a trial: the instance's, with a number where the file repeats it.

        A record that the file repeats word by word is the same trial; it has no other id.
        """
        known = content_hash(label, record)
        if known in self._records:
            return None
        self._records.add(known)
        key = f"{label}\0{instance}"
        number = self._seen[key] = self._seen.get(key, 0) + 1
        return instance if number == 1 else f"{instance}#{number}"

    def add_result(
        self, kind: str, label: str, instance: str, row: ResultRow, trial: str | None = None
    ) -> str:
        """Add a trial, and return the id of its result.

        Args:
            kind: what kind of file has it.
            label: the tested system.
            instance: the task.
            row: how it ended, and what it took.
            trial: id of the trial; None for that of the instance.
        """
        self._n_results += 1
        content_id = self.result_id(kind, label, trial or instance)
        result: ResultRow = {
            "content_id": content_id,
            "seq": self._n_results,
            "system": label,
            "trial_id": trial or instance,
            "task_set": TASK_SET,
            "task_id": instance,
            "attempt": 1,
        }
        self.rows.add("results", {**result, **row})
        return content_id

    def result_id(self, kind: str, system: str, trial: str) -> str:
        """Return the id of a trial's result, which another file of the run may have."""
        part = part_id(f"{self.run_id} {kind} {system} {trial}")
        return id_in(part, SUITE, self.run_id, system, trial)

    def add(self, table: str, owner: str, row: Mapping[str, object], *identity: object) -> None:
        """Add a row of a trial or a file."""
        part = part_id(f"{self.run_id} {owner}")
        self.rows.add(table, {**row, "content_id": id_in(part, SUITE, table, *identity)})

    def add_figure(self, row: Row, *identity: object) -> None:
        """Add a figure of the file."""
        self.add("reported_metrics", f"figures {self.path.name}", row, *identity)

    def add_part(self, table: str, result_id: str, row: Row, *identity: object) -> None:
        """Add a row that belongs to a result."""
        content_id = id_in(result_id[:_PART_DIGITS], table, result_id, *identity)
        self.rows.add(table, {**row, "content_id": content_id, "result_id": result_id})

    def reading(self, form: str, header: RunRow) -> Reading:
        """Return the reading of a file whose rows were all collected."""
        blocks = list(self.rows.rest())
        return reading(form, self.path, self.run_id, lambda: iter(blocks), header)


def has_file(folder: Path, instance: str, *names: str) -> bool:
    """Return whether one of some files of an instance exists, whose names have `{0}` for its id."""
    if "/" in instance or "\0" in instance or len(instance) > _LONGEST_NAME:
        return False
    return any((folder / name.format(instance)).is_file() for name in names)


def reading(form: str, path: Path, run_id: str, blocks: Blocks, header: RunRow) -> Reading:
    """Return the reading of a file, which may be one of several of its run."""
    parts = {
        row["content_id"][:_PART_DIGITS]
        for block in blocks()
        for table in block.rows.values()
        for row in table
        if isinstance(row, dict)
    }
    run: RunRow = {"suite": SUITE, "run_id": run_id}
    parts = parts or {part_id(path.name)}
    return run_reading(form, {**run, **header}, (path,), _TABLES, blocks, parts=parts)


def objects(value: Json) -> Iterator[tuple[int, JsonObject]]:
    """Yield the records of a list, or of an object by instance, with their positions from 1."""
    if isinstance(value, dict) and "instance_id" in value:
        value = [value]
    records = list(value.values()) if isinstance(value, dict) else list_of(value)
    for at, record in enumerate(records, 1):
        yield at, record if isinstance(record, dict) else {}
