"""The lines of results.jsonl: results, with the harness's events in between."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exports.rows import Document, iterate_rows, json_object, json_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from warehouse.core.types import Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)

# The specification's keys in order, each with its column.
_COLUMNS = {
    "record_type": None,
    "run_id": "run_id",
    "provider": "provider",
    "model": "recorded_model",
    "thinking_level": "thinking_level",
    "prompt_id": "task_id",
    "prompt_name": "task_name",
    "availability_status": "availability_status",
    "started_at_ms": "started_at",
    "ended_at_ms": "ended_at",
    "e2e_ms": "e2e_ms",
    "ttft_ms": "ttft_ms",
    "success": "success",
    "failure_type": "failure_type",
    "objective_pass": "objective_pass",
    "violation": "violation",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "raw_output": "raw_output",
    "parsed_output": "parsed_output",
    "tool_calls": "tool_calls",
    "tool_call_count": "tool_call_count",
    "tool_use_success": "tool_use_success",
}
_NAMES = [name for name in _COLUMNS.values() if name is not None]

_LINES = f"""
WITH lines AS (
    SELECT
        seq, {", ".join(_NAMES)}, record_keys, extra, source, NULL AS document
    FROM results
    WHERE suite = 'openclaw' AND run_id = $run
    UNION ALL BY NAME
    SELECT seq, source, document
    FROM events
    WHERE suite = 'openclaw' AND run_id = $run
)

SELECT {", ".join(_NAMES)}, record_keys, extra, source, document
FROM lines
ORDER BY seq
"""  # noqa: S608 - only names of our own columns


def result_lines(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[bytes]:
    """Yield the lines of a run, each with its line feed."""
    for row in iterate_rows(connection, _LINES, {"run": run_id}):
        yield _line(row)


def _line(row: Row) -> bytes:
    if row["source"] is not None:
        return f"{row['source']}\n".encode()
    record = _record(row) if row["document"] is None else json_value(row["document"])
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def _record(row: Row) -> Document:
    record = {"record_type": "result"} | {
        key: _value(row[column]) for key, column in _COLUMNS.items() if column is not None
    }
    record["parsed_output"] = json_value(row["parsed_output"])
    if row["record_keys"] is None:
        return record
    record |= json_object(row["extra"])
    return {key: record[key] for key in json.loads(row["record_keys"])}


def _value(value: object) -> object:
    if isinstance(value, datetime):
        since = value - _EPOCH
        return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    return value
