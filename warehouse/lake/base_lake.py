"""The lake: immutable batches of Parquet files, the truth of the store.

`<store>/lake/<batch>/<table>.parquet` and `<batch>/batch.json`. A batch is written in
`<store>/staging/` and moved into the lake by one rename, so that readers see all of it or
none, and any number of processes may add batches at the same time without locks.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreDamaged, StoreReadOnly, StoreUnreadable
from warehouse.core.files import check_regular, problem, read_regular
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import BY_NAME, FILES
from warehouse.lake.batch import batch_from_json, check_format
from warehouse.lake.file_copies import read_list
from warehouse.lake.locks import abandoned_file

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from pathlib import Path

    from warehouse.lake.batch import Batch, HasRuns
    from warehouse.lake.file_copies import FileList

# A batch.json of a million imported files.
_LARGEST_DESCRIPTION = 512 * 2**20
# The folder of a cache with a file for each batch that its object store has.
UPLOADED = "uploaded"
# What reading a `batch.json` raises if it is not JSON, or not a batch.
_NOT_A_BATCH = (ValueError, TypeError, KeyError, AttributeError, RecursionError)

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Keep Python from looking at all objects again and again while many are made that stay.

    For 100,000 batches, that was half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class BaseLake:
    """The batches of a store.

    Attributes:
        store_path: folder of the store.
        path: folder of the batches.
        staging: folder of batches that are being written.
    """

    def __init__(self, store_path: Path) -> None:
        self.store_path = store_path
        self.path = store_path / "lake"
        self.staging = store_path / "staging"

    def batch_names(self) -> set[str]:
        """Return the names of all batches, replaced ones included.

        Stray files, such as `Thumbs.db`, are not batches. One with the name of a batch is in
        place of its folder, and is damage.

        Raises:
            StoreUnreadable: the folder cannot be listed.
        """
        try:
            with os.scandir(self.path) as entries:
                return {
                    entry.name
                    for entry in entries
                    if not entry.name.startswith(".")
                    and (not entry.is_file() or _ULID.fullmatch(entry.name))
                }
        except (FileNotFoundError, NotADirectoryError):
            return set()
        except OSError as error:
            raise StoreUnreadable(f"{self.path}: cannot be read ({error.strerror})") from error

    def read(self, name: str) -> Batch:
        """Read a batch's `batch.json`.

        Raises:
            StoreDamaged: the file does not hold what `write` wrote.
            StoreNewer: a newer version of evalstore wrote it.
        """
        path = self.path / name / "batch.json"
        try:
            document = json.loads(read_regular(path, max_bytes=_LARGEST_DESCRIPTION))
            # First: a newer version may have fields that this one does not know.
            check_format(document, str(path))
            batch = batch_from_json(document)
        except (OSError, *_NOT_A_BATCH) as error:
            raise StoreDamaged(f"{path}: cannot be read as a batch ({problem(error)})") from error
        if any(content.folder != name for content in batch.contents):
            raise StoreDamaged(f"{path}: names {batch.name!r} but is in folder {name!r}")
        if unknown := sorted(batch.files.keys() - BY_NAME.keys()):
            raise StoreDamaged(f"{path}: refers to unknown tables ({', '.join(unknown)})")
        return batch

    def folders(self) -> list[Batch]:
        """Read the batches of all folders that are not replaced by others.

        Raises:
            StoreDamaged: a `batch.json` cannot be read.
            StoreNewer: a newer version of evalstore wrote a batch.
        """
        with without_garbage_collection():
            batches = [self.read(name) for name in sorted(self.batch_names())]
        replaced = {name for batch in batches for name in batch.replaces}
        return [batch for batch in batches if batch.name not in replaced]

    def current(self) -> list[Batch]:
        """Return all batches that count, as they were added, in order of their names.

        Raises:
            StoreDamaged, StoreNewer: as `folders`.
        """
        contents = (content for folder in self.folders() for content in folder.contents)
        return sorted(contents, key=lambda batch: batch.name)

    def file(self, batch: HasRuns, table: str) -> Path:
        """Return the path of a table's Parquet file in a batch."""
        return self.path / batch.folder / f"{table}.parquet"

    def files(self, batches: Iterable[HasRuns], table: str) -> list[str]:
        """Return the paths of a table's files in some batches, each once.

        Raises:
            StoreDamaged: one of them is missing or is not a regular file.
        """
        paths = dict.fromkeys(self.file(batch, table) for batch in batches if table in batch.files)
        for path in paths:
            try:
                check_regular(path)
            except OSError as error:
                raise StoreDamaged(f"{path}: {error.strerror}") from error
        return list(map(str, paths))

    def file_list(self, name: str) -> FileList | None:
        """Return what a cache has in place of the `files.parquet` of a batch, without its rows."""
        try:
            return read_list(read_regular(self.store_path / UPLOADED / name))
        except OSError:
            return None

    def size(self, batch: HasRuns, table: str) -> int:
        """Return the bytes of a table's file in a batch, fetched or not.

        Raises:
            OSError: the file is missing.
        """
        listed = self.file_list(batch.folder) if table == FILES.name else None
        return self.file(batch, table).stat().st_size if listed is None else listed.whole_bytes

    def verify_folders(self, batches: Iterable[HasRuns]) -> None:
        """Check the SHA-256 of every file of the folders of some batches.

        Raises:
            StoreDamaged: a file is missing or has changed since it was written.
        """
        for name in sorted({batch.folder for batch in batches}):
            self.verify(self.read(name))

    def verify(self, batch: Batch, *, tables: Container[str] | None = None) -> None:
        """Check the SHA-256 of every file of a batch, or of the batch it was merged into.

        Of a cache that has not fetched copies of imported files, what it has in their place.

        Args:
            batch: the batch.
            tables: names of the tables whose files are checked; None for all.

        Raises:
            StoreDamaged: a file is missing or has changed since it was written.
        """
        folder = batch if batch.merged_into is None else self.read(batch.folder)
        for table, expected in folder.files.items():
            if tables is not None and table not in tables:
                continue
            path = self.file(folder, table)
            listed = self.file_list(folder.name) if table == FILES.name else None
            try:
                actual = file_sha256(path)
            except OSError as error:
                raise StoreDamaged(f"{path}: {error.strerror}") from error
            if actual != expected.sha256 and (listed is None or actual != listed.sha256):
                raise StoreDamaged(
                    f"{path}: SHA-256 is {actual[:12]}…, was {expected.sha256[:12]}… when written"
                )

    def remove_replaced(self) -> None:
        """Remove the batches that others replace; the caller holds `exclusive_lake_lock`.

        Raises:
            StoreDamaged, StoreNewer: as `folders`.
            StoreReadOnly: a replaced batch cannot be removed; it does not count.
        """
        names = self.batch_names()
        self.remove(sorted(names - {batch.name for batch in self.folders()}))

    def remove(self, names: Iterable[str]) -> None:
        """Remove batches that others replace; the caller holds `exclusive_lake_lock`.

        Raises:
            StoreReadOnly: as `remove_replaced`.
        """
        for name in names:
            # Renamed first: a half-removed folder must not look like a damaged batch.
            try:
                self.staging.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):
                    (self.path / name).rename(self.staging / f"{name}.removed")
            except OSError as error:
                raise StoreReadOnly(
                    f"{self.path / name}: {error.strerror}; the batch was replaced, but its folder "
                    "cannot be removed: allow it, then run `evalstore sync --rebuild`"
                ) from error
        self.sweep_staging()

    def sweep_staging(self) -> None:
        """Remove what killed processes left in the staging folder."""
        if not self.staging.is_dir():
            return
        for path in self.staging.iterdir():
            if path.suffix == ".lock":
                with suppress(OSError), abandoned_file(path) as lock:
                    if lock is not None:
                        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                        path.unlink(missing_ok=True)
            elif path.suffix == ".removed":
                shutil.rmtree(path, ignore_errors=True)
