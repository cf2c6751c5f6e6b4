"""OpenClaw run folders, `runs/<run_id>/`, written from views.

The same data give the same bytes: the clock is never read, and keys have a fixed order.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click import Option

from exports.base import Exported, Exporter
from exports.openclaw.lines import result_lines
from exports.openclaw.summary import GROUPS, TIERS, summary_document, summary_table
from exports.rows import json_object
from exports.run_rows import rows_by_run
from exports.selection import selected_runs
from warehouse.app.console.completion import run_completer
from warehouse.core.errors import BadInput
from warehouse.core.formats.values import utf8
from warehouse.lake.targets import check_spelling, write_lines, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from exports.rows import Document
    from warehouse.app.store import Store
    from warehouse.core.types import Row

_SNAPSHOTS = """
SELECT name, content
FROM snapshots
WHERE suite = 'openclaw' AND run_id = $run AND is_latest
ORDER BY name
"""


def export_openclaw(store: Store, folder: Path, run: str | None) -> Exported:
    """Write the folders of one run, or of all, to `runs/` in a folder.

    Raises:
        BadInput: there is no such run; its id cannot name a folder; a file cannot be written.
    """
    exported = Exported()
    with store.reading() as connection:
        runs = selected_runs(connection, exported, "openclaw", run)
        for row, (groups, tiers) in rows_by_run(connection, runs, GROUPS, TIERS):
            target = folder / "runs" / _folder_name(row["run_id"])
            check_spelling(target)
            summary = summary_document(row, groups, tiers)
            _export_run(connection, row, summary, target, exported)
    return exported


def _export_run(
    connection: duckdb.DuckDBPyConnection,
    run: Row,
    summary: Document,
    folder: Path,
    exported: Exported,
) -> None:
    def write(name: str, data: bytes) -> None:
        write_whole(folder / name, data)
        exported.paths.append(folder / name)

    for column in ("config", "inventory"):
        if run[column] is None:
            exported.notes.append(f"{run['run_id']}: no {column}; marked as reconstructed")
        write(f"{column}.json", _document(run, column))
    path = folder / "results.jsonl"
    write_lines(path, result_lines(connection, run["run_id"]))
    exported.paths.append(path)
    for name, content in connection.execute(_SNAPSHOTS, {"run": run["run_id"]}).fetchall():
        write(_file_name(name), bytes(content))
    write("summary.json", _pretty(summary))
    table = summary_table(summary, _value(run, "inventory"), run["run_id"])
    write("summary.md", utf8(table).encode())


def _document(run: Row, column: str) -> bytes:
    value = _value(run, column)
    if run[column] is None:
        # A bare log has neither: the file says so instead of making one up.
        value = {"reconstructed": True, "run_id": run["run_id"]}
    return _pretty(value)


def _value(run: Row, column: str) -> object:
    """Return a document of the run; `source` has the text of one that JSON cannot reproduce."""
    text = json_object(run["source"]).get(f"{column}.json", run[column])
    return None if text is None else json.loads(text.removeprefix("\ufeff"))


def _pretty(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=isinstance(value, dict))
    # A lone surrogate has no UTF-8, but it has an escape.
    return (text + "\n").encode("utf-8", "backslashreplace")


def _folder_name(run_id: str) -> str:
    if run_id in {"", ".", ".."} or set(run_id) & set("/\\\0"):
        raise BadInput(f"run id {run_id!r} cannot name a folder; import the run `--as` another id")
    return run_id


def _file_name(name: str) -> str:
    if set(name) & set("/\\\0"):
        raise BadInput(f"snapshot name {name!r} cannot name a file")
    return name


EXPORTER = Exporter(
    export=export_openclaw,
    target_help="Folder for runs/<run_id>/.",
    options=(
        Option(
            ["--run"],
            shell_complete=run_completer("openclaw"),
            metavar="ID",
            help="Export only this run.",
        ),
    ),
    help="""
    Export OpenClaw run folders: results, summary, config, inventory and snapshots.

    \b
      evalstore export openclaw --to out/
      evalstore export openclaw --run 20260303_140000 --to out/
    """,
)
