"""The types of rows and of JSON, for the whole product, and the columns of the lake's tables.

The row type of a table is the only definition of its columns: type, meaning, unit. The tables in
`warehouse/core/schemas.py` are made from it, and mypy finds a misspelt column in a function that
builds a row. No key is required: the import adds the run's key later, and a missing column is NULL;
without `None`, a row lacking it cannot be used. Columns are only ever added, and nullable.

A column's name has its unit as suffix if it has one (`_ms`, `_usd`, `_seconds`). Times are UTC.
Code that handles rows of any table or query takes `Row`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeAlias, TypedDict

# A row by column name, read-only. `Any`, not `object`: a query may return any type.
Row: TypeAlias = Mapping[str, Any]

# Read-only too, so that a `list[int]` is JSON as well.
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, Json]

# Types of columns that Python's own do not distinguish: text that holds valid JSON, and 32 bits.
JsonText: TypeAlias = Annotated[str, "JSON"]
Int32: TypeAlias = Annotated[int, "INTEGER"]


class _RunKey(TypedDict, total=False):
    suite: Annotated[str, "benchmark family: palindrome, openclaw, posters or a user's own"]
    run_id: Annotated[str, "name of the run, unique in its suite"]
    generation: Annotated[str, "version of the run's content; `root` until replaced"]
    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]


class SourceColumns(TypedDict, total=False):
    """The columns that keep what the others do not; they are the last of a table."""

    record_keys: Annotated[
        JsonText | None, "keys of the record in their order; NULL if as specified"
    ]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    source: Annotated[str | None, "original text of the record; NULL if the columns reproduce it"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class RunRow(_RunKey, SourceColumns, total=False):
    """A row of `runs`: what one source says of a generation of a run."""

    parent_generation: Annotated[str | None, "generation that this one replaces"]
    origin: Annotated[str | None, "`import`, `runner` or `recorded` (by a user's own code)"]
    started_at: Annotated[datetime | None, "start of the run, UTC"]
    ended_at: Annotated[datetime | None, "end of the run, UTC"]
    run_date: Annotated[str | None, "local date in the log, as recorded"]
    label: Annotated[
        str | None, "`gold` or `silver`: label of the ground truth, in suites with one"
    ]
    label_basis: Annotated[str | None, "`proven` in the store or `declared` at the import"]
    temperature: Annotated[float | None, "sampling temperature of the whole run"]
    seed: Annotated[int | None, "random seed of the whole run"]
    model_path: Annotated[str | None, "path of the model file, as recorded"]
    model: Annotated[str | None, "model of all calls, where the log names it for the run only"]
    task_set: Annotated[str | None, "task set that the run used"]
    task_set_hash: Annotated[str | None, "content hash of the task set's version"]
    prompt_template: Annotated[str | None, "prompt template, with its placeholder"]
    template_hash: Annotated[str | None, "hash of the prompt template"]
    dataset_hashes: Annotated[
        JsonText | None, "SHA-256 of the URL list, the manifest and the prompt files"
    ]
    config: Annotated[JsonText | None, "configuration of the run"]
    plan: Annotated[JsonText | None, "plan of our runner: models, tasks, attempts"]
    inventory: Annotated[JsonText | None, "host, programs and models at the time of the run"]
    recorded_summary: Annotated[
        JsonText | None, "summary imported with the run, to compare with ours"
    ]
    git_commit: Annotated[str | None, "commit of the code that ran"]
    versions: Annotated[JsonText | None, "versions of the programs that ran"]
    source_name: Annotated[str | None, "name of the imported file or folder, without its path"]
    source_rows: Annotated[
        int | None, "records in the source; the one with the most describes the run"
    ]


class ResultRow(_RunKey, SourceColumns, total=False):
    """A row of `results`: a model call for a task of a run."""

    seq: Annotated[int, "position in the source, from 1"]
    run_date: Annotated[str | None, "local date in the log, as recorded"]
    provider: Annotated[str | None, "way to reach the model, as recorded"]
    model: Annotated[str | None, "name of the model, as recorded; NULL if only a file is named"]
    model_path: Annotated[str | None, "path of the model file, as recorded"]
    thinking_level: Annotated[str | None, "low, medium, high or xhigh"]
    settings: Annotated[JsonText | None, "parameters of the call, keys sorted"]
    requested: Annotated[JsonText | None, "parameters requested; NULL if all were sent"]
    sent: Annotated[JsonText | None, "parameters sent to the provider"]
    task_set: Annotated[str | None, "task set that the task belongs to"]
    task_id: Annotated[str | None, "id of the task in its set; the prompt's text if it has none"]
    task_name: Annotated[str | None, "short, human-readable name"]
    task_hash: Annotated[str | None, "content hash of the task's version; NULL if not known"]
    prompt: Annotated[str | None, "the task's prompt, without the template"]
    template_hash: Annotated[str | None, "hash of the prompt template"]
    attempt: Annotated[Int32 | None, "planned repetition of the task, from 1; NULL if not recorded"]
    stands_in_for: Annotated[str | None, "content_id of the failed result that this row replaces"]
    availability_status: Annotated[
        str | None, "ok, skipped_unavailable, auth_error, rate_limited or error"
    ]
    success: Annotated[bool | None, "whether the model answered without an error"]
    failure_type: Annotated[str | None, "reason code of the failure"]
    started_at: Annotated[datetime | None, "start of the call, UTC"]
    ended_at: Annotated[datetime | None, "end of the call, UTC"]
    e2e_ms: Annotated[int | None, "latency of the last try of the call, milliseconds"]
    ttft_ms: Annotated[int | None, "time to the first token, milliseconds"]
    duration_seconds: Annotated[float | None, "wall time including retries and back-off, seconds"]
    input_tokens: Annotated[int | None, "number of tokens in the prompt"]
    output_tokens: Annotated[int | None, "number of tokens in the answer"]
    cost_usd: Annotated[float | None, "cost of the call, US dollars; NULL if unknown"]
    cost_source: Annotated[str | None, "origin of the cost figure"]
    is_cached: Annotated[
        bool | None, "whether the answer came from the tool's cache; NULL if the log does not say"
    ]
    raw_output: Annotated[str | None, "text returned by the model, unchanged"]
    raw_output_truncated: Annotated[bool | None, "whether our runner truncated raw_output"]
    answer: Annotated[str | None, "answer extracted from the model's text"]
    parsed_output: Annotated[JsonText | None, "what the validator or parser read from the text"]
    output_state: Annotated[
        str | None,
        "state of a structured output: object, no_object, null, cut, not_utf8 or missing",
    ]
    is_correct: Annotated[bool | None, "verdict of a palindrome task, as recorded"]
    objective_pass: Annotated[bool | None, "verdict of an openclaw validator, as recorded"]
    violation: Annotated[str | None, "reason of a failed validator, as recorded"]
    scorer: Annotated[str | None, "scorer that gave the recorded verdict, in suites of one's own"]
    tool_calls: Annotated[list[str] | None, "tools found in the text, as recorded"]
    tool_call_count: Annotated[int | None, "number of tools found, as recorded"]
    tool_use_success: Annotated[bool | None, "verdict of the tool use, as recorded"]
    retries: Annotated[JsonText | None, "earlier tries of the same call: status, failure, time"]
    system: Annotated[
        str | None,
        "label of the tested system, where it is more than a model: a row of `systems`; NULL where "
        "it is the model",
    ]
    trial_id: Annotated[
        str | None, "the trial's own id; the same trial has one id in each of its files"
    ]
    end_reason: Annotated[
        str | None,
        "how the trial ended: solved, gave_up (it stopped by itself and did not pass), limit (of "
        "steps, tokens or cost), timeout, error or unknown",
    ]
    recorded_end: Annotated[str | None, "how it ended, in the log's own word"]
    token_scope: Annotated[
        str | None,
        "whose calls tokens and cost cover: own (the trial's agent), tree (its sub-agents too) or "
        "chain (the trajectories that it continues too); NULL if the log does not say",
    ]
    cached_tokens: Annotated[int | None, "tokens of the prompt that came from the provider's cache"]
    reasoning_tokens: Annotated[int | None, "tokens of the answer that are reasoning"]
    n_steps: Annotated[int | None, "number of steps in the log's own unit; NULL if unknown"]
    n_tool_errors: Annotated[int | None, "calls of tools that failed, as recorded or marked"]
    phases: Annotated[
        JsonText | None, "phases of the trial: a list of {name, started_at, ended_at}"
    ]


class SystemRow(_RunKey, total=False):
    """A row of `systems`: what a run tested, where it is more than a model."""

    system: Annotated[str, "label of the system, as in `system` of results"]
    agent: Annotated[str | None, "name of the agent, or of the scaffold around the model"]
    agent_version: Annotated[str | None, "version of the agent"]
    harness: Annotated[str | None, "program that ran the trials"]
    harness_version: Annotated[str | None, "version of that program"]
    model: Annotated[str | None, "the agent's main model; NULL if not recorded"]
    models: Annotated[
        JsonText | None,
        "models by role (agent, user, judge, subagent and others), an object; several as a list",
    ]
    configuration: Annotated[JsonText | None, "settings of the agent and its environment"]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class StepRow(_RunKey, total=False):
    """A row of `steps`: a step of a trial: a message, a call of a model or of a tool, an event."""

    result_id: Annotated[str, "content_id of the result"]
    seq: Annotated[int, "position in the trial, from 1"]
    trajectory: Annotated[
        str | None, "trajectory that it belongs to, of a sub-agent or a part; NULL: the main one"
    ]
    step_id: Annotated[str | None, "id of the step in its trial, as recorded or made"]
    parent_id: Annotated[
        str | None, "step_id of the step that it is part of, even if that is not in the log"
    ]
    agent: Annotated[str | None, "agent that made the step; NULL: the trial's"]
    kind: Annotated[
        str,
        "system, user, model, tool, agent (a span of one), sandbox, eval, compaction, error or "
        "other",
    ]
    role: Annotated[str | None, "whose model made the call, where a trial has several"]
    name: Annotated[str | None, "name of the tool, span or event"]
    model: Annotated[str | None, "model of the call"]
    started_at: Annotated[datetime | None, "start of the step, UTC"]
    ended_at: Annotated[datetime | None, "end of the step, UTC"]
    input_tokens: Annotated[
        int | None,
        "tokens of the prompt as recorded, by some formats without those from a cache",
    ]
    cached_tokens: Annotated[int | None, "tokens of the prompt that came from a cache"]
    output_tokens: Annotated[int | None, "tokens of the answer"]
    reasoning_tokens: Annotated[int | None, "tokens of the answer that are reasoning"]
    cost_usd: Annotated[float | None, "cost of the step's calls, US dollars"]
    text: Annotated[str | None, "what was said or returned, where `messages` do not have it"]
    reasoning: Annotated[str | None, "reasoning before it"]
    call_id: Annotated[str | None, "id of the call of a tool"]
    arguments: Annotated[JsonText | None, "arguments of the call of a tool"]
    error: Annotated[str | None, "error of the step; NULL if none is marked"]
    exit_code: Annotated[int | None, "exit code of a command"]
    is_copied: Annotated[
        bool | None, "whether the step repeats one of an earlier trajectory: it does not count"
    ]
    is_counted: Annotated[
        bool | None,
        "whether it is a step in the log's own unit: false for parts that a log has inside of one",
    ]
    first_message: Annotated[int | None, "seq of its first message in `messages`"]
    last_message: Annotated[int | None, "seq of its last message in `messages`"]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class TaskRow(SourceColumns, total=False):
    """A row of `tasks`: a version of a task in a task set."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    suite: Annotated[str, "benchmark family"]
    task_set: Annotated[str, "name of the task set"]
    task_set_hash: Annotated[str, "content hash of the whole set"]
    seq: Annotated[int, "position in the set, from 1"]
    task_id: Annotated[str, "id of the task in its set; the prompt's text if it has none"]
    task_name: Annotated[str | None, "short, human-readable name"]
    task_hash: Annotated[str, "content hash of this version of the task"]
    prompt: Annotated[
        str | None,
        "text of the prompt, without template or examples; NULL if only what was sent is known",
    ]
    reference: Annotated[str | None, "the right answer; several as a JSON list"]
    validator: Annotated[JsonText | None, "rule that decides whether an answer passes"]
    scorer: Annotated[JsonText | None, "scorer, its references and options, in suites of one's own"]
    expected_tools: Annotated[list[str] | None, "tools of which an answer should use one"]
    image_url: Annotated[str | None, "address of the image"]
    image_sha256: Annotated[str | None, "SHA-256 of the image; its bytes are never stored"]
    status: Annotated[str | None, "`ok`, or `error` if the task's image was not available"]
    exclusion: Annotated[str | None, "why the task is not scored; NULL if it is"]
    question: Annotated[str | None, "the question without instructions; NULL if it is the prompt"]
    choices: Annotated[JsonText | None, "the answers to choose from, as a list of texts"]
    target: Annotated[str | None, "the right answer as text; several as a JSON list"]
    set_title: Annotated[str | None, "title of the task set"]
    set_template: Annotated[str | None, "prompt template of the task set"]
    cluster: Annotated[
        str | None,
        "name in the task set that the task shares with those it depends on, such as questions "
        "about one passage; NULL if none was declared",
    ]


class ModelRow(SourceColumns, total=False):
    """A row of `models`: a version of a model configuration."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    model_path: Annotated[str, "path relative to the workspace: models/<file>"]
    name: Annotated[str, "name of the model, slashes included"]
    provider: Annotated[str | None, "way to reach the model"]
    parameters: Annotated[JsonText, "parameters of the calls, keys sorted"]
    version: Annotated[str | None, "version of the model"]
    metadata: Annotated[JsonText | None, "other facts about the model"]
    price: Annotated[JsonText | None, "US dollars per token, input and output"]
    skip: Annotated[bool | None, "whether it is left out when all models are selected"]
    unresolved: Annotated[
        bool | None, "whether an export made it up for a model whose file was missing"
    ]


class AnnotationRow(SourceColumns, total=False):
    """A row of `annotations`: a record of an annotator, an adjudication or a model for a poster."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    suite: Annotated[str, "benchmark family"]
    task_set: Annotated[str, "dataset that the poster belongs to"]
    task_id: Annotated[str, "id of the poster"]
    annotator: Annotated[str | None, "who made the record"]
    kind: Annotated[str, "`human`, `adjudicated`, `returned`, `declared` or `model`"]
    label: Annotated[str | None, "`gold` or `silver`"]
    label_basis: Annotated[str | None, "`proven` in the store or `declared` at the import"]
    document: Annotated[JsonText | None, "the record"]
    annotated_at: Annotated[datetime | None, "when it was made, UTC"]
    adjudicates: Annotated[list[str] | None, "content_ids of the records that it settles"]
    cost_usd: Annotated[float | None, "cost of the call, US dollars"]
    meta: Annotated[JsonText | None, "facts recorded about the model's call"]
    raw_output: Annotated[str | None, "text returned by the model, unchanged"]


class JudgementRow(_RunKey, SourceColumns, total=False):
    """A row of `judgements`: a judge's record for a result."""

    provider: Annotated[str | None, "provider of the judged model"]
    model: Annotated[str, "the judged model"]
    task_id: Annotated[str, "id of the judged task"]
    result_id: Annotated[str | None, "content_id of the judged result, in suites of one's own"]
    judge: Annotated[str | None, "model that judged"]
    overall_score: Annotated[float | None, "the judge's score, 0 to 100"]
    document: Annotated[JsonText | None, "the record"]
    errors: Annotated[JsonText | None, "errors that the judge found"]
    cost_usd: Annotated[float | None, "cost of the call, US dollars"]
    meta: Annotated[JsonText | None, "facts recorded about the judge's call"]
    raw_output: Annotated[str | None, "text returned by the judge, unchanged"]


class EventRow(_RunKey, total=False):
    """A row of `events`: an event of the harness."""

    seq: Annotated[int, "position in the source, counted together with the results"]
    event: Annotated[str | None, "name of the event"]
    tag: Annotated[str | None, "part of the run that it belongs to"]
    document: Annotated[JsonText, "the whole record, keys in their order"]
    source: Annotated[str | None, "original text of the record; NULL if `document` reproduces it"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class ResourceRow(_RunKey, total=False):
    """A row of `resources`: a snapshot of the system's resources."""

    name: Annotated[str, "name of the snapshot's file"]
    tag: Annotated[str | None, "provider, model and thinking level, as in the file's name"]
    phase: Annotated[str | None, "`before` or `after` the model's suite"]
    invocation: Annotated[Int32 | None, "invocation of the run that made it, from 1"]
    content: Annotated[bytes, "the bytes, unchanged"]
    parsed: Annotated[JsonText | None, "figures read from it"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class ArtifactRow(_RunKey, total=False):
    """A row of `artifacts`: a text kept with a run or a result: OCR, repair, notes, a report."""

    model: Annotated[str | None, "model that it belongs to"]
    task_id: Annotated[str | None, "task that it belongs to"]
    kind: Annotated[str, "ocr, repair, refine, locfill, notes, report, manifest or label sample"]
    name: Annotated[str, "path inside the run's folder"]
    content: Annotated[bytes, "the bytes, unchanged"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class ResultScoreRow(_RunKey, total=False):
    """A row of `result_scores`: a score of a result."""

    result_id: Annotated[str, "content_id of the result"]
    scorer: Annotated[str | None, "what gave the score; NULL if not recorded"]
    metric: Annotated[str, "name of the score; the scorer's if it gives only one value"]
    filter: Annotated[str | None, "filter that was applied to the answer first"]
    position: Annotated[
        Int32 | None, "position among the scores of its result, from 1; NULL if not recorded"
    ]
    value: Annotated[float | None, "the score; NULL if it is not a finite number"]
    text: Annotated[str | None, "the score as recorded, if it is not a finite number"]
    passed: Annotated[bool | None, "whether the score means a pass; NULL if it does not say"]
    answer: Annotated[str | None, "answer that the scorer read from the model's text"]
    explanation: Annotated[str | None, "why the scorer gave this score"]
    weight: Annotated[float | None, "weight of the score in a combined one"]
    check_class: Annotated[
        str | None,
        "kind of check that it is: test, fail_to_pass, pass_to_pass, action, db, reward, harness; "
        "NULL for a score of the whole answer",
    ]
    counts: Annotated[
        bool | None, "whether the check counts for the verdict; NULL if the log does not say"
    ]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class ReportedMetricRow(_RunKey, total=False):
    """A row of `reported_metrics`: a figure that a log reports."""

    seq: Annotated[int, "position in the source, from 1"]
    provider: Annotated[str | None, "way to reach the model, as recorded"]
    model: Annotated[str | None, "name of the model, as recorded"]
    settings: Annotated[
        JsonText | None, "parameters of the calls behind it, keys sorted; NULL for all calls"
    ]
    task_set: Annotated[str | None, "task set that the figure covers; NULL for several"]
    task_group: Annotated[str | None, "group of tasks or task sets that the figure covers"]
    task_sets: Annotated[list[str] | None, "task sets of the group; NULL if not recorded"]
    scorer: Annotated[str | None, "what gave the scores; NULL if not recorded"]
    metric: Annotated[str, "name of the figure, as reported"]
    score: Annotated[
        str | None,
        "`metric` of the scores behind it, or a column of results, as in results.cost_usd; NULL "
        "if of the same name",
    ]
    filter: Annotated[str | None, "filter that was applied to the answers first"]
    statistic: Annotated[
        str | None,
        "how it follows from the scores: mean, stderr, std, var, sum, min, max, median, "
        "median_high (of an even number of scores the larger one in the middle), count, "
        "macro_mean (of task sets or groups), ratio, perplexity or bits (of two sums); NULL if it"
        " does not",
    ]
    reducer: Annotated[
        str | None,
        "how the attempts at a task become one score; NULL: mean; none: each counts by itself",
    ]
    reducer_parameters: Annotated[
        JsonText | None,
        "parameters of the reducer and the statistic: k; pass, the only score that is a pass, if "
        "not all from 1 on are; per, the scores that divide a ratio; by or cluster, the JSON "
        "pointer into `extra` of results to the name of a task's group or cluster; of, the "
        "statistic of each group that macro_mean is the mean of",
    ]
    value: Annotated[float | None, "the figure; NULL if it is not a finite number"]
    text: Annotated[str | None, "the figure as recorded, if it is not a finite number"]
    stderr: Annotated[float | None, "its standard error, as reported"]
    stderr_method: Annotated[
        str | None,
        "how the standard error was estimated: sample (ddof 1), bootstrap, pooled (over the tasks"
        " of a group) or independent (of a mean of independent tasks' means)",
    ]
    n: Annotated[int | None, "number of tasks behind it, as reported"]
    higher_is_better: Annotated[bool | None, "whether more is better"]
    reason: Annotated[
        str | None,
        "why the figure cannot be computed from the scores: corpus metric, random bootstrap",
    ]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class MessageRow(_RunKey, total=False):
    """A row of `messages`: a message of the conversation of a result."""

    result_id: Annotated[str, "content_id of the result"]
    seq: Annotated[int, "position in the conversation, from 1"]
    role: Annotated[str | None, "system, user, assistant or tool, as recorded"]
    text: Annotated[str | None, "the text of the message, its parts joined by line breaks"]
    parts: Annotated[
        JsonText | None, "the parts of the message as recorded; NULL if it is only text"
    ]
    tool_calls: Annotated[
        JsonText | None, "calls of tools in the message: a list of {id, function, arguments, error}"
    ]
    tool_call_id: Annotated[str | None, "call that the message of a tool answers"]
    error: Annotated[str | None, "error of the tool, in the message of a tool"]
    trajectory: Annotated[
        str | None, "trajectory of a trial that it belongs to; NULL: the main one"
    ]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class RaterColumns(TypedDict, total=False):
    """What a rating and a vote have in common."""

    task_set: Annotated[str | None, "task set of the task"]
    task_id: Annotated[str | None, "id of the task, or of the item that was put to the rater"]
    criterion: Annotated[str, "what the rater was asked for; `overall` where the log names nothing"]
    turn: Annotated[
        Int32 | None, "turn of the conversation that was rated, from 1; NULL for all of it"
    ]
    rater: Annotated[
        str | None, "person, judge or reward model; NULL where the log does not tell raters apart"
    ]
    slot: Annotated[
        Int32 | None,
        "number of the rating among those of one rater for the same answers, from 1; without a "
        "rater, among those of all",
    ]
    rater_kind: Annotated[str, "human, judge, gold (a settled label) or reward (a reward model)"]
    rater_config: Annotated[
        JsonText | None,
        "configuration of a judge: `model`, `prompt` (its name or hash), `with_reference`, and "
        "what else the log records",
    ]
    status: Annotated[
        str,
        "ok, unparsed (nothing could be read from the reply), error (no reply) or not_applicable",
    ]
    reason: Annotated[str | None, "why, in the rater's words"]
    raw_output: Annotated[str | None, "text returned by the judge, unchanged"]
    cost_usd: Annotated[float | None, "cost of the call, US dollars"]
    duration_ms: Annotated[float | None, "duration of the call, milliseconds"]
    input_tokens: Annotated[int | None, "number of tokens in the judge's prompt"]
    output_tokens: Annotated[int | None, "number of tokens in the judge's reply"]
    rated_at: Annotated[datetime | None, "when the rating was given, UTC"]


class RatingRow(_RunKey, RaterColumns, total=False):
    """A row of `ratings`: one rater's label of one answer by one criterion."""

    seq: Annotated[int, "position in the source, from 1"]
    model: Annotated[str | None, "model that gave the answer, as recorded"]
    result_id: Annotated[
        str | None, "content_id of the result with the answer; NULL where the store has no such"
    ]
    rated_suite: Annotated[str | None, "suite of that result; NULL for the rating's own"]
    rated_run_id: Annotated[str | None, "run of that result; NULL for the rating's own"]
    value: Annotated[float | None, "the rating as a number; NULL for a label, or without one"]
    label: Annotated[str | None, "the rating as a label; NULL for a number, or without one"]
    scale_low: Annotated[float | None, "lowest value of the scale; NULL if not recorded"]
    scale_high: Annotated[float | None, "highest value of the scale"]
    scale_labels: Annotated[list[str] | None, "labels of the scale, the worst first if ordered"]
    sampling_probability: Annotated[
        float | None, "probability with which the answer was chosen to be rated; NULL if unknown"
    ]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class PreferenceRow(_RunKey, RaterColumns, total=False):
    """A row of `preferences`: one vote between two answers, in one order of presentation."""

    seq: Annotated[int, "position in the source, from 1"]
    pair_id: Annotated[
        str | None,
        "id of the pair of answers in its run: votes of all raters and in both orders share it",
    ]
    model_a: Annotated[str, "model that gave answer a, as recorded"]
    model_b: Annotated[str, "model that gave answer b, as recorded"]
    result_a: Annotated[str | None, "content_id of the result with answer a; NULL without one"]
    result_b: Annotated[str | None, "content_id of the result with answer b; NULL without one"]
    suite_a: Annotated[str | None, "suite of result_a; NULL for the vote's own"]
    run_id_a: Annotated[str | None, "run of result_a; NULL for the vote's own"]
    suite_b: Annotated[str | None, "suite of result_b; NULL for the vote's own"]
    run_id_b: Annotated[str | None, "run of result_b; NULL for the vote's own"]
    first_shown: Annotated[
        str | None, "a or b: the answer that was shown first; NULL where that is not recorded"
    ]
    outcome: Annotated[
        str | None, "a, b, tie or both_bad: the better answer; NULL where `status` is not ok"
    ]
    weight_b: Annotated[
        float | None,
        "how far the vote is for b, 0 to 1, where the rater gave a probability; NULL for a plain "
        "vote",
    ]
    strength: Annotated[
        Int32 | None, "1 for slightly better, 2 for much better; NULL if not asked for"
    ]
    extra: Annotated[JsonText | None, "all fields of the record without a column"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class TagRow(TypedDict, total=False):
    """A row of `tags`: a change of a tag of a run."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    suite: Annotated[str, "suite of the run"]
    run_id: Annotated[str, "name of the run"]
    name: Annotated[str, "name of the tag"]
    value: Annotated[str | None, "its value; NULL if the tag is removed"]
    replaces: Annotated[
        list[str] | None, "content_ids of the earlier changes of the tag that it replaces"
    ]
    tagged_at: Annotated[datetime, "when it was made, UTC"]


class RescoreRow(TypedDict, total=False):
    """A row of `rescores`: a verdict of a re-score."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    suite: Annotated[str, "suite of the run"]
    run_id: Annotated[str, "name of the run"]
    result_id: Annotated[str, "content_id of the result"]
    scorer: Annotated[str, "name of the scorer"]
    version: Annotated[str, "version of the scorer: a hash of its rules"]
    rule: Annotated[JsonText | None, "rule that judged the answer, as tasks hold it in `scorer`"]
    passed: Annotated[bool | None, "whether the answer passes; NULL without a verdict"]
    reason: Annotated[str | None, "why it does not pass, or why there is no verdict"]
    rescored_at: Annotated[datetime, "when it was judged, UTC"]


class PublishedRow(TypedDict, total=False):
    """A row of `published`: a metric of a model in an imported published report."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    report: Annotated[str, "name of the published folder"]
    suite: Annotated[str, "benchmark family"]
    run_id: Annotated[str | None, "run that the report names"]
    form: Annotated[str | None, "version of the report's format"]
    published_at: Annotated[datetime | None, "when it was published, UTC"]
    label: Annotated[str | None, "`gold` or `silver`, if stated"]
    seq: Annotated[int, "position of the model in the report, from 1"]
    model: Annotated[str, "name of the model"]
    metric: Annotated[str, "name of the metric"]
    value: Annotated[float | None, "value of the metric"]
    low: Annotated[float | None, "lower end of its interval"]
    high: Annotated[float | None, "upper end of its interval"]
    text: Annotated[str | None, "value that is not a number"]
    file_sha256: Annotated[str | None, "SHA-256 of the imported file that the row came from"]


class FileRow(TypedDict, total=False):
    """A row of `files`: an imported file."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    path: Annotated[str, "path, as given to the import"]
    sha256: Annotated[str, "SHA-256 of the bytes"]
    format: Annotated[str, "format, as detected by the import"]
    size_bytes: Annotated[int, "size, bytes"]
    content: Annotated[
        bytes | None, "the bytes; NULL above the size limit and of agents' traces, which are rows"
    ]


class QuarantineRow(TypedDict, total=False):
    """A row of `quarantine`: a record that could not be used."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    path: Annotated[str, "path, as given to the import"]
    sha256: Annotated[str | None, "SHA-256 of the file"]
    line: Annotated[int | None, "line in the file, from 1"]
    byte_offset: Annotated[int | None, "offset of the record in the file, bytes"]
    raw: Annotated[bytes | None, "the record's bytes; NULL above the size limit"]
    reason: Annotated[str, "what is wrong"]


class ViolationRow(TypedDict, total=False):
    """A row of `violations`: a place where an imported file breaks a rule of its specification."""

    content_id: Annotated[
        str, "id of the record: its hash, with a counter where a source repeats it"
    ]
    path: Annotated[str, "path, as given to the import"]
    sha256: Annotated[str, "SHA-256 of the file"]
    suite: Annotated[str | None, "benchmark family"]
    run_id: Annotated[str | None, "run that the file belongs to"]
    line: Annotated[int | None, "line in the file, from 1"]
    field: Annotated[str, "the field, as a path: tasks[2].answer"]
    rule: Annotated[str, "short name of the rule"]
    message: Annotated[str, "what is wrong, human-readable"]
