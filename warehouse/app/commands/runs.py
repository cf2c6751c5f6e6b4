"""`evalstore runs`: the list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import TableOptions, check_suite, print_rows, table_options
from warehouse.app.console.completion import complete_suite
from warehouse.engine.views.sql_files import shown_views

if TYPE_CHECKING:
    from pathlib import Path

_VIEW = "run_overview"
_QUERY = f"""
SELECT *
FROM {_VIEW}
WHERE $suite IS NULL OR suite = $suite
ORDER BY run_date DESC NULLS LAST, started_at DESC NULLS LAST, suite, run_id DESC
"""  # noqa: S608 - a constant


@click.command()
@click.option("--suite", shell_complete=complete_suite, help="Only the runs of this suite.")
@table_options
@click.pass_obj
def runs(store: Path, suite: str | None, output: TableOptions) -> None:
    """List the runs, newest first, each with its pass rate and cost.

    \b
      evalstore runs
      evalstore runs --suite palindrome --format csv
    """
    check_suite(store, suite)
    print_rows(store, _QUERY, output, {"suite": suite}, answer=shown_views()[_VIEW].answer)
