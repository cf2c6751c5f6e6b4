"""Which files are of lm-evaluation-harness, and which of them are one run.

A run is a results file and a samples file for each task, in one folder. Their names have nothing in
common but the time at their end: `results_<time>.json`, `samples_<task>_<time>.jsonl`. People
rename results files, so only the content says what a file is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.reading import Candidate
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from pathlib import Path

SUITE = "lm-eval"
# Length of the part of a row's id that names its task set.
PART_LENGTH = 8

_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
_NAME = re.compile(rf"(?:(?P<rest>.*)_)?(?P<time>{_TIME})\.jsonl?", re.DOTALL)
_SAMPLES = "samples_"
_BOM = b"\xef\xbb\xbf"
_RESULTS = re.compile(rb'"results"\s*:\s*[{\[]')
# A results file has several of these.
_RESULTS_WORDS = (
    *(b'"alias"', b'_stderr"', b"_stderr,", b'"versions"', b'"n-shot"', b'"configs"'),
    *(b'"model_args"', b'"group_subtasks"', b'"groups"', b'"prompt_name"', b'"task_name"'),
)
_LEAST_WORDS = 2
_LIST = re.compile(rb"\s*\[\s*\{")
_SAMPLE_WORDS = (b'"doc_id"', b'"doc"')


@dataclass(slots=True)
class RunFiles:
    """The files of a run.

    Attributes:
        run_id: id of the run: the time at the end of the names.
        results: results files; several if one was copied.
        samples: samples files by task.
    """

    run_id: str
    results: list[Path] = field(default_factory=list)
    samples: dict[str, Path] = field(default_factory=dict)


def is_results(candidate: Candidate) -> bool:
    """Return whether a file is a results file."""
    head = candidate.head.removeprefix(_BOM)
    if not head.lstrip().startswith(b"{") or not _RESULTS.search(head):
        return False
    return sum(word in head for word in _RESULTS_WORDS) >= _LEAST_WORDS


def is_samples(candidate: Candidate) -> bool:
    """Return whether a file is a samples file, by its content or by its name.

    A file with the name of one may begin with a broken line.
    """
    if candidate.path.suffix not in {".jsonl", ".ndjson"}:
        return False
    head = candidate.head.removeprefix(_BOM)
    is_object = head.lstrip().startswith(b"{")
    if (is_object or is_list(candidate)) and all(word in head for word in _SAMPLE_WORDS):
        return True
    found = _NAME.fullmatch(candidate.path.name)
    is_named = found is not None and (found["rest"] or "").startswith(_SAMPLES)
    return is_named and bool(head.strip())


def is_list(candidate: Candidate) -> bool:
    """Return whether a samples file is a list instead of lines, as version 0.4.0 wrote it."""
    return _LIST.match(candidate.head.removeprefix(_BOM)) is not None


def time_of(path: Path) -> str | None:
    """Return the time at the end of a file's name, as it is written there; None without one."""
    found = _NAME.fullmatch(path.name)
    return found["time"] if found is not None else None


def task_of(path: Path) -> str:
    """Return the task that a samples file is named after."""
    found = _NAME.fullmatch(path.name)
    name = (found["rest"] if found is not None else None) or path.stem
    return utf8(name.removeprefix(_SAMPLES)) or "samples"


def part_of(task_set: str) -> str:
    """Return how the ids of the rows of a task set begin."""
    return content_hash("part", task_set)[:PART_LENGTH]


class Folders:
    """The runs in the folders of an import, each found once."""

    def __init__(self) -> None:
        self._files: dict[Path, dict[str, list[Path]]] = {}
        self._taken: set[tuple[Path, str]] = set()

    def take(self, path: Path) -> RunFiles | None:
        """Return the run of a file; None if it was taken before.

        Links in the folder, other than the file itself, are left out: they may lead anywhere.
        """
        time = time_of(path)
        if time is None:
            return _run_of(path.stem, [path])
        key = path.parent, time
        if key in self._taken:
            return None
        self._taken.add(key)
        others = self._of_folder(path.parent).get(time, [])
        return _run_of(time, sorted({path, *others}))

    def _of_folder(self, folder: Path) -> dict[str, list[Path]]:
        if folder not in self._files:
            found: dict[str, list[Path]] = {}
            for path in folder.iterdir():
                time = time_of(path)
                if time is not None and not path.is_symlink():
                    found.setdefault(time, []).append(path)
            self._files[folder] = found
        return self._files[folder]


def _run_of(name: str, paths: list[Path]) -> RunFiles:
    run = RunFiles(utf8(name))
    for path in paths:
        candidate = Candidate(path)
        if is_samples(candidate):
            run.samples.setdefault(task_of(path), path)
        elif is_results(candidate):
            run.results.append(path)
    return run
