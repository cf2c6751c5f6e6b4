"""`evalstore show`: a view by name."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

from warehouse.analysis.unranked import REHEARSED, unranked_reason
from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note_wrapped,
    open_store,
    print_rows,
    print_values,
    say_paged,
    table_options,
)
from warehouse.app.console.completion import complete_model, complete_suite, complete_view
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.views.sql_files import SqlFile, shown_views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import duckdb

_UNWRAPPED = 1_000  # cells
_NAMES = 32  # cells
_RANKINGS = ("leaderboard", "leaderboard_pooled")
# What rankings have figures of. The first query is enough for nearly every store, and fast.
_VERDICTS = """
    SELECT 1 FROM scores.entry_calls
    WHERE n_judged > 0 AND NOT is_replay AND coalesce(suite = $suite, true) LIMIT 1
"""
_FIGURES = """
    SELECT 1 FROM leaderboard
    WHERE coalesce(pass_rate, score) IS NOT NULL AND coalesce(suite = $suite, true) LIMIT 1
"""
# Models that logs only report figures of.
_REPORTED_MODELS = """
    SELECT count(DISTINCT model) FROM lake.reported_metrics
    ANTI JOIN scores.entries USING (suite, model)
    WHERE model IS NOT NULL AND task_set IS NOT NULL
"""
# Votes between two models.
_VOTED_SUITES = """
    SELECT DISTINCT suite FROM scores.vote_scores
    WHERE coalesce($suite = suite, true)
    ORDER BY suite
"""
# The task sets whose models `suite_agreement` looks at.
_SCORED_SETS = """
    SELECT count(DISTINCT {suite: suite, task_set: task_set}) FROM leaderboard
    WHERE is_main AND is_comparable AND coalesce(pass_rate, score) IS NOT NULL
        AND model IS NOT NULL
"""
_ORDERS = {
    "runs": " ORDER BY run_date DESC NULLS LAST, started_at DESC NULLS LAST, suite, run_id DESC"
}
# The columns that an option looks at, each with its condition.
_MATCHES = {
    "suite": {"suite": "{name} = {value}"},
    "task_set": {"task_set": "{name} = {value}"},
    "model": {
        **dict.fromkeys(("model", "model_a", "model_b"), "{name} = {value}"),
        "models": "list_contains({name}, {value})",
    },
}
_KNOWN = {
    "task_set": "SELECT DISTINCT task_set FROM {view} WHERE task_set IS NOT NULL ORDER BY ALL",
    "model": "SELECT DISTINCT model FROM scores.setups WHERE model IS NOT NULL ORDER BY ALL",
}
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
@click.option("--suite", shell_complete=complete_suite, help="Only the rows of this suite.")
@click.option("--task-set", help="Only the rows of this task set.")
@click.option("--model", shell_complete=complete_model, help="Only the rows of this model.")
@click.option("--limit", "-n", type=click.IntRange(min=0), help="Show only the first N rows.")
@table_options
@click.pass_obj
def show(
    store: Path, /, view: str | None, *, limit: int | None, output: TableOptions, **only: str | None
) -> None:
    """Show a VIEW; without VIEW, list all views with their purpose.

    A terminal shows the most important columns, rates with their 95 % interval in brackets,
    in a block for each task set, and says what it leaves out. Pipes and files get everything.

    \b
      evalstore show
      evalstore show leaderboard
      evalstore show leaderboard --suite palindrome
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
    file = views[view]
    wanted = {name: value for name, value in only.items() if value is not None}
    check_suite(store, only["suite"])
    # Open for all: opening takes longer than most queries.
    with open_store(store).reading() as connection:
        query = f"FROM {file.qualified}"  # a name of ours
        if wanted:
            query += f" WHERE {' AND '.join(_conditions(connection, file, wanted))}"
        query += _ORDERS.get(view, "")
        query += "" if limit is None else f" LIMIT {limit}"
        print_rows(store, query, output, wanted, answer=file.answer, blocks=file.blocks)
        if view in _RANKINGS and not wanted:
            _note_reported(connection)
        if view in _RANKINGS and wanted.keys() <= {"suite"}:
            _note_no_figures(connection, only["suite"])
            _note_votes(connection, file, only["suite"])
        if view == "suite_agreement":
            _note_no_pair(connection)


def _conditions(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, wanted: Mapping[str, str]
) -> Iterator[str]:
    """Yield the condition of each option on the columns of a view.

    Raises:
        BadInput: the view has no such column, or the store no such model or task set.
    """
    columns = connection.sql(f"FROM {file.qualified} LIMIT 0").columns
    for option, value in wanted.items():
        conditions = [
            text.format(name=column, value=f"${option}")
            for column, text in _MATCHES[option].items()
            if column in columns
        ]
        flag = f"--{option.replace('_', '-')}"
        if not conditions:
            raise BadInput(f"{flag}: the view {file.name} has no such column")
        if option in _KNOWN:
            query = _KNOWN[option].format(view=file.qualified)
            known = [name for (name,) in connection.execute(query).fetchall()]
            if value not in known:
                what = option.replace("_", " ")
                hint = did_you_mean(value, known, "`evalstore show leaderboard` lists them")
                raise BadInput(f"{flag}: there are no rows of {what} {value!r}; {hint}")
        yield f"({' OR '.join(conditions)})"


def _note_no_figures(connection: duckdb.DuckDBPyConnection, suite: str | None) -> None:
    """Say why rankings have no figures, if the store has answers."""
    for figures in (_VERDICTS, _FIGURES):
        if connection.execute(figures, {"suite": suite}).fetchall():
            return
    reason = unranked_reason(connection, suite)
    if reason == REHEARSED:
        note_wrapped(
            f"{reason}: no ranking counts them; `evalstore show replay_leaderboard` shows their "
            "figures"
        )
    elif reason:
        note_wrapped(
            f"{reason}, so there is nothing to rank: `evalstore runs` lists the runs; "
            "`evalstore judge`, `rescore` and `label` judge answers whose text is stored"
        )


def _note_reported(connection: duckdb.DuckDBPyConnection) -> None:
    """Say how many models a ranking lacks because the store has no results of them."""
    [(n_models,)] = connection.execute(_REPORTED_MODELS).fetchall()
    if n_models:
        models = "of 1 model" if n_models == 1 else f"of {n_models:,} models"
        note_wrapped(
            f"{models} logs only report figures, which are not ranked: "
            "`evalstore show reported_leaderboard` shows them"
        )


def _note_votes(connection: duckdb.DuckDBPyConnection, ranking: SqlFile, suite: str | None) -> None:
    """Say which suites a ranking lacks because it has votes on their models only."""
    voted = connection.execute(_VOTED_SUITES, {"suite": suite}).fetchall()
    if voted:
        ranked = connection.sql(f"FROM {ranking.qualified}").select("suite").fetchall()
        missing = [name for (name,) in voted if (name,) not in ranked]
        if missing:
            note_wrapped(
                f"models of {', '.join(missing)} are compared by votes on answers that the store "
                f"lacks: `evalstore rank {missing[0]}` ranks them"
            )


def _note_no_pair(connection: duckdb.DuckDBPyConnection) -> None:
    """Say why no two task sets are compared, if none are."""
    if not connection.execute("FROM suite_agreement LIMIT 1").fetchall():
        [(n_sets,)] = connection.execute(_SCORED_SETS).fetchall()
        few = {0: "no task set has", 1: "only one task set has"}
        has = few.get(
            n_sets, f"none of the {n_sets:,} task sets shares models with another that has"
        )
        note_wrapped(f"{has} scores on the leaderboard: it takes two sets, of the same models")


def _list_views(views: dict[str, SqlFile], output: TableOptions) -> None:
    """Print the views by group; with `--format`, as rows."""
    if output.fmt != "table":
        rows = [
            (title, name, file.purpose)
            for title, _, members in _grouped(views)
            for name, file in members.items()
        ]
        print_values(("group", "view", "purpose"), rows, output.fmt, output.layout())
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
