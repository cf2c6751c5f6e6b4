"""The tables of the lake: every column, its type, its meaning and its unit.

This is the only definition of what is stored. The Parquet schemas, the tables of the warehouse and
the data dictionary in `docs/` are made from it. Columns are only ever added, and nullable.

Types are written as DuckDB writes them. `JSON` is text that holds valid JSON. `TIMESTAMP` is UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

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
LAKE_FORMAT = 5

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
        column_names: the names of the columns, in order.
    """

    name: str
    grain: str
    columns: tuple[Column, ...]
    of_run: bool = True
    about_run: bool = False
    column_names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "column_names", tuple(each.name for each in self.columns))

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


def _required(name: str, type_: str, meaning: str) -> Column:
    return Column(name, type_, meaning, nullable=False)


_CONTENT_ID = _required(
    "content_id", "VARCHAR", "id of the record: its hash, with a counter where a source repeats it"
)
_RUN_KEY = (
    _required(
        "suite", "VARCHAR", "benchmark family: palindrome, openclaw, posters or a user's own"
    ),
    _required("run_id", "VARCHAR", "name of the run, unique in its suite"),
    _required("generation", "VARCHAR", "version of the run's content; `root` until replaced"),
    _CONTENT_ID,
)
_SOURCE = (
    Column(
        "record_keys",
        "JSON",
        "keys of the record in their order; NULL if as specified",
    ),
    Column("extra", "JSON", "all fields of the record without a column"),
    Column("source", "VARCHAR", "original text of the record; NULL if the columns reproduce it"),
)
_FILE = Column("file_sha256", "VARCHAR", "SHA-256 of the imported file that the row came from")

RUNS = Table(
    "runs",
    "one source's record of a generation of a run",
    (
        *_RUN_KEY,
        Column("parent_generation", "VARCHAR", "generation that this one replaces"),
        Column("origin", "VARCHAR", "`import`, `runner` or `recorded` (by a user's own code)"),
        Column("started_at", "TIMESTAMP", "start of the run, UTC"),
        Column("ended_at", "TIMESTAMP", "end of the run, UTC"),
        Column("run_date", "VARCHAR", "local date in the log, as recorded"),
        Column(
            "label", "VARCHAR", "`gold` or `silver`: label of the ground truth, in suites with one"
        ),
        Column("label_basis", "VARCHAR", "`proven` in the store or `declared` at the import"),
        Column("temperature", "DOUBLE", "sampling temperature of the whole run"),
        Column("seed", "BIGINT", "random seed of the whole run"),
        Column("model_path", "VARCHAR", "path of the model file, as recorded"),
        Column("model", "VARCHAR", "model of all calls, where the log names it for the run only"),
        Column("task_set", "VARCHAR", "task set that the run used"),
        Column("task_set_hash", "VARCHAR", "content hash of the task set's version"),
        Column("prompt_template", "VARCHAR", "prompt template, with its placeholder"),
        Column("template_hash", "VARCHAR", "hash of the prompt template"),
        Column(
            "dataset_hashes", "JSON", "SHA-256 of the URL list, the manifest and the prompt files"
        ),
        Column("config", "JSON", "configuration of the run"),
        Column("plan", "JSON", "plan of our runner: models, tasks, attempts"),
        Column("inventory", "JSON", "host, programs and models at the time of the run"),
        Column("recorded_summary", "JSON", "summary imported with the run, to compare with ours"),
        Column("git_commit", "VARCHAR", "commit of the code that ran"),
        Column("versions", "JSON", "versions of the programs that ran"),
        Column("source_name", "VARCHAR", "name of the imported file or folder, without its path"),
        Column(
            "source_rows",
            "BIGINT",
            "records in the source; the one with the most describes the run",
        ),
        *_SOURCE,
        _FILE,
    ),
)

RESULTS = Table(
    "results",
    "a model call for a task of a run",
    (
        *_RUN_KEY,
        _required("seq", "BIGINT", "position in the source, from 1"),
        Column("run_date", "VARCHAR", "local date in the log, as recorded"),
        Column("provider", "VARCHAR", "way to reach the model, as recorded"),
        Column("model", "VARCHAR", "name of the model, as recorded; NULL if only a file is named"),
        Column("model_path", "VARCHAR", "path of the model file, as recorded"),
        Column("thinking_level", "VARCHAR", "low, medium, high or xhigh"),
        Column("settings", "JSON", "parameters of the call, keys sorted"),
        Column("requested", "JSON", "parameters requested; NULL if all were sent"),
        Column("sent", "JSON", "parameters sent to the provider"),
        Column("task_set", "VARCHAR", "task set that the task belongs to"),
        Column("task_id", "VARCHAR", "id of the task in its set; the prompt's text if it has none"),
        Column("task_name", "VARCHAR", "short, human-readable name"),
        Column("task_hash", "VARCHAR", "content hash of the task's version; NULL if not known"),
        Column("prompt", "VARCHAR", "the task's prompt, without the template"),
        Column("template_hash", "VARCHAR", "hash of the prompt template"),
        Column(
            "attempt", "INTEGER", "planned repetition of the task, from 1; NULL if not recorded"
        ),
        Column(
            "stands_in_for", "VARCHAR", "content_id of the failed result that this row replaces"
        ),
        Column(
            "availability_status",
            "VARCHAR",
            "ok, skipped_unavailable, auth_error, rate_limited or error",
        ),
        Column("success", "BOOLEAN", "whether the model answered without an error"),
        Column("failure_type", "VARCHAR", "reason code of the failure"),
        Column("started_at", "TIMESTAMP", "start of the call, UTC"),
        Column("ended_at", "TIMESTAMP", "end of the call, UTC"),
        Column("e2e_ms", "BIGINT", "latency of the last try of the call, milliseconds"),
        Column("ttft_ms", "BIGINT", "time to the first token, milliseconds"),
        Column("duration_seconds", "DOUBLE", "wall time including retries and back-off, seconds"),
        Column("input_tokens", "BIGINT", "number of tokens in the prompt"),
        Column("output_tokens", "BIGINT", "number of tokens in the answer"),
        Column("cost_usd", "DOUBLE", "cost of the call, US dollars; NULL if unknown"),
        Column("cost_source", "VARCHAR", "origin of the cost figure"),
        Column(
            "is_cached",
            "BOOLEAN",
            "whether the answer came from the tool's cache; NULL if the log does not say",
        ),
        Column("raw_output", "VARCHAR", "text returned by the model, unchanged"),
        Column("raw_output_truncated", "BOOLEAN", "whether our runner truncated raw_output"),
        Column("answer", "VARCHAR", "answer extracted from the model's text"),
        Column("parsed_output", "JSON", "what the validator or parser read from the text"),
        Column(
            "output_state",
            "VARCHAR",
            "state of a structured output: object, no_object, null, cut, not_utf8 or missing",
        ),
        Column("is_correct", "BOOLEAN", "verdict of a palindrome task, as recorded"),
        Column("objective_pass", "BOOLEAN", "verdict of an openclaw validator, as recorded"),
        Column("violation", "VARCHAR", "reason of a failed validator, as recorded"),
        Column(
            "scorer", "VARCHAR", "scorer that gave the recorded verdict, in suites of one's own"
        ),
        Column("tool_calls", "VARCHAR[]", "tools found in the text, as recorded"),
        Column("tool_call_count", "BIGINT", "number of tools found, as recorded"),
        Column("tool_use_success", "BOOLEAN", "verdict of the tool use, as recorded"),
        Column("retries", "JSON", "earlier tries of the same call: status, failure, time"),
        *_SOURCE,
        _FILE,
    ),
)

TASKS = Table(
    "tasks",
    "a version of a task in a task set",
    (
        _CONTENT_ID,
        _required("suite", "VARCHAR", "benchmark family"),
        _required("task_set", "VARCHAR", "name of the task set"),
        _required("task_set_hash", "VARCHAR", "content hash of the whole set"),
        _required("seq", "BIGINT", "position in the set, from 1"),
        _required(
            "task_id", "VARCHAR", "id of the task in its set; the prompt's text if it has none"
        ),
        Column("task_name", "VARCHAR", "short, human-readable name"),
        _required("task_hash", "VARCHAR", "content hash of this version of the task"),
        Column(
            "prompt",
            "VARCHAR",
            "text of the prompt, without template or examples; NULL if only what was sent is known",
        ),
        Column("reference", "VARCHAR", "the right answer; several as a JSON list"),
        Column("validator", "JSON", "rule that decides whether an answer passes"),
        Column("scorer", "JSON", "scorer, its references and options, in suites of one's own"),
        Column("expected_tools", "VARCHAR[]", "tools of which an answer should use one"),
        Column("image_url", "VARCHAR", "address of the image"),
        Column("image_sha256", "VARCHAR", "SHA-256 of the image; its bytes are never stored"),
        Column("status", "VARCHAR", "`ok`, or `error` if the task's image was not available"),
        Column("exclusion", "VARCHAR", "why the task is not scored; NULL if it is"),
        Column(
            "question", "VARCHAR", "the question without instructions; NULL if it is the prompt"
        ),
        Column("choices", "JSON", "the answers to choose from, as a list of texts"),
        Column("target", "VARCHAR", "the right answer as text; several as a JSON list"),
        Column("set_title", "VARCHAR", "title of the task set"),
        Column("set_template", "VARCHAR", "prompt template of the task set"),
        Column(
            "cluster",
            "VARCHAR",
            "name in the task set that the task shares with those it depends on, such as questions "
            "about one passage; NULL if none was declared",
        ),
        *_SOURCE,
        _FILE,
    ),
    of_run=False,
)

MODELS = Table(
    "models",
    "a version of a model configuration",
    (
        _CONTENT_ID,
        _required("model_path", "VARCHAR", "path relative to the workspace: models/<file>"),
        _required("name", "VARCHAR", "name of the model, slashes included"),
        Column("provider", "VARCHAR", "way to reach the model"),
        _required("parameters", "JSON", "parameters of the calls, keys sorted"),
        Column("version", "VARCHAR", "version of the model"),
        Column("metadata", "JSON", "other facts about the model"),
        Column("price", "JSON", "US dollars per token, input and output"),
        Column("skip", "BOOLEAN", "whether it is left out when all models are selected"),
        Column(
            "unresolved",
            "BOOLEAN",
            "whether an export made it up for a model whose file was missing",
        ),
        *_SOURCE,
        _FILE,
    ),
    of_run=False,
)

ANNOTATIONS = Table(
    "annotations",
    "a record of an annotator, an adjudication or a model for a poster",
    (
        _CONTENT_ID,
        _required("suite", "VARCHAR", "benchmark family"),
        _required("task_set", "VARCHAR", "dataset that the poster belongs to"),
        _required("task_id", "VARCHAR", "id of the poster"),
        Column("annotator", "VARCHAR", "who made the record"),
        _required("kind", "VARCHAR", "`human`, `adjudicated`, `declared` or `model`"),
        Column("label", "VARCHAR", "`gold` or `silver`"),
        Column("label_basis", "VARCHAR", "`proven` in the store or `declared` at the import"),
        Column("document", "JSON", "the record"),
        Column("annotated_at", "TIMESTAMP", "when it was made, UTC"),
        Column("adjudicates", "VARCHAR[]", "content_ids of the records that it settles"),
        Column("cost_usd", "DOUBLE", "cost of the call, US dollars"),
        Column("meta", "JSON", "facts recorded about the model's call"),
        Column("raw_output", "VARCHAR", "text returned by the model, unchanged"),
        *_SOURCE,
        _FILE,
    ),
    of_run=False,
)

JUDGEMENTS = Table(
    "judgements",
    "a judge's record for a result",
    (
        *_RUN_KEY,
        Column("provider", "VARCHAR", "provider of the judged model"),
        _required("model", "VARCHAR", "the judged model"),
        _required("task_id", "VARCHAR", "id of the judged task"),
        Column("result_id", "VARCHAR", "content_id of the judged result, in suites of one's own"),
        Column("judge", "VARCHAR", "model that judged"),
        Column("overall_score", "DOUBLE", "the judge's score, 0 to 100"),
        Column("document", "JSON", "the record"),
        Column("errors", "JSON", "errors that the judge found"),
        Column("cost_usd", "DOUBLE", "cost of the call, US dollars"),
        Column("meta", "JSON", "facts recorded about the judge's call"),
        Column("raw_output", "VARCHAR", "text returned by the judge, unchanged"),
        *_SOURCE,
        _FILE,
    ),
)

EVENTS = Table(
    "events",
    "an event logged by the harness",
    (
        *_RUN_KEY,
        _required("seq", "BIGINT", "position in the source, counted together with the results"),
        Column("event", "VARCHAR", "name of the event"),
        Column("tag", "VARCHAR", "part of the run that it belongs to"),
        _required("document", "JSON", "the whole record, keys in their order"),
        Column(
            "source", "VARCHAR", "original text of the record; NULL if `document` reproduces it"
        ),
        _FILE,
    ),
)

RESOURCES = Table(
    "resources",
    "a snapshot of the system's resources",
    (
        *_RUN_KEY,
        _required("name", "VARCHAR", "name of the snapshot's file"),
        Column("tag", "VARCHAR", "provider, model and thinking level, as in the file's name"),
        Column("phase", "VARCHAR", "`before` or `after` the model's suite"),
        Column("invocation", "INTEGER", "invocation of the run that made it, from 1"),
        _required("content", "BLOB", "the bytes, unchanged"),
        Column("parsed", "JSON", "figures read from it"),
        _FILE,
    ),
)

ARTIFACTS = Table(
    "artifacts",
    "a text kept with a run or a result: OCR, repair, notes, a report",
    (
        *_RUN_KEY,
        Column("model", "VARCHAR", "model that it belongs to"),
        Column("task_id", "VARCHAR", "task that it belongs to"),
        _required("kind", "VARCHAR", "ocr, repair, refine, locfill, notes, report or manifest"),
        _required("name", "VARCHAR", "path inside the run's folder"),
        _required("content", "BLOB", "the bytes, unchanged"),
        _FILE,
    ),
)

RESULT_SCORES = Table(
    "result_scores",
    "a score of a result",
    (
        *_RUN_KEY,
        _required("result_id", "VARCHAR", "content_id of the result"),
        Column("scorer", "VARCHAR", "what gave the score; NULL if not recorded"),
        _required(
            "metric", "VARCHAR", "name of the score; the scorer's if it gives only one value"
        ),
        Column("filter", "VARCHAR", "filter that was applied to the answer first"),
        Column(
            "position",
            "INTEGER",
            "position among the scores of its result, from 1; NULL if not recorded",
        ),
        Column("value", "DOUBLE", "the score; NULL if it is not a finite number"),
        Column("text", "VARCHAR", "the score as recorded, if it is not a finite number"),
        Column("passed", "BOOLEAN", "whether the score means a pass; NULL if it does not say"),
        Column("answer", "VARCHAR", "answer that the scorer read from the model's text"),
        Column("explanation", "VARCHAR", "why the scorer gave this score"),
        Column("weight", "DOUBLE", "weight of the score in a combined one"),
        Column("extra", "JSON", "all fields of the record without a column"),
        _FILE,
    ),
)

REPORTED_METRICS = Table(
    "reported_metrics",
    "a figure that a log reports",
    (
        *_RUN_KEY,
        _required("seq", "BIGINT", "position in the source, from 1"),
        Column("provider", "VARCHAR", "way to reach the model, as recorded"),
        Column("model", "VARCHAR", "name of the model, as recorded"),
        Column(
            "settings", "JSON", "parameters of the calls behind it, keys sorted; NULL for all calls"
        ),
        Column("task_set", "VARCHAR", "task set that the figure covers; NULL for several"),
        Column("task_group", "VARCHAR", "group of tasks or task sets that the figure covers"),
        Column("task_sets", "VARCHAR[]", "task sets of the group; NULL if not recorded"),
        Column("scorer", "VARCHAR", "what gave the scores; NULL if not recorded"),
        _required("metric", "VARCHAR", "name of the figure, as reported"),
        Column(
            "score",
            "VARCHAR",
            "`metric` of the scores behind it, or a column of results, as in results.cost_usd; "
            "NULL if of the same name",
        ),
        Column("filter", "VARCHAR", "filter that was applied to the answers first"),
        Column(
            "statistic",
            "VARCHAR",
            "how it follows from the scores: mean, stderr, std, var, sum, min, max, median, "
            "median_high (of an even number of scores the larger one in the middle), count, "
            "macro_mean (of task sets or groups), ratio, perplexity or bits (of two sums); "
            "NULL if it does not",
        ),
        Column(
            "reducer",
            "VARCHAR",
            "how the attempts at a task become one score; NULL: mean; none: each counts by itself",
        ),
        Column(
            "reducer_parameters",
            "JSON",
            "parameters of the reducer and the statistic: k; pass, the only score that is a pass, "
            "if not all from 1 on are; per, the scores that divide a ratio; "
            "by or cluster, the JSON pointer into `extra` of results to the name of a task's group "
            "or cluster; of, the statistic of each group that macro_mean is the mean of",
        ),
        Column("value", "DOUBLE", "the figure; NULL if it is not a finite number"),
        Column("text", "VARCHAR", "the figure as recorded, if it is not a finite number"),
        Column("stderr", "DOUBLE", "its standard error, as reported"),
        Column(
            "stderr_method",
            "VARCHAR",
            "how the standard error was estimated: sample (ddof 1), bootstrap, pooled (over "
            "the tasks of a group) or independent (of a mean of independent tasks' means)",
        ),
        Column("n", "BIGINT", "number of tasks behind it, as reported"),
        Column("higher_is_better", "BOOLEAN", "whether more is better"),
        Column(
            "reason",
            "VARCHAR",
            "why the figure cannot be computed from the scores: corpus metric, random bootstrap",
        ),
        Column("extra", "JSON", "all fields of the record without a column"),
        _FILE,
    ),
)

MESSAGES = Table(
    "messages",
    "a message of the conversation of a result",
    (
        *_RUN_KEY,
        _required("result_id", "VARCHAR", "content_id of the result"),
        _required("seq", "BIGINT", "position in the conversation, from 1"),
        Column("role", "VARCHAR", "system, user, assistant or tool, as recorded"),
        Column("text", "VARCHAR", "the text of the message, its parts joined by line breaks"),
        Column("parts", "JSON", "the parts of the message as recorded; NULL if it is only text"),
        Column(
            "tool_calls",
            "JSON",
            "calls of tools in the message: a list of {id, function, arguments, error}",
        ),
        Column("tool_call_id", "VARCHAR", "call that the message of a tool answers"),
        Column("error", "VARCHAR", "error of the tool, in the message of a tool"),
        Column("extra", "JSON", "all fields of the record without a column"),
        _FILE,
    ),
)

TAGS = Table(
    "tags",
    "a change of a tag of a run",
    (
        _CONTENT_ID,
        _required("suite", "VARCHAR", "suite of the run"),
        _required("run_id", "VARCHAR", "name of the run"),
        _required("name", "VARCHAR", "name of the tag"),
        Column("value", "VARCHAR", "its value; NULL if the tag is removed"),
        Column(
            "replaces",
            "VARCHAR[]",
            "content_ids of the earlier changes of the tag that it replaces",
        ),
        _required("tagged_at", "TIMESTAMP", "when it was made, UTC"),
    ),
    of_run=False,
    about_run=True,
)

RESCORES = Table(
    "rescores",
    "a verdict of a re-score: of a version of a scorer on a stored answer",
    (
        _CONTENT_ID,
        _required("suite", "VARCHAR", "suite of the run"),
        _required("run_id", "VARCHAR", "name of the run"),
        _required("result_id", "VARCHAR", "content_id of the result"),
        _required("scorer", "VARCHAR", "name of the scorer"),
        _required("version", "VARCHAR", "version of the scorer: a hash of its rules"),
        Column("rule", "JSON", "rule that judged the answer, as tasks hold it in `scorer`"),
        Column("passed", "BOOLEAN", "whether the answer passes; NULL without a verdict"),
        Column("reason", "VARCHAR", "why it does not pass, or why there is no verdict"),
        _required("rescored_at", "TIMESTAMP", "when it was judged, UTC"),
    ),
    of_run=False,
    about_run=True,
)

PUBLISHED = Table(
    "published",
    "a metric of a model in an imported published report",
    (
        _CONTENT_ID,
        _required("report", "VARCHAR", "name of the published folder"),
        _required("suite", "VARCHAR", "benchmark family"),
        Column("run_id", "VARCHAR", "run that the report names"),
        Column("form", "VARCHAR", "version of the report's format"),
        Column("published_at", "TIMESTAMP", "when it was published, UTC"),
        Column("label", "VARCHAR", "`gold` or `silver`, if stated"),
        _required("seq", "BIGINT", "position of the model in the report, from 1"),
        _required("model", "VARCHAR", "name of the model"),
        _required("metric", "VARCHAR", "name of the metric"),
        Column("value", "DOUBLE", "value of the metric"),
        Column("low", "DOUBLE", "lower end of its interval"),
        Column("high", "DOUBLE", "upper end of its interval"),
        Column("text", "VARCHAR", "value that is not a number"),
        _FILE,
    ),
    of_run=False,
)

FILES = Table(
    "files",
    "an imported file",
    (
        _CONTENT_ID,
        _required("path", "VARCHAR", "path, as given to the import"),
        _required("sha256", "VARCHAR", "SHA-256 of the bytes"),
        _required("format", "VARCHAR", "format, as detected by the import"),
        _required("size_bytes", "BIGINT", "size, bytes"),
        Column("content", "BLOB", "the bytes; NULL above the size limit"),
    ),
    of_run=False,
)

QUARANTINE = Table(
    "quarantine",
    "a record that could not be used",
    (
        _CONTENT_ID,
        _required("path", "VARCHAR", "path, as given to the import"),
        Column("sha256", "VARCHAR", "SHA-256 of the file"),
        Column("line", "BIGINT", "line in the file, from 1"),
        Column("byte_offset", "BIGINT", "offset of the record in the file, bytes"),
        Column("raw", "BLOB", "the record's bytes; NULL above the size limit"),
        _required("reason", "VARCHAR", "what is wrong"),
    ),
    of_run=False,
)

VIOLATIONS = Table(
    "violations",
    "a place where an imported file breaks a rule of its specification",
    (
        _CONTENT_ID,
        _required("path", "VARCHAR", "path, as given to the import"),
        _required("sha256", "VARCHAR", "SHA-256 of the file"),
        Column("suite", "VARCHAR", "benchmark family"),
        Column("run_id", "VARCHAR", "run that the file belongs to"),
        Column("line", "BIGINT", "line in the file, from 1"),
        _required("field", "VARCHAR", "the field, as a path: tasks[2].answer"),
        _required("rule", "VARCHAR", "short name of the rule"),
        _required("message", "VARCHAR", "what is wrong, human-readable"),
    ),
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
    """Return the Parquet schema of a table, with each column's meaning and the schema version."""
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
    fields = [
        pa.field(c.name, types[c.type], nullable=c.nullable, metadata={"meaning": c.meaning})
        for c in table.columns
    ]
    return pa.schema(fields, metadata={"evalstore.schema_version": str(LAKE_FORMAT)})


@cache
def merged_schema(table: Table) -> pa.Schema:
    """Return the Parquet schema of a table in a merged batch, with the batch of each row."""
    import pyarrow as pa

    meaning = {"meaning": "batch that the row came in with"}
    column = pa.field(BATCH, pa.string(), nullable=False, metadata=meaning)
    return arrow_schema(table).append(column)


def duckdb_type(column: Column) -> str:
    """Return the type of a column in the warehouse, where JSON is text that any client can read."""
    return "VARCHAR" if column.type == "JSON" else column.type
