"""Imports folders and logs that a reader claims as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ingest.additions import Readings
from ingest.formats.openclaw.lines import line_reader
from ingest.formats.openclaw.run_import import RunImport
from ingest.formats.openclaw.runs import give_prompts
from ingest.formats.posters.dataset import declare_gold
from ingest.readers import path_reader
from ingest.reading import Reading, SourceFile
from warehouse.errors import BadInput
from warehouse.hashing import content_hash
from warehouse.lake.lake import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest.session import Ledger
    from warehouse.lake.lake import Lake


class Units:
    """The units of an import."""

    def __init__(self, lake: Lake, ledger: Ledger) -> None:
        self._lake = lake
        self._ledger = ledger
        self._readings = Readings(lake, ledger)

    def take(self, paths: Iterable[Path]) -> None:
        """Read units, and add what is new.

        Raises:
            BadInput: `run_as` with a log of several runs; the given prompt file is none.
        """
        prompts = self._given_prompts()
        with line_reader() as lines:
            streamed = RunImport(self._lake, self._ledger, lines)
            for path in paths:
                reader = path_reader(path)
                readings = reader.read(path, self._ledger.bytes_of) if reader is not None else ()
                for reading in readings:
                    self._add(path, reading, streamed, prompts)

    def _add(
        self, path: Path, reading: Reading, streamed: RunImport, prompts: SourceFile | None
    ) -> None:
        is_streamed = reading.format in RunImport.FORMATS
        if is_streamed and prompts is not None:
            give_prompts(reading, prompts)
        log_sha256 = None
        if reading.log is not None:
            # To hash a large log takes one processor a while; another begins to read it.
            streamed.begin(reading.log)
            log_sha256 = file_sha256(reading.log)
        file = _as_one_file(path, reading, log_sha256)
        gold = self._ledger.options.gold
        if gold is not None:
            declare_gold(reading, gold)
        elif self._ledger.is_settled(file):
            streamed.abandon()
            return
        if is_streamed:
            streamed.add(file, reading, log_sha256)
            return
        self._ledger.rename_run(reading)
        self._readings.add([(file, reading)])

    def _given_prompts(self) -> SourceFile | None:
        path = self._ledger.options.prompts
        if path is None:
            return None
        file = self._ledger.bytes_of(path)
        reading = Reading("openclaw run")
        if file is not None:
            reading.rows["runs"] = [{}]
            give_prompts(reading, file)
        if file is None or not reading.rows.get("tasks"):
            reasons = "; ".join(reject.reason for reject in reading.rejects)
            raise BadInput(f"{path}: cannot be used as a prompt file ({reasons or 'not readable'})")
        return file


def _as_one_file(path: Path, reading: Reading, log_sha256: str | None) -> SourceFile:
    """Give a unit the hash that stands for all its files, and for where in it they lie.

    The folders say whose a file is: of which run, model or annotator.
    """
    hashes = sorted((_place(path, file.path), file.sha256) for file in reading.files)
    if log_sha256 is not None:
        hashes.append(("", log_sha256))
    elif reading.run is not None:
        hashes.append(("", content_hash("run", *reading.run)))  # its folder may hold no file
    is_one_file = len(hashes) == 1 and "/" not in hashes[0][0]
    sha256 = hashes[0][1] if is_one_file else content_hash("unit", hashes)
    return SourceFile(path, b"", sha256)


def _place(unit: Path, file: Path) -> str:
    below = file.is_relative_to(unit) and file != unit
    return (file.relative_to(unit) if below else Path(file.name)).as_posix()
