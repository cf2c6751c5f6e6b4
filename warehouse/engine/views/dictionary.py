"""The meanings of tables, views and columns, for `docs/` and for comments in the warehouse."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

from warehouse.core.schemas import BATCH, BY_NAME, RESULTS, TABLES
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from warehouse.engine.views.sql_files import SqlFile

# Columns that mean the same in every relation that does not say otherwise.
COMMON = {
    "suite": "benchmark family: palindrome, openclaw, posters or a user's own",
    "run_id": "name of the run, unique in its suite",
    "result_id": "id of the result, unique in its run",
    "content_id": "id of the row: hash of the record, and of a counter where a source repeats it",
    "task_set": "name of the task set; of posters, of the dataset",
    "task_id": "id of the task in its set; the prompt's text where it has none",
    "provider": "way to reach the model: as recorded, else as the model file says",
    "model": "name of the model: as recorded, else as the model file says, else the file's path",
    "model_a": "the first model",
    "model_b": "the second model",
    "settings": "parameters of the call as readable text",
    "run_date": "date of the run: the local date in the log, else the UTC day of its start",
    "n_results": "number of results",
    "n_judged": "results with a verdict",
    "n_passed": "results that passed",
    "n_trials": "results behind pass_rate: those with a verdict, and those without an answer, "
    "which did not pass; the latter do not count where nothing judges the task, nor where no "
    "result of the model in the run has a verdict",
    "n_recorded": "results whose verdict is the log's",
    "n_computed": "results whose verdict is computed",
    "pass_rate": "n_passed / n_trials; NULL if no result has a verdict, and of an adaptive run",
    "pass_rate_low": "lower end of Wilson's 95 % interval of the pass rate",
    "pass_rate_high": "upper end of Wilson's 95 % interval of the pass rate",
    "p50_ms": "median latency, milliseconds, interpolated linearly",
    "p95_ms": "95th percentile of the latency, milliseconds, interpolated linearly",
    "p99_ms": "99th percentile of the latency, milliseconds, interpolated linearly",
    "mean_ms": "mean latency of the answered calls, milliseconds",
    "n_cost_known": "calls of known cost; the cost figures cover only these",
    "total_cost_usd": "sum of the known costs, US dollars",
    "mean_cost_usd": "mean of the known costs, US dollars",
    "prediction_cost_usd": "cost of the predictions, US dollars",
    "judge_cost_usd": "cost of the judge's calls, US dollars",
    "ground_truth_cost_usd": "cost of the ground truth of the whole dataset, US dollars",
    "first_date": "date of the first run",
    "last_date": "date of the last run",
    "part": "`all` posters, or those with `gold` or `silver` ground truth where a run has both",
    "metric": "`app_quality` or `app_core`",
    "annotator_a": "the first annotator",
    "annotator_b": "the second annotator",
    BATCH: "batch of the lake that holds the row",
    "call_hash": "hash of what the same call has in every run, apart from its model and time",
    "is_counted": "whether no other run counts the same call",
    "setup": "hash of what is recorded of the model and its settings: see scores.setups",
    "is_replaced": "whether another result of the run stands in for this one",
    "n_replaced_calls": "calls of the results that this one stands in for, retries included",
    "duplicate_of": "run in which this same call is counted; NULL if it is counted here",
    "computed_verdict": "verdict by the original program's rule; NULL if there is none",
    "replayed_models": "models whose answers came from a file, as the run's plan says",
    "input_hash": "hash of the inputs that the score was computed from",
}

# Tables that neither the schema of the lake nor a SQL file describes.
_BOOKKEEPING = {
    "lake.batches": ("The loaded batches.", "batch"),
    "lake.replaced_batches": ("The batches that others were merged or rewritten from.", "batch"),
    "lake.generations": ("The generations of runs in each batch.", "batch × generation of a run"),
    "lake.meta": ("The versions that the warehouse was made from.", "key"),
    "scores.shared_calls": (
        "The calls that may be in several runs: see scores.duplicate_calls.",
        "result whose call_hash is in more than one run",
    ),
    "scores.judge_agreement": (
        "How far judges agree: see judge_agreement.",
        "suite × kind × criterion × judge × other",
    ),
    "scores.judge_drift": (
        "Whether judges change: see judge_drift.",
        "suite × kind × criterion × judge × other × split × before",
    ),
    "scores.judge_biases": (
        "What judges prefer: see judge_biases.",
        "suite × criterion × judge × bias × other",
    ),
    "scores.rater_alphas": (
        "Krippendorff's alpha: see rater_alphas.",
        "suite × kind × criterion × raters × level",
    ),
    "scores.corrected_means": (
        "What judges say of runs, corrected by labels: see metrics.",
        "run × provider × model × settings × task set × scorer × metric",
    ),
    "scores.vote_scores": (
        "What votes say of models, by Bradley and Terry's model: see vote_metrics.",
        "suite × criterion × scorer × model",
    ),
    "scores.pair_tests": (
        "The tests of pairs of models: see scores.pair_counts.",
        "what a test depends on",
    ),
}
# The views that show tables of another name.
_SHOWN_BY = {
    "scores.corrected_means": "main.metrics",
    "scores.vote_scores": "scores.vote_metrics",
}
_BOOKKEEPING_COLUMNS = {
    "criterion": "what was asked for",
    "task_sets": "task sets of the votes on the model",
    "entry": "hash of the run and model; see scores.setups",
    "test_key": "hash of what the test depends on",
    "p_value": "two-sided p-value of the test",
    "low": "lower end of the 95 % interval of the difference, the test inverted",
    "high": "upper end of that interval",
    "has_interval": "whether the interval was asked for",
    "batch": "name of the batch",
    "created_at": "when the batch was written, UTC",
    "command": "command that wrote the batch",
    "version": "version of evalstore that wrote the batch",
    "folder": "folder of the lake that holds the batch's rows now",
    "rewritten_by": "batch in which `forget` last removed some of its rows",
    "tables": "tables that the batch has rows of",
    "generation": "version of the run's content",
    "parent": "generation that this one replaces",
    "key": "name of the entry",
    "value": "value of the entry",
}


def meaning(column: str, file: SqlFile) -> str:
    """Return the meaning of a column of a view or score; empty if unknown."""
    return _described(column, file.qualified) or COMMON.get(column, "")


def dictionary_digest() -> str:
    """Hash the meanings that are not in SQL files; comments are rewritten when it changes."""
    texts = repr((TABLES, COMMON, _BOOKKEEPING, _BOOKKEEPING_COLUMNS))
    return hashlib.sha256(texts.encode()).hexdigest()


def comment_on_everything(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Write the meanings as comments on all tables, views and columns, in one batch."""
    names = connection.execute(
        "SELECT schema_name || '.' || table_name, list(column_name) FROM duckdb_columns() "
        "WHERE NOT internal AND schema_name IN ('lake', 'main', 'checks', 'scores') GROUP BY ALL"
    ).fetchall()
    columns: dict[str, list[str]] = dict(names)
    statements = [*_on_tables(columns), *_on_bookkeeping(columns)]
    for file in files:
        if file.is_function:
            statements.append(_comment("MACRO", file.qualified, file.purpose))
            continue
        kind = "TABLE" if file.is_table else "VIEW"
        statements.append(_comment(kind, file.qualified, f"{file.purpose} Grain: {file.grain}."))
        statements += _on_columns(
            file.qualified, {name: meaning(name, file) for name in columns[file.qualified]}
        )
    # Without the optimizer, which would take a fifth of the time for nothing.
    connection.execute("PRAGMA disable_optimizer;" + "".join(statements))
    connection.execute("PRAGMA enable_optimizer")


def _on_tables(columns: dict[str, list[str]]) -> Iterator[str]:
    for table in TABLES:
        relation = f"lake.{table.name}"
        yield _comment("TABLE", relation, f"Grain: {table.grain}.")
        meanings = {column: COMMON.get(column, "") for column in columns[relation]}
        meanings |= {column.name: column.meaning for column in table.columns}
        yield from _on_columns(relation, meanings)


def _on_bookkeeping(columns: dict[str, list[str]]) -> Iterator[str]:
    for relation, (purpose, grain) in _BOOKKEEPING.items():
        yield _comment("TABLE", relation, f"{purpose} Grain: {grain}.")
        known = _BOOKKEEPING_COLUMNS | COMMON
        known = {column.name: column.meaning for column in RESULTS.columns} | known
        view = _files().get(_SHOWN_BY.get(relation, relation.replace("scores.", "main.")))
        if view is not None:  # the view that shows the table
            meanings = {column: meaning(column, view) for column in columns[relation]}
            known |= {column: text for column, text in meanings.items() if text}
        yield from _on_columns(relation, {column: known[column] for column in columns[relation]})


def _on_columns(relation: str, meanings: dict[str, str]) -> Iterator[str]:
    for column, text in meanings.items():
        yield _comment("COLUMN", f'{relation}."{column}"', text)


def _comment(kind: str, name: str, text: str) -> str:
    literal = text.replace("'", "''")
    return f"COMMENT ON {kind} {name} IS '{literal}';"


def _described(column: str, relation: str) -> str:
    """Return the meaning of a column in a relation's own text, or in those it inherits."""
    schema, _, name = relation.rpartition(".")
    if schema == "lake":
        return next((c.meaning for c in BY_NAME[name].columns if c.name == column), "")
    file = _files()[relation if schema else f"main.{name}"]
    if column in file.columns:
        return file.columns[column]
    return next(filter(None, (_described(column, other) for other in file.inherits)), "")


@cache
def _files() -> dict[str, SqlFile]:
    return {file.qualified: file for file in shipped_sql()}
