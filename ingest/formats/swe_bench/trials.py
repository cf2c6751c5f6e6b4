"""Rows of SWE-bench trials: what their files have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.fields import list_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ingest.reading import Block, ImportContext
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


def end_cause(end: str | None) -> Literal["limit", "timeout", "error"] | None:
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
        run_id: the run.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.rows = RowCollector(path, run_id)
        self.run_id = run_id
        self._seen: dict[str, int] = {}
        self._records: set[str] = set()
        self._n_results = 0

    def add_system(self, row: SystemRow) -> str:
        """Add what was tested, and return its label."""
        label = row["system"]
        self.add("systems", f"system {label}", row, row["content_id"])
        return label

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

    def add_result(self, kind: str, row: ResultRow) -> str:
        """Add a trial, and return the id of its result."""
        system, trial = row["system"], row["trial_id"]
        row = {"task_set": TASK_SET, "attempt": 1, "availability_status": "ok", **row}
        row.setdefault("success", row["availability_status"] == "ok")
        self._n_results += 1
        row["seq"] = self._n_results
        found = self.result_id(kind, system, trial)
        self.rows.add("results", {**row, "content_id": found})
        return found

    def result_id(self, kind: str, system: str | None, trial: str | None) -> str:
        """Return the id of a trial's result, which another file of the run may have."""
        part = part_id(f"{self.run_id} {kind} {system} {trial}")
        return part + content_hash(SUITE, self.run_id, system, trial)[_PART_DIGITS:]

    def add(self, table: str, owner: str, row: Mapping[str, object], *identity: object) -> str:
        """Add a row of a trial or a file, and return its id."""
        part = part_id(f"{self.run_id} {owner}")
        found = part + content_hash(SUITE, table, *identity)[_PART_DIGITS:]
        self.rows.add(table, {**row, "content_id": found})
        return found

    def add_part(self, table: str, result_id: str, row: Row, *identity: object) -> None:
        """Add a row that belongs to a result."""
        part = result_id[:_PART_DIGITS]
        found = part + content_hash(table, result_id, *identity)[_PART_DIGITS:]
        self.rows.add(table, {**row, "content_id": found, "result_id": result_id})


def has_file(folder: Path, instance: str, *names: str) -> bool:
    """Return whether one of some files of an instance exists, whose names have `{0}` for its id."""
    if "/" in instance or "\0" in instance or len(instance) > _LONGEST_NAME:
        return False
    return any((folder / name.format(instance)).is_file() for name in names)


def read_json(path: Path, context: ImportContext) -> tuple[Json, Reading | None]:
    """Return the value of a file of bounded size, or the reading that says why it has none."""
    file = context.read(path)
    if file is None:
        return None, None
    try:
        value, _ = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
    except UnreadableRecordError as error:
        return None, rejecting(path, str(error), file.data)
    return value, None


def rejecting(path: Path, reason: str, raw: bytes | None) -> Reading:
    """Return the reading of a file that cannot be used."""
    rows = RowCollector(path, "")
    rows.rejects = [Reject(reason, raw=raw)]
    blocks = list(rows.rest())
    stream = Stream(paths=(path,), tables=(), blocks=lambda: iter(blocks))
    return Reading("SWE-bench", stream=stream)


def reading(form: str, path: Path, run_id: str, blocks: Blocks, header: RunRow) -> Reading:
    """Return the reading of a file, which may be one of several of its run."""
    parts = {
        row["content_id"][:_PART_DIGITS]
        for block in blocks()
        for table in block.rows.values()
        for row in table
        if isinstance(row, dict)
    }
    stream = Stream(
        paths=(path,),
        tables=_TABLES,
        blocks=blocks,
        is_run=bool(parts or header),
        parts=frozenset(parts) or frozenset({part_id(path.name)}),
    )
    row: RunRow = {"suite": SUITE, "run_id": run_id, "origin": "import", **header}
    return Reading(form, rows={"runs": [row]}, run=(SUITE, run_id), stream=stream)


def of_memory(form: str, path: Path, trials: TrialRows, header: RunRow) -> Reading:
    """Return the reading of rows that were all collected."""
    blocks = list(trials.rows.rest())
    return reading(form, path, trials.run_id, lambda: iter(blocks), header)


def objects(value: Json) -> Iterator[tuple[int, JsonObject]]:
    """Yield the records of a list, or of an object by instance, with their positions from 1."""
    if isinstance(value, dict) and "instance_id" in value:
        value = [value]
    records = list(value.values()) if isinstance(value, dict) else list_of(value)
    for at, record in enumerate(records, 1):
        yield at, record if isinstance(record, dict) else {}
