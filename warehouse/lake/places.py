"""Files of tables, in a folder or on an object store. Keys are relative paths with `/`."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from warehouse.core.errors import BadInput, StoreBusy
from warehouse.core.files import read_regular
from warehouse.lake.atomic import create_durably, sync_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warehouse.lake.remote.objects import Objects

PUBLISHED_MEANWHILE = "another machine published meanwhile; publish again"


class FolderPlace:
    """A folder.

    Args:
        path: the folder.

    Attributes:
        address: the path.
        largest: the most bytes that `get` reads.
    """

    largest = 2**30

    def __init__(self, path: Path) -> None:
        self._path = path
        self.address = str(path)

    def files(self, folder: str = "") -> list[tuple[str, float]]:
        """Return the keys of all files below a folder, with their times (seconds since 1970)."""
        found = []
        for path in (self._path / folder).rglob("*"):
            with suppress(FileNotFoundError):  # deleted meanwhile
                if path.is_file():
                    found.append((path.relative_to(self._path).as_posix(), path.stat().st_mtime))
        return sorted(found)

    def is_empty(self, *, but: str) -> bool:
        """Return whether nothing is there, but for what a kill left of a file of this name.

        Raises:
            BadInput: it is no folder.
        """
        if self._path.exists() and not self._path.is_dir():
            raise BadInput(f"{self._path} is not a folder")
        return not self._path.exists() or all(
            path.name.startswith(f".{but}.") for path in self._path.iterdir()
        )

    def get(self, key: str) -> bytes:
        """Return the bytes of a file; raise `OSError` if there is none."""
        return read_regular(self._path / key, max_bytes=self.largest)

    def create(self, key: str, content: bytes) -> bool:
        """Write a new file, whole or not at all; return whether there was none before."""
        target = self._path / key
        target.parent.mkdir(parents=True, exist_ok=True)
        return create_durably(target, content)

    @contextmanager
    def writing(self, key: str) -> Iterator[Path]:
        """Yield a path on this machine where a new file is written."""
        target = self._path / key
        target.parent.mkdir(parents=True, exist_ok=True)
        yield target
        sync_file(target)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete files; those that are gone already are ignored."""
        for key in keys:
            (self._path / key).unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out, where the file system has locks.

        Raises:
            StoreBusy: another process is in.
        """
        self._path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with suppress(OSError):
                _lock(descriptor, self._path)
            yield
        finally:
            os.close(descriptor)


class ObjectPlace:
    """An address; its methods are those of `FolderPlace`, by conditional puts.

    Args:
        objects: the objects there.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.address = objects.address

    def files(self, folder: str = "") -> list[tuple[str, float]]:
        """Return the keys of all objects below a folder, with their times."""
        return [(one.key, one.modified.timestamp()) for one in self._objects.below(folder)]

    def is_empty(self, *, but: str) -> bool:  # noqa: ARG002 - a put is whole or not at all
        """Return whether there are no objects."""
        return not self._objects.below("")

    def get(self, key: str) -> bytes:
        """Return the bytes of an object; raise `FileNotFoundError` if there is none."""
        return self._objects.get(key)[0]

    def create(self, key: str, content: bytes) -> bool:
        """Write a new object; return whether there was none before."""
        from warehouse.lake.remote.objects import ObjectChanged

        try:
            self._objects.create(key, content)
        except ObjectChanged:
            return False
        return True

    @contextmanager
    def writing(self, key: str) -> Iterator[Path]:
        """Yield a path on this machine, and put what was written there."""
        with TemporaryDirectory(prefix="evalstore-") as folder:
            path = Path(folder, "data")
            yield path
            self._objects.put(key, path)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; those that are gone already are ignored."""
        self._objects.delete(list(keys))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Do nothing: of two processes, the commit of one is refused."""
        yield


Place: TypeAlias = FolderPlace | ObjectPlace


def open_place(address: str) -> Place:
    """Open a folder, or an address such as `s3://bucket/tables`.

    Raises:
        BadInput: the address cannot be used, or obstore is not installed.
    """
    if "://" not in address:
        return FolderPlace(Path(address))
    from warehouse.lake.remote.objects import open_objects

    return ObjectPlace(open_objects(address))


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreBusy(
            f"{path}: another `evalstore publish` is writing there; wait until it ends"
        ) from None
