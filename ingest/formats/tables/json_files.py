"""Reads JSON lines, and a list of objects in a JSON file. DuckDB takes the objects apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from ingest.formats.common.elements import BrokenElementsError, DeepElement, Elements
from ingest.formats.common.lines import line_blocks
from ingest.formats.common.nesting import flat
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.tables.batches import (
    MOST_COLUMNS,
    TableBatch,
    TableFile,
    UnusableTableError,
    joined_fields,
)
from ingest.reading import Reject
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.in_memory import open_in_memory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import duckdb

_SELECT = """
    SELECT
        CASE WHEN json_valid(text) AND json_type(text) = 'OBJECT' THEN text END AS text
    FROM texts
"""


class JsonLinesFile(TableFile):
    """A table with an object in each line."""

    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows; see `TableFile`."""
        with open_in_memory() as connection:
            objects = _Objects(connection, wanted)
            for block in line_blocks(self.path):
                if block.reject is not None:
                    yield objects.batch([], [], [block.reject])
                    continue
                data = block.data
                secrets = find_secrets(data) if wanted is not None else []
                located = lines_of(data, secrets, block.first_line)
                if self.redact:
                    data = mask(data, secrets)
                lines = data.removesuffix(b"\n").split(b"\n")
                numbers = range(block.first_line, block.first_line + len(lines))
                batch = objects.batch(lines, numbers, [])
                batch.secrets = located
                yield batch


class JsonListFile(TableFile):
    """A table in a JSON file: a list of objects; the line of a row is its position in the list."""

    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows; see `TableFile`."""
        elements = Elements(self.path, is_masked=self.redact)
        texts: list[bytes] = []
        try:
            for record in elements.read():
                is_deep = isinstance(record, DeepElement)
                texts.append((elements.raw() if is_deep else json_text(record)).encode())
        except BrokenElementsError as error:
            raise UnusableTableError(f"not a list of objects as JSON: {error}") from error
        with open_in_memory() as connection:
            batch = _Objects(connection, wanted).batch(texts, range(1, len(texts) + 1), [])
        batch.secrets = elements.take_secrets()
        yield batch


class _Objects:
    """Takes JSON objects apart."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, wanted: Collection[str] | None
    ) -> None:
        self._connection = connection
        self._wanted = wanted

    def batch(
        self, lines: Sequence[bytes], numbers: Sequence[int], rejects: list[Reject]
    ) -> TableBatch:
        """Return the objects in some lines; other lines are rejected, empty ones skipped."""
        frame = self._objects(lines, numbers, rejects)
        keys = self._keys(frame)
        wanted = keys if self._wanted is None else [k for k in keys if k in self._wanted]
        others = [key for key in keys if key not in wanted]
        values = self._extracted(frame, wanted, "json_extract_string")
        raw = self._extracted(frame, others, "json_extract")
        fields = [_field(raw[key]) for key in others]
        nothing = pl.repeat(None, len(frame), dtype=pl.String, eager=True)
        missing = [nothing.alias(key) for key in self._wanted or () if key not in keys]
        values = pl.DataFrame([*values, *missing])
        return TableBatch(
            lines=frame["line"],
            values=values,
            extra=joined_fields(fields, len(frame)),
            rejects=rejects,
        )

    def _objects(
        self, lines: Sequence[bytes], numbers: Sequence[int], rejects: list[Reject]
    ) -> pl.DataFrame:
        """Return line and text of the objects."""
        raw = pa.array(lines, pa.binary())
        try:
            texts = raw.cast(pa.string())
        except pa.ArrowInvalid:
            texts = pa.array([_decoded(line) for line in lines], pa.string())
        valid = self._query(_SELECT, flat(texts))["text"]
        frame = pl.DataFrame({"line": pl.Series(numbers, dtype=pl.Int64), "text": valid})
        is_bad = valid.is_null()
        if not is_bad.any():
            return frame
        exact: dict[int, str] = {}
        for at in is_bad.arg_true().to_list():
            if not lines[at].strip():
                continue
            try:
                exact[at] = _exact(lines[at])
            except UnreadableRecordError as error:
                rejects.append(Reject(str(error), numbers[at], raw=lines[at]))
        if exact:
            texts_now = frame["text"].scatter(list(exact), list(exact.values()))
            frame = frame.with_columns(texts_now)
        return frame.filter(pl.col("text").is_not_null())

    def _keys(self, frame: pl.DataFrame) -> list[str]:
        query = "SELECT DISTINCT unnest(json_keys(text)) AS key FROM texts ORDER BY key"
        keys: list[str] = self._query(query, frame["text"].to_arrow())["key"].to_list()
        if len(keys) > MOST_COLUMNS:
            raise UnusableTableError(f"{len(keys):,} keys; the limit is {MOST_COLUMNS:,}")
        return keys

    def _extracted(self, frame: pl.DataFrame, keys: list[str], function: str) -> pl.DataFrame:
        if not keys:
            return pl.DataFrame()
        pointers = ["/" + key.replace("~", "~0").replace("/", "~1") for key in keys]
        columns = ", ".join(f"v[{n}] AS c{n}" for n in range(1, len(keys) + 1))
        query = f"SELECT {columns} FROM (SELECT {function}(text, $keys) AS v FROM texts)"  # noqa: S608 - names of our own only
        found = self._query(query, frame["text"].to_arrow(), {"keys": pointers})
        return found.rename(dict(zip(found.columns, keys, strict=True)))

    def _query(
        self, query: str, texts: pa.Array, parameters: dict[str, object] | None = None
    ) -> pl.DataFrame:
        self._connection.register("texts", pa.table({"text": texts}))
        found: pl.DataFrame = self._connection.sql(query, params=parameters).pl()
        return found


def _field(raw: pl.Series) -> pl.Series:
    """Return raw JSON values as fields `"key":value`; null is NULL."""
    name = json.dumps(raw.name, ensure_ascii=False) + ":"
    return pl.select(
        pl.when(raw.is_not_null() & (raw != "null")).then(pl.lit(name) + raw).alias(raw.name)
    ).to_series()


def _exact(line: bytes) -> str:
    """Return a line that DuckDB does not take, as it would; Python decides what JSON is.

    Raises:
        UnreadableRecordError: it is not a JSON object.
    """
    record, _ = parsed(line)
    if not isinstance(record, dict):
        raise UnreadableRecordError("not a JSON object")
    return json_text(record)


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
