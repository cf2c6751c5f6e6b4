"""Batches of an object store, fetched into a cache and verified before they count there."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreDamaged, StoreReadOnly
from warehouse.core.files import problem
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import BY_NAME, FILES
from warehouse.lake.atomic import sync_folder, write_durably
from warehouse.lake.base_lake import UPLOADED
from warehouse.lake.batch import check_format
from warehouse.lake.file_copies import LIST, read_list
from warehouse.lake.locks import open_locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from warehouse.lake.base_lake import BaseLake
    from warehouse.lake.remote.objects import Objects

_DOWNLOADS = 8


class Downloads:
    """What a cache fetches; the caller keeps other processes from fetching the same.

    Args:
        lake: the lake of the cache.
        objects: the objects of the store.
    """

    def __init__(self, lake: BaseLake, objects: Objects) -> None:
        self._lake = lake
        self._objects = objects

    def fetch(self, kind: str, names: Iterable[str]) -> dict[str, str]:
        """Fetch batches, described in this folder, without copies; return problems by name."""
        return self._each(partial(self._fetch_batch, kind), names)

    def fetch_copies(self, names: Iterable[str]) -> dict[str, str]:
        """Fetch the copies of files that batches of the cache lack; return problems by name."""
        lacking = {name for name in names if self._lake.file_list(name) is not None}
        return self._each(self._fetch_copies, lacking)

    def mark(self, name: str, head: bytes | None = None) -> None:
        """Note that the object store has a batch, and the list here in place of its copies."""
        uploaded = self._lake.store_path / UPLOADED
        uploaded.mkdir(exist_ok=True)
        (uploaded / name).touch()
        if head is not None:
            write_durably(uploaded / name, head)

    def _each(self, fetch: Callable[[str], None], names: Iterable[str]) -> dict[str, str]:
        """Fetch something of batches; return what is wrong with those that cannot be used."""
        problems: dict[str, str] = {}
        if not (names := sorted(names)):
            return problems
        try:
            self._lake.path.mkdir(parents=True, exist_ok=True)
            self._lake.staging.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(_DOWNLOADS) as pool:
                fetched = {name: pool.submit(fetch, name) for name in names}
            for name, done in fetched.items():
                try:
                    done.result()
                except StoreDamaged as error:
                    problems[name] = str(error)
            sync_folder(self._lake.path)
        except OSError as error:
            raise StoreReadOnly(
                f"{self._lake.store_path}: batches of {self._objects.address} cannot be kept "
                f"({error.strerror or error})"
            ) from error
        return problems

    def _fetch_batch(self, kind: str, name: str) -> None:
        key = f"{kind}/{name}.json"
        try:
            content, _ = self._objects.get(key)
        except FileNotFoundError as error:
            raise StoreDamaged(f"{self._objects.address}/{key}: is missing") from error
        with self._staged(name) as folder:
            head = b""
            for table, sha256 in self._files(key, name, content).items():
                if table == FILES.name and (head := self._fetch_list(name, folder)):
                    continue
                self._fetch_file(name, table, sha256, folder)
            write_durably(folder / "batch.json", content)
            self.mark(name, head)
            folder.rename(self._lake.path / name)

    def _fetch_copies(self, name: str) -> None:
        sha256 = self._lake.read(name).files[FILES.name].sha256
        with self._staged(name) as folder:
            path = self._fetch_file(name, FILES.name, sha256, folder)
            path.replace(self._lake.path / name / path.name)
        self.mark(name, b"")

    @contextmanager
    def _staged(self, name: str) -> Iterator[Path]:
        """Yield an empty folder for what is fetched of a batch."""
        folder = self._lake.staging / f"{name}.fetched"
        with open_locked(self._lake.staging / f"{name}.fetched.lock") as lock:
            try:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
                Path(lock.name).unlink()

    def _fetch_list(self, name: str, folder: Path) -> bytes:
        """Fetch the list of a batch's files in place of their copies; return its head, if any."""
        try:
            found = read_list(self._objects.get(f"lake/{name}/{LIST}")[0])
        except FileNotFoundError:
            return b""
        if found is None or not found.rows:
            return b""
        write_durably(folder / f"{FILES.name}.parquet", found.rows)
        return found.head

    def _fetch_file(self, name: str, table: str, sha256: str, folder: Path) -> Path:
        path = folder / f"{table}.parquet"
        where = f"lake/{name}/{path.name}"
        try:
            self._objects.download(where, path)
        except FileNotFoundError as error:
            raise StoreDamaged(f"{self._objects.address}/{where}: is missing") from error
        if file_sha256(path) != sha256:
            raise StoreDamaged(f"{self._objects.address}/{where}: is not what was uploaded")
        return path

    def _files(self, key: str, name: str, content: bytes) -> dict[str, str]:
        """Return the SHA-256 of each file of a batch, by table."""
        try:
            document = json.loads(content)
            check_format(document, f"{self._objects.address}/{key}")
            files = {table: str(file["sha256"]) for table, file in document["files"].items()}
            is_right = document["name"] == name and files.keys() <= BY_NAME.keys()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreDamaged(
                f"{self._objects.address}/{key}: cannot be read as a batch ({problem(error)})"
            ) from error
        if not is_right:
            raise StoreDamaged(
                f"{self._objects.address}/{key}: describes another batch, or none of ours"
            )
        return files
