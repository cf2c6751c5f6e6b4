"""Writes palindrome logs and model files exactly as the specification says.

`benchmark_logs/YYYY-MM-DD-<model>.yaml` and `models/<model>-<variation-index>.yaml`, out of the
warehouse's columns alone. The same data give the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from exports.yaml_text import dump
from warehouse.errors import BadInput
from warehouse.formats.yaml.documents import YamlError, load
from warehouse.lake.atomic import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import duckdb

    from warehouse.store import Store

Row = dict[str, Any]
LogKey = tuple[str, str, int, str]

_LOGS = """
SELECT DISTINCT run_date, file_model, variation, template_hash
FROM palindrome_log_tasks
WHERE obstacle IS NULL
ORDER BY run_date, file_model, variation, template_hash
"""
_TASKS = """
SELECT *
FROM palindrome_log_tasks
WHERE ($run IS NULL OR run_id = $run)
    AND ($model IS NULL OR $model IN (model, model_path))
    AND ($since IS NULL OR run_date >= $since)
ORDER BY run_date, file_model, variation, template_hash, run_started_at, run_id, seq, result_id
"""
_EMPTY_RUNS = """
SELECT run_id FROM runs
WHERE suite = 'palindrome' AND n_results = 0
    AND ($run IS NULL OR run_id = $run)
    AND ($model IS NULL OR model_path = $model)
    AND ($since IS NULL OR run_date >= $since)
ORDER BY run_id
"""
_MODELS = """
SELECT DISTINCT ON (variations.exported_path)
    variations.exported_path, variations.file_model, variations.is_known, variations.model_path,
    variations.model, variations.parameters, models.name, models.provider, models.version,
    models.metadata, models.price, models.skip, models.is_unresolved, models.extra
FROM palindrome_variations AS variations
LEFT JOIN models ON variations.model_path = models.model_path AND models.is_current
WHERE list_contains($paths, variations.exported_path)
ORDER BY variations.exported_path, json_array_length(models.record_keys) DESC NULLS LAST,
    models.model_version, variations.model_path
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which results to export; None for all.

    Attributes:
        run: a run id.
        model: a model's name, or its recorded path.
        since: the first date, YYYY-MM-DD.
        with_extras: write the fields that the specification does not have too.
    """

    run: str | None = None
    model: str | None = None
    since: str | None = None
    with_extras: bool = False


@dataclass(slots=True)
class Exported:
    """What an export wrote, and what a person should know of it.

    Attributes:
        paths: the files, in order.
        left_out: fields that the specification does not have, and how often each was left out.
        obstacles: results that have no place in the specification, by run and reason.
        notes: names that are not what one would expect, runs without results.
    """

    paths: list[Path] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    obstacles: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def export_palindrome(store: Store, folder: Path, selection: Selection) -> Exported:
    """Export palindrome logs, and the model files that they name, into a folder.

    A log's name is settled over all that the store holds, whatever is selected, so that exports
    of single runs into one folder never meet.

    Raises:
        BadInput: nothing is selected; a file cannot be written, or is another log.
    """
    with store.reading() as connection:
        names = _log_names(connection.execute(_LOGS).fetchall())
        parameters = {"run": selection.run, "model": selection.model, "since": selection.since}
        tasks = _rows(connection.execute(_TASKS, parameters))
        if not tasks:
            raise BadInput("no palindrome result is selected: `evalstore runs` lists the runs")
        exported = Exported()
        for (run_id,) in connection.execute(_EMPTY_RUNS, parameters).fetchall():
            exported.notes.append(f"run {run_id} has no results: no log is written of it")
        tasks = list(_exportable(tasks, exported))
        models = _rows(
            connection.execute(_MODELS, {"paths": list({t["exported_path"] for t in tasks})})
        )
    for model in models:
        _write_model(folder, model, exported)
    for key, log in groupby(tasks, _log_key):
        _write_log(folder, names[key], list(log), selection, exported)
    return exported


def _rows(cursor: duckdb.DuckDBPyConnection) -> list[Row]:
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _log_key(task: Row) -> LogKey:
    return task["run_date"], task["file_model"], task["variation"], task["template_hash"]


def _log_names(keys: Sequence[LogKey]) -> dict[LogKey, str]:
    """Name every log of the store: `<date>-<model>`, with a suffix for a day's further logs.

    A day's first log of a model has the plain name. Another variation or template adds
    `-<variation>`, then a count, until the name is nobody else's.
    """
    names: dict[LogKey, str] = {}
    firsts = {key[:2]: key for key in reversed(keys)}
    for key in firsts.values():
        names[key] = f"{key[0]}-{key[1]}"
    taken = set(names.values())
    for key in keys:
        if key not in names:
            names[key] = next(name for name in _candidates(key) if name not in taken)
            taken.add(names[key])
    return names


def _candidates(key: LogKey) -> Iterator[str]:
    name = f"{key[0]}-{key[1]}-{key[2]}"
    yield name
    count = 2
    while True:
        yield f"{name}-{count}"
        count += 1


def _exportable(tasks: Sequence[Row], exported: Exported) -> Iterator[Row]:
    runs = {task["run_id"] for task in tasks}
    for task in tasks:
        if task["obstacle"] is not None:
            exported.obstacles[task["run_id"], task["obstacle"]] += 1
        elif task["duplicate_of"] not in runs:
            yield task


def _write_model(folder: Path, model: Row, exported: Exported) -> None:
    path = folder / model["exported_path"]
    document = _model_document(model)
    before = _existing(path)
    if before is not None and not _same_model(before, document):
        exported.notes.append(
            f"{path}: was another parameter set before: earlier logs have come in, and the "
            "variations are counted anew"
        )
    write_whole(path, dump(document).encode())
    exported.paths.append(path)


def _model_document(model: Row) -> Row:
    is_unresolved = not model["is_known"] or model["is_unresolved"]
    metadata = _json(model["metadata"]) or {}
    if is_unresolved:
        # The mark makes an import of this file know that the name is a guess from a path.
        metadata = {"recorded_path": model["model_path"], **metadata, "unresolved": True}
    document = {
        "name": model["name"] or (model["file_model"] if is_unresolved else model["model"]),
        "provider": model["provider"],
        "options": _json(model["parameters"]),
        "version": model["version"],
        "skip": model["skip"] or None,
        "price": _json(model["price"]),
        "metadata": metadata,
        **(_json(model["extra"]) or {}),
    }
    return {key: value for key, value in document.items() if value not in (None, {}, [])}


def _same_model(before: object, after: Row) -> bool:
    return isinstance(before, dict) and all(
        before.get(key) == after.get(key) for key in ("name", "options")
    )


def _write_log(
    folder: Path, name: str, tasks: list[Row], selection: Selection, exported: Exported
) -> None:
    first = tasks[0]
    path = folder / "benchmark_logs" / f"{name}.yaml"
    document = {
        "date": first["run_date"],
        "model": first["exported_path"],
        "prompt_template": first["prompt_template"],
        **_log_extras(tasks, selection, exported),
        "tasks": [_task_document(task, selection, exported) for task in tasks],
    }
    _refuse_another_log(path, document)
    if name != f"{first['run_date']}-{first['file_model']}":
        exported.notes.append(
            f"{path}: a further log of {first['file_model']} on {first['run_date']} "
            "(another variation or prompt template), in a file of its own"
        )
    write_whole(path, dump(document).encode())
    exported.paths.append(path)


def _log_extras(tasks: list[Row], selection: Selection, exported: Exported) -> Row:
    extras: Row = {}
    for text in {task["run_id"]: task["log_extra"] for task in tasks}.values():
        extras |= _json(text) or {}
    if selection.with_extras:
        return extras
    exported.left_out.update(list(extras))
    return {}


def _task_document(task: Row, selection: Selection, exported: Exported) -> Row:
    document = {
        "prompt": task["prompt"],
        "answer": task["answer"],
        "is_correct": task["is_correct"],
        "duration_seconds": task["duration_seconds"],
    }
    extras = _extras(task)
    if selection.with_extras:
        timestamp = extras.pop("timestamp", None)
        return {**({"timestamp": timestamp} if timestamp else {}), **document, **extras}
    exported.left_out.update(_leaves(extras))
    return document


def _extras(task: Row) -> Row:
    """Give the fields of a task that the specification does not have, in the original's order."""
    extra = _json(task["extra"]) or {}
    metadata = {
        key: task[key]
        for key in ("input_tokens", "output_tokens", "cost_usd", "cost_source")
        if task[key] is not None
    }
    further = extra.pop("metadata", None)
    extras: Row = {}
    if task["started_at"] is not None:
        extras["timestamp"] = task["started_at"].strftime("%Y-%m-%dT%H:%M:%SZ")
    if metadata or isinstance(further, dict):
        extras["metadata"] = metadata | (further if isinstance(further, dict) else {})
    elif further is not None:
        extras["metadata"] = further
    elif "metadata" in (task["record_keys"] or ""):
        extras["metadata"] = {}
    if task["attempt"] > 1:
        extras["attempt"] = task["attempt"]
    return extras | extra


def _leaves(extras: Row) -> Iterator[str]:
    for key, value in extras.items():
        if key == "metadata" and isinstance(value, dict):
            yield from (f"metadata.{inner}" for inner in value)
        else:
            yield key


def _refuse_another_log(path: Path, document: Row) -> None:
    before = _existing(path)
    if before is None:
        return
    is_same = isinstance(before, dict) and all(
        before.get(key) == document[key] for key in ("date", "prompt_template")
    )
    if not is_same:
        raise BadInput(f"{path}: is another log, not overwritten: export into an empty folder")


def _existing(path: Path) -> object:
    if not path.exists():
        return None
    try:
        return load(path.read_bytes())
    except (OSError, YamlError):
        return ""


def _json(text: str | None) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(text) if text is not None else None
