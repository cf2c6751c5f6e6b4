"""Finds the task and model files of the project that a log is in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TASK_FOLDERS = ("tasks", "src/ai_palindromikisa/benchmark_tasks")


class ProjectFiles:
    """The task and model files of the logs of one import; each project is searched once."""

    def __init__(self) -> None:
        self._task_files: dict[Path, list[Path]] = {}

    def files(self, log: Path, model_path: str | None) -> Iterator[Path]:
        """Yield the model file that a log names, and the task files of its project.

        The project is the log's folder or the one above. A path that leads out of the project is
        skipped: a log must not choose what is read.
        """
        for project in (log.parent, log.parent.parent):
            if (
                model_path
                and _stays_inside(model_path)
                and _is_file_in(project / model_path, project)
            ):
                yield project / model_path
            if project not in self._task_files:
                self._task_files[project] = _task_files(project)
            yield from self._task_files[project]


def _task_files(project: Path) -> list[Path]:
    paths = [path for folder in _TASK_FOLDERS for path in sorted((project / folder).glob("*.yaml"))]
    return [path for path in paths if _is_file_in(path, project)]


def _stays_inside(model_path: str) -> bool:
    return "\0" not in model_path and ".." not in Path(model_path).parts


def _is_file_in(path: Path, project: Path) -> bool:
    try:
        return path.is_file() and path.resolve().is_relative_to(project.resolve())
    except (OSError, ValueError):
        return False
