"""An imported published folder, written again byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.rows import fetch_rows
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    import duckdb

    from warehouse.app.store import Store

_FILES = "SELECT name, content FROM published_files WHERE report = $report ORDER BY name"
_REPORTS = "SELECT DISTINCT report FROM published ORDER BY report"


def imported_files(store: Store, report: str) -> dict[str, bytes]:
    """Return the files of an imported published folder, by name.

    Raises:
        BadInput: the store does not have them, or the report's name cannot be a folder's.
    """
    with store.reading(_FILES) as connection:
        rows = fetch_rows(connection, _FILES, {"report": report})
        if not rows:
            raise _unknown(connection, report)
    # The names come from the import, and any program may have written what was imported.
    for name in (report, *(row["name"] for row in rows)):
        if name in {"", ".", ".."} or set(name) & set("/\\\0"):
            raise BadInput(f"{visible(repr(name))} cannot be the name of a file")
    too_large = [row["name"] for row in rows if row["content"] is None]
    if too_large:
        raise BadInput(f"{report}: too large to be kept by the import: {', '.join(too_large)}")
    return {row["name"]: row["content"] for row in rows}


def _unknown(connection: duckdb.DuckDBPyConnection, report: str) -> BadInput:
    known = [str(row["report"]) for row in fetch_rows(connection, _REPORTS, {})]
    if report in known:
        return BadInput(
            f"{report}: the store has its figures but not its files; import its folder again"
        )
    hint = did_you_mean(report, known, "`evalstore show published_reports` lists them")
    return BadInput(f"there is no published report {report!r}; {hint}")
