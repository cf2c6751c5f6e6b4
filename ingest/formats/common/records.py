"""JSON values in the lines of a file of any size, parsed exactly or rejected with a reason."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from ingest.formats.common.lines import line_blocks
from ingest.reading import Reject
from warehouse.core.formats.json_text import is_exact
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.formats.values import TOO_DEEP, is_nested_deeply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warehouse.core.types import Json, JsonObject

# orjson would make a float of a longer integer.
_LONG_NUMBER = re.compile(rb"\d{19}")


class UnreadableRecordError(Exception):
    """Text that is not JSON, or not of a kind that can be kept; the message says why."""


@dataclass(frozen=True, slots=True)
class LineRecord:
    """The value in a line.

    Attributes:
        line: number of the line, from 1.
        offset: position of the line in the file, in bytes.
        raw: the line without its line feed, with secrets masked under `--redact`.
        value: the JSON value.
        is_exact: whether the value can be written as JSON again without a loss.
    """

    line: int
    offset: int
    raw: bytes
    value: Json
    is_exact: bool

    @property
    def source(self) -> str | None:
        """The line's text if its value does not reproduce it; else None."""
        return None if self.is_exact else self.raw.decode("utf-8", "replace")

    def rejected(self, reason: str) -> Reject:
        """Return the reject of the line."""
        return Reject(reason, self.line, self.offset, self.raw)


@dataclass(slots=True)
class RecordBlock:
    """Consecutive lines.

    Attributes:
        records: the lines that hold JSON.
        rejects: the other lines, but for empty ones.
        secrets: line and kind of each possible secret.
    """

    records: list[LineRecord] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)


def json_lines(path: Path, *, redact: bool = False) -> Iterator[RecordBlock]:
    """Yield the values in the lines of a file, some megabytes at a time.

    Raises:
        OSError: the file cannot be read.
    """
    for block in line_blocks(path):
        if block.reject is not None:
            yield RecordBlock(rejects=[block.reject])
            continue
        data = block.data
        secrets = find_secrets(data)
        read = RecordBlock(secrets=lines_of(data, secrets, block.first_line))
        masked = mask(data, secrets) if redact and secrets else data
        offset = block.offset
        originals = data.split(b"\n") if masked is not data else None
        for at, raw in enumerate(masked.removesuffix(b"\n").split(b"\n")):
            _read(raw, block.first_line + at, offset, into=read)
            offset += len(raw if originals is None else originals[at]) + 1
        yield read


def parsed(raw: bytes) -> tuple[Json, bool]:
    """Return the value of a JSON text, and whether it can be written again without a loss.

    Python's json module defines the meaning: it takes NaN, lone surrogates and integers of any
    size, and the last of duplicate keys.

    Raises:
        UnreadableRecordError: it is not JSON, or nested too deeply.
    """
    if not _LONG_NUMBER.search(raw):
        try:
            value: Json = orjson.loads(raw)
        except ValueError:
            pass
        else:
            if is_nested_deeply(value, raw):
                raise UnreadableRecordError(TOO_DEEP)
            # Keys end in these bytes, and strings that contain them are written the same.
            if raw.count(b'":') == orjson.dumps(value).count(b'":'):
                return value, True
    return _parsed_exactly(raw)


def decoded(value: Json, *starts: str) -> Json:
    """Return what a JSON text holds; any other value, or text, as it is.

    Args:
        value: the text.
        starts: how it must begin to be taken for JSON; without any, all texts are tried.
    """
    if not isinstance(value, str) or not value.lstrip().startswith(starts or ""):
        return value
    try:
        return parsed(value.encode("utf-8", "replace"))[0]
    except UnreadableRecordError:
        return value


def _read(raw: bytes, line: int, offset: int, *, into: RecordBlock) -> None:
    raw = raw.removesuffix(b"\r")
    if not raw.strip():
        return
    try:
        value, is_sure = parsed(raw)
    except UnreadableRecordError as error:
        into.rejects.append(Reject(str(error), line, offset, raw))
        return
    into.records.append(LineRecord(line, offset, raw, value=value, is_exact=is_sure))


def _parsed_exactly(raw: bytes) -> tuple[Json, bool]:
    repeated: list[str] = []

    def to_dict(pairs: list[tuple[str, Json]]) -> JsonObject:
        made = dict(pairs)
        if len(made) < len(pairs):
            repeated.append(pairs[0][0])
        return made

    try:
        value = json.loads(raw.decode(), object_pairs_hook=to_dict)
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 ({error.reason} at byte {error.start})"
        raise UnreadableRecordError(reason) from error
    except RecursionError as error:
        raise UnreadableRecordError(TOO_DEEP) from error
    except ValueError as error:
        raise UnreadableRecordError(f"not JSON: {error}") from error
    if is_nested_deeply(value):
        raise UnreadableRecordError(TOO_DEEP)
    return value, not repeated and is_exact(value)
