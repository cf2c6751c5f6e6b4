"""Takes plain samples apart: those of one generated answer, as nearly all of a file may be.

What `SAMPLES` decides for each sample is decided once for many lines, by the first of a block: the
names of the fields, and which of them are scores. A line that differs is not plain; neither is one
with a value of another kind. Both queries give the same of a plain sample.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.formats.lm_eval.sample_columns import (
    CHOICES,
    HASHES,
    ITEM,
    KNOWN,
    LISTED,
    PASS_OR_FAIL,
    QUESTION,
    QUESTIONS,
    TASK_KEY,
    TASK_SEQ,
    VERDICTS,
    answer_of,
    number_of,
    pointers_of,
)
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warehouse.core.types import Json, JsonObject

_NEEDED = ("doc_id", "doc", "target", "arguments", "resps")
_REQUEST = '{"gen_args_0": {"arg_0": "JSON", "arg_1": "JSON"}}'
_BEFORE_REQUEST = '{"gen_args_0":{"arg_0":'
_AROUND_REQUEST = len(_BEFORE_REQUEST + ',"arg_1":' + "}}")
_HASHES = ("doc_hash", "prompt_hash", "target_hash")
_LONGEST_FIRST_LINE = 2**20
_MOST_OTHERS = 100
_PARAMETER = re.compile(r"\$([a-z_]+)")


@dataclass(frozen=True, slots=True)
class PlainForm:
    """The form of plain samples.

    Attributes:
        names: names of all fields: the known ones first, then others as they are in the line.
        metrics: the field `metrics` as DuckDB writes it; None without one.
        scored: names of the other fields that are scores.
    """

    names: tuple[str, ...]
    metrics: str | None
    scored: tuple[str, ...]

    def query(self, shared: Mapping[str, str]) -> str:
        """Return the query, with its parameters as literals.

        Version 1.5.5 of DuckDB waits forever for a stream if a query has parameters.

        Args:
            shared: the parameters that this query and `SAMPLES` have by the same names.
        """
        return _query(self, shared)


def plain_form(line: bytes) -> PlainForm | None:
    """Return the form of plain samples by their first line; None if that is not plain."""
    try:
        sample: Json = json.loads(line) if len(line) <= _LONGEST_FIRST_LINE else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(sample, dict) or not _is_plain(sample):
        return None
    others = sorted(name for name in sample if name not in KNOWN)
    names = tuple(name for name in KNOWN if name in sample) + tuple(others)
    if not _are_usual(names) or len(others) > _MOST_OTHERS:
        return None
    metrics: Json = sample.get("metrics", others)
    if not isinstance(metrics, list) or not all(isinstance(each, str) for each in metrics):
        return None
    written = json.dumps(metrics, ensure_ascii=False, separators=(",", ":"))
    scored = tuple(name for name in others if name in metrics)
    return PlainForm(names, written if "metrics" in sample else None, scored)


def _are_usual(names: Sequence[str]) -> bool:
    # DuckDB does not distinguish names that differ in case only.
    is_distinct = len({name.lower() for name in names}) == len(names)
    return is_distinct and all(name and "\0" not in name and utf8(name) == name for name in names)


def _is_plain(sample: JsonObject) -> bool:
    if any(name not in sample for name in _NEEDED) or None in sample.values():
        return False
    arguments = sample["arguments"]
    request = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    return isinstance(request, dict) and isinstance(request.get("arg_1"), dict)


def _query(form: PlainForm, shared: Mapping[str, str]) -> str:
    unknown = [name for name in form.names if name not in KNOWN and name not in form.scored]
    hashes = [name for name in _HASHES if name in form.names]
    filtered, filter_ = _column(form, "filtered_resps"), _column(form, "filter")
    return f"""
WITH {_judged_lines(form)},

texts AS (
    SELECT
        *,
        json_extract_string(request.arg_0, '$') AS prompt,
        json_extract_string(response, '$') AS response_text,
        json_extract_string(doc_id, '$') AS task_id,
        json_extract_string(target, '$') AS reference,
        reference AS target_text,
        json_extract_string(doc, {pointers_of(QUESTIONS)}) AS questions,
        -- Few documents have choices, and to look for them takes a while.
        CASE
            WHEN contains(doc, '"choices"') OR contains(doc, '"options"')
                OR contains(doc, '"endings"')
            THEN json_extract(doc, {pointers_of(CHOICES)})
        END AS choice_lists
    FROM judged
),

items AS (
    SELECT
        *,
        {_bound(QUESTION, shared)},
        {LISTED},
        CASE WHEN len(named) > 1 THEN named END AS choices,
        {HASHES},
        {_verdict(form)} AS verdict
    FROM texts
)

SELECT
    coalesce(is_plain, false) AS is_plain,
    line,
    hash(text) AS line_hash,
    hash(record_hash) AS record_number,
    hash(task_id, {filter_}) AS place_hash,
    NULL::VARCHAR AS problem,
    task_id,
    json_extract_string({filter_}, '$') AS filter_name,
    {_bound(ITEM, shared)},
    response_text,
    CAST(request.arg_1 AS VARCHAR) AS sent,
    {_object(form, [*hashes, *unknown])} AS result_extra,
    {_object(form, unknown)} AS score_extra,
    concat('{{"doc":', doc, '}}') AS task_extra,
    {_bound(TASK_KEY, shared)} AS task_key,
    {TASK_SEQ} AS task_seq,
    CASE
        WHEN {filtered} = '[' || response || ']' THEN response_text
        ELSE {answer_of(filtered)}
    END AS answer
    {"".join(_score(form, n, shared) for n in range(len(form.scored)))}
FROM items
"""  # noqa: S608 - names of fields, quoted


def _judged_lines(form: PlainForm) -> str:
    """Return the first queries: the fields of each line, and whether it is plain."""
    columns = [_column(form, name) for name in form.names]
    structure = json.dumps(dict.fromkeys(form.names, "JSON"))
    has_metrics = f"metrics = {_text(form.metrics)}" if form.metrics is not None else "true"
    return f"""taken(line, text, {", ".join(columns)}) AS (
    SELECT line, text, unnest(try(json_transform(text, {_text(structure)})))
    FROM lines
),

requests AS (
    SELECT
        *,
        try(json_transform_strict(arguments, '{_REQUEST}')).gen_args_0 AS request,
        json_extract(resps, '/0/0') AS response
    FROM taken
),

judged AS (
    SELECT
        *,
        {" AND ".join(f"{column} IS NOT NULL" for column in columns)} AS is_complete,
        -- Not AND: of text that is not JSON, json_keys would be an error.
        CASE WHEN is_complete THEN len(json_keys(text)) = {len(columns)} END
        AND NOT contains(text, 'NaN') AND NOT contains(text, 'Infinity')
        AND {has_metrics}
        AND NOT starts_with(doc_id, '{{') AND NOT starts_with(doc_id, '[')
        -- By their lengths, nothing else is in these two.
        AND starts_with(request.arg_0, '"') AND starts_with(request.arg_1, '{{')
        AND starts_with(arguments, '{_BEFORE_REQUEST}')
        AND strlen(arguments)
            = strlen(request.arg_0) + strlen(request.arg_1) + {_AROUND_REQUEST}
        AND starts_with(resps, '[["') AND strlen(resps) = strlen(response) + 4
            AS is_plain
    FROM requests
)"""  # noqa: S608 - names of fields, quoted


def _score(form: PlainForm, n: int, shared: Mapping[str, str]) -> str:
    """Return SQL for the columns of a row of `result_scores`."""
    name = form.scored[n]
    raw = _column(form, name)
    passed = f"CASE WHEN value_{n} IN (0, 1) THEN value_{n} = 1 END"
    return f""",
    json_type({raw}) AS kind_{n},
    {number_of(raw, f"kind_{n}")} AS number_{n},
    CASE WHEN isfinite(number_{n}) THEN number_{n} END AS value_{n},
    CASE WHEN value_{n} IS NULL THEN json_extract_string({raw}, '$') END AS text_{n},
    {passed if name in VERDICTS else "NULL::BOOLEAN"} AS passed_{n},
    {_text(shared["part"])} || substr(md5(concat_ws(
        chr(31), result_id, {_text(name)}, coalesce(filter_name, chr(30)), CAST({raw} AS VARCHAR)
    )), 1, 24) AS score_id_{n}"""


def _verdict(form: PlainForm) -> str:
    columns = [_column(form, name) for name in VERDICTS if name in form.scored]
    found = [f"CASE WHEN {column} IN {PASS_OR_FAIL} THEN {column} END" for column in columns]
    return f"coalesce({', '.join([*found, 'NULL'])})::VARCHAR"


def _object(form: PlainForm, names: Sequence[str]) -> str:
    """Return SQL for an object of fields as JSON text; NULL without any."""
    pairs = [f"to_json({_text(name)}), ':', {_column(form, name)}" for name in names]
    inside = ", ',', ".join(pairs)
    return f"concat('{{', {inside}, '}}')" if pairs else "NULL::VARCHAR"


def _column(form: PlainForm, name: str) -> str:
    if name not in form.names:
        return "NULL::JSON"
    return name if name in KNOWN else f"field_{form.names.index(name)}"


def _bound(part: str, shared: Mapping[str, str]) -> str:
    """Return a part of `SAMPLES`, which has no texts from a file, with literals as parameters."""
    return _PARAMETER.sub(lambda match: _text(shared[match[1]]), part)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
