"""What is computed from the rows of runs: scores, facts, and the tables of boards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.engine.tables import facts, score_tables
from warehouse.engine.tables.boards import compute_boards, update_boards
from warehouse.engine.tables.definitions import tables_of_scores
from warehouse.engine.tables.raters.corrected_means import update_corrected_means
from warehouse.engine.tables.raters.judge_agreement import update_judge_agreement
from warehouse.engine.tables.raters.vote_scores import update_vote_scores
from warehouse.engine.tables.runs import runs_in
from warehouse.engine.tables.shared_calls import update_shared_calls
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb


def derive(
    connection: duckdb.DuckDBPyConnection,
    *,
    emptied: Collection[str],
    changed: set[str],
    duplicates: str | None = None,
) -> None:
    """Compute what depends on the runs in the temporary table `changed_runs`.

    Args:
        connection: the warehouse, in a transaction.
        emptied: names of tables that lack all rows.
        changed: names of the tables of the lake whose rows, of no run, have changed.
        duplicates: a query for the rows of `scores.duplicate_calls`, where the warehouse does not
            have all runs; None to look for duplicate calls among its own.
    """
    runs = runs_in(connection, "changed_runs")
    has_shared_calls = duplicates is not None or update_shared_calls(connection, runs)
    tables = tables_of_scores(connection)
    recompute_all = {name for name in tables if name in emptied or tables[name] & changed}
    if has_shared_calls:
        recompute_all.add(score_tables.DUPLICATE_CALLS)
    by_name = {file.name: file for file in shipped_sql() if file.is_table}
    in_order = [by_name[name] for name in tables]
    setups, verdicts, others = score_tables.in_stages(in_order)
    others_change = {
        "may_change_setups": not recompute_all.isdisjoint(file.name for file in setups),
        "may_change_duplicates": score_tables.DUPLICATE_CALLS in recompute_all,
    }
    facts.begin(connection, **others_change)
    score_tables.refresh(connection, in_order, runs, recompute=recompute_all)
    if duplicates is not None:
        connection.execute(f"INSERT INTO scores.duplicate_calls BY NAME {duplicates}")
    # Facts need setups and verdicts; other scores need facts.
    touched = facts.Touched(runs)
    scope = score_tables.scope(connection, runs, recompute_all=recompute_all)
    score_tables.update_scores(connection, setups, scope)
    facts.mark_replaced_and_duplicate_results(connection, touched, **others_change)
    if score_tables.update_scores(connection, verdicts, scope):
        everywhere = not recompute_all.isdisjoint(file.name for file in verdicts)
        facts.mark_verdicts(connection, touched, everywhere=everywhere)
    touched_runs = facts.update_facts(connection, in_order, touched, emptied=emptied)
    score_tables.update_scores(connection, others, scope)
    if duplicates is None:
        boards = [file for file in in_order if file.is_board]
        rejudged = {str(file.suite) for file in verdicts if file.name in recompute_all}
        rescored = {str(file.suite) for file in others if file.name in recompute_all}
        is_changed = any(tables[file.name] & changed for file in boards)
        if emptied:
            compute_boards(connection, boards)
            return
        concerned = "SELECT suite, run_id FROM changed_runs UNION FROM rated_by_changed"
        if touched_runs is not None or rescored or is_changed:
            update_boards(connection, boards, touched_runs, rescored, rejudged)
            # Tasks of other runs may depend on each other now.
            concerned += " UNION SELECT suite, run_id FROM rated_runs"
        # Runs of ratings alone have no facts.
        update_judge_agreement(connection, recorded=rescored if "annotations" in changed else ())
        update_corrected_means(connection, f"({concerned}) AS concerned")
        update_vote_scores(connection, touched_runs)
