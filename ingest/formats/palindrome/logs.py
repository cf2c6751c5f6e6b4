"""Reads palindrome logs: `benchmark_logs/YYYY-MM-DD-<model>.yaml`, all versions of them."""

from __future__ import annotations

import hashlib
import re
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from ingest.reading import Reading, Reject, SourceFile
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.documents import (
    MappingNode,
    Node,
    SequenceNode,
    slice_text,
    text_lines,
    value_of,
)
from warehouse.core.formats.yaml.fields import Fields, Violation
from warehouse.core.hashing import content_hash, numbered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warehouse.core.types import ResultRow, RunRow

SUITE = "palindrome"

_LOG_KEYS = {"date", "model", "prompt_template", "tasks"}
_TASK_KEYS = {
    "timestamp",
    "prompt",
    "answer",
    "is_correct",
    "duration_seconds",
    "metadata",
    "attempt",
}
_METADATA_KEYS = {"input_tokens", "output_tokens", "cost_usd", "cost_source"}
_RESULT_KEYS = {"answer", "is_correct", "duration_seconds"}

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# Slashes of the model's name become dashes, so there is no folder below `models/`.
_MODEL_PATH = re.compile(r"models/[^/]+-[1-9][0-9]*\.yaml", re.ASCII)
_NOT_IN_FILE_NAMES = re.compile(r"[/\\\x00-\x1f\x7f]")
_LONGEST_NAME_BYTES = 180
_UNSAFE_IN_PATH = re.compile(r"(^|/)\.\.(/|$)|^/|\\|\0")


def is_log(node: MappingNode) -> bool:
    """Return whether YAML is a log: it has tasks with results, or other fields of a log."""
    fields = dict(node.items)
    tasks = fields.get("tasks")
    if tasks is None:
        return len(fields.keys() & _LOG_KEYS) > 1
    if fields.keys() & {"date", "prompt_template"}:
        return True
    return isinstance(tasks, SequenceNode) and any(
        isinstance(task, MappingNode) and _RESULT_KEYS & dict(task.items).keys()
        for task in tasks.items
    )


def read_log(file: SourceFile, node: MappingNode) -> Reading:
    """Read a log into one row for the run and a row for each task.

    All rules of the specification are checked. A value that breaks one is reported, and used as
    far as possible; what cannot be read as a task is rejected.
    """
    reading = Reading("palindrome log")
    problem = _unusable(node)
    if problem is not None:
        reading.rejects.append(Reject(problem, node.line, raw=file.data))
        return reading
    lines = text_lines(file.data)
    header = Fields(node, "")
    run = _run_row(file, header)
    reading.run = (SUITE, run["run_id"])
    tasks = header.node("tasks")
    results = _result_rows(tasks, run, lines, reading) if isinstance(tasks, SequenceNode) else []
    run["source_rows"] = len(results)
    if not header.is_faithful:
        run["source"] = _header_text(node, tasks, lines)
    reading.rows = {"runs": [run], "results": results}
    misnamed = file_name_violation(file.name, run["run_date"], run["model_path"], None)
    reading.violations[:0] = [*header.violations, *([misnamed] if misnamed else [])]
    return reading


def _unusable(node: MappingNode) -> str | None:
    """Return why a log cannot be read at all; None if it can."""
    tasks = dict(node.items).get("tasks")
    if tasks is None:
        return "`tasks` is missing, so there are no results to read"
    if not isinstance(tasks, SequenceNode):
        return "`tasks` is not a list, so there are no results to read"
    repeated = [key for key, _ in node.duplicates if key in _LOG_KEYS]
    if repeated:
        return f"the key `{repeated[0]}` occurs twice at the top level; which one counts is unclear"
    return None


def _run_row(file: SourceFile, header: Fields) -> RunRow:
    run_date = header.text("date", required=True)
    model_path = header.text("model", required=True)
    template = header.text("prompt_template", required=True)
    _check_header(header, run_date, model_path, template)
    extra = header.unknown(_LOG_KEYS)
    return {
        "suite": SUITE,
        "run_id": f"{run_date or 'undated'}/{model_path or 'unnamed'}",
        "content_id": content_hash("run", run_date, model_path, template, extra),
        "origin": "import",
        "run_date": run_date,
        "model_path": model_path,
        "task_set": SUITE,
        "prompt_template": template,
        "template_hash": content_hash(template) if template is not None else None,
        "source_name": file.name,
        "record_keys": json_text([key for key, _ in header.mapping.items]),
        "extra": json_text(extra) if extra else None,
        "file_sha256": file.sha256,
    }


def _check_header(
    header: Fields, run_date: str | None, model_path: str | None, template: str | None
) -> None:
    if run_date is not None and not is_date(run_date):
        message = f"{run_date!r} is not a calendar date of the form YYYY-MM-DD"
        header.report(_line(header, "date"), "date", "date", message)
    if model_path is not None and not _MODEL_PATH.fullmatch(model_path):
        message = f"{model_path!r} is not models/<model>-<variation-index>.yaml"
        header.report(_line(header, "model"), "model", "model_path", message)
    if model_path is not None and _UNSAFE_IN_PATH.search(model_path):
        message = f"{model_path!r} leaves the project's folder"
        header.report(_line(header, "model"), "model", "model_path_relative", message)
    if template is not None and "{prompt}" not in template:
        line = _line(header, "prompt_template")
        header.report(line, "prompt_template", "placeholder", "has no {prompt} placeholder")


def file_name_violation(
    name: str, run_date: str | None, model_path: str | None, model_name: str | None
) -> Violation | None:
    """Check that a log's name is `YYYY-MM-DD-<model>.yaml`; return the violation, if any.

    The model file says what <model> is; without one, the path of the model does, as far as it
    can. A log of another parameter set of the day's model may have its variation index.
    """
    if run_date is None or model_path is None:
        return None
    stem = model_path.removeprefix("models/").removesuffix(".yaml")
    without_index = re.sub(r"-[1-9][0-9]*$", "", stem)
    model = without_index if model_name is None else _file_name_part(model_name)
    allowed = [f"{run_date}-{model}.yaml"]
    if model_name is None or without_index == model:
        allowed.append(f"{run_date}-{stem}.yaml")
    if name in allowed:
        return None
    given_by = f"of {model_path!r}" if model_name is None else f"of the model {model_name!r}"
    names = " or ".join(repr(each) for each in dict.fromkeys(allowed))
    message = f"(file name): {name!r} is not {names}, {given_by}"
    return Violation(1, "(file name)", "file_name", utf8(message))


def _file_name_part(model: str) -> str:
    """Return a model's name as part of a file name, as exports write it."""
    part = _NOT_IN_FILE_NAMES.sub("-", model)
    if len(model.encode("utf-8", "replace")) > _LONGEST_NAME_BYTES:
        digest = hashlib.md5(model.encode("utf-8", "replace"), usedforsecurity=False)
        return f"{part[:40]}-{digest.hexdigest()[:12]}"
    return part or "unnamed"


def is_date(text: str) -> bool:
    """Return whether a text is a calendar date of the form YYYY-MM-DD."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _result_rows(
    tasks: SequenceNode, run: RunRow, lines: list[str], reading: Reading
) -> list[ResultRow]:
    rows = []
    for index, node in enumerate(tasks.items):
        if not isinstance(node, MappingNode):
            raw = slice_text(lines, node).encode()
            reading.rejects.append(Reject(f"tasks[{index}] is not a mapping", node.line, raw=raw))
            continue
        fields = Fields(node, f"tasks[{index}].")
        row = _result_row(fields, run, seq=index + 1)
        if not fields.is_faithful:
            row["source"] = slice_text(lines, node)
        reading.violations.extend(fields.violations)
        rows.append(row)
    hashes = (row["content_id"] for row in rows)
    for row, content_id in zip(rows, numbered(hashes), strict=True):
        row["content_id"] = content_id
    return rows


def _result_row(fields: Fields, run: RunRow, *, seq: int) -> ResultRow:
    prompt = fields.text("prompt", required=True)
    attempt, timestamp = fields.count("attempt"), fields.timestamp("timestamp")
    optional = {"attempt": attempt, "timestamp": timestamp}
    extra = fields.unknown(_TASK_KEYS) | _unsuitable(fields, optional)
    return {
        "suite": SUITE,
        "run_id": run["run_id"],
        "content_id": content_hash(run["template_hash"], value_of(fields.mapping)),
        "seq": seq,
        "run_date": run["run_date"],
        "model_path": run["model_path"],
        "template_hash": run["template_hash"],
        "task_set": SUITE,
        "task_id": prompt,
        "prompt": prompt,
        "attempt": attempt,
        "started_at": timestamp,
        "answer": fields.text("answer", required=True),
        "is_correct": fields.boolean("is_correct", required=True),
        "duration_seconds": fields.number("duration_seconds", required=True, is_float=True),
        **_metadata(fields, extra),
        "record_keys": _record_keys(fields.mapping),
        "extra": json_text(extra) if extra else None,
        "file_sha256": run["file_sha256"],
    }


def _metadata(task: Fields, extra: dict[str, object]) -> ResultRow:
    node = task.node("metadata")
    if not isinstance(node, MappingNode):
        if node is not None:
            extra["metadata"] = task.plain("metadata")
        return {}
    fields = Fields(node, f"{task.path}metadata.", task.violations)
    row: ResultRow = {
        "input_tokens": fields.count("input_tokens"),
        "output_tokens": fields.count("output_tokens"),
        "cost_usd": fields.number("cost_usd"),
        "cost_source": fields.text("cost_source"),
    }
    unknown = fields.unknown(_METADATA_KEYS) | _unsuitable(fields, row)
    if unknown:
        extra["metadata"] = unknown
    task.is_faithful = task.is_faithful and fields.is_faithful
    return row


def _unsuitable(fields: Fields, row: Mapping[str, object]) -> dict[str, object]:
    """Return the values that their columns cannot hold, as they stand, for exports."""
    keys = [key for key, value in row.items() if value is None and fields.node(key) is not None]
    lost = {key: fields.plain(key) for key in keys}
    return {key: value for key, value in lost.items() if value is not None}


def _record_keys(mapping: MappingNode) -> str:
    """Return the keys in order, with those of metadata: `["prompt",["metadata",["cost_usd"]]]`."""
    keys = tuple(
        [
            (key, tuple([inner for inner, _ in node.items]))
            if key == "metadata" and isinstance(node, MappingNode)
            else key
            for key, node in mapping.items
        ]
    )
    return _keys_text(keys)


# Nearly all tasks of a log have the same keys.
@lru_cache(maxsize=64)
def _keys_text(keys: tuple[object, ...]) -> str:
    return json_text(keys)


def _line(header: Fields, key: str) -> int:
    node = header.node(key)
    return node.line if node is not None else header.mapping.line


def _header_text(node: MappingNode, tasks: Node | None, lines: list[str]) -> str:
    """Return the lines of a log that are not its tasks."""
    if tasks is None:
        return slice_text(lines, node)
    kept = lines[node.line - 1 : tasks.line - 1] + lines[tasks.end_line : node.end_line]
    return "".join(kept)
