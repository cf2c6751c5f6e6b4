"""Where tables are: a folder or an object store, of which a reader keeps a copy."""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from warehouse.core.errors import BadInput, StoreDamaged, StoreReadOnly
from warehouse.core.files import check_regular
from warehouse.core.hashing import file_sha256
from warehouse.lake.atomic import sync_file, sync_folder
from warehouse.lake.places import FolderPlace, ObjectPlace
from warehouse.lake.remote.address import address_of, store_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warehouse.lake.delta_log import DeltaLog
    from warehouse.lake.remote.objects import Objects

# Delta tables, in a folder each; where tables are, there is the folder of their snapshots.
TABLES = "tables"
SNAPSHOTS = f"{TABLES}/snapshots"
NEEDS_DELTALAKE = (
    "Delta tables need the package deltalake: `pip install 'evalstore[delta]'`, or "
    "`pip install '.[delta]'` in a checkout"
)
# What earlier versions of evalstore wrote in place of snapshots.
FORMER = "versions"


def _partial_path(target: Path) -> Path:
    """Return a name of its own next to a file, under which it is written."""
    from ulid import ULID

    return target.with_name(f".{target.name}.{ULID()}")


class FolderLocation(FolderPlace):
    """Tables in a folder, which all processes see."""

    largest = 4 * 2**30  # a snapshot of a hundred thousand shards

    def digest(self, key: str) -> tuple[int, str]:
        """Return the size of a file in bytes and its SHA-256."""
        path = self._path / key
        return path.stat().st_size, file_sha256(path)

    def upload(self, path: Path, key: str) -> None:
        """Copy a file, and flush it to disk."""
        target = self._path / key
        with self._writing():
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = _partial_path(target)
            shutil.copyfile(path, partial)
            sync_file(partial)
            partial.rename(target)
            sync_folder(target.parent)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete files."""
        with self._writing():
            super().delete(keys)

    def local(self, key: str, sha256: str) -> Path:  # noqa: ARG002 - of files that are fetched
        """Return the path of the file itself."""
        path = self._path / key
        check_regular(path)
        return path

    def copies(self) -> list[str]:
        """Return nothing: the files are read where they are."""
        return []

    def discard(self, keys: Iterable[str]) -> None:
        """Do nothing: there are no copies."""

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            # First: a folder whose first sync ended early is recognised as one of tables.
            (self._path / SNAPSHOTS).mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            raise StoreReadOnly(
                f"{self._path}: cannot be written ({error.strerror or error})"
            ) from error


class ObjectLocation(ObjectPlace):
    """Tables on an object store, with a copy of the files that were read in a cache.

    Args:
        objects: the objects of the store.
        cache: folder of the copies.
    """

    def __init__(self, objects: Objects, cache: Path) -> None:
        super().__init__(objects)
        self._cache = cache

    def digest(self, key: str) -> tuple[int, str]:
        """Return the size of an object in bytes and its SHA-256; no copy of it is read."""
        return self._objects.digest(key)

    def upload(self, path: Path, key: str) -> None:
        """Copy a file."""
        self._objects.put(key, path)

    def local(self, key: str, sha256: str) -> Path:
        """Fetch an object, unless the cache has it.

        Raises:
            StoreDamaged: it is not what was uploaded.
            StoreReadOnly: the cache cannot be written.
        """
        target = self._cache / key
        if target.exists():
            return target
        partial = _partial_path(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._objects.download(key, partial)
            if file_sha256(partial) != sha256:
                raise StoreDamaged(f"{self.address}/{key}: is not what was uploaded")
            partial.rename(target)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreReadOnly(
                f"{self._cache}: a copy of {self.address}/{key} cannot be kept "
                f"({error.strerror or error})"
            ) from error
        finally:
            partial.unlink(missing_ok=True)
        return target

    def copies(self) -> list[str]:
        """Return the keys of the copies in the cache."""
        paths = (self._cache / TABLES).glob("*/*.parquet")
        return [path.relative_to(self._cache).as_posix() for path in paths]

    def discard(self, keys: Iterable[str]) -> None:
        """Delete copies, as far as the cache can be written."""
        with suppress(OSError):
            for key in keys:
                (self._cache / key).unlink(missing_ok=True)


TableLocation: TypeAlias = "FolderLocation | ObjectLocation"


@contextmanager
def delta_errors(place: TableLocation) -> Iterator[None]:
    """Say what to do where Delta's log cannot be used.

    Raises:
        BadInput: deltalake is not installed.
        StoreReadOnly: the log cannot be read or written.
    """
    try:
        yield
    except ImportError as error:
        raise BadInput(f"{place.address}: {NEEDS_DELTALAKE}") from error
    except OSError as error:
        raise StoreReadOnly(f"{place.address}: cannot be read or written ({error})") from error


def open_log(place: TableLocation, table: str) -> DeltaLog:
    """Open the log of a table, by the name of its folder.

    Raises:
        BadInput: deltalake is not installed.
        EvalstoreError: the log cannot be read.
    """
    with delta_errors(place):
        from warehouse.lake.delta_log import DeltaLog

        return DeltaLog(f"{place.address}/{TABLES}/{table}")


def open_location(text: str, cache: Path | None = None) -> TableLocation:
    """Open a folder, or an address such as `s3://bucket/tables`.

    Args:
        text: the folder or address.
        cache: where copies of objects are kept; by default in the cache of the user.

    Raises:
        BadInput: the address cannot be used, or obstore is not installed.
    """
    if "://" not in text:
        return FolderLocation(Path(text))
    from warehouse.lake.remote.objects import open_objects

    folder = store_folder(text) if cache is None else cache
    address = text if cache is not None else address_of(folder)
    return ObjectLocation(open_objects(address or text), folder)


def find_tables(folder: Path) -> TableLocation | None:
    """Return the tables that a store's folder is, or is the cache of; None if it is a lake.

    Raises:
        StoreUnreachable: the object store cannot be reached.
    """
    address = address_of(folder)
    if address is None:
        is_tables = (folder / SNAPSHOTS).is_dir() or (folder / FORMER).is_dir()
        return FolderLocation(folder) if is_tables else None
    if (folder / "lake").exists():
        return None
    from warehouse.lake.remote.objects import open_objects

    place = ObjectLocation(open_objects(address), folder)
    is_known = (folder / TABLES).exists()  # an object store is asked once
    return place if is_known or place.files(SNAPSHOTS) or place.files(FORMER) else None


def check_is_no_tables(folder: Path) -> None:
    """Check that a store's folder may be written.

    Raises:
        StoreReadOnly: it has tables, which are only read.
    """
    if (place := find_tables(folder)) is not None:
        raise StoreReadOnly(
            f"{place.address}: these are tables, which are only read; use the store that they "
            "were written from, then `evalstore sync --to`"
        )
