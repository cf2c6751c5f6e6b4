"""The database of promptfoo: all evaluations of a user in one SQLite file.

It is never opened where it lies. A private copy, with the write-ahead log that may hold most of the
rows, is opened read-only and removed again.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.promptfoo.evaluation import SUITE, EvaluationRows, header_row
from ingest.formats.promptfoo.recognition import RESULTS_TABLE, database_of, log_of
from ingest.reading import Block, Reading, Reject, Stream
from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import find_secrets, mask
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import ImportContext
    from warehouse.core.types import Json, JsonObject

FORMAT = "promptfoo database"

_LONGEST_VALUE_BYTES = 256 * 2**20
_MOST_STEPS = 1_000_000  # between two calls of the progress handler
_MOST_CALLS = 2_000
_ROWS_AT_ONCE = 200
_PREFIX = "promptfoo-"
_TABLES = ("results", "result_scores", "reported_metrics", "tasks", "artifacts")
# Columns of `eval_results` by their key in an export; those with JSON text are parsed.
_COLUMNS = {
    "id": "id",
    "promptIdx": "prompt_idx",
    "testIdx": "test_idx",
    "promptId": "prompt_id",
    "latencyMs": "latency_ms",
    "cost": "cost",
    "error": "error",
    "success": "success",
    "score": "score",
    "failureReason": "failure_reason",
}
_JSON_COLUMNS = {
    "testCase": "test_case",
    "prompt": "prompt",
    "provider": "provider",
    "response": "response",
    "gradingResult": "grading_result",
    "namedScores": "named_scores",
    "metadata": "metadata",
}
_EVAL_COLUMNS = ("id", "created_at")
_EVAL_JSON = ("results", "config", "prompts", "vars", "runtime_options")


def decline_companion(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Report that a file is read with its database."""
    database = database_of(path)
    context.decline(path, f"it goes with {database.name if database else 'a database'}")
    yield from ()


def read_database(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read all evaluations of a database."""
    redact = context.options.redact
    log = log_of(path)
    try:
        with _copy(path) as copy:
            evaluations, rejects = _Database(copy, path, redact=redact).evaluations()
            if not evaluations:
                yield Reading(FORMAT, rejects=rejects or [Reject("has no evaluations")])
                return
            blocks = partial(_blocks, copy, path, evaluations, redact=redact)
            yield Reading(
                FORMAT,
                rows={"runs": [header_row(run_id, d, path) for run_id, d in evaluations.items()]},
                run=(SUITE, next(iter(evaluations))),
                rejects=rejects,
                stream=Stream(
                    paths=(path, log) if log.is_file() else (path,),
                    tables=_TABLES,
                    blocks=blocks,
                    is_run=True,
                ),
            )
    except sqlite3.Error as error:
        yield Reading(FORMAT, rejects=[Reject(f"not a database that can be read: {error}")])
    except OSError as error:
        yield Reading(FORMAT, rejects=[Reject(error.strerror or "cannot be read")])


@contextmanager
def _copy(path: Path) -> Iterator[Path]:
    """Copy a database and its log into a private folder, and remove it at the end.

    Raises:
        OSError: it cannot be read, or not be copied.
    """
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        copy = Path(folder) / "copy.db"
        for source, target in ((path, copy), (log_of(path), log_of(copy))):
            if source == path or source.is_file():
                with open_regular(source) as given, target.open("wb") as file:
                    shutil.copyfileobj(given, file)
        yield copy


def _blocks(
    copy: Path, path: Path, evaluations: dict[str, JsonObject], *, redact: bool
) -> Iterator[Block]:
    database = _Database(copy, path, redact=redact)
    for run_id, document in evaluations.items():
        try:
            yield from database.blocks(run_id, document)
        except sqlite3.Error as error:
            yield Block(path=path, run_id=None, rejects=[Reject(f"{run_id}: {error}")])


class _Database:
    """The copy of a database.

    Args:
        copy: the copy.
        path: the original, which rows and problems name.
        redact: whether possible secrets are masked.
    """

    def __init__(self, copy: Path, path: Path, *, redact: bool) -> None:
        self._copy = copy
        self._path = path
        self._redact = redact
        self._secrets: list[tuple[int, str]] = []

    def evaluations(self) -> tuple[dict[str, JsonObject], list[Reject]]:
        """Return the evaluations by id, as in an export, and those that cannot be used.

        Raises:
            sqlite3.Error: the database cannot be read.
        """
        found: dict[str, JsonObject] = {}
        rejects = []
        with self._open() as connection:
            for seq, row in enumerate(_select(connection, "evals", _EVAL_COLUMNS + _EVAL_JSON), 1):
                run_id = row.pop("id")
                if not isinstance(run_id, str) or not run_id:
                    rejects.append(Reject(f"evals, row {seq}: has no id"))
                    continue
                found[utf8(run_id)] = self._document(row, seq, rejects)
        return found, rejects

    def blocks(self, run_id: str, document: JsonObject) -> Iterator[Block]:
        """Yield the rows of an evaluation.

        Raises:
            sqlite3.Error: the database cannot be read.
        """
        rows = RowCollector(self._path, run_id)
        evaluation = EvaluationRows(document, rows)
        columns = (*_COLUMNS.values(), *_JSON_COLUMNS.values())
        with self._open() as connection:
            for seq, row in enumerate(
                _select(connection, RESULTS_TABLE.decode(), columns, run_id), 1
            ):
                record = self._record(row, seq, rows)
                if record is None:
                    continue
                evaluation.add(record, seq)
                rows.secrets, self._secrets = rows.secrets + self._secrets, []
                yield from rows.full()
        evaluation.add_figures()
        yield from rows.rest()

    def _record(self, row: JsonObject, seq: int, rows: RowCollector) -> JsonObject | None:
        """Return a result as in an export; None if it cannot be used."""
        known = {*_COLUMNS.values(), *_JSON_COLUMNS.values(), "eval_id"}
        record = {name: value for name, value in row.items() if name not in known}
        record |= {key: row[column] for key, column in _COLUMNS.items()}
        if isinstance(record["success"], int):
            record["success"] = bool(record["success"])
        for key, column in _JSON_COLUMNS.items():
            try:
                record[key] = self._json(row[column], seq)
            except UnreadableRecordError as error:
                reason = f"eval_results, {rows.run_id}, row {seq}: {column}: {error}"
                rows.rejects.append(Reject(reason, seq, raw=_raw(row[column])))
                return None
        return {key: value for key, value in record.items() if value is not None}

    def _document(self, row: JsonObject, seq: int, rejects: list[Reject]) -> JsonObject:
        document: JsonObject = {"created_at_ms": row["created_at"]}
        document |= {name: row[name] for name in row if name not in (*_EVAL_JSON, "created_at")}
        for name in _EVAL_JSON:
            try:
                document[name] = self._json(row[name], seq)
            except UnreadableRecordError as error:
                reason = f"evals, row {seq}: {name}: {error}"
                rejects.append(Reject(reason, seq, raw=_raw(row[name])))
        # The results are in a table of their own: this column holds durations.
        document["stats"] = document.pop("results", None)
        return {name: value for name, value in document.items() if value is not None}

    def _json(self, value: Json, seq: int) -> Json:
        if not isinstance(value, str):
            return value
        raw = value.encode("utf-8", "surrogatepass")
        secrets = find_secrets(raw)
        self._secrets += [(seq, secret.kind) for secret in secrets]
        return parsed(mask(raw, secrets) if self._redact and secrets else raw)[0]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the copy so that nothing can be written, and nothing runs for ever."""
        with closing(sqlite3.connect(self._copy)) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES)
            connection.execute("PRAGMA query_only = ON")
            calls = iter(range(_MOST_CALLS))
            connection.set_progress_handler(lambda: next(calls, None) is None, _MOST_STEPS)
            yield connection


def _select(
    connection: sqlite3.Connection, table: str, columns: tuple[str, ...], run_id: str | None = None
) -> Iterator[JsonObject]:
    """Yield the rows of a table, in the order in which they were written.

    All columns are read. Of those given, any that the table lacks are None: versions differ.

    Raises:
        sqlite3.Error: the table is missing or cannot be read.
    """
    kind = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", [table]
    ).fetchone()
    if kind is None or "virtual" in str(kind[0]).lower().split("(")[0]:
        raise sqlite3.DatabaseError(f"no table {table}")
    where = "" if run_id is None else "WHERE eval_id = ?"
    cursor = connection.execute(
        f"SELECT * FROM {table} {where} ORDER BY rowid",  # noqa: S608 - names of our own
        [] if run_id is None else [run_id],
    )
    names = [column[0] for column in cursor.description]
    nothing: JsonObject = dict.fromkeys(columns)
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        for row in rows:
            yield nothing | {
                name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                for name, value in zip(names, row, strict=True)
            }


def _raw(value: Json) -> bytes | None:
    return value.encode("utf-8", "replace") if isinstance(value, str) else None
