"""`evalstore runs`: the list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.cli import format_option, print_rows

if TYPE_CHECKING:
    from pathlib import Path

_QUERY = """
SELECT suite, run_id, run_date, n_results, n_tasks, models, origin, label
FROM runs
WHERE $suite IS NULL OR suite = $suite
ORDER BY suite, run_date, run_id
"""


@click.command()
@click.option("--suite", help="Only the runs of this suite.")
@format_option
@click.pass_obj
def runs(store: Path, suite: str | None, fmt: str) -> None:
    """List the runs.

    \b
      evalstore runs
      evalstore runs --suite palindrome --format csv
    """
    print_rows(store, _QUERY, fmt, {"suite": suite})
