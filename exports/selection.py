"""Which runs of any suite an export writes, and the options that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click import Option

from exports.rows import fetch_rows, unknown_run
from warehouse.app.console.completion import complete_run, complete_suite

if TYPE_CHECKING:
    import duckdb

    from exports.base import Exported
    from warehouse.core.types import Row

SELECTION: tuple[Option, ...] = (
    Option(
        ["--suite"],
        shell_complete=complete_suite,
        metavar="NAME",
        help="Export only runs of this suite.",
    ),
    Option(["--run"], shell_complete=complete_run, metavar="ID", help="Export only this run."),
)
_RUNS = """
SELECT *
FROM runs
WHERE ($suite IS NULL OR suite = $suite) AND ($run IS NULL OR run_id = $run)
ORDER BY suite, run_id
"""


def selected_runs(
    connection: duckdb.DuckDBPyConnection, exported: Exported, suite: str | None, run: str | None
) -> list[Row]:
    """Return the runs to export; replays only if the run is named.

    Raises:
        BadInput: there are none.
    """
    runs = fetch_rows(connection, _RUNS, {"suite": suite, "run": run})
    if not runs:
        raise unknown_run(connection, suite, run)
    if run is None:
        for each in runs:
            if each["is_replay"]:
                exported.replays[each["run_id"]] = each["n_results"]
    return [each for each in runs if run is not None or not each["is_replay"]]


def path_part(text: str) -> str:
    """Return a text as the name of a file or folder, which leads nowhere else."""
    name = "".join("_" if c in '/\\:*?"<>|' or ord(c) < ord(" ") else c for c in text)
    name = name.encode("utf-8", "replace")[:200].decode("utf-8", "ignore").strip()
    return name if name.strip(". ") else "_" + name.replace(".", "_")
