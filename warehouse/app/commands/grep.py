"""`evalstore grep`: search in prompts, answers, messages and steps."""

from __future__ import annotations

import shutil
import sys
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note_wrapped,
    open_store,
    print_values,
    say_paged,
    table_options,
)
from warehouse.app.console.completion import complete_model, complete_run, complete_suite
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from warehouse.core.types import Row

_PARTS = ("prompt", "answer", "message", "tool call", "step", "reasoning", "error")
_MOST_CONTEXT = 500


@click.command()
@click.argument("pattern")
@click.option("--fixed", "-F", is_flag=True, help="PATTERN is a text, not a regular expression.")
@click.option("--ignore-case", "-i", is_flag=True, help="Take upper and lower case for the same.")
@click.option(
    "--part",
    "parts",
    type=click.Choice(_PARTS),
    multiple=True,
    help="Search only these parts.  [repeatable]",
)
@click.option("--suite", shell_complete=complete_suite, help="Only the results of this suite.")
@click.option("--run", shell_complete=complete_run, metavar="ID", help="Only this run.")
@click.option("--model", shell_complete=complete_model, help="Only this model or system.")
@click.option("--task-set", help="Only this task set.")
@click.option("--task", metavar="ID", help="Only this task.")
@click.option(
    "--where", metavar="SQL", help="Only results for which this holds, by columns of `results`."
)
@click.option(
    "--context",
    type=click.IntRange(0, _MOST_CONTEXT),
    default=24,
    show_default=True,
    help="Characters to show on either side of a match.",
)
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Show only the first N matches, those of the newest runs.",
)
@table_options
@click.pass_obj
def grep(
    path: Path,
    /,
    pattern: str,
    *,
    fixed: bool,
    ignore_case: bool,
    parts: tuple[str, ...],
    where: str | None,
    context: int,
    limit: int,
    output: TableOptions,
    **only: str | None,
) -> None:
    """Search in prompts, answers, messages and steps for PATTERN, a regular expression (RE2).

    A terminal shows the matches below their results, each with a little of its text. Pipes and
    other formats get a row for each text that matches, with the result's id. A prompt that many
    results share is listed once, with their number. Ends with exit code 1 if nothing matches.

    \b
      evalstore grep saippua
      evalstore grep -i "yhdyssana|compound" --part prompt --part message
      evalstore grep saippua --where "passed AND run_date >= '2026-01-01'"
    """
    # Imported here: the help must not wait for DuckDB.
    from warehouse.analysis.search import COLUMNS, Search, search

    check_suite(path, only["suite"])
    names = {"run": "run_id", "task": "task_id"}
    wanted = Search(
        pattern=pattern,
        is_fixed=fixed,
        ignores_case=ignore_case,
        parts=parts,
        equal={names.get(name, name): value for name, value in only.items() if value is not None},
        where=where,
        context=context,
    )
    with open_store(path).reading() as connection:
        rows, n_rows = search(connection, wanted, limit)
        if not rows:
            _check_names(connection, wanted.equal)
    if not rows:
        raise CheckFailed(f"nothing matches {pattern!r}")
    if output.fmt == "table" and sys.stdout.isatty() and not (output.is_wide or output.columns):
        lines = _listing([dict(zip(COLUMNS, row, strict=True)) for row in rows])
        say_paged("".join(f"{line}\n" for line in lines))
    else:
        print_values(COLUMNS, rows, output.fmt, output.layout())
    if n_rows > limit:
        note_wrapped(f"the first {limit:,} of {n_rows:,} matches; --limit shows more")


def _check_names(connection: duckdb.DuckDBPyConnection, equal: Mapping[str, str]) -> None:
    """Check that there are results of what a search was limited to.

    Raises:
        BadInput: there are none.
    """
    for column, value in equal.items():
        query = f"SELECT DISTINCT {column} FROM results WHERE {column} IS NOT NULL"  # noqa: S608
        names = [name for (name,) in connection.execute(query).fetchall()]
        if value not in names:
            hint = did_you_mean(value, names, "`evalstore runs` lists runs and models")
            option = column.removesuffix("_id").replace("_", "-")
            raise BadInput(f"--{option}: no result is of {value!r}; {hint}")


def _listing(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a terminal: those of a result below its model, task and run."""
    from warehouse.core.text.formatting import visible
    from warehouse.core.text.text_width import crop, fold

    width = shutil.get_terminal_size().columns
    for _, matches in groupby(rows, key=itemgetter("suite", "run_id", "result_id")):
        of_result = list(matches)
        first = of_result[0]
        verdict = {True: ", passed", False: ", failed"}.get(first["passed"], "")
        names = "  ".join(str(first[name]) for name in ("model", "task_id", "run_id"))
        yield fold(visible(f"{names} ({first['suite']}{verdict})"), width)
        for row in of_result:
            place = " ".join(str(each) for each in (row["part"], row["seq"], row["who"]) if each)
            shared = f" of {row['n_results']:,} results" if row["n_results"] > 1 else ""
            yield crop(visible(f"  {place}{shared}: {' '.join(row['excerpt'].split())}"), width)
