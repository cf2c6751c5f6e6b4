"""Finds the task and model files that lie beside a log, as the program that wrote it had them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TASK_FOLDERS = ("tasks", "src/ai_palindromikisa/benchmark_tasks")


def files_beside(log: Path, model_path: str | None) -> Iterator[Path]:
    """Give the model file that a log names, and the task files of its project.

    The project is the folder of the log's folder, or the log's folder itself. A path that leads
    out of the project is passed over: a log must not choose what is read.
    """
    for project in (log.parent, log.parent.parent):
        candidates = [project / model_path] if model_path and _is_plain(model_path) else []
        for folder in _TASK_FOLDERS:
            candidates.extend(sorted((project / folder).glob("*.yaml")))
        yield from (path for path in candidates if _is_file_in(path, project))


def _is_plain(model_path: str) -> bool:
    return "\0" not in model_path and ".." not in Path(model_path).parts


def _is_file_in(path: Path, project: Path) -> bool:
    try:
        return path.is_file() and path.resolve().is_relative_to(project.resolve())
    except (OSError, ValueError):
        return False
