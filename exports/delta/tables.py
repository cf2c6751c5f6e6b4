"""The published tables: their queries, the types that every engine reads, and what columns mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# A verdict is as in the view `verdicts`, which has fewer columns.
_RESULTS = """
SELECT
    * EXCLUDE (computed, setup, entry, series),
    coalesce(is_correct, objective_pass, computed) AS passed,
    CASE
        WHEN coalesce(is_correct, objective_pass) IS NOT NULL THEN 'recorded'
        WHEN computed IS NOT NULL THEN 'computed'
    END AS verdict_source
FROM scores.resolved_results
"""
_TASK_FACTS = """
SELECT entries.* EXCLUDE (entry), facts.* EXCLUDE (suite, run_id, task_set, is_replay, entry, task)
FROM scores.task_facts AS facts
JOIN (
    SELECT DISTINCT suite, run_id, provider, model, settings, task_set, is_replay, entry
    FROM scores.setups
) AS entries ON facts.suite = entries.suite AND facts.run_id = entries.run_id
    AND facts.entry = entries.entry
"""
_MEANINGS = {
    "passed": "whether the result passed: as recorded, else as computed; NULL if nothing judges it",
    "verdict_source": "`recorded` or `computed`: where `passed` comes from",
}
# Columns of text that `--without-text` keeps: names, and values of a few words. All others may
# have what a model, a task or a person wrote. A task's id may be its prompt: it is hashed.
_NAMES = """
 agent agent_version availability_status batch call_id check_class completed_by cost_source
criterion duplicate_of failure_type file_sha256 filter first_shown generation git_commit harness
harness_version interval_method item_hash judge_model kind label label_basis message_id metric
model model_a model_b model_path models newer_partial_run_id origin outcome pair_id
parent_generation parameters parent_id passed_over_run provider rater rater_kind rating_id
recorded_date recorded_model reducer report reported_id result_a result_b result_id
result_run_id result_suite role routing run_id run_id_a run_id_b score_id scorer settings
source_name statistic status stderr_method step_id step_row_id suite suite_a suite_b system tags
task_group task_hash task_set task_set_hash task_version template_hash test thinking_level
token_scope tool_call_id trajectory trial_id verdict_source vote_id
"""
# DuckDB's types that Delta lacks, or that not every engine reads.
_TYPES = {
    "TINYINT": "INTEGER",
    "SMALLINT": "INTEGER",
    "UTINYINT": "INTEGER",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20,0)",
    "HUGEINT": "BIGINT",
    "JSON": "VARCHAR",
    "UUID": "VARCHAR",
    "INTERVAL": "VARCHAR",
    "TIME": "VARCHAR",
}
_TYPE = re.compile(r"\b(" + "|".join(_TYPES) + r")\b(?!\()")
_TEXT = re.compile(r"VARCHAR|MAP|STRUCT|\[\]|BLOB")


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A published table.

    Attributes:
        name: its name.
        view: the view whose meanings its columns have, with its schema.
        query: SQL of its rows; by default those of the view.
        is_fact: whether its rows are written with their run, and not computed over runs: a run
            that is not in it any more was forgotten.
        is_direct: whether its rows are records of a log, with their id and `batch`, and a filter
            on runs reads only theirs; the other tables are computed once.
    """

    name: str
    view: str
    query: str = ""
    is_fact: bool = False
    is_direct: bool = False

    @property
    def sql(self) -> str:
        """SQL of its rows."""
        return self.query or f"FROM {self.view}"


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A column of a published table.

    Attributes:
        name: its name.
        kind: DuckDB's name of its type, one that Delta has.
        expression: SQL of its values, in that type.
        is_text: whether its values may be long, or what models, tasks and people wrote.
        meaning: what it means; empty if unknown.
    """

    name: str
    kind: str
    expression: str
    is_text: bool
    meaning: str


TABLES: tuple[PublicTable, ...] = (
    PublicTable("runs", "main.runs", is_fact=True),
    PublicTable("results", "main.results", _RESULTS, is_fact=True, is_direct=True),
    PublicTable("result_scores", "main.result_scores", is_fact=True, is_direct=True),
    PublicTable("messages", "main.messages", is_fact=True, is_direct=True),
    PublicTable("steps", "main.steps", is_fact=True, is_direct=True),
    PublicTable("tasks", "main.tasks", is_direct=True),
    PublicTable("task_facts", "scores.task_facts", _TASK_FACTS, is_fact=True),
    PublicTable("reported_metrics", "main.reported_metrics"),
    PublicTable("ratings", "main.ratings", is_fact=True),
    PublicTable("preferences", "main.preferences", is_fact=True),
    PublicTable("systems", "main.systems", is_fact=True),
    PublicTable("leaderboard", "main.leaderboard"),
    PublicTable("metrics", "main.metrics"),
    PublicTable("model_history", "main.model_history"),
    PublicTable("metric_audit", "main.metric_audit"),
    PublicTable("costs", "main.costs"),
)


def public_columns(
    connection: duckdb.DuckDBPyConnection, table: PublicTable, *, with_text: bool
) -> list[PublicColumn]:
    """Return the columns of a table as they are published.

    Args:
        connection: a connection to the warehouse.
        table: the table.
        with_text: whether texts of models, tasks and people are published; without them the ids
            of tasks are SHA-256, since an id may be the prompt.
    """
    meanings = _meanings(connection, table.view)
    names = _NAMES.split()
    columns = []
    for name, kind, *_ in connection.execute(f"DESCRIBE ({table.sql})").fetchall():
        public = _TYPE.sub(lambda match: _TYPES[match[0]], kind)
        is_text = bool(_TEXT.search(public)) and name not in names
        expression = f'"{name}"::{public} AS "{name}"'
        if kind == "TIMESTAMP":
            expression = f'"{name}" AT TIME ZONE \'UTC\' AS "{name}"'
        if is_text and not with_text:
            if name != "task_id":
                continue
            expression = "sha256(task_id) AS task_id"
        columns.append(PublicColumn(name, public, expression, is_text, meanings.get(name, "")))
    return columns


def _meanings(connection: duckdb.DuckDBPyConnection, view: str) -> dict[str, str]:
    rows = connection.execute(
        "SELECT column_name, comment FROM duckdb_columns() WHERE comment IS NOT NULL "
        "AND schema_name || '.' || table_name IN ('main.results', $view) "
        "ORDER BY schema_name || '.' || table_name = $view",
        {"view": view},
    ).fetchall()
    return _MEANINGS | dict(rows)
