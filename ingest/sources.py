"""The files that were imported before, recognised by hash and place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ingest.reading import SourceFile
from warehouse.core.hashing import content_hash
from warehouse.lake.batch import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ingest.reading import Reading
    from warehouse.lake.batch import Generation
    from warehouse.lake.index.register import Register

_SourceKey = tuple[str, str, str | None]


class Sources:
    """The sources in the lake, and those of this import.

    Args:
        register: what the lake holds.
        run_as: the run id that this import was given, if any.
    """

    def __init__(self, register: Register, run_as: str | None) -> None:
        self._register = register
        self._run_as = run_as
        self._new: dict[_SourceKey, Source] = {}

    @property
    def new(self) -> Iterable[Source]:
        """The sources of this import."""
        return self._new.values()

    @property
    def restored(self) -> list[str]:
        """Hashes of the forgotten files that this import brings back."""
        return sorted(filter(self._register.is_forgotten, {each.sha256 for each in self.new}))

    def is_forgotten(self, file: SourceFile) -> bool:
        """Return whether `forget` removed a file and no import has restored it since."""
        return self._register.is_forgotten(file.sha256)

    def is_current(self, file: SourceFile) -> bool:
        """Return whether a file was imported without faults and its generations are current."""
        source = self._register.source(*self._key(file)) or self._new.get(self._key(file))
        # A replaced file may now be a conflict.
        return (
            source is not None
            and source.is_clean
            and all(self._register.generation(g.run) in (None, g) for g in source.generations)
        )

    def add(self, file: SourceFile, generations: Iterable[Generation], *, is_clean: bool) -> bool:
        """Add a source; False if the lake has it already, with the same faults."""
        key = self._key(file)
        source = Source(*key, is_clean=is_clean, generations=tuple(generations))
        if not is_clean and self._register.source(*key) == source:
            return False
        self._new[key] = source
        return True

    def _key(self, file: SourceFile) -> _SourceKey:
        name = f"{file.place}/{file.name}" if file.place else file.name
        return file.sha256, name, self._run_as


def source_of(path: Path, reading: Reading, streamed: Mapping[Path, str]) -> SourceFile:
    """Return a file or folder with one hash of all files of a reading and their places in it.

    The places matter: folders name the run, model or annotator of a file.

    Args:
        path: the file or folder that was claimed.
        reading: a reading of it.
        streamed: SHA-256 of the files of its stream.
    """
    if not streamed and [file.path for file in reading.files] == [path]:
        return reading.files[0]
    hashes = sorted((_place(path, file.path), file.sha256) for file in reading.files)
    if len(streamed) == 1:
        hashes += [("", sha256) for sha256 in streamed.values()]
    elif streamed:
        hashes += sorted((_place(path, each), sha256) for each, sha256 in streamed.items())
    elif reading.run is not None:
        hashes.append(("", content_hash("run", *reading.run)))  # its folder may be empty
    is_one_file = len(hashes) == 1 and "/" not in hashes[0][0]
    sha256 = hashes[0][1] if is_one_file else content_hash("unit", hashes)
    return SourceFile(path, b"", sha256, reading.place)


def _place(source: Path, file: Path) -> str:
    is_inside = file.is_relative_to(source) and file != source
    return (file.relative_to(source) if is_inside else Path(file.name)).as_posix()
