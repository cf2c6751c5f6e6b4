"""Delta's log, by the package deltalake, which only this module imports."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

import orjson
import pyarrow as pa
from deltalake import DeltaTable, Field, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import (
    AddAction,
    CommitProperties,
    PostCommitHookProperties,
    RemoveAction,
)

from warehouse.core.errors import EvalstoreError, StoreBusy
from warehouse.lake.places import PUBLISHED_MEANWHILE, open_place
from warehouse.lake.remote.objects import storage_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The log may keep its statistics for longer than a text that was forgotten: names only.
STATISTICS = ("suite", "run_id", "model", "task_set", "started_at")
# A commit fails when another one came before.
_NO_RETRIES = CommitProperties(max_commit_retries=0)
# A reader opens a checkpoint and the commits after it, instead of all commits. Those before are
# left alone: the snapshot before may be read by them.
_CHECKPOINT_EVERY = 10
_CHECKPOINTS = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)


class DataFile(Protocol):
    """What a log says of a data file: its name, size in bytes, and statistics as JSON."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def n_bytes(self) -> int: ...  # noqa: D102
    @property
    def statistics(self) -> str: ...  # noqa: D102


class DeltaLog:
    """The log of a table, as it was when this was made: a commit fails if there is a newer one.

    Args:
        path: the folder of the table, or its address as text.

    Attributes:
        path: the folder; of an address, only its name is of use.
        version: the version of the table; -1 if there is none.
        active: the names of its data files.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._uri = str(path)
        self._options = storage_options(self._uri)
        self.version = -1
        self.active: set[str] = set()
        self._table: DeltaTable | None = None
        with _errors(self._uri):
            if self._options is not None or self.path.is_dir():
                self._table = _open(self._uri, self._options)
            if self._table is not None:
                self.version = self._table.version()
                files = pa.table(self._table.get_add_actions())
                self.active = set(files.column("path").to_pylist())

    def commit(
        self, schema: pa.Schema, meanings: Mapping[str, str], files: Mapping[str, DataFile]
    ) -> int:
        """Make these files the table, in one commit; return its version.

        Args:
            schema: the columns. If they change, all files are new.
            meanings: what they mean, by name.
            files: the files of the table, by name: new ones and those that stay.

        Raises:
            StoreBusy: another process committed meanwhile.
            EvalstoreError: the log cannot be written.
        """
        columns = _delta_schema(schema, meanings)
        now = time.time_ns() // 10**6
        removed = [
            RemoveAction(path, data_change=True, deletion_timestamp=now)
            for path in sorted(self.active - files.keys())
        ]
        added = [
            AddAction(f.path, f.n_bytes, {}, now, data_change=True, stats=f.statistics)
            for path, f in sorted(files.items())
            if path not in self.active
        ]
        with _errors(self._uri):
            if self._table is None:
                self._create(columns, added)
            elif (is_new := self._table.schema() != columns) or removed or added:
                self._table.create_write_transaction(
                    [*added, *([] if is_new else removed)],
                    mode="overwrite" if is_new else "append",
                    schema=columns,
                    commit_properties=_NO_RETRIES,
                    post_commithook_properties=_CHECKPOINTS,
                )
            else:
                return self.version
        return self.version + 1

    def forget(self) -> None:
        """Delete all of the log that the newest version does not need."""
        if self._table is not None:
            with _errors(self._uri):
                self._table.create_checkpoint()
                self._table.cleanup_metadata()

    def clean(self, oldest: int) -> None:
        """Delete what comes before the checkpoint that this version needs, if it is a tenth one."""
        if self._table is not None and oldest > 0 and oldest % _CHECKPOINT_EVERY == 0:
            with _errors(self._uri):
                self._table.load_as_version(oldest)
                self._table.cleanup_metadata()

    def _create(self, columns: Schema, added: list[AddAction]) -> None:
        """Write version 0, without the absolute path that deltalake's own has.

        Raises:
            StoreBusy: another process did.
        """
        statistics = ",".join(f.name for f in columns.fields if f.name in STATISTICS)
        metadata = {
            "id": str(uuid4()),
            "name": self.path.name,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": columns.to_json(),
            "partitionColumns": [],
            "configuration": {
                "delta.checkpointInterval": str(_CHECKPOINT_EVERY),
                "delta.dataSkippingStatsColumns": statistics,
                "delta.logRetentionDuration": "interval 0 seconds",
            },
            "createdTime": time.time_ns() // 10**6,
        }
        actions: list[object] = [
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {"metaData": metadata},
            *map(_in_json, added),
        ]
        content = b"\n".join(map(orjson.dumps, actions))
        if not open_place(self._uri).create(f"_delta_log/{0:020}.json", content):
            raise StoreBusy(f"{self._uri}: {PUBLISHED_MEANWHILE}")


def _open(uri: str, options: dict[str, str] | None) -> DeltaTable | None:
    """Open a table, if there is one; again if another process cleans up its log between reads."""
    try:
        return DeltaTable(uri, storage_options=options)
    except TableNotFoundError:
        return None
    except DeltaError:
        return DeltaTable(uri, storage_options=options)


def _in_json(action: AddAction) -> dict[str, object]:
    fields = {
        "path": action.path,
        "partitionValues": {},
        "size": action.size,
        "modificationTime": action.modification_time,
        "dataChange": True,
        "stats": action.stats,
    }
    return {"add": fields}


def _delta_schema(schema: pa.Schema, meanings: Mapping[str, str]) -> Schema:
    fields = []
    for field in Schema.from_arrow(schema).fields:
        comment = {"comment": meanings[field.name]} if meanings.get(field.name) else {}
        fields.append(Field(field.name, field.type, nullable=True, metadata=comment))
    return Schema(fields)


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except CommitFailedError as error:
        raise StoreBusy(f"{path}: {PUBLISHED_MEANWHILE}") from error
    except DeltaError as error:
        raise EvalstoreError(
            f"{path}: Delta's log cannot be read or written ({error}); publish again, and if that "
            "fails, to a new folder"
        ) from error
