"""The snapshots of tables: which files count, as rows of a Delta table that is committed last."""

from __future__ import annotations

import io
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from warehouse.core.errors import BadInput, StoreDamaged
from warehouse.lake.table_location import FORMER, SNAPSHOTS, TABLES, delta_errors, open_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from warehouse.lake.delta_log import DeltaLog
    from warehouse.lake.table_location import TableLocation

# A file of a table.
File = dict[str, Any]
_FILE = {
    "table_name": "string",  # the folder of its table
    "path": "string",  # its name; NULL in the row of a table without rows
    "n_rows": "int64",
    "n_bytes": "int64",
    "sha256": "string",
    "shard": "string",  # what wrote it; NULL for rows of no run and duplicate calls
    "part": "int64",  # of `calls`: which part of the calls it has, from 0 …
    "n_parts": "int64",  # … and of how many
    "reference": "string",  # hash of the rows of no run that it has, or was computed with
    "duplicates": "string",  # hash of the duplicate calls that it was computed with
}
_MADE_FROM = ("oldest", "written_by", "definitions", "engine", "lake_digest")
# A row of `snapshots`; `version` is that of the table.
_ROW = {"snapshot": "int64", "version": "int64", **dict.fromkeys(_MADE_FROM, "string"), **_FILE}
_ROW["oldest"] = "int64"
# Files that no snapshot names may be of a sync that is still going on.
_SWEPT_AFTER_SECONDS = 24 * 3600.0
# On an object store a commit is half a dozen requests, each after the other.
_TABLES_AT_ONCE = 8


class _LogEntry(NamedTuple):
    """What Delta's log says of a file: no bounds of columns, which could be texts."""

    path: str
    n_bytes: int
    statistics: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot of the tables.

    Attributes:
        number: its number, from 1; the highest counts.
        oldest: the oldest snapshot whose files are kept.
        written_by: version of evalstore.
        definitions: hashes of its tables, and of its views and scores.
        engine: version of DuckDB, whose hashes are in the tables.
        lake_digest: hash of the names of the lake's folders.
        files: its files.
    """

    number: int
    oldest: int
    written_by: str
    definitions: str
    engine: str
    lake_digest: str
    files: list[File]

    def by_table(self) -> dict[str, list[File]]:
        """Return the files of each table of the warehouse."""
        found: dict[str, list[File]] = {}
        for file in self.files:
            if (name := file["table_name"]) not in ("calls", "plan"):
                found.setdefault(name if "." in name else f"lake.{name}", []).append(file)
        return found

    def n_shards(self) -> int:
        """Return the number of shards that it was computed in."""
        return len({file["shard"] for file in self.files} - {None})

    def objects(self) -> set[str]:
        """Return the keys of its files."""
        return set(map(file_key, self.files))


def file_key(file: Mapping[str, Any]) -> str:
    """Return the key of a file."""
    return f"{TABLES}/{file['table_name']}/{file['path']}"


def of_table(files: Iterable[File], name: str) -> list[File]:
    """Return the files of a table, by the name of its folder."""
    return [file for file in files if file["table_name"] == name]


def snapshot_keys(log: DeltaLog) -> list[str]:
    """Return the keys of the snapshots in a log, the oldest first."""
    return [f"{SNAPSHOTS}/{path}" for path in sorted(log.active)]


def latest(place: TableLocation, log: DeltaLog | None = None) -> Snapshot | None:
    """Return the snapshot that counts; None if there is none.

    Args:
        place: where the tables are.
        log: that of `snapshots`, if it is open.

    Raises:
        BadInput: an earlier version of evalstore wrote them, or deltalake is not installed.
        StoreDamaged, EvalstoreError: it cannot be read.
        FileNotFoundError: it is gone: there is a newer one.
        StoreUnreachable: the object store cannot be reached.
    """
    if keys := snapshot_keys(log or open_log(place, "snapshots")):
        return read(place, keys[-1])
    if place.files(FORMER):
        raise BadInput(
            f"{place.address}: an earlier version of evalstore wrote these tables, which this one "
            "cannot read; write them to a new folder or address, `evalstore --store STORE sync "
            "--to TABLES`, and delete these"
        )
    return None


def current_snapshot(place: TableLocation) -> Snapshot:
    """Return the snapshot of the tables that counts.

    Raises:
        BadInput: there is none.
        StoreDamaged, EvalstoreError, StoreUnreachable, FileNotFoundError: as `latest`.
    """
    snapshot = latest(place)
    if snapshot is None:
        raise BadInput(f"{place.address}: no version of tables; `evalstore sync --to`")
    return snapshot


def data_files(place: TableLocation) -> list[tuple[str, float]]:
    """Return the keys of all data files, with the time of each (seconds since 1970)."""
    listed = place.files(TABLES)
    return [one for one in listed if one[0].endswith(".parquet") and "/_delta_log/" not in one[0]]


def named_objects(place: TableLocation) -> set[str]:
    """Return the keys of all snapshots, and of the files of those that can be read."""
    keys = snapshot_keys(open_log(place, "snapshots"))
    named = set(keys)
    for key in keys:
        with suppress(FileNotFoundError, StoreDamaged):
            named |= read(place, key).objects()
    return named


def discard_copies(place: TableLocation) -> None:
    """Delete this machine's copies of files that no snapshot names any more.

    Those of a sync that is going on are newer than all that a snapshot names; they are kept.
    """
    if copies := place.copies():
        named = {key for key in named_objects(place) if not key.startswith(SNAPSHOTS)}
        newest = max(map(_name, named), default="")
        place.discard(key for key in copies if key not in named and _name(key) < newest)


def _name(key: str) -> str:
    """Return the name of a file, a ULID: by it, files are in the order of their time."""
    return PurePosixPath(key).stem


def publish(
    place: TableLocation,
    log: DeltaLog,
    snapshot: Snapshot,
    schemas: Mapping[str, pa.Schema],
    scratch: Path,
) -> None:
    """Commit the files of a snapshot to their tables, then the snapshot, which makes it count.

    Args:
        place: where the tables are.
        log: that of `snapshots`, from before the snapshot was computed.
        snapshot: the snapshot.
        schemas: the columns of each table, by the name of its folder.
        scratch: a folder for the file of the snapshot.

    Raises:
        StoreBusy: another process commits at the same time.
        EvalstoreError: the tables cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from ulid import ULID

    def commit(name: str) -> int:
        table = open_log(place, name)
        files = {file["path"]: _log_entry(file) for file in of_table(snapshot.files, name)}
        with delta_errors(place):
            return table.commit(schemas[name], {}, files)

    rows = []
    common = {"snapshot": snapshot.number, **{name: getattr(snapshot, name) for name in _MADE_FROM}}
    with ThreadPoolExecutor(_TABLES_AT_ONCE) as pool:
        for name, version in zip(schemas, pool.map(commit, schemas), strict=True):
            own = {**common, "version": version}
            files = of_table(snapshot.files, name)
            rows += [{**file, **own} for file in files or [{"table_name": name}]]
    path = scratch / f"{snapshot.number:09}-{ULID()}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=_schema()), path, compression="zstd")
    place.upload(path, f"{SNAPSHOTS}/{path.name}")
    file = _log_entry({"path": path.name, "n_bytes": path.stat().st_size, "n_rows": len(rows)})
    with delta_errors(place):
        log.commit(_schema(), {}, {**dict.fromkeys(log.active, file), path.name: file})


def drop(place: TableLocation, keys: list[str]) -> None:
    """Make some snapshots count no more, then delete them."""
    log = open_log(place, "snapshots")
    kept = log.active - {PurePosixPath(key).name for key in keys}
    with delta_errors(place):
        log.commit(_schema(), {}, dict.fromkeys(kept, _LogEntry("", 0, "")))
    place.delete(keys)


def sweep(place: TableLocation) -> None:
    """Delete old snapshots with their files, and files that no snapshot has named for a day.

    What a sync that was killed has left is done by the next one. Where runs were forgotten, the
    logs lose their history, too.
    """
    snapshots = {}
    keys = snapshot_keys(open_log(place, "snapshots"))
    for key in keys:
        with suppress(StoreDamaged, FileNotFoundError):
            snapshots[key] = read(place, key)
    if not keys or keys[-1] not in snapshots:
        return  # another sync has just replaced it, and sweeps
    newest = snapshots[keys[-1]]
    kept = {key for key, one in snapshots.items() if one.number >= newest.oldest}
    outdated = [key for key in keys if key not in kept]
    named = kept.union(*(snapshots[key].objects() for key in kept))
    former = {name for key in snapshots.keys() - kept for name in snapshots[key].objects()}
    oldest = time.time() - _SWEPT_AFTER_SECONDS
    left = {key for key, written_at in data_files(place) if written_at < oldest}
    place.delete(sorted((former | left) - named - set(outdated)))
    if outdated:
        if newest.oldest == newest.number:
            for table in {file["table_name"] for file in newest.files}:
                open_log(place, table).forget()
        drop(place, outdated)


def _log_entry(file: Mapping[str, Any]) -> _LogEntry:
    return _LogEntry(file["path"], file["n_bytes"], f'{{"numRecords": {file["n_rows"]:d}}}')


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in _ROW.items()])


def read(place: TableLocation, key: str) -> Snapshot:
    """Read the snapshot with a key.

    Raises:
        StoreDamaged, FileNotFoundError: as `latest`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(io.BytesIO(place.get(key))).to_pylist()
        return Snapshot(
            number=rows[0]["snapshot"],
            files=[{name: row[name] for name in _FILE} for row in rows if row["path"] is not None],
            **{name: rows[0][name] for name in _MADE_FROM},
        )
    except (pa.ArrowException, LookupError) as error:
        raise StoreDamaged(
            f"{place.address}/{key}: cannot be read as a version of tables "
            f"({type(error).__name__}: {error}); write them to a new folder or address: "
            "`evalstore --store STORE sync --to TABLES`"
        ) from error
