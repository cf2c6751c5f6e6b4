"""`evalstore items`: which items of a suite deserve a maintainer's look."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note_wrapped,
    open_store,
    print_values,
    say,
    say_wrapped,
    table_options,
)
from warehouse.app.console.completion import complete_suite
from warehouse.app.console.task_version import left_out_tasks
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from warehouse.analysis.items.responses import Responses
    from warehouse.analysis.items.work_list import WorkList

_SHOWN = 20  # items of a task set
_ANSWER = ("findings", "task_id", "pass_rate", "discrimination", "wrong_key_probability")


@click.command()
@click.argument("suite", shell_complete=complete_suite)
@click.option("--task-set", help="Only this task set.")
@click.option(
    "--matrix",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the share that each system passed of each item: .csv or .parquet.",
)
@table_options
@click.pass_obj
def items(
    store: Path, /, suite: str, *, task_set: str | None, matrix: Path | None, output: TableOptions
) -> None:
    """List the items of SUITE that deserve a maintainer's look, the most suspect first.

    Suspect are items where able systems agree on an answer that does not pass, that stronger
    systems fail, that the same system both passes and fails more than chance explains, that have
    the text of another one, and those that all or none pass. Systems count by their run on the
    board. With --format, --wide or --columns come the figures of all items.

    \b
      evalstore items palindrome
      evalstore items palindrome --matrix responses.csv
    """
    # Imported here: the help must not wait for DuckDB.
    from warehouse.analysis.items.responses import read_responses
    from warehouse.analysis.items.work_list import COLUMNS, work_lists

    check_suite(store, suite)
    with open_store(store).reading("item_responses item_answers flaky_tasks") as connection:
        if matrix is not None:
            write_matrix(read_responses(connection, suite, task_set=task_set), matrix)
        lists = work_lists(connection, suite, task_set)
    if output.fmt == "table" and not output.is_wide and not output.columns:
        if left_out := left_out_tasks():
            say_wrapped(f"{left_out}\n")
        for each in lists:
            _say(each)
        return
    rows = [tuple(row.values()) for each in lists for row in each.rows]
    print_values(COLUMNS, rows, output.fmt, output.layout(_ANSWER))


def _say(listed: WorkList) -> None:
    """Print the items with findings; those that only tell no systems apart, by their names."""
    from warehouse.analysis.items.audit import Finding
    from warehouse.analysis.items.work_list import evidence, figures, summary

    useless = {finding: listed.only(finding) for finding in (Finding.DEAD, Finding.SATURATED)}
    found = [row for row in listed.rows if set(row["findings"]) - set(useless)]
    say_wrapped(f"{listed.key.suite}, {listed.key.task_set}: {summary(listed)}")
    say("")
    for row in found[:_SHOWN]:
        say(f"{row['task_id']}: {', '.join(row['findings'])}")
        say_wrapped(" ".join((figures(row), *evidence(row))))
        say("")
    for finding, names in useless.items():
        if names:
            more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
            say(f"{len(names):,} item{'s' * (len(names) != 1)}: {finding}")
            say_wrapped(f"{', '.join(names[:_SHOWN])}{more}")
            say("")
    if len(found) > _SHOWN:
        rest = counted(len(found) - _SHOWN, "more item")
        note_wrapped(f"{rest} with findings: --format csv has all items")
    if not found and not any(useless.values()):
        say("Nothing was found.\n")


def write_matrix(responses: Responses, target: Path) -> None:
    """Write the share that each system (row) passed of each item (column), empty where not asked.

    Raises:
        BadInput: the name of the file ends otherwise than in .csv or .parquet.
        OSError: it cannot be written.
    """
    import io

    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    from warehouse.core.errors import BadInput
    from warehouse.lake.targets import write_whole

    columns = [
        pa.array(column, from_pandas=True) for column in np.ascontiguousarray(responses.dense().T)
    ]
    table = pa.table([pa.array(responses.systems), *columns], names=["system", *responses.items])
    written = io.BytesIO()
    if target.suffix == ".csv":
        csv.write_csv(table, written)
    elif target.suffix == ".parquet":
        parquet.write_table(table, written)
    else:
        raise BadInput(f"--matrix {target}: the name must end in .csv or .parquet")
    write_whole(target, written.getvalue())
