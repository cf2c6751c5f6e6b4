"""Reads OpenClaw runs: a folder `runs/<run_id>/`, or a results.jsonl by itself."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from ingest.formats.openclaw.layout import LOG, first_records, is_prompts
from ingest.formats.openclaw.log import LogReader
from ingest.formats.openclaw.numbering import numbered_blocks
from ingest.formats.openclaw.prompts import (
    given_prompts,
    json_value,
    set_prompts,
    set_recorded_prompts,
)
from ingest.reading import Candidate, Reading, Stream
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.snapshots import is_snapshot_name, snapshot_row
from warehouse.core.formats.values import utf8
from warehouse.engine.openclaw_prompts import SUITE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject, RunRow

# Column of table `runs` for each file of a run's folder.
_DOCUMENTS = {
    "config.json": "config",
    "inventory.json": "inventory",
    "summary.json": "recorded_summary",
}


def read_log(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a log by itself."""
    run_id = _run_id_in_log(path) or utf8(path.stem)
    reading = Reading("openclaw log")
    yield from _streamed(reading, _header(run_id, {}, {}), path, context)


def read_run(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a run's folder."""
    log = path / LOG if (path / LOG).is_file() else None
    if log is None and (path / LOG).exists():
        context.read(path / LOG)  # reports what it is instead of a file
    reading = Reading("openclaw run")
    documents, texts = _read_documents(path, context, reading)
    run_id = utf8(
        _run_id(documents.get("config"))
        or _run_id(documents.get("inventory"))
        or (_run_id_in_log(log) if log is not None else None)
        or path.name
    )
    _read_snapshots(path, run_id, context, reading)
    header = _header(run_id, documents, texts)
    _find_prompts(reading, header, path, context, config=documents.get("config"))
    yield from _streamed(reading, header, log, context)


def _streamed(
    reading: Reading, header: RunRow, log: Path | None, context: ImportContext
) -> Iterator[Reading]:
    """Yield a reading with its header and the stream of its log."""
    given = given_prompts(context)
    if given is not None:
        set_prompts(reading, header, given)
    run_id = header["run_id"]
    reading.run = (SUITE, run_id)
    reading.rows["runs"] = [header]
    lines = context.shared(LogReader)
    mask = context.options.redact

    def blocks() -> Iterator[Block]:
        if log is None:
            return iter(())
        return numbered_blocks(lines.read(log, redact=mask), path=log, run_id=run_id)

    paths = () if log is None else (log,)
    reading.stream = Stream(paths=paths, tables=("results", "events"), blocks=blocks)
    if log is not None:
        # Hashing a large log keeps one core busy; others can start to parse it.
        with suppress(OSError):
            lines.begin(log, redact=mask)
    yield reading
    lines.abandon()


def _header(run_id: str, documents: JsonObject, texts: dict[str, str]) -> RunRow:
    columns = {column: json_text(value) for column, value in documents.items()}
    return {
        "suite": SUITE,
        "run_id": run_id,
        "origin": "import",
        **cast("RunRow", columns),
        "task_set": _task_set(documents.get("config")),
        "source": json_text(texts) if texts else None,
    }


def _read_documents(
    folder: Path, context: ImportContext, reading: Reading
) -> tuple[JsonObject, dict[str, str]]:
    """Return the JSON files of a folder, and the text of those that JSON columns would alter."""
    documents: JsonObject = {}
    texts: dict[str, str] = {}
    for name, column in _DOCUMENTS.items():
        path = folder / name
        file = context.read(path) if path.exists() else None
        if file is None:
            continue
        reading.files.append(file)
        value = json_value(file, reading)
        # Written by an export for a run that never had it, so it has no information.
        if value is None or (isinstance(value, dict) and value.get("reconstructed") is True):
            continue
        documents[column] = value
        if not is_exact(value):
            texts[name] = file.data.decode("utf-8", "replace")
    return documents, texts


def _read_snapshots(folder: Path, run_id: str, context: ImportContext, reading: Reading) -> None:
    names = sorted(path.name for path in folder.iterdir() if is_snapshot_name(path.name))
    files = [file for name in names if (file := context.read(folder / name)) is not None]
    reading.files.extend(files)
    run = {"suite": SUITE, "run_id": run_id}
    reading.rows["resources"] = [
        {**snapshot_row(utf8(file.path.name), file.data), **run, "file_sha256": file.sha256}
        for file in files
    ]


def _task_set(config: Json) -> str | None:
    path = config.get("prompts_path") if isinstance(config, dict) else None
    return utf8(path.rpartition("/")[2].removesuffix(".json")) if isinstance(path, str) else None


def _find_prompts(
    reading: Reading, header: RunRow, folder: Path, context: ImportContext, *, config: Json
) -> None:
    """Take a run's prompts from its config, or else from the file that it names."""
    own = next((file for file in reading.files if file.path.name == "config.json"), None)
    if own is not None and set_recorded_prompts(reading, header, own, config):
        return
    path = _prompts_in_project(folder, config)
    if path is not None and (file := context.read(path)) is not None:
        set_prompts(reading, header, file)


def _prompts_in_project(folder: Path, config: Json) -> Path | None:
    """Find the prompt file that a config names, inside the project that contains the runs.

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
            if path.resolve().is_relative_to(project) and is_prompts(Candidate(path)):
                return path
        # A lone surrogate cannot be part of a file name.
        except (OSError, UnicodeEncodeError):
            continue
    return None


def _run_id(document: Json) -> str | None:
    value = document.get("run_id") if isinstance(document, dict) else None
    return value if isinstance(value, str) and value else None


def _run_id_in_log(path: Path) -> str | None:
    run_ids = (_run_id(record) for record in first_records(Candidate(path)))
    return next((utf8(run_id) for run_id in run_ids if run_id is not None), None)
