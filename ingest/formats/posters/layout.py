"""The parts of a poster workspace: at the top level, or under `benchmark/`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.formats.posters.files import files_in, folders_in, is_file, is_folder
from warehouse.core.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reading import Candidate

_URL_LISTS = ("urls.txt", "docs/test_poster_urls.txt")
_PARTS = ("ground_truth", "runs", "predictions", "annotations", "urls.txt")
_REPORT = "summary.json"
_LEDGER = "experiments.csv"
_LEDGER_START = b"run_id,label,created_at,"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run of a workspace.

    Attributes:
        run_id: name of its folder, or of the workspace if that is itself a run.
        folder: contains predictions, judgements and report.
    """

    run_id: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Workspace:
    """A poster workspace.

    Attributes:
        root: the project's folder; recorded paths are relative to it.
        base: the folder of the manifest: the root, or `benchmark/` in it.
    """

    root: Path
    base: Path

    @property
    def name(self) -> str:
        """The dataset's name: that of the project's folder."""
        return self.root.resolve().name or "posters"

    @property
    def manifest(self) -> Path:
        """Path of the list of posters."""
        return self.base / "manifest.json"

    @property
    def url_list(self) -> Path | None:
        """Path of the list of the posters' URLs."""
        places = [self.root / name for name in _URL_LISTS] + [self.base / "urls.txt"]
        return next((place for place in places if is_file(place)), None)

    @property
    def prompts(self) -> list[Path]:
        """Paths of the prompt files."""
        folders = (self.root / "benchmark" / "prompts", self.base / "prompts")
        found = next((folder for folder in folders if is_folder(folder)), folders[0])
        return [path for path in files_in(found) if path.suffix == ".txt"]

    @property
    def runs(self) -> list[RunFolder]:
        """Each folder in `runs/`, and the workspace itself if it has predictions."""
        runs = [RunFolder(path.name, path) for path in folders_in(self.base / "runs")]
        if is_folder(self.base / "predictions"):
            runs.insert(0, RunFolder(self.name, self.base))
        return runs

    @property
    def published(self) -> list[Path]:
        """Paths of the published folders."""
        return [path for path in folders_in(self.base / "published") if _is_report(path)]

    @property
    def ledgers(self) -> list[Path]:
        """Paths of the ledgers."""
        places = {self.root / _LEDGER, self.base / _LEDGER}
        return sorted(place for place in places if is_file(place))

    def relative(self, path: Path) -> str:
        """Write a path as the benchmark records it: relative to the root."""
        return path.relative_to(self.root).as_posix()


def find_workspace(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is, or is the `benchmark/` of; None for any other."""
    if folder.name == "benchmark" and _is_base(folder):
        return Workspace(folder.parent, folder)
    for base in (folder, folder / "benchmark"):
        if _is_base(base):
            return Workspace(folder, base)
    return None


def is_workspace(candidate: Candidate) -> bool:
    """Return whether a folder is a poster workspace, or the `benchmark/` of one."""
    return candidate.is_folder and find_workspace(candidate.path) is not None


def is_published(candidate: Candidate) -> bool:
    """Return whether a folder is a published report, or the report of a run."""
    return candidate.is_folder and _is_report(candidate.path)


def is_ledger(candidate: Candidate) -> bool:
    """Return whether a file is an experiment ledger."""
    return candidate.path.suffix == ".csv" and candidate.head.startswith(_LEDGER_START)


def _is_report(folder: Path) -> bool:
    return is_file(folder / _REPORT) and any(
        is_file(folder / name) for name in ("run_metadata.json", "meta.json")
    )


def _is_base(folder: Path) -> bool:
    manifest = folder / "manifest.json"
    parts = (folder / name for name in _PARTS)
    if not is_file(manifest) or not any(is_folder(part) or is_file(part) for part in parts):
        return False
    try:
        return isinstance(json.loads(read_regular(manifest)), list)
    except (OSError, ValueError, RecursionError):
        return False
