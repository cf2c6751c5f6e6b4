"""Writes OpenClaw run folders: `runs/<run_id>/`, out of the warehouse's columns alone.

The same data give the same bytes: nothing is taken from the clock, and keys have their order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exports.openclaw.lines import result_lines
from exports.openclaw.summary import summary_document, summary_table
from warehouse.errors import BadInput
from warehouse.formats.json_text import utf8
from warehouse.lake.atomic import write_lines, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from warehouse.store import Store

Row = dict[str, Any]

_RUNS = """
SELECT run_id, started_at, ended_at, config, inventory, source
FROM runs
WHERE suite = 'openclaw' AND ($run IS NULL OR run_id = $run)
ORDER BY run_id
"""
_SNAPSHOTS = """
SELECT snapshots.name, stored.content
FROM snapshots
JOIN lake.resources AS stored
    ON snapshots.suite = stored.suite
    AND snapshots.run_id = stored.run_id
    AND snapshots.snapshot_id = stored.content_id
WHERE snapshots.suite = 'openclaw' AND snapshots.run_id = $run AND is_latest
ORDER BY snapshots.name
"""


@dataclass(slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        paths: the files, in order.
        notes: what is not as one would expect.
    """

    paths: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def export_openclaw(store: Store, folder: Path, run: str | None) -> Exported:
    """Export the folders of one run, or of all, below `runs/` in a folder.

    Raises:
        BadInput: there is no such run; its name cannot be a folder's; a file cannot be written.
    """
    exported = Exported()
    with store.reading() as connection:
        runs = _rows(connection.execute(_RUNS, {"run": run}))
        if not runs:
            named = f" {run!r}" if run is not None else ""
            raise BadInput(f"no openclaw run{named}: `evalstore runs` lists the runs")
        for row in runs:
            _export_run(connection, row, folder / "runs" / _folder_name(row["run_id"]), exported)
    return exported


def _export_run(
    connection: duckdb.DuckDBPyConnection, run: Row, folder: Path, exported: Exported
) -> None:
    def write(name: str, data: bytes) -> None:
        write_whole(folder / name, data)
        exported.paths.append(folder / name)

    for column in ("config", "inventory"):
        if run[column] is None:
            exported.notes.append(f"{run['run_id']}: has no {column}; marked as reconstructed")
        write(f"{column}.json", _document(run, column))
    path = folder / "results.jsonl"
    write_lines(path, result_lines(connection, run["run_id"]))
    exported.paths.append(path)
    for name, content in connection.execute(_SNAPSHOTS, {"run": run["run_id"]}).fetchall():
        write(_file_name(name), bytes(content))
    summary = summary_document(connection, run)
    write("summary.json", _pretty(summary))
    table = summary_table(summary, _value(run, "inventory"), run["run_id"])
    write("summary.md", utf8(table).encode())


def _document(run: Row, column: str) -> bytes:
    value = _value(run, column)
    if run[column] is None:
        # What a bare log never had is said to be so, never made up.
        value = {"reconstructed": True, "run_id": run["run_id"]}
    return _pretty(value)


def _value(run: Row, column: str) -> Any:  # noqa: ANN401 - any JSON value
    """Read a document; one that JSON columns would not give back has its text beside them."""
    text = json.loads(run["source"] or "{}").get(f"{column}.json", run[column])
    return None if text is None else json.loads(text.removeprefix("\ufeff"))


def _pretty(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=isinstance(value, dict))
    # Half a surrogate pair has no UTF-8, but an escape.
    return (text + "\n").encode("utf-8", "backslashreplace")


def _rows(cursor: duckdb.DuckDBPyConnection) -> list[Row]:
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _folder_name(run_id: str) -> str:
    if run_id in {"", ".", ".."} or set(run_id) & set("/\\\0"):
        raise BadInput(f"the run's id {run_id!r} cannot name a folder: import it `--as` another")
    return run_id


def _file_name(name: str) -> str:
    if set(name) & set("/\\\0"):
        raise BadInput(f"the snapshot's name {name!r} cannot be a file's")
    return name
