"""Lists of task IDs: one a line, or a JSON list, which any ID can stand in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_JSON = ".json"


def write_task_list(path: Path, task_ids: Sequence[str]) -> None:
    """Write a list of task IDs; as JSON if the name of the file says so.

    Raises:
        BadInput: the file exists or cannot be written, or an ID does not fit in a line.
    """
    if path.suffix == _JSON:
        text = json.dumps(list(task_ids), ensure_ascii=False, indent=1) + "\n"
    elif any(task_id.splitlines() != [task_id] for task_id in task_ids):
        raise BadInput(
            f"{path}: some task IDs have several lines; name a file that ends in {_JSON}"
        )
    else:
        text = "".join(f"{task_id}\n" for task_id in task_ids)
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error


def read_task_list(path: Path) -> tuple[str, ...]:
    """Read a list that `write_task_list` wrote.

    Raises:
        BadInput: the file cannot be read, or is no list of names.
    """
    try:
        text = read_regular(path).decode()
        found = json.loads(text) if path.suffix == _JSON else text.splitlines()
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: {problem(error)}") from error
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise BadInput(f"{path}: not a list of task IDs")
    task_ids = tuple(filter(None, found))
    if not task_ids:
        raise BadInput(f"{path}: it names no task")
    return task_ids
