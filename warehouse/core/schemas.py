"""The tables of the lake, whose columns are those of the row types in `warehouse/core/types.py`.

This is the only definition of what is stored. The Parquet schemas, the tables of the warehouse and
the data dictionary in `docs/` are made from it.

Types are written as DuckDB writes them. `JSON` is text that holds valid JSON. `TIMESTAMP` is UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, get_args

from warehouse.core import types
from warehouse.core.errors import UnknownColumn
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

# Raised when a version that does not know the change would misread the lake; docs/compatibility.md
# says what is promised. `schema_version` in batch.json and in the Parquet files.
# 2: a batch may contain others that were merged into it.
# 3: scores, reported metrics and messages.
# 4: tags and re-scores.
# 5: the order of scores.
# 6: systems and steps (results of different systems are not of one model); ratings, preferences.
LAKE_FORMAT = 6

# An additional column in the files of merged batches, and in the tables of the warehouse.
BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a lake table.

    Attributes:
        name: its name, with the unit as suffix if it has one (`_ms`, `_usd`, `_seconds`).
        type: a DuckDB type, or `JSON` for text that holds valid JSON.
        meaning: one sentence for the data dictionary.
        nullable: False if a row without it cannot be used.
    """

    name: str
    type: str
    meaning: str
    nullable: bool = True


# Compared by identity: a hash of all columns would take longer than most uses of a table.
_OWN_RUN = ("suite", "run_id")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of the lake.

    Attributes:
        name: also the name of the Parquet file in a batch.
        grain: what a row represents.
        columns: in the order in which they are written.
        of_run: whether rows belong to a generation of a run; if not, `content_id` identifies them.
        about_run: whether rows name a run without belonging to one of its generations: they stay
            when its content is replaced, and go when it is forgotten.
        other_runs: pairs of columns (suite, run id) that may name another run that a row is about:
            it goes when that is forgotten. NULL is the row's own suite, or run.
        column_names: the names of the columns, in order.
    """

    name: str
    grain: str
    columns: tuple[Column, ...]
    of_run: bool = True
    about_run: bool = False
    other_runs: tuple[tuple[str, str], ...] = ()
    column_names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "column_names", tuple(each.name for each in self.columns))

    @property
    def about(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns (suite, run id) of runs that rows are about but not of."""
        return ((_OWN_RUN,) if self.about_run else ()) + self.other_runs

    @property
    def runs_named(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns (suite, run id) of the runs that rows are of or about."""
        return ((_OWN_RUN,) if self.of_run else ()) + self.about

    def check_columns(self, names: Iterable[str]) -> None:
        """Check that the table has columns of these names.

        Raises:
            UnknownColumn: it lacks one; the message suggests similar names.
        """
        unknown = sorted(set(names).difference(self.column_names))
        if unknown:
            raise UnknownColumn("; ".join(map(self._unknown_column, unknown)))

    def _unknown_column(self, name: str) -> str:
        near = did_you_mean(name, self.column_names)
        return f"table {self.name} has no column {name!r}" + (f"; {near}" if near else "")


_TYPES = {
    str: "VARCHAR",
    types.JsonText: "JSON",
    list[str]: "VARCHAR[]",
    bytes: "BLOB",
    int: "BIGINT",
    types.Int32: "INTEGER",
    float: "DOUBLE",
    bool: "BOOLEAN",
    datetime: "TIMESTAMP",
}


def columns_of(row: type) -> tuple[Column, ...]:
    """Return the columns that a row type defines; those about the source come last."""
    hints = row.__annotations__
    last = [name for name in hints if name in types.SourceColumns.__annotations__]
    first = [name for name in hints if name not in last]
    return tuple(_column(name, hints[name]) for name in (*first, *last))


def _column(name: str, hint: object) -> Column:
    # Of a required column, the parts of `JsonText` and `Int32` are those of the hint itself.
    value, *own_type, meaning = get_args(hint)
    nullable = NoneType in get_args(value)
    if nullable:
        value = get_args(value)[0]
    return Column(name, own_type[0] if own_type else _TYPES[value], meaning, nullable)


RUNS = Table("runs", "one source's record of a generation of a run", columns_of(types.RunRow))
RESULTS = Table("results", "a model call for a task of a run", columns_of(types.ResultRow))
TASKS = Table("tasks", "a version of a task in a task set", columns_of(types.TaskRow), of_run=False)
MODELS = Table(
    "models", "a version of a model configuration", columns_of(types.ModelRow), of_run=False
)
ANNOTATIONS = Table(
    "annotations",
    "a record of an annotator, an adjudication or a model for a poster",
    columns_of(types.AnnotationRow),
    of_run=False,
)
JUDGEMENTS = Table("judgements", "a judge's record for a result", columns_of(types.JudgementRow))
EVENTS = Table("events", "an event logged by the harness", columns_of(types.EventRow))
RESOURCES = Table(
    "resources", "a snapshot of the system's resources", columns_of(types.ResourceRow)
)
ARTIFACTS = Table(
    "artifacts",
    "a text kept with a run or a result: OCR, repair, notes, a report",
    columns_of(types.ArtifactRow),
)
RESULT_SCORES = Table("result_scores", "a score of a result", columns_of(types.ResultScoreRow))
REPORTED_METRICS = Table(
    "reported_metrics", "a figure that a log reports", columns_of(types.ReportedMetricRow)
)
MESSAGES = Table(
    "messages", "a message of the conversation of a result", columns_of(types.MessageRow)
)
SYSTEMS = Table(
    "systems",
    "a system that a run tested, where it is more than a model",
    columns_of(types.SystemRow),
)
STEPS = Table("steps", "a step of a trial", columns_of(types.StepRow))
RATINGS = Table(
    "ratings",
    "a rater's label of an answer by a criterion",
    columns_of(types.RatingRow),
    other_runs=(("rated_suite", "rated_run_id"),),
)
PREFERENCES = Table(
    "preferences",
    "a vote between two answers in one order of presentation",
    columns_of(types.PreferenceRow),
    other_runs=(("suite_a", "run_id_a"), ("suite_b", "run_id_b")),
)
TAGS = Table(
    "tags", "a change of a tag of a run", columns_of(types.TagRow), of_run=False, about_run=True
)
RESCORES = Table(
    "rescores",
    "a verdict of a re-score: of a version of a scorer on a stored answer",
    columns_of(types.RescoreRow),
    of_run=False,
    about_run=True,
)
PUBLISHED = Table(
    "published",
    "a metric of a model in an imported published report",
    columns_of(types.PublishedRow),
    of_run=False,
)
FILES = Table("files", "an imported file", columns_of(types.FileRow), of_run=False)
QUARANTINE = Table(
    "quarantine", "a record that could not be used", columns_of(types.QuarantineRow), of_run=False
)
VIOLATIONS = Table(
    "violations",
    "a place where an imported file breaks a rule of its specification",
    columns_of(types.ViolationRow),
    of_run=False,
)

TABLES: tuple[Table, ...] = (
    RUNS,
    RESULTS,
    TASKS,
    MODELS,
    ANNOTATIONS,
    JUDGEMENTS,
    EVENTS,
    RESOURCES,
    ARTIFACTS,
    RESULT_SCORES,
    REPORTED_METRICS,
    MESSAGES,
    SYSTEMS,
    STEPS,
    RATINGS,
    PREFERENCES,
    TAGS,
    RESCORES,
    PUBLISHED,
    FILES,
    QUARANTINE,
    VIOLATIONS,
)

BY_NAME = {table.name: table for table in TABLES}


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """Return the Parquet schema of a table; what its columns mean is in `column_meanings`."""
    import pyarrow as pa

    types = {
        "VARCHAR": pa.string(),
        "JSON": pa.string(),
        "VARCHAR[]": pa.list_(pa.string()),
        "BLOB": pa.binary(),
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
    }
    return pa.schema([pa.field(c.name, types[c.type], nullable=c.nullable) for c in table.columns])


@cache
def merged_schema(table: Table) -> pa.Schema:
    """Return the Parquet schema of a table in a merged batch, with the batch of each row."""
    import pyarrow as pa

    return arrow_schema(table).append(pa.field(BATCH, pa.string(), nullable=False))


@cache
def column_meanings() -> bytes:
    """Return what each column of the lake means: lines of table, column and meaning, with tabs."""
    of_merges = "batch that the row came in with, in the files of merged batches"
    lines = [("table", "column", "meaning")]
    for table in TABLES:
        lines += [(table.name, column.name, column.meaning) for column in table.columns]
        lines.append((table.name, BATCH, of_merges))
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def rows_sql(table: Table) -> str:
    """Return the relation of a table's rows in the files `$paths`, with all of its columns.

    Files lack columns that are newer than they are, and small ones those without a value.
    """
    nulls = ", ".join(f"NULL::{duckdb_type(c)} AS {c.name}" for c in table.columns)
    return (
        "(FROM read_parquet($paths, union_by_name = true, filename = true) "
        f"UNION ALL BY NAME SELECT {nulls} WHERE false)"
    )


def duckdb_type(column: Column) -> str:
    """Return the type of a column in the warehouse, where JSON is text that any client can read."""
    return "VARCHAR" if column.type == "JSON" else column.type
