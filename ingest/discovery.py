"""Finds the files to import, below the paths that were given and never outside them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SUFFIXES = {".yaml", ".yml"}
_HEAD_BYTES = 65_536
_LOG_WORDS = (b"\nprompt_template:", b"\ntasks:")


@dataclass(slots=True)
class Found:
    """What the given paths lead to.

    Attributes:
        files: to be read, in order, each once.
        units: folders and files that a reader claims as a whole, in order, each once.
        problems: path and reason of what cannot be read.
        missing: given paths that lead nowhere.
        n_other: files of other kinds in the folders, left alone.
    """

    files: list[Path] = field(default_factory=list)
    units: list[Path] = field(default_factory=list)
    problems: list[tuple[Path, str]] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    n_other: int = 0


def find_files(paths: Iterable[Path], claims: Callable[[Path], bool]) -> Found:
    """Find the files that the paths name or hold.

    A file that is named is always read. In a folder, hidden folders are passed over, links that
    lead out of it are not followed, and files of other kinds are counted.

    Args:
        paths: files and folders.
        claims: tells a folder or file that is read as a whole.
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
            _find(path, found, claims, is_folder=is_folder)
    found.files = _each_once(found.files)
    found.units = _each_once(found.units)
    return found


def _each_once(paths: list[Path]) -> list[Path]:
    return sorted({os.path.realpath(path): path for path in reversed(paths)}.values())


def _find(path: Path, found: Found, claims: Callable[[Path], bool], *, is_folder: bool) -> None:
    if claims(path):
        found.units.append(path)
    elif is_folder:
        _find_in_folder(path, found, claims)
    else:
        _add(path, found)


def _find_in_folder(root: Path, found: Found, claims: Callable[[Path], bool]) -> None:
    def on_error(error: OSError) -> None:
        found.problems.append((Path(error.filename), _reason(error)))

    for folder, subfolders, names in os.walk(root, onerror=on_error):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for path in _links_to_folders(Path(folder), subfolders):
            found.problems.append((path, "a link to a folder, not followed"))
        units = [path for name in subfolders if _is_unit(path := Path(folder) / name, claims)]
        found.units.extend(units)
        subfolders[:] = [name for name in subfolders if Path(folder) / name not in units]
        for name in sorted(names):
            path = Path(folder) / name
            if _leaves(path, root):
                found.problems.append((path, "a link out of the folder, not followed"))
            elif claims(path):
                found.units.append(path)
            elif path.suffix in _SUFFIXES or _looks_like_log(path):
                _add(path, found)
            else:
                found.n_other += 1


def _is_unit(path: Path, claims: Callable[[Path], bool]) -> bool:
    return not path.is_symlink() and claims(path)


def _links_to_folders(folder: Path, names: list[str]) -> Iterator[Path]:
    return (path for name in names if (path := folder / name).is_symlink())


def _leaves(path: Path, root: Path) -> bool:
    if not path.is_symlink():
        return False
    # `Path.resolve` would raise where links lead in a circle.
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _add(path: Path, found: Found) -> None:
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        found.problems.append((path, _reason(error)))
        return
    if is_file:
        found.files.append(path)
    else:
        found.problems.append((path, "neither a file nor a folder"))


def _reason(error: OSError) -> str:
    return error.strerror or "cannot be read"


def _looks_like_log(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            head = b"\n" + file.read(_HEAD_BYTES)
    except OSError:
        return False
    return all(word in head for word in _LOG_WORDS)
