"""The lake of a cache: what others added is fetched, and what was added here is uploaded.

    lake/<batch>/<table>.parquet    the files of a batch
    lake/<batch>/files.list         its imported files without their copies
    batches/<batch>.json            its description, written last: a batch exists when this does
    merges/<batch>.json             the description of a batch that replaces others
    merges.json                     the names of those that count: the pointer
    lease.json                      who is replacing batches, so that others do not start

Batches of any number of machines never meet, so they need no lock. A batch that replaces others
(`compact`, `forget`) counts when the pointer names it. The pointer is only ever replaced if it is
still the one that the writer read: of two machines that replace the same batches, one fails, with
nothing changed. The lease only saves the other its work.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreBusy, StoreDamaged
from warehouse.core.files import problem, read_regular
from warehouse.core.schemas import FILES
from warehouse.lake.base_lake import UPLOADED
from warehouse.lake.file_copies import LIST, make_list
from warehouse.lake.locks import exclusive_lake_lock, open_lock, wait_for
from warehouse.lake.remote.downloads import Downloads
from warehouse.lake.remote.objects import ObjectChanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warehouse.lake.base_lake import BaseLake
    from warehouse.lake.batch import Batch
    from warehouse.lake.remote.objects import Objects

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_POINTER, _LEASE = "merges.json", "lease.json"
_LEASE_AGE = timedelta(minutes=10)
_ORPHAN_AGE = timedelta(days=1)
# Files without a description that are younger may still be on their way.
_UPLOAD_AGE = timedelta(hours=1)
_LARGEST_DESCRIPTION = 512 * 2**20
_LOCK_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class _Pointer:
    """The batches that replace others and count, and the entity tag of the pointer."""

    names: frozenset[str] = frozenset()
    tag: str | None = None


class Mirror:
    """The object store behind a cache.

    Attributes:
        unfetched: a message for each batch that the last pull left out, by name.

    Args:
        lake: the lake of the cache.
        objects: the objects of the store.
    """

    def __init__(self, lake: BaseLake, objects: Objects) -> None:
        self._lake = lake
        self._objects = objects
        self._downloads = Downloads(lake, objects)
        self._pointer = _Pointer()
        # A file for each batch of the cache that the object store has, too: empty, or the head of
        # the list that was fetched in place of copies.
        self._uploaded = lake.store_path / UPLOADED
        self._pulled_at: float | None = None
        # Names in the folders of the object store, as the last pull that listed them has seen them.
        self._listed: dict[str, set[str]] = {}
        self.unfetched: dict[str, str] = {}

    @property
    def address(self) -> str:
        """The address of the object store, such as `s3://bucket/prefix`."""
        return self._objects.address

    def pull(self, *, max_age_seconds: float = 0.0) -> list[str]:
        """Fetch the batches that others added, and upload those that a killed process left here.

        Args:
            max_age_seconds: do nothing if the last pull is not older; readers give it, list less.

        Returns:
            Warnings: batches that disappeared, and those that were left out because an object of
            theirs is missing or damaged.

        Raises:
            StoreUnreachable: the object store cannot be reached; the cache is unchanged.
            StoreDamaged: the pointer is damaged.
        """
        now = time.monotonic()
        if self._pulled_at is not None and now - self._pulled_at < max_age_seconds:
            return []
        with self._lock():
            is_thorough = max_age_seconds <= 0 or not self._uploaded.exists()
            warnings = self._pull(is_thorough=is_thorough)
            if self.unfetched and self._read_pointer():
                # Replaced and removed between the listing and the download.
                warnings = self._pull(is_thorough=is_thorough)
        self._pulled_at = time.monotonic()
        return [*warnings, *self.unfetched.values()]

    def push(self, batch: Batch) -> None:
        """Upload a batch of the cache; one that replaces others is made to count instead of them.

        Raises:
            StoreUnreachable: it could not be uploaded; the next command uploads it.
            StoreBusy: another machine replaced some of the same batches; the batch is gone.
        """
        if batch.replaces:
            self._publish(batch)
        else:
            self._upload(batch, "batches")
            self._downloads.mark(batch.name)

    def fetch_copies(self, names: Iterable[str]) -> dict[str, str]:
        """Fetch the copies of files that batches of the cache lack; return problems by name."""
        with self._lock():
            return self._downloads.fetch_copies(names)

    @contextmanager
    def rewriting(self) -> Iterator[None]:
        """Hold the lease to replace batches, on a cache that is up to date.

        Raises:
            StoreBusy: another machine holds it.
            StoreUnreachable: the object store cannot be reached.
        """
        self._take_lease()
        try:
            self.pull()
            self._sweep()
            yield
        finally:
            self._objects.delete([_LEASE])

    def _pull(self, *, is_thorough: bool) -> list[str]:
        self.unfetched = {}
        self._read_pointer()
        self._discard_unpublished()
        local = self._lake.batch_names()
        self._fetch("merges", self._pointer.names - local)
        replaced = self._replaced()
        remote = self._names("batches")
        self._fetch("batches", remote - replaced - local)
        for name in (remote | self._pointer.names) & local:
            self._downloads.mark(name)
        known = remote | self._pointer.names | replaced | local
        warnings = [*self._undescribed(known)] if is_thorough else []
        for name in sorted(local - remote - self._pointer.names - replaced):
            if (self._uploaded / name).exists():
                warnings.append(
                    f"batch {name} is no longer in {self.address}, although nothing replaced it; "
                    "its copy in this cache still counts here"
                )
            else:
                self.push(self._lake.read(name))
        if local & replaced:
            # Readers of the replaced files go first; the next pull tries again.
            with suppress(StoreBusy), exclusive_lake_lock(self._lake.store_path, wait_seconds=0):
                self._lake.remove_replaced()
        return warnings

    def _replaced(self) -> set[str]:
        """Return the names of the batches that those of the pointer replace."""
        there = self._pointer.names - self.unfetched.keys()
        return {name for each in there for name in self._lake.read(each).replaces}

    def _undescribed(self, known: set[str]) -> Iterator[str]:
        """Yield a warning for each batch whose files are there, but not its description."""
        latest = datetime.now(UTC) - _UPLOAD_AGE
        for name in sorted(self._names("lake") - known):
            files = self._objects.below(f"lake/{name}/")
            if files and max(one.modified for one in files) < latest:
                yield (
                    f"{self.address}/batches/{name}.json: is missing, and without it the files of "
                    "the batch do not count: restore it, or run a command on the machine that "
                    "added the batch and has not finished uploading it"
                )

    def _names(self, folder: str) -> set[str]:
        """Return the names of the batches that have an object, or objects, in a folder."""
        names = {name.removesuffix(".json") for name in self._objects.names(folder)}
        self._listed[folder] = {name for name in names if _ULID.fullmatch(name)}
        return self._listed[folder]

    def _read_pointer(self) -> bool:
        """Read which batches replace others; return whether that has changed."""
        before = self._pointer
        self._pointer = self._fetched_pointer()
        return self._pointer != before

    def _fetched_pointer(self) -> _Pointer:
        try:
            content, tag = self._objects.get(_POINTER)
            names = frozenset(map(str, json.loads(content)["merges"]))
        except FileNotFoundError:
            return _Pointer()
        except (ValueError, TypeError, KeyError) as error:
            raise StoreDamaged(f"{self.address}/{_POINTER}: {problem(error)}") from error
        if any(not _ULID.fullmatch(name) for name in names):
            raise StoreDamaged(f"{self.address}/{_POINTER}: names what cannot be a batch")
        return _Pointer(names, tag)

    def _discard_unpublished(self) -> None:
        """Remove batches that replace others but never counted: their process was killed."""
        for name in sorted(self._lake.batch_names() - self._pointer.names):
            if (self._uploaded / name).exists() or not self._lake.read(name).replaces:
                continue
            # Its writer, if it is alive, holds the lock.
            with suppress(StoreBusy), exclusive_lake_lock(self._lake.store_path, wait_seconds=0):
                self._remove(name)

    def _remove(self, name: str) -> None:
        self._lake.staging.mkdir(parents=True, exist_ok=True)
        removed = self._lake.staging / f"{name}.removed"
        (self._lake.path / name).rename(removed)
        shutil.rmtree(removed, ignore_errors=True)

    def _fetch(self, kind: str, names: Iterable[str]) -> None:
        """Download batches, each verified before it counts; note those that cannot be used."""
        problems = self._downloads.fetch(kind, names)
        self.unfetched |= {n: f"{text}; the batch was left out" for n, text in problems.items()}

    def _upload(self, batch: Batch, kind: str) -> None:
        for table in batch.files:
            path = self._lake.file(batch, table)
            self._objects.put(f"lake/{batch.name}/{path.name}", path)
            if table == FILES.name and (listed := make_list(path)) is not None:
                self._objects.put(f"lake/{batch.name}/{LIST}", listed.head + listed.rows)
        key = f"{kind}/{batch.name}.json"
        content = read_regular(
            self._lake.path / batch.name / "batch.json", max_bytes=_LARGEST_DESCRIPTION
        )
        try:
            self._objects.create(key, content)
        except ObjectChanged:
            # A put may have worked although its reply was lost.
            if self._objects.get(key)[0] != content:
                raise StoreDamaged(
                    f"{self.address}/{key}: is another batch of the same name"
                ) from None

    def _publish(self, batch: Batch) -> None:
        """Make a batch count instead of those that it replaces, under the lock of the lake."""
        self._upload(batch, "merges")
        names = self._pointer.names - set(batch.replaces) | {batch.name}
        content = json.dumps({"merges": sorted(names)}).encode()
        try:
            self._objects.replace(_POINTER, content, self._pointer.tag)
        except ObjectChanged:
            self._read_pointer()
            if batch.name not in self._pointer.names:
                self._remove(batch.name)
                self._delete([batch.name])
                raise StoreBusy(
                    f"{self.address}: another machine merged or removed batches at the same time; "
                    "nothing was changed: run the command again"
                ) from None
        self._downloads.mark(batch.name)
        self._read_pointer()
        self._delete(batch.replaces)

    def _delete(self, names: Iterable[str]) -> None:
        """Delete the objects of batches: their descriptions first, so that none looks whole."""
        names = sorted(names)
        self._objects.delete([f"{kind}/{n}.json" for n in names for kind in ("batches", "merges")])
        keys = [one.key for name in names for one in self._objects.below(f"lake/{name}/")]
        self._objects.delete(keys)

    def _sweep(self) -> None:
        """Delete what killed processes left and a pull has just seen: replaced, or old orphans."""
        batches, merges = self._listed["batches"], self._names("merges")
        self._delete(self._replaced() & (batches | merges))
        oldest = datetime.now(UTC) - _ORPHAN_AGE
        for name in sorted((self._listed["lake"] | merges) - batches - self._pointer.names):
            below = self._objects.below(f"lake/{name}/")
            files = [one.key for one in below if one.modified < oldest]
            written_at = self._objects.modified(f"merges/{name}.json")
            if written_at is not None and written_at < oldest:
                files.append(f"merges/{name}.json")
            self._objects.delete(files)

    def _take_lease(self) -> None:
        holder = json.dumps({"host": socket.gethostname(), "process": os.getpid()}).encode()
        for _ in range(2):
            try:
                self._objects.create(_LEASE, holder)
            except ObjectChanged:
                taken_at = self._objects.modified(_LEASE)
                if taken_at is not None and datetime.now(UTC) - taken_at < _LEASE_AGE:
                    raise StoreBusy(
                        f"{self.address}: another machine is merging or removing batches; "
                        "try again when it ends"
                    ) from None
                self._objects.delete([_LEASE])
            else:
                return

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other processes on this machine from fetching the same batches."""
        with open_lock(self._lake.store_path / "remote.lock") as file:
            busy = f"{self._lake.store_path}: another process is fetching batches; try again later"
            wait_for(file, fcntl.LOCK_EX, _LOCK_SECONDS, busy)
            yield
