"""Reads OpenClaw runs: a folder `runs/<run_id>/`, or a results.jsonl by itself."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ingest.reading import Reading, Reject
from warehouse.formats.json_text import is_exact, json_text
from warehouse.formats.prompt_files import SUITE, is_prompt_list, prompt_rows
from warehouse.formats.snapshots import is_snapshot_name, snapshot_row
from warehouse.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ingest.reading import SourceFile
    from warehouse.types import RunRow

    Get = Callable[[Path], SourceFile | None]

LOG = "results.jsonl"

# Column of table `runs` by the file that tells it.
_DOCUMENTS = {
    "config.json": "config",
    "inventory.json": "inventory",
    "summary.json": "recorded_summary",
}
_HEAD_BYTES = 65_536
_RECORD_TYPES = ("result", "event")
# The first line may be longer than what is looked at.
_FIRST_RECORD = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"record_type"\s*:\s*"(result|event)"')
# What an export writes for a run that never had it.
_RECONSTRUCTED = {"reconstructed", "run_id"}
_CONFIG_WORDS = {"prompts_path", "ollama_models", "openai_model", "targets", "timeout_s"}
_INVENTORY_WORDS = {"ollama_list", "ollama_models", "claude_version", "host"}


def is_run(folder: Path) -> bool:
    """Tell a run's folder by what it holds."""
    return _is_log(folder / LOG) or (
        _has_words(folder / "config.json", _CONFIG_WORDS | _RECONSTRUCTED)
        and _has_words(folder / "inventory.json", _INVENTORY_WORDS | _RECONSTRUCTED)
    )


def is_log(path: Path) -> bool:
    """Tell a log of results by what it holds."""
    return path.suffix in {".jsonl", ".ndjson"} and path.is_file() and _is_log(path)


def read_run(path: Path, get: Get) -> Iterator[Reading]:
    """Read what a run says of itself; the rows of its log are streamed by the import.

    Args:
        path: of the folder, or of the log.
        get: reads a file; None where it cannot, which it reports itself.
    """
    if path.is_file():
        run_id = _run_id_in_log(path) or utf8(path.stem)
        yield _finished(Reading("openclaw log", log=path), run_id, {}, {})
        return
    reading = Reading("openclaw run", log=path / LOG if (path / LOG).is_file() else None)
    documents, texts = _documents(path, get, reading)
    _read_snapshots(path, get, reading)
    run_id = (
        _run_id(documents.get("config"))
        or _run_id(documents.get("inventory"))
        or (_run_id_in_log(reading.log) if reading.log is not None else None)
        or path.name
    )
    _finished(reading, utf8(run_id), documents, texts)
    prompts = _prompts_beside(path, documents.get("config"))
    if prompts is not None and (file := get(prompts)) is not None:
        give_prompts(reading, file)
    yield reading


def is_prompts(path: Path) -> bool:
    """Tell a prompt file by what it holds."""
    if path.suffix != ".json" or not path.is_file():
        return False
    head = _head(path)
    return head.lstrip().startswith(b"[") and b'"prompt"' in head and b'"id"' in head


def read_prompts(path: Path, get: Get) -> Iterator[Reading]:
    """Read a prompt file as a version of a task set."""
    file = get(path)
    if file is not None:
        reading = Reading("openclaw prompts")
        add_prompts(reading, file)
        yield reading


def add_prompts(reading: Reading, file: SourceFile) -> None:
    """Add a prompt file's tasks to a reading; what is no prompt file is rejected."""
    reading.files.append(file)
    document = _json(file, reading)
    if not is_prompt_list(document):
        reading.rejects.append(Reject(f"{file.path.name}: no list of prompts", raw=file.data))
        return
    rows, violations = prompt_rows(document, task_set=utf8(file.path.stem))
    reading.rows["tasks"] = [{**row, "file_sha256": file.sha256} for row in rows]
    reading.violations.extend(violations)


def give_prompts(reading: Reading, file: SourceFile) -> None:
    """Say which prompt file a run used, in the place of what its config says."""
    add_prompts(reading, file)
    tasks = reading.rows.get("tasks")
    if tasks:
        prompts: RunRow = {
            "task_set": tasks[0]["task_set"],
            "dataset_hashes": json_text({"prompts": tasks[0]["task_set_hash"]}),
        }
        reading.rows["runs"] = [{**run, **prompts} for run in reading.rows["runs"]]


def bare_run(run_id: str) -> RunRow:
    """Give the header of a run of which nothing is known but its results."""
    return {"suite": SUITE, "run_id": run_id, "origin": "import"}


def _finished(
    reading: Reading, run_id: str, documents: dict[str, Any], texts: dict[str, str]
) -> Reading:
    run = {
        **bare_run(run_id),
        **{column: json_text(value) for column, value in documents.items()},
        "task_set": _task_set(documents.get("config")),
        "source": json_text(texts) if texts else None,
    }
    reading.run = (SUITE, run_id)
    reading.rows["runs"] = [run]
    if snapshots := reading.rows.get("resources"):
        key = {"suite": SUITE, "run_id": run_id}
        reading.rows["resources"] = [{**row, **key} for row in snapshots]
    return reading


def _documents(folder: Path, get: Get, reading: Reading) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the JSON files; the text of one that JSON columns would not give back is kept too."""
    documents, texts = {}, {}
    for name, column in _DOCUMENTS.items():
        path = folder / name
        file = get(path) if path.is_file() else None
        if file is None:
            continue
        reading.files.append(file)
        value = _json(file, reading)
        # Made by an export for a run that never had it: nothing is known by it.
        if value is None or (isinstance(value, dict) and value.get("reconstructed") is True):
            continue
        documents[column] = value
        if not is_exact(value):
            texts[name] = file.data.decode("utf-8", "replace")
    return documents, texts


def _read_snapshots(folder: Path, get: Get, reading: Reading) -> None:
    names = sorted(path.name for path in folder.iterdir() if is_snapshot_name(path.name))
    files = [file for name in names if (file := get(folder / name)) is not None]
    reading.files.extend(files)
    reading.rows["resources"] = [
        {**snapshot_row(utf8(file.path.name), file.data), "file_sha256": file.sha256}
        for file in files
    ]


def _json(file: SourceFile, reading: Reading) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(file.data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = f"{file.path.name}: not JSON: {error}"
        reading.rejects.append(Reject(reason, getattr(error, "lineno", None), raw=file.data))
        return None


def _task_set(config: object) -> str | None:
    path = config.get("prompts_path") if isinstance(config, dict) else None
    return utf8(path.rpartition("/")[2].removesuffix(".json")) if isinstance(path, str) else None


def _prompts_beside(folder: Path, config: object) -> Path | None:
    """Find the prompt file that a config names, inside the project that holds the runs.

    The project is the folder above `runs/`: a config must not choose what else is read.
    """
    named = config.get("prompts_path") if isinstance(config, dict) else None
    if not isinstance(named, str) or "\0" in named:
        return None
    project = folder.resolve().parent.parent
    name = named.rpartition("/")[2]
    places = [folder / named, *(project / place / name for place in (".", "prompts", "tasks"))]
    for path in places:
        try:
            if path.resolve().is_relative_to(project) and is_prompts(path):
                return path
        # Half a surrogate pair is no part of a file's name.
        except (OSError, UnicodeEncodeError):
            continue
    return None


def _run_id(document: object) -> str | None:
    value = document.get("run_id") if isinstance(document, dict) else None
    return value if isinstance(value, str) and value else None


def _run_id_in_log(path: Path) -> str | None:
    run_ids = (_run_id(record) for record in _first_records(path))
    return next((utf8(run_id) for run_id in run_ids if run_id is not None), None)


def _is_log(path: Path) -> bool:
    if _FIRST_RECORD.match(_head(path)):
        return True
    return any(record.get("record_type") in _RECORD_TYPES for record in _first_records(path))


def _first_records(path: Path) -> Iterator[dict[str, Any]]:
    for line in _head(path).splitlines():
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _has_words(path: Path, words: set[str]) -> bool:
    head = _head(path)
    return sum(f'"{word}"'.encode() in head for word in words) > 1


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
