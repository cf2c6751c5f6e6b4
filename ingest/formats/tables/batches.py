"""What every kind of table file gives: its columns, and its rows in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from ingest.formats.tables.masking import searched
from ingest.formats.tables.values import json_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ingest.reading import Reject

MOST_COLUMNS = 1000


class UnusableTableError(Exception):
    """A file that is not a table; the message says why."""


@dataclass(slots=True, kw_only=True)
class TableBatch:
    """Consecutive rows of a table.

    Attributes:
        lines: line of each row in the file, from 1; in Parquet and in a JSON list its position.
        values: the wanted columns, of text or of Parquet's types.
        extra: the other columns as a JSON object without nulls; NULL if all are NULL.
        rejects: rows that cannot be read.
        secrets: line and kind of each possible secret.
    """

    lines: pl.Series
    values: pl.DataFrame
    extra: pl.Series
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class TableFile(ABC):
    """A table in a file.

    Attributes:
        path: the file.
        redact: whether possible secrets are masked.
    """

    path: Path
    redact: bool = False

    @abstractmethod
    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows.

        Args:
            wanted: the columns that are needed as values; None for all, to look at them only:
                secrets are not searched.

        Raises:
            OSError: the file cannot be read.
            UnusableTableError: it is not a table.
        """


def batch_of(
    lines: pl.Series, frame: pl.DataFrame, wanted: Collection[str] | None, *, redact: bool
) -> TableBatch:
    """Return a batch of the rows of a frame that has all columns, searched for secrets."""
    secrets: list[tuple[int, str]] = []
    if wanted is not None:
        frame, secrets = searched(lines, frame, redact=redact)
    others = [] if wanted is None else [name for name in frame.columns if name not in wanted]
    fields = [json_fields(frame[name]) for name in others]
    values = frame.drop(others)
    extra = joined_fields(fields, len(frame))
    return TableBatch(lines=lines, values=values, extra=extra, secrets=secrets)


def joined_fields(fields: list[pl.Series], n_rows: int) -> pl.Series:
    """Join fields `"name":value` to JSON objects; NULL where all are NULL."""
    if not fields:
        return pl.repeat(None, n_rows, dtype=pl.String, eager=True)
    # The order of names must not depend on the file: the text is part of the row's id.
    ordered = sorted(fields, key=lambda each: each.name)
    frame = pl.DataFrame([each.alias(str(n)) for n, each in enumerate(ordered)])
    text = frame.select(pl.concat_str(pl.all(), separator=",", ignore_nulls=True)).to_series()
    return pl.select(pl.when(text != "").then("{" + text + "}")).to_series()
