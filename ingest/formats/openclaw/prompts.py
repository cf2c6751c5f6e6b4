"""Reads OpenClaw prompt files, by themselves or for a run that used one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.reading import Reading, Reject
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import TOO_DEEP, is_nested_deeply, utf8
from warehouse.engine.openclaw_prompts import (
    is_prompt_list,
    prompt_rows,
    recorded_prompt_rows,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.types import Json, RunRow


@dataclass(frozen=True, slots=True)
class PromptsOption:
    """An option of the import: the prompt file that the imported runs used.

    Attributes:
        path: path of the file.
    """

    path: Path


def read(file: SourceFile, _context: ImportContext) -> Reading:
    """Read a prompt file as a version of a task set."""
    reading = Reading("openclaw prompts")
    _add_tasks(reading, file)
    return reading


def given_prompts(context: ImportContext) -> SourceFile | None:
    """Read the prompt file that was given for the imported runs, if any.

    Raises:
        BadInput: it is not a prompt file.
    """
    option = context.options.format_option(PromptsOption)
    if option is None:
        return None
    file = context.read(option.path)
    if file is None:
        raise BadInput(f"{option.path}: cannot be used as a prompt file (not readable)")
    reading = read(file, context)
    if not reading.rows.get("tasks"):
        reasons = "; ".join(reject.reason for reject in reading.rejects)
        raise BadInput(f"{option.path}: cannot be used as a prompt file ({reasons})")
    return file


def set_recorded_prompts(reading: Reading, run: RunRow, file: SourceFile, config: Json) -> bool:
    """Record the prompts that a run's config holds; return whether it holds any."""
    if not isinstance(config, dict):
        return False
    rows = recorded_prompt_rows(config, task_set=run["task_set"] or "prompts")
    reading.rows["tasks"] = [{**row, "file_sha256": file.sha256} for row in rows]
    _name_task_set(reading, run)
    return bool(rows)


def set_prompts(reading: Reading, run: RunRow, file: SourceFile) -> None:
    """Record the prompt file that a run used, overriding its config."""
    _add_tasks(reading, file)
    reading.files.append(file)
    _name_task_set(reading, run)


def _name_task_set(reading: Reading, run: RunRow) -> None:
    tasks = reading.rows.get("tasks")
    if tasks:
        run["task_set"] = tasks[0]["task_set"]
        run["dataset_hashes"] = json_text({"prompts": tasks[0]["task_set_hash"]})


def json_value(file: SourceFile, reading: Reading) -> Json:
    """Parse a JSON file; what is not JSON gives None and is rejected."""
    try:
        value: Json = json.loads(file.data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        is_deep = isinstance(error, RecursionError)
        reason = f"{file.path.name}: {TOO_DEEP if is_deep else f'not JSON: {error}'}"
        reading.rejects.append(Reject(reason, getattr(error, "lineno", None), raw=file.data))
        return None
    if is_nested_deeply(value, file.data):
        reading.rejects.append(Reject(f"{file.path.name}: {TOO_DEEP}", raw=file.data))
        return None
    return value


def _add_tasks(reading: Reading, file: SourceFile) -> None:
    document = json_value(file, reading)
    if not isinstance(document, list) or not is_prompt_list(document):
        reading.rejects.append(Reject(f"{file.path.name}: not a list of prompts", raw=file.data))
        return
    rows, violations = prompt_rows(document, task_set=utf8(file.path.stem))
    reading.rows["tasks"] = [{**row, "file_sha256": file.sha256} for row in rows]
    reading.violations.extend(violations)
