"""The import: from files to one batch of the lake.

Each file is read by the reader that knows its content, compared with what the lake holds of the
same run, and added where it brings something new. One batch holds all of it: an import that is
killed leaves nothing behind, and can be given again.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from ingest.additions import Readings
from ingest.discovery import find_files
from ingest.formats.palindrome.project_files import ProjectFiles
from ingest.readers import path_reader, read_file
from ingest.session import Ledger, Options, Summary
from ingest.units import Units
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ingest.reading import Reading, SourceFile
    from warehouse.lake.lake import Lake

__all__ = ["Options", "Summary", "import_paths"]

_FILES_AT_ONCE = 1000


def import_paths(
    lake: Lake,
    paths: Iterable[Path],
    options: Options,
    track: Callable[[Sequence[Path]], Iterable[Path]] = lambda files: files,
) -> Summary:
    """Import files and folders into a lake, as one batch.

    Args:
        lake: where to.
        paths: files, and folders that are searched.
        options: how.
        track: is given the files and gives them back one by one, to show progress.

    Raises:
        BadInput: `run_as` with more than one run.
        EvalstoreError: the batch could not be written.
    """
    found = find_files(paths, lambda path: path_reader(path) is not None)
    with shared_lake_lock(lake.store), lake.write("import") as writer:
        ledger = Ledger(lake.current(), writer, options)
        ledger.summary.n_other = found.n_other
        ledger.summary.missing = found.missing
        for path, reason in found.problems:
            ledger.reject_path(path, reason)
        paths_in_turn = iter(track([*found.units, *found.files]))
        if found.units:
            Units(lake, ledger).take(islice(paths_in_turn, len(found.units)))
        _Files(lake, ledger).take(paths_in_turn)
        ledger.finish()
    return ledger.summary


class _Files:
    """The files of an import that are read whole: logs in YAML, task and model files."""

    def __init__(self, lake: Lake, ledger: Ledger) -> None:
        self._ledger = ledger
        self._readings = Readings(lake, ledger)
        self._projects = ProjectFiles()
        self._beside: dict[Path, None] = {}

    def take(self, paths: Iterable[Path]) -> None:
        """Read files, then the task and model files beside them, and add what is new."""
        self._take(paths)
        if self._beside:
            taken = set(map(os.path.realpath, self._ledger.taken))
            self._take(sorted(path for path in self._beside if os.path.realpath(path) not in taken))

    def _take(self, paths: Iterable[Path]) -> None:
        # So many at a time that memory stays flat.
        pending: list[tuple[SourceFile, Reading]] = []
        for path in paths:
            file = self._ledger.bytes_of(path)
            if file is None or self._ledger.is_settled(file):
                continue
            pending.append((file, self._read(file)))
            if len(pending) == _FILES_AT_ONCE:
                self._readings.add(pending)
                pending = []
        self._readings.add(pending)

    def _read(self, file: SourceFile) -> Reading:
        reading = read_file(file)
        if reading.run is None:
            return reading
        self._beside |= dict.fromkeys(
            self._projects.files(file.path, reading.rows["runs"][0]["model_path"])
        )
        self._ledger.rename_run(reading)
        return reading
