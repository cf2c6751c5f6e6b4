"""The lake of a store: it can be written, and may be the cache of an object store."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreDamaged, StoreReadOnly
from warehouse.lake.base_lake import BaseLake, without_garbage_collection
from warehouse.lake.locks import LAKE_SECONDS, exclusive_lake_lock
from warehouse.lake.remote.address import address_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from warehouse.lake.index.register import Register
    from warehouse.lake.remote.mirror import Mirror
    from warehouse.lake.writer import BatchWriter


class Lake(BaseLake):
    """The batches of a store, and what adds to them and replaces them."""

    @cached_property
    def mirror(self) -> Mirror | None:
        """The object store that the folder is the cache of; None for a store of its own."""
        address = address_of(self.store_path)
        if address is None:
            return None
        from warehouse.lake.remote.mirror import Mirror
        from warehouse.lake.remote.objects import open_objects

        return Mirror(self, open_objects(address))

    def fetch_copies(self, names: Iterable[str]) -> None:
        """Fetch the copies of imported files that the cache of an object store lacks.

        Args:
            names: the folders whose copies are read.

        Raises:
            StoreDamaged: some are missing, or not what was uploaded; the others were fetched.
            StoreUnreachable: the object store cannot be reached.
        """
        if self.mirror is not None and (problems := self.mirror.fetch_copies(names)):
            raise StoreDamaged("\n".join(problems.values()))

    def register(self, scratch: Path | None = None) -> Register:
        """Return what the batches that count hold, for those who ask for a few sources or runs.

        Args:
            scratch: a folder on the file system of the lake, to write indices that are missing.

        Raises:
            StoreDamaged, StoreNewer: as `folders`, of a `batch.json` that has no index.
        """
        from warehouse.lake.index.register import Register

        with without_garbage_collection():
            return Register(self, scratch)

    def write(self, command: str, *, name: str | None = None) -> BatchWriter:
        """Start a batch; `BatchWriter.commit` makes it visible.

        Args:
            command: the command that writes it.
            name: a journal's ULID; a new one by default.

        Raises:
            StoreReadOnly: the store cannot be written.
        """
        from warehouse.lake.table_location import check_is_no_tables
        from warehouse.lake.writer import BatchWriter

        check_is_no_tables(self.store_path)
        try:
            self.sweep_staging()
            return BatchWriter(self, command, name, mirror=self.mirror)
        except OSError as error:
            raise StoreReadOnly(
                f"{self.staging}: {error.strerror}; the store cannot be written"
            ) from error

    @contextmanager
    def rewriting(self, *, wait_seconds: float = LAKE_SECONDS) -> Iterator[None]:
        """Keep all others from reading files of the lake and from replacing batches.

        Args:
            wait_seconds: how long to wait for others that read the lake.

        Raises:
            StoreBusy: others read the lake, or replace batches.
            StoreReadOnly: the store cannot be written.
            StoreUnreachable: the object store behind it cannot be reached.
        """
        with ExitStack() as stack:
            if self.mirror is not None:
                stack.enter_context(self.mirror.rewriting())
            stack.enter_context(exclusive_lake_lock(self.store_path, wait_seconds=wait_seconds))
            yield
