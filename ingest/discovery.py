"""Finds the files and folders to import: those given, and those inside given folders."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.readers import TABLES, reader_of, reader_of_named
from ingest.reading import Candidate
from warehouse.core.files import real_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.format import Reader


@dataclass(slots=True)
class Found:
    """What was found below the given paths.

    Attributes:
        readers: the files and folders to import, sorted and unique, each with its reader.
        problems: paths that cannot be read, each with the reason.
        missing: given paths that do not exist.
        n_other: files in folders that no reader claims; they are ignored.
        n_tables: how many of them are tables, which are imported only by name.
    """

    readers: dict[Path, Reader] = field(default_factory=dict)
    problems: list[tuple[Path, str]] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    n_other: int = 0
    n_tables: int = 0


def find_files(paths: Iterable[Path]) -> Found:
    """Find what to import below files and folders.

    A file given by name is always read. In folders, hidden folders are skipped, links that lead
    outside are not followed, and files that no reader claims are only counted.
    """
    found = Found()
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            found.missing.append(path)
        except OSError as error:
            found.problems.append((path, _reason(error)))
        else:
            candidate = Candidate(path)
            if is_folder and reader_of(candidate) is None:
                _find_in_folder(path, found)
            else:
                _add(path, reader_of_named(candidate), found)
    found.readers = _unique(found.readers)
    return found


def _unique(readers: dict[Path, Reader]) -> dict[Path, Reader]:
    folders: dict[Path, str] = {}
    unique = {real_path(path, folders): path for path in reversed(readers)}
    return {path: readers[path] for path in sorted(unique.values())}


def _find_in_folder(root: Path, found: Found) -> None:
    def on_error(error: OSError) -> None:
        found.problems.append((Path(error.filename), _reason(error)))

    for walked, subfolders, names in os.walk(root, onerror=on_error):
        folder = Path(walked)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for path in _links(folder, subfolders):
            found.problems.append((path, "a link to a folder, not followed"))
        claimed = {name: _reader_of_folder(folder / name) for name in subfolders}
        found.readers |= {folder / name: reader for name, reader in claimed.items() if reader}
        subfolders[:] = [name for name, reader in claimed.items() if reader is None]
        for name in sorted(names):
            _find_file(folder / name, root, found)


def _find_file(path: Path, root: Path, found: Found) -> None:
    if _leaves(path, root):
        found.problems.append((path, "a link out of the folder, not followed"))
        return
    candidate = Candidate(path)
    reader = reader_of(candidate)
    if reader is None:
        found.n_other += 1
        found.n_tables += TABLES.claims(candidate)
    else:
        _add(path, reader, found)


def _reader_of_folder(path: Path) -> Reader | None:
    return None if path.is_symlink() else reader_of(Candidate(path))


def _links(folder: Path, names: list[str]) -> Iterator[Path]:
    return (path for name in names if (path := folder / name).is_symlink())


def _leaves(path: Path, root: Path) -> bool:
    if not path.is_symlink():
        return False
    # `Path.resolve` would raise an error for circular links.
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _add(path: Path, reader: Reader, found: Found) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        found.problems.append((path, _reason(error)))
        return
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        found.readers[path] = reader
    else:
        found.problems.append((path, "neither a file nor a folder"))


def _reason(error: OSError) -> str:
    return error.strerror or "cannot be read"
