"""The folder of a site: only what has changed is written, and only our own files are removed."""

from __future__ import annotations

import fcntl
import json
import os
from collections import defaultdict
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.files import read_regular
from warehouse.lake.targets import sweep, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Page

MANIFEST = "evalstore-site.json"
JOURNAL = "evalstore-site.journal"
ALL = "*"
_FORMAT = 1
_ABOUT = "The files that `evalstore report` wrote. It removes none that is not listed, or changed."


@contextmanager
def site_lock(path: Path) -> Iterator[None]:
    """Keep other processes from writing a site to a folder, which is created.

    The lock is that of the folder itself, so that the site has no file more; a file system
    without locks has none.

    Raises:
        BadInput: the folder cannot be created, or another process writes a site there.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BadInput(
            f"{path}: another `evalstore report` is writing there; wait until it ends"
        ) from None
    except OSError:
        pass  # no locks here
    try:
        yield
    finally:
        os.close(descriptor)


class SiteFolder:
    """A folder that a site is written to.

    The manifest lists the files that we wrote, by their SHA-256. A file whose bytes are the same
    is not written again; one that belongs to a page that no longer exists is removed, unless
    someone else has changed it.

    A file is in the journal before it is written, and the journal goes when the manifest is
    complete: what a killed process wrote is known to be ours, too.

    Attributes:
        path: the folder.
        n_written: files written: new ones, and those whose bytes have changed.
        n_removed: files removed.
        n_bytes: size of all files of the site, bytes.
        kept: files of former pages that someone has changed, and that were therefore kept.
    """

    def __init__(self, path: Path) -> None:
        """Read the manifest of a folder, which need not exist.

        Raises:
            BadInput: the folder has files, and is not a site of ours.
        """
        self.path = path
        self.n_written = 0
        self.n_removed = 0
        self.n_bytes = 0
        self.kept: list[str] = []
        self._before, self._made_from_before = _manifest(path)
        self._groups: dict[str, dict[str, str]] = defaultdict(dict)
        for name, digest in self._before.items():
            self._groups[_group(name)][name] = digest
        self._begun = _journal(path)
        self._files: dict[str, str] = {}
        self._made_from: dict[str, str] = {}
        # From the start: a folder whose site was interrupted is recognised, too.
        if not self._before:
            self._write_manifest()

    @property
    def n_files(self) -> int:
        """Number of files of the site."""
        return len(self._files)

    def add(self, page: Page) -> None:
        """Write a file of the site, unless it is there with the same bytes.

        Raises:
            BadInput: it cannot be written.
            ValueError: its path leads out of the folder, or was added before.
        """
        _check(page.path)
        if page.path in self._files:
            raise ValueError(f"two pages at {page.path}")
        data = page.data
        self._files[page.path] = sha256(data).hexdigest()
        self.n_bytes += len(data)
        target = self.path / page.path
        if not _holds(target, data):
            self._begin(page.path, self._files[page.path])
            write_whole(target, data)
            self.n_written += 1

    def stand_in(self, page: Page) -> None:
        """Write a page that a later one replaces, unless there is one from before.

        Raises:
            BadInput: it cannot be written.
        """
        target = self.path / page.path
        if not target.exists():
            self._begin(page.path, sha256(page.data).hexdigest())
            write_whole(target, page.data)

    def keep(self, names: str, made_from: str) -> bool:
        """Keep some files if they were made from the same, and none is missing or changed.

        They are read: one that someone has changed is written again. What they are made from is
        in the manifest, too, for the next site.

        Args:
            names: `ALL`, or such as `a/b/*.js`: the files of a folder with this ending.
            made_from: hash of all that they are made from.
        """
        self._made_from[names] = made_from
        if self._made_from_before.get(names) != made_from or (names == ALL and self._begun):
            return False
        files = self._before if names == ALL else self._groups.get(names, {})
        n_bytes = 0
        for name, digest in files.items():
            try:
                data = read_regular(self.path / name)
            except OSError:
                return False
            if sha256(data).hexdigest() != digest:
                return False
            n_bytes += len(data)
        self._files |= files
        self.n_bytes += n_bytes
        return bool(files)

    def finish(self) -> None:
        """Remove what belongs to former pages, and write the manifest."""
        folders: set[Path] = set()
        for name in sorted(self._before.keys() | self._begun):
            path = self.path / name
            if name in self._begun:
                sweep(path.parent)
                folders.update(self.path / parent for parent in PurePosixPath(name).parents)
            if name in self._files or path.is_symlink() or not path.is_file():
                continue
            ours = {self._before.get(name), *self._begun.get(name, ())}
            if sha256(read_regular(path)).hexdigest() in ours:
                path.unlink()
                self.n_removed += 1
                folders.update(self.path / parent for parent in PurePosixPath(name).parents)
            else:
                self.kept.append(name)
        for folder in sorted(folders - {self.path}, reverse=True):
            with suppress(OSError):  # not empty
                folder.rmdir()
        self._write_manifest()
        (self.path / JOURNAL).unlink(missing_ok=True)

    def _begin(self, name: str, digest: str) -> None:
        """Add a file to the journal, before it is written."""
        line = json.dumps([name, digest]) + "\n"
        path = self.path / JOURNAL
        try:
            with path.open("ab") as file:
                file.write(line.encode())
        except OSError as error:
            raise BadInput(f"{path}: cannot be written ({error.strerror})") from error

    def _write_manifest(self) -> None:
        files = dict(sorted(self._files.items()))
        made_from = dict(sorted(self._made_from.items()))
        document = {"about": _ABOUT, "format": _FORMAT, "made_from": made_from, "files": files}
        data = (json.dumps(document, indent=1) + "\n").encode()
        target = self.path / MANIFEST
        if not _holds(target, data):
            write_whole(target, data)


def _manifest(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files that we wrote to a folder, with their hashes, and what they are made from.

    Raises:
        BadInput: the folder is not ours.
    """
    path = folder / MANIFEST
    try:
        document = json.loads(read_regular(path))
        files = dict(document["files"]) if document["format"] == _FORMAT else None
        for name, digest in (files or {}).items():
            _check(name)
            bytes.fromhex(digest)
        made_from = document.get("made_from")
    except FileNotFoundError:
        if folder.is_dir() and any(folder.iterdir()):
            raise BadInput(
                f"{folder}: has files, and none of them is {MANIFEST}: give a new or empty folder, "
                "or one that `evalstore report` wrote"
            ) from None
        return {}, {}
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path}: not a list of files that this version wrote; give another folder"
        ) from error
    if files is None:
        raise BadInput(f"{path}: written by another version of evalstore; give another folder")
    # Another version has one hash, of all.
    return files, made_from if isinstance(made_from, dict) else {}


def _journal(folder: Path) -> dict[str, set[str]]:
    """Return the files that a process began to write and did not list, with their hashes.

    Raises:
        BadInput: the journal is not ours.
    """
    path = folder / JOURNAL
    begun: dict[str, set[str]] = {}
    try:
        whole, _, torn = read_regular(path).rpartition(b"\n")
        if torn:  # a line without its end was not followed by its file
            write_whole(path, whole + b"\n" if whole else b"")
        for line in whole.splitlines():
            name, digest = json.loads(line)
            _check(name)
            bytes.fromhex(digest)
            begun.setdefault(name, set()).add(digest)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path}: not a journal that this version wrote; give another folder"
        ) from error
    return begun


def _check(name: str) -> None:
    """Raise a `ValueError` for a path that is not plainly inside the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in name or "\0" in name:
        raise ValueError(f"not a path in a site: {name!r}")


def _group(name: str) -> str:
    """Return what `SiteFolder.keep` calls a file and those like it, such as `a/b/*.js`."""
    path = PurePosixPath(name)
    return str(path.with_name(f"*{path.suffix}"))


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a file has exactly these bytes."""
    try:
        return path.stat().st_size == len(data) and read_regular(path) == data
    except OSError:
        return False
