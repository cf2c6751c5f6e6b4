"""Finds the task and model files of the project that a log is in."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.files import read_regular
from warehouse.core.formats.model_files import is_model_file, model_row
from warehouse.core.formats.yaml.documents import MappingNode, YamlError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST_MODEL_BYTES = 1 << 20
_TASK_FOLDERS = ("tasks", "src/ai_palindromikisa/benchmark_tasks")


class ProjectFiles:
    """The task and model files of the logs of one import; each project is searched once."""

    def __init__(self) -> None:
        self._task_files = cache(_task_files)
        self._model_files = cache(_model_files)
        self._name_in = cache(_name_in)

    def model_name(self, log: Path, model_path: str | None) -> str | None:
        """Return the name of the model in the file that a log names; None if it has none."""
        paths = self._model_files(log.parent, model_path)
        return self._name_in(paths[0]) if paths else None

    def files(self, log: Path, model_path: str | None) -> Iterator[Path]:
        """Yield the model file that a log names, and the task files of its project.

        The project is the log's folder or the one above. A path that leads out of the project is
        skipped: a log must not choose which other files are read.
        """
        yield from self._model_files(log.parent, model_path)
        for project in (log.parent, log.parent.parent):
            yield from self._task_files(project)


def _model_files(folder: Path, model_path: str | None) -> list[Path]:
    if not model_path or not _stays_inside(model_path):
        return []
    return [
        project / model_path
        for project in (folder, folder.parent)
        # Most logs are imported without their model files: a path of each takes much longer.
        if os.path.isfile(f"{project}/{model_path}")  # noqa: PTH113
        and _is_file_in(project / model_path, project)
    ]


def _name_in(path: Path) -> str | None:
    """Return the name in a model file; None if it cannot be read: its own import says so."""
    try:
        node = parse(read_regular(path, max_bytes=_LARGEST_MODEL_BYTES))
    except (OSError, YamlError):
        return None
    if not is_model_file(node, folder=path.parent.name) or not isinstance(node, MappingNode):
        return None
    name: str = model_row(node, file_name=path.name)[0]["name"]
    return name or None


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
