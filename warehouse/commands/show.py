"""`evalstore show`: a view by name."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

from warehouse.console.cli import (
    TableOptions,
    note_wrapped,
    open_store,
    print_rows,
    say_paged,
    table_options,
)
from warehouse.console.completion import complete_view
from warehouse.errors import BadInput
from warehouse.output.suggestions import did_you_mean
from warehouse.views.sql_files import SqlFile, shown_views

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

_UNWRAPPED = 1_000  # cells
_NAMES = 32  # cells
_RANKINGS = ("leaderboard", "leaderboard_pooled")
# Calls that are certainly real, whatever the plans of older runs say about replays.
_REAL_CALLS = """
    SELECT 1 FROM lake.results
    ANTI JOIN (FROM lake.runs WHERE len(replayed_models) > 0) USING (suite, run_id)
    WHERE provider IS DISTINCT FROM 'replay' LIMIT 1
"""
# The start of the path of a group's files, its title, and what its views are for.
_GROUPS = (
    ("marts/shared", "All suites", "Rankings, costs, times and histories of every suite."),
    ("marts/palindrome", "Palindrome", "Accuracy by model and by task."),
    ("marts/openclaw", "OpenClaw", "Summaries of runs, use of tools, resources of the host."),
    ("marts/posters", "Posters", "Ground truth, scores of predictions, reports."),
    ("marts/facts", "Facts", "Runs, results and verdicts: the base of queries of your own."),
    ("base", "Records", "What was stored: tasks, files, events, and what was refused."),
    ("checks", "Checks", "Rows that should not exist; `evalstore check` reports them."),
)


@click.command()
@click.argument("view", required=False, shell_complete=complete_view)
@click.option("--limit", "-n", type=click.IntRange(min=0), help="Show only the first N rows.")
@table_options
@click.pass_obj
def show(store: Path, view: str | None, limit: int | None, output: TableOptions) -> None:
    """Show a VIEW; without VIEW, list all views with their purpose.

    A terminal shows the most important columns, rates with their 95 % interval in brackets,
    and says what it leaves out. Pipes and files get everything.

    \b
      evalstore show
      evalstore show leaderboard
      evalstore show leaderboard --columns model,pass_rate,run_id
      evalstore show checks.unresolved_models --format csv
    """
    views = shown_views()
    if view is None:
        _list_views(views, output)
        return
    if view not in views:
        hint = did_you_mean(view, views, "`evalstore show` lists them")
        raise BadInput(f"there is no view {view!r}; {hint}")
    query = f"FROM {views[view].qualified}"  # a name of ours
    limited = query if limit is None else f"{query} LIMIT {limit}"
    if view not in _RANKINGS:
        print_rows(store, limited, output, answer=views[view].answer)
        return
    # Open for both: opening takes longer than most queries.
    with open_store(store).reading() as connection:
        print_rows(store, limited, output, answer=views[view].answer)
        _note_rehearsals(connection)


def _note_rehearsals(connection: duckdb.DuckDBPyConnection) -> None:
    """Say why a ranking is empty, if the store has answers and all of them came from files."""
    # The first query is enough for nearly every store, and planned in a fraction of the time.
    for real in (_REAL_CALLS, "FROM results WHERE NOT is_replay LIMIT 1"):
        if connection.execute(real).fetchall():
            return
    if connection.execute("FROM lake.results LIMIT 1").fetchall():
        note_wrapped(
            "all runs are rehearsals, whose answers came from a file: no ranking counts them; "
            "`evalstore show replay_leaderboard` shows their figures"
        )


def _list_views(views: dict[str, SqlFile], output: TableOptions) -> None:
    """Print the views by group; with `--format`, as rows."""
    if output.fmt != "table":
        from warehouse.output.writers import write_rows

        rows = [
            (title, name, file.purpose)
            for title, _, members in _grouped(views)
            for name, file in members.items()
        ]
        columns = ("group", "view", "purpose")
        layout = output.layout()
        write_rows(columns, rows, output.fmt, sys.stdout.buffer, note=note_wrapped, layout=layout)
        return
    page = click.HelpFormatter(width=_width())
    for title, purpose, members in _grouped(views):
        page.write_text(f"{title}: {purpose}")
        page.indent()
        page.write_dl([(name, file.purpose) for name, file in members.items()], col_max=_NAMES)
        page.dedent()
        page.write("\n")
    page.write_text("`evalstore show VIEW` shows one.")
    say_paged(page.getvalue())


def _width() -> int:
    """Return the terminal's width; for a pipe, one in which no line is wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNWRAPPED


def _grouped(views: dict[str, SqlFile]) -> Iterator[tuple[str, str, dict[str, SqlFile]]]:
    for place, title, purpose in _GROUPS:
        members = {n: f for n, f in views.items() if f"{f.folder}/{f.family}".startswith(place)}
        yield title, purpose, dict(sorted(members.items()))
