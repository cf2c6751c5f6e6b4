"""The types of rows and of JSON, for the whole product.

A function that builds a row of the lake returns that table's type, so that mypy finds a misspelt
column. No key is required: the import adds the run's key later, and a missing column is NULL.
Code that handles rows of any table or query takes `Row`. `warehouse/core/schemas.py` describes the
columns; a test keeps both equal.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, TypedDict

# A row by column name, read-only. `Any`, not `object`: a query may return any type.
Row: TypeAlias = Mapping[str, Any]

# Read-only too, so that a `list[int]` is JSON as well.
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, Json]


class _RunKey(TypedDict, total=False):
    suite: str
    run_id: str
    generation: str
    content_id: str


class _Source(TypedDict, total=False):
    record_keys: str | None
    extra: str | None
    source: str | None
    file_sha256: str | None


class RunRow(_RunKey, _Source, total=False):
    """A row of `runs`: what one source says of a generation of a run."""

    parent_generation: str | None
    origin: str | None
    started_at: datetime | None
    ended_at: datetime | None
    run_date: str | None
    label: str | None
    label_basis: str | None
    temperature: float | None
    seed: int | None
    model_path: str | None
    model: str | None
    task_set: str | None
    task_set_hash: str | None
    prompt_template: str | None
    template_hash: str | None
    dataset_hashes: str | None
    config: str | None
    plan: str | None
    inventory: str | None
    recorded_summary: str | None
    git_commit: str | None
    versions: str | None
    source_name: str | None
    source_rows: int | None


class ResultRow(_RunKey, _Source, total=False):
    """A row of `results`: a model call for a task of a run."""

    seq: int
    run_date: str | None
    provider: str | None
    model: str | None
    model_path: str | None
    thinking_level: str | None
    settings: str | None
    requested: str | None
    sent: str | None
    task_set: str | None
    task_id: str | None
    task_name: str | None
    task_hash: str | None
    prompt: str | None
    template_hash: str | None
    attempt: int | None
    stands_in_for: str | None
    availability_status: str | None
    success: bool | None
    failure_type: str | None
    started_at: datetime | None
    ended_at: datetime | None
    e2e_ms: int | None
    ttft_ms: int | None
    duration_seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    cost_source: str | None
    is_cached: bool | None
    raw_output: str | None
    raw_output_truncated: bool | None
    answer: str | None
    parsed_output: str | None
    output_state: str | None
    is_correct: bool | None
    objective_pass: bool | None
    violation: str | None
    scorer: str | None
    tool_calls: list[str] | None
    tool_call_count: int | None
    tool_use_success: bool | None
    retries: str | None


class TaskRow(_Source, total=False):
    """A row of `tasks`: a version of a task in a task set."""

    content_id: str
    suite: str
    task_set: str
    task_set_hash: str
    seq: int
    task_id: str
    task_name: str | None
    task_hash: str
    prompt: str | None
    reference: str | None
    validator: str | None
    scorer: str | None
    expected_tools: list[str] | None
    image_url: str | None
    image_sha256: str | None
    status: str | None
    exclusion: str | None
    question: str | None
    choices: str | None
    target: str | None
    set_title: str | None
    set_template: str | None
    cluster: str | None


class ModelRow(_Source, total=False):
    """A row of `models`: a version of a model configuration."""

    content_id: str
    model_path: str
    name: str
    provider: str | None
    parameters: str
    version: str | None
    metadata: str | None
    price: str | None
    skip: bool | None
    unresolved: bool | None


class AnnotationRow(_Source, total=False):
    """A row of `annotations`: a record of an annotator, an adjudication or a model for a poster."""

    content_id: str
    suite: str
    task_set: str
    task_id: str
    annotator: str | None
    kind: str
    label: str | None
    label_basis: str | None
    document: str | None
    annotated_at: datetime | None
    adjudicates: list[str] | None
    cost_usd: float | None
    meta: str | None
    raw_output: str | None


class JudgementRow(_RunKey, _Source, total=False):
    """A row of `judgements`: a judge's record for a result."""

    provider: str | None
    model: str
    task_id: str
    result_id: str | None
    judge: str | None
    overall_score: float | None
    document: str | None
    errors: str | None
    cost_usd: float | None
    meta: str | None
    raw_output: str | None


class EventRow(_RunKey, total=False):
    """A row of `events`: an event of the harness."""

    seq: int
    event: str | None
    tag: str | None
    document: str
    source: str | None
    file_sha256: str | None


class ResourceRow(_RunKey, total=False):
    """A row of `resources`: a snapshot of the system's resources."""

    name: str
    tag: str | None
    phase: str | None
    invocation: int | None
    content: bytes
    parsed: str | None
    file_sha256: str | None


class ArtifactRow(_RunKey, total=False):
    """A row of `artifacts`: a text kept with a run or a result: OCR, repair, notes, a report."""

    model: str | None
    task_id: str | None
    kind: str
    name: str
    content: bytes
    file_sha256: str | None


class ResultScoreRow(_RunKey, total=False):
    """A row of `result_scores`: a score of a result."""

    result_id: str
    scorer: str | None
    metric: str
    filter: str | None
    position: int | None
    value: float | None
    text: str | None
    passed: bool | None
    answer: str | None
    explanation: str | None
    weight: float | None
    extra: str | None
    file_sha256: str | None


class ReportedMetricRow(_RunKey, total=False):
    """A row of `reported_metrics`: a figure that a log reports."""

    seq: int
    provider: str | None
    model: str | None
    settings: str | None
    task_set: str | None
    task_group: str | None
    task_sets: list[str] | None
    scorer: str | None
    metric: str
    score: str | None
    filter: str | None
    statistic: str | None
    reducer: str | None
    reducer_parameters: str | None
    value: float | None
    text: str | None
    stderr: float | None
    stderr_method: str | None
    n: int | None
    higher_is_better: bool | None
    reason: str | None
    extra: str | None
    file_sha256: str | None


class MessageRow(_RunKey, total=False):
    """A row of `messages`: a message of the conversation of a result."""

    result_id: str
    seq: int
    role: str | None
    text: str | None
    parts: str | None
    tool_calls: str | None
    tool_call_id: str | None
    error: str | None
    extra: str | None
    file_sha256: str | None


class TagRow(TypedDict, total=False):
    """A row of `tags`: a change of a tag of a run."""

    content_id: str
    suite: str
    run_id: str
    name: str
    value: str | None
    replaces: list[str] | None
    tagged_at: datetime


class RescoreRow(TypedDict, total=False):
    """A row of `rescores`: a verdict of a re-score."""

    content_id: str
    suite: str
    run_id: str
    result_id: str
    scorer: str
    version: str
    rule: str | None
    passed: bool | None
    reason: str | None
    rescored_at: datetime


class PublishedRow(TypedDict, total=False):
    """A row of `published`: a metric of a model in an imported published report."""

    content_id: str
    report: str
    suite: str
    run_id: str | None
    form: str | None
    published_at: datetime | None
    label: str | None
    seq: int
    model: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    text: str | None
    file_sha256: str | None


class FileRow(TypedDict, total=False):
    """A row of `files`: an imported file."""

    content_id: str
    path: str
    sha256: str
    format: str
    size_bytes: int
    content: bytes | None


class QuarantineRow(TypedDict, total=False):
    """A row of `quarantine`: a record that could not be used."""

    content_id: str
    path: str
    sha256: str | None
    line: int | None
    byte_offset: int | None
    raw: bytes | None
    reason: str


class ViolationRow(TypedDict, total=False):
    """A row of `violations`: a place where an imported file breaks a rule of its specification."""

    content_id: str
    path: str
    sha256: str
    suite: str | None
    run_id: str | None
    line: int | None
    field: str
    rule: str
    message: str
