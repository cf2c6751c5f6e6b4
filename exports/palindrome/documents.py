"""The documents of palindrome logs and model files, built from rows of views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.rows import Document, json_object, json_value

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from warehouse.core.types import Row


def log_document(tasks: Sequence[Row], omitted: Counter[str], *, with_extras: bool) -> Document:
    """Return the document of a log.

    Args:
        tasks: the log's rows of `palindrome_log_tasks`, in order.
        omitted: gains the fields that are left out, counted by name.
        with_extras: keep the fields that are not part of the specification.
    """
    first = tasks[0]
    extras: Document = {}
    for text in {task["run_id"]: task["log_extra"] for task in tasks}.values():
        extras |= json_object(text)
    if not with_extras:
        omitted.update(list(extras))
        extras = {}
    return {
        "date": first["log_date"],
        "model": first["exported_path"],
        "prompt_template": first["prompt_template"],
        **extras,
        "tasks": [_task_document(task, omitted, with_extras=with_extras) for task in tasks],
    }


def model_document(model: Row) -> Document:
    """Return the document of a model file; `model` is a variation with its model's columns."""
    is_unresolved = not model["is_known"] or model["is_unresolved"]
    metadata = json_object(model["metadata"])
    if is_unresolved:
        # Shows a later import of this file that the name is only guessed from a path.
        metadata = {"recorded_path": model["model_path"], **metadata, "unresolved": True}
    document = {
        "name": model["name"] or (model["file_model"] if is_unresolved else model["model"]),
        "provider": model["provider"],
        "options": json_value(model["parameters"]),
        "version": model["version"],
        "skip": model["skip"] or None,
        "price": json_value(model["price"]),
        "metadata": metadata,
        **json_object(model["extra"]),
    }
    return {key: value for key, value in document.items() if value not in (None, {}, [])}


def _task_document(task: Row, omitted: Counter[str], *, with_extras: bool) -> Document:
    document = {
        "prompt": task["prompt"],
        "answer": task["answer"],
        "is_correct": task["is_correct"],
        "duration_seconds": task["duration_seconds"],
    }
    extras = _extras(task)
    if with_extras:
        timestamp = extras.pop("timestamp", None)
        return {**({"timestamp": timestamp} if timestamp else {}), **document, **extras}
    omitted.update(_leaves(extras))
    return document


def _extras(task: Row) -> Document:
    """Return the fields of a task that are not in the specification, in the original order."""
    extra = json_object(task["extra"])
    metadata = {
        key: task[key]
        for key in ("input_tokens", "output_tokens", "cost_usd", "cost_source")
        if task[key] is not None
    }
    logged = extra.pop("metadata", None)
    extras: Document = {}
    if task["started_at"] is not None:
        extras["timestamp"] = task["started_at"].strftime("%Y-%m-%dT%H:%M:%SZ")
    if metadata or isinstance(logged, dict):
        extras["metadata"] = metadata | (logged if isinstance(logged, dict) else {})
    elif logged is not None:
        extras["metadata"] = logged
    elif "metadata" in (task["record_keys"] or ""):
        extras["metadata"] = {}
    if task["attempt"] > 1:
        extras["attempt"] = task["attempt"]
    return extras | extra


def _leaves(extras: Document) -> Iterator[str]:
    for key, value in extras.items():
        if key == "metadata" and isinstance(value, dict):
            yield from (f"metadata.{inner}" for inner in value)
        else:
            yield key
