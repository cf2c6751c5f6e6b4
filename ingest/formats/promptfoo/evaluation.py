"""An evaluation of promptfoo: its header, and its rows in the order of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, iso_moment, unix_moment, whole_number
from ingest.formats.promptfoo.figures import (
    Column,
    ambiguous_columns,
    column_names,
    name_of_row,
    prompt_figures,
    stat_figures,
)
from ingest.formats.promptfoo.rows import add_row
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, JsonObject, ResultRow, RunRow

SUITE = "promptfoo"

_MOST = 10**9
_IN_OTHER_ROWS = ("evalId", "prompts", "stats", "table", "results")


class EvaluationRows:
    """Makes the rows of an evaluation.

    Args:
        document: the members of an export, those of `results` among them, but for the results.
        rows: collects the rows.
    """

    def __init__(self, document: JsonObject, rows: RowCollector) -> None:
        self._document = document
        self._rows = rows
        self._prompts = _prompts(document)
        self._columns = ambiguous_columns(self._prompts)
        self._task_set = task_set_of(document)
        self._names = column_names(self._prompts)
        self._seen: dict[int, Column] = {}
        self._n_unplaced = 0  # results of which the column is not known

    def add(self, row: JsonObject, seq: int) -> ResultRow:
        """Add the rows of a result, and return that of `results`."""
        index, test = whole_number(row.get("promptIdx")), whole_number(row.get("testIdx"))
        place = index if index is not None else self._names.get(name_of_row(row))
        self._n_unplaced += place is None
        if place is not None:
            column = self._seen.get(place) or Column.of(row, self._columns)
            column.add(row)
            self._seen[place] = column
        # An export and the database have the results in other orders.
        n_columns = len(self._prompts) if isinstance(self._prompts, list) else 0
        if index is not None and test is not None and 0 <= index < n_columns and 0 <= test < _MOST:
            seq = test * n_columns + index + 1
        return add_row(
            row, seq=seq, task_set=self._task_set, columns=self._columns, rows=self._rows
        )

    def add_figures(self) -> None:
        """Add the figures, once all results were added."""
        figures = prompt_figures(
            self._prompts, self._seen, self._rows, is_complete=not self._n_unplaced
        )
        for row in figures:
            self._rows.add("reported_metrics", row)
        for row in stat_figures(self._document.get("stats"), self._prompts, self._seen, self._rows):
            self._rows.add("reported_metrics", row)


def task_set_of(document: JsonObject) -> str:
    """Return the task set of an evaluation: its description, which its repetitions share."""
    description = Fields(document.get("config")).text("description")
    return description or SUITE


def header_row(run_id: str, document: JsonObject, path: Path) -> RunRow:
    """Return the header of the run of an evaluation."""
    fields = Fields(document)
    for name in _IN_OTHER_ROWS:
        fields.value(name)
    config, metadata = fields.value("config"), fields.inside("metadata")
    versions: JsonObject = {
        name: version
        for name, version in (
            ("promptfoo", metadata.text("promptfooVersion")),
            ("node", metadata.text("nodeVersion")),
        )
        if version is not None
    }
    metadata.value("exportedAt")
    row: RunRow = {
        "suite": SUITE,
        "run_id": run_id,
        "origin": "import",
        "started_at": _started_at(fields, metadata),
        "task_set": task_set_of(document) if config is not None else None,
        "config": None if config is None else json_text(config),
        "versions": json_text(versions) if versions else None,
        "source_name": utf8(path.name),
    }
    row["extra"] = fields.extra()
    return row


def _started_at(fields: Fields, metadata: Fields) -> datetime | None:
    created = metadata.moment("evaluationCreatedAt")
    timestamp = iso_moment(fields.value("timestamp"))
    since_1970 = whole_number(fields.value("created_at_ms"))
    from_database = None if since_1970 is None else unix_moment(since_1970 / 1000)
    return created or from_database or timestamp


def _prompts(document: JsonObject) -> Json:
    """Return the prompts of an export: of version 2, those of its table."""
    prompts = document.get("prompts")
    if prompts is not None:
        return prompts
    table = document.get("table")
    head = table.get("head") if isinstance(table, dict) else None
    return head.get("prompts") if isinstance(head, dict) else None
