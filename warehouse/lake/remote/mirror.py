"""The lake of a cache: what others added is fetched, and what was added here is uploaded.

    lake/<batch>/<table>.parquet    the files of a batch
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreBusy, StoreDamaged, StoreReadOnly
from warehouse.core.files import problem, read_regular
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import BY_NAME
from warehouse.lake.atomic import sync_folder, write_durably
from warehouse.lake.batch import check_format
from warehouse.lake.locks import exclusive_lake_lock, open_lock, open_locked, wait_for
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
_DOWNLOADS = 8
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
        self._pointer = _Pointer()
        # An empty file for each batch of the cache that the object store has, too.
        self._uploaded = lake.store_path / "uploaded"
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
            self._mark(batch.name)

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
            self._mark(name)
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
        names = sorted(names)
        if not names:
            return
        try:
            self._lake.path.mkdir(parents=True, exist_ok=True)
            self._lake.staging.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(_DOWNLOADS) as pool:
                problems = [*pool.map(lambda name: self._fetch_one(kind, name), names)]
            sync_folder(self._lake.path)
        except OSError as error:
            raise StoreReadOnly(
                f"{self._lake.store_path}: batches of {self.address} cannot be kept "
                f"({error.strerror or error})"
            ) from error
        for name, found in zip(names, problems, strict=True):
            if found is not None:
                self.unfetched[name] = f"{found}; the batch was left out"

    def _fetch_one(self, kind: str, name: str) -> str | None:
        """Download a batch; return what is wrong with it, if it cannot be used."""
        try:
            self._download(kind, name)
        except StoreDamaged as error:
            return str(error)
        self._mark(name)
        return None

    def _download(self, kind: str, name: str) -> None:
        key = f"{kind}/{name}.json"
        try:
            content, _ = self._objects.get(key)
        except FileNotFoundError as error:
            raise StoreDamaged(f"{self.address}/{key}: is missing") from error
        folder = self._lake.staging / f"{name}.fetched"
        with open_locked(self._lake.staging / f"{name}.fetched.lock") as lock:
            try:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                for table, sha256 in self._files(key, name, content).items():
                    path = folder / f"{table}.parquet"
                    where = f"lake/{name}/{path.name}"
                    try:
                        self._objects.download(where, path)
                    except FileNotFoundError as error:
                        raise StoreDamaged(f"{self.address}/{where}: is missing") from error
                    if file_sha256(path) != sha256:
                        raise StoreDamaged(f"{self.address}/{where}: is not what was uploaded")
                write_durably(folder / "batch.json", content)
                folder.rename(self._lake.path / name)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
                Path(lock.name).unlink()

    def _files(self, key: str, name: str, content: bytes) -> dict[str, str]:
        """Return the SHA-256 of each file of a batch, by table."""
        try:
            document = json.loads(content)
            check_format(document, f"{self.address}/{key}")
            files = {table: str(file["sha256"]) for table, file in document["files"].items()}
            is_right = document["name"] == name and files.keys() <= BY_NAME.keys()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreDamaged(
                f"{self.address}/{key}: cannot be read as a batch ({problem(error)})"
            ) from error
        if not is_right:
            raise StoreDamaged(f"{self.address}/{key}: describes another batch, or none of ours")
        return files

    def _upload(self, batch: Batch, kind: str) -> None:
        for table in batch.files:
            path = self._lake.file(batch, table)
            self._objects.put(f"lake/{batch.name}/{path.name}", path)
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
        self._mark(batch.name)
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

    def _mark(self, name: str) -> None:
        self._uploaded.mkdir(exist_ok=True)
        (self._uploaded / name).touch()

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other processes on this machine from fetching the same batches."""
        with ExitStack() as stack:
            file = stack.enter_context(open_lock(self._lake.store_path / "remote.lock"))
            busy = f"{self._lake.store_path}: another process is fetching batches; try again later"
            wait_for(file, fcntl.LOCK_EX, _LOCK_SECONDS, busy)
            yield
