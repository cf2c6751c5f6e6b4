"""Tables with a column for each model: each row becomes one row for each model that has a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ingest.formats.tables import values
from ingest.formats.tables.batches import TableBatch
from ingest.formats.tables.columns.column_map import CELL, MODEL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ingest.formats.tables.batches import TableFile
    from ingest.formats.tables.columns.column_map import ColumnMap


class ByModel:
    """A table with the columns `MODEL` and `CELL` in place of one for each model."""

    def __init__(self, file: TableFile, columns: ColumnMap) -> None:
        self._file = file
        self._models = list(columns.models)
        self._is_text = columns.cells == "output"

    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows; see `TableFile`."""
        for batch in self._file.batches(wanted):
            yield self._by_model(batch)

    def _by_model(self, batch: TableBatch) -> TableBatch:
        n_rows, n_models = len(batch.lines), len(self._models)
        rows = np.repeat(np.arange(n_rows), n_models)
        models = np.tile(np.arange(n_models), n_rows)
        texts = pl.concat([values.as_text(batch.values[name]) for name in self._models])
        cells = texts.gather(models * n_rows + rows)
        is_asked = cells.is_not_null()
        if not self._is_text:
            is_asked &= ~values.is_missing(cells)
        rows = rows[is_asked.to_numpy()]
        names = pl.Series(self._models, dtype=pl.String).gather(models[is_asked.to_numpy()])
        frame = batch.values.drop(self._models)[rows]
        return TableBatch(
            lines=batch.lines.gather(rows),
            values=frame.with_columns(names.alias(MODEL), cells.filter(is_asked).alias(CELL)),
            extra=batch.extra.gather(rows),
            rejects=batch.rejects,
            secrets=batch.secrets,
        )
