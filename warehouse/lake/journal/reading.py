"""The lines of journals, read: the run that the first one names, and rows of tables."""

from __future__ import annotations

import base64
import errno
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import IO, TYPE_CHECKING

from warehouse.core.errors import UnknownColumn
from warehouse.core.formats.values import is_integer
from warehouse.core.schemas import BY_NAME
from warehouse.lake.batch import ROOT_GENERATION, Generation
from warehouse.lake.journal.journal import RUN_KEYS, Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.core.types import Row

_LONGEST_LINE = 2**30  # bytes: a reply of the largest size, however it is escaped
# What parsing a line raises if it is not JSON, or not a row of a table.
NOT_AN_ENTRY = (
    UnknownColumn,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
# What a row that belongs to another run than the journal's has, all of it.
_ROW_KEYS = {"suite", "run_id", "generation"}


@dataclass(frozen=True, slots=True)
class AbandonedJournal:
    """The content of a journal.

    Attributes:
        run: the run; None if the process was killed before it recorded it.
        entries: the rows.
        bad_lines: line number and bytes of lines that cannot be used: not JSON, not a row of a
            table, or in a journal whose first line does not name its run.
    """

    run: Generation | None
    entries: tuple[Entry, ...]
    bad_lines: tuple[tuple[int, bytes], ...]


def read_journal(file: IO[bytes]) -> AbandonedJournal:
    """Read a journal; a last line without a line end was never flushed and is left out.

    Raises:
        OSError: it cannot be read, or has a line that is too long to be one of ours.
    """
    run, entries, bad = None, [], []
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
        if not line.endswith(b"\n"):
            if len(line) == _LONGEST_LINE:
                reason = f"line {number:,} is longer than {_LONGEST_LINE:,} bytes"
                raise OSError(errno.EFBIG, reason)
            break
        try:
            if number == 1:
                run = parse_run(line)
            elif run is None:
                bad.append((number, line))
            else:
                entries += parse_entries(line)
        except NOT_AN_ENTRY:
            bad.append((number, line))
    return AbandonedJournal(run, tuple(entries), tuple(bad))


def parse_entries(line: bytes) -> list[Entry]:
    """Return the rows of a line of a journal.

    Raises:
        NOT_AN_ENTRY: the line does not hold rows.
    """
    document = json.loads(line)
    return [_entry(row) for row in document.get("rows", [document])]


def parse_run(line: bytes) -> Generation:
    """Return the run that the first line of a journal names.

    Raises:
        NOT_AN_ENTRY: it does not name one.
    """
    document = json.loads(line)
    suite, run_id, generation, parent = (document[key] for key in RUN_KEYS)
    parent = _text(parent) if parent is not None else None
    # Rows of a generation that replaces none and is not the first would never be seen.
    if (parent is None) != (generation == ROOT_GENERATION):
        raise ValueError(f"generation {generation!r} cannot replace {parent!r}")
    return Generation(_text(suite), _text(run_id), _text(generation), parent)


def _entry(document: Row) -> Entry:
    """Return a row with its values converted to what its table stores.

    Raises:
        UnknownColumn: the row has a key that its table lacks.
        LookupError, TypeError, ValueError: the document is not a row of a table.
    """
    table, row = BY_NAME[document["table"]], document["row"]
    table.check_columns(row)
    usable = {
        column.name: _FROM_JSON[column.type](row[column.name])
        for column in table.columns
        if row.get(column.name) is not None
    }
    # The run's key is added when the journal becomes a batch.
    added = _ROW_KEYS if table.of_run else set()
    for column in table.columns:
        if not column.nullable and column.name not in usable.keys() | added:
            raise ValueError(f"{table.name}: {column.name} is missing")
    if table.of_run and 0 < len(usable.keys() & _ROW_KEYS) < len(_ROW_KEYS):
        raise ValueError(f"{table.name}: names a part of a run's key")
    return Entry(table.name, usable)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    value.encode()
    return value


def _json(value: object) -> str:
    text = _text(value)
    # DuckDB fails on JSON with lone surrogates, even if they are escaped.
    json.dumps(json.loads(text), ensure_ascii=False).encode()
    return text


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return [_text(item) for item in value]


def _integer(value: object, bits: int) -> int:
    if not is_integer(value, bits):
        raise TypeError(f"{value!r} is not a {bits}-bit integer")
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is not a boolean")
    return value


_FROM_JSON: dict[str, Callable[[object], object]] = {
    "VARCHAR": _text,
    "JSON": _json,
    "VARCHAR[]": _texts,
    "BIGINT": partial(_integer, bits=64),
    "INTEGER": partial(_integer, bits=32),
    "DOUBLE": _number,
    "BOOLEAN": _boolean,
    "TIMESTAMP": _moment,
    "BLOB": partial(base64.b64decode, validate=True),
}
