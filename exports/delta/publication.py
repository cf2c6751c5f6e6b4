"""A publication: the files that have changed, the commits of the tables, and their snapshot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from exports.base import Exported
from exports.delta.changes import find_units, open_source, plan_changes, source_schema
from exports.delta.files import write_file, write_units
from exports.delta.state import PUBLIC, Publication, PublishedTable
from exports.delta.tables import TABLES, public_columns
from warehouse.core.errors import EvalstoreError, StoreDamaged
from warehouse.core.hashing import content_hash
from warehouse.core.text.figures import counted
from warehouse.engine.tables.definitions import digests
from warehouse.lake.delta_log import DeltaLog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exports.delta.changes import Changes, Source
    from exports.delta.state import PublicFolder, PublishedFile
    from exports.delta.tables import PublicTable

SNAPSHOTS = "snapshots"
_SNAPSHOT_MEANINGS = {
    "snapshot": "number of the publication, from 1; the highest is the newest",
    "published_at": "when it was written",
    "table_name": "name of the table",
    "version": "version of the table that belongs to the snapshot",
    "n_rows": "rows of the table",
    "n_bytes": "size of its data files, bytes",
    "with_text": "whether prompts, answers and messages are in it",
    "lake_digest": "hash of the batches that it was made from",
    "store_id": "what tells the store from others: the same in all publications of a folder",
}


_Tables = dict[str, PublishedTable]


@dataclass(frozen=True, slots=True)
class _Pending:
    """A table whose files are written, and not committed.

    Attributes:
        table: the table.
        log: its log, as it was before.
        schema: its columns.
        meanings: what they mean.
        files: all of its files.
    """

    table: PublicTable
    log: DeltaLog
    schema: pa.Schema
    meanings: dict[str, str]
    files: dict[str, PublishedFile]


def publish(
    connection: duckdb.DuckDBPyConnection, public: PublicFolder, *, with_text: bool
) -> Exported:
    """Publish what has changed.

    Raises:
        BadInput: another store publishes there.
        StoreBusy: another process published meanwhile.
        StoreDamaged, EvalstoreError: what was published cannot be read, or not be written.
    """
    latest = _latest(connection, public)
    lake, batches = _lake_digest(connection), _batches(connection)
    made_from = content_hash(lake, *_version(), with_text)
    notes = [] if latest is None else _finish(public, latest)
    if latest is not None and latest.made_from == made_from:
        up_to_date = f"publication {latest.number} in {public.address} is up to date"
        return Exported(notes=[*notes, up_to_date])
    pending = _write_tables(connection, public, latest, with_text=with_text)
    tables = {one.table.name: PublishedTable(_commit(public, one), one.files) for one in pending}
    number = 1 if latest is None else latest.number + 1
    lost_text = latest is not None and latest.with_text and not with_text
    is_forgetting = lost_text or _has_forgotten(latest, tables)
    publication = Publication(
        number=number,
        oldest=number if is_forgetting else max(1, number - 1),
        made_from=made_from,
        lake=lake,
        store_id=(latest.store_id if latest else "") or min(batches, default=""),
        batches=sorted(batches),
        with_text=with_text,
        published_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        tables=tables,
    )
    publication = _with_snapshot(public, publication, latest)
    public.add(publication)
    notes += _finish(public, publication)
    if latest is not None and latest.number >= publication.oldest:
        for one in pending:
            if before := latest.tables.get(one.table.name):
                notes += _clean(one.log, before.version)
    is_address = "://" in public.address
    paths = [] if is_address else [Path(public.address, PUBLIC)]
    return Exported(paths=paths, notes=[*notes, _summary(publication, latest)])


def _latest(connection: duckdb.DuckDBPyConnection, public: PublicFolder) -> Publication | None:
    """Return the newest publication, of this store."""
    latest = public.latest()
    if latest is not None:
        latest.check_is_of(_batches(connection), public.address)
    return latest


def _batches(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT batch FROM lake.batches").fetchall()}


def _version() -> tuple[str, ...]:
    """Return what rows depend on apart from the lake: the version of evalstore and DuckDB."""
    return (*digests(), duckdb.__version__)


def _lake_digest(connection: duckdb.DuckDBPyConnection) -> str:
    """Return a hash of the batches, whichever folders they have been merged into."""
    rows = connection.execute(
        "SELECT batch, coalesce(rewritten_by, '') FROM lake.batches ORDER BY ALL"
    ).fetchall()
    return content_hash(*(text for row in rows for text in row))


def _write_tables(
    connection: duckdb.DuckDBPyConnection,
    public: PublicFolder,
    latest: Publication | None,
    *,
    with_text: bool,
) -> list[_Pending]:
    """Write the new files of all tables; if that fails, there are none."""
    pending: list[_Pending] = []
    new: list[str] = []
    try:
        for table in TABLES:
            log = _log(public, table.name)
            source, changes = _plan(connection, table, _files(latest, log), with_text=with_text)
            files = dict(changes.kept)
            for units in changes.written:
                file = write_units(connection, source, units, public, table.name)
                new.append(f"{PUBLIC}/{table.name}/{file.path}")
                files[file.path] = file
            meanings = {column.name: column.meaning for column in source.columns}
            schema = source_schema(connection, source)
            pending.append(_Pending(table, log, schema, meanings, files))
            source.close(connection)
    except BaseException:
        public.place.delete(new)
        raise
    return pending


def _log(public: PublicFolder, table: str) -> DeltaLog:
    return DeltaLog(f"{public.address}/{PUBLIC}/{table}")


def _files(latest: Publication | None, log: DeltaLog) -> dict[str, PublishedFile]:
    """Return the published files of a table that its newest version still has."""
    name = log.path.name
    if latest is None or name not in latest.tables:
        return {}
    files = latest.tables[name].files.items()
    return {path: file for path, file in files if path in log.active}


def _plan(
    connection: duckdb.DuckDBPyConnection,
    table: PublicTable,
    files: Mapping[str, PublishedFile],
    *,
    with_text: bool,
) -> tuple[Source, Changes]:
    columns = public_columns(connection, table, with_text=with_text)
    source = open_source(connection, table, columns)
    units = find_units(connection, source, content_hash(*_version(), repr(columns)))
    return source, plan_changes(connection, source, units, files)


def preview(
    connection: duckdb.DuckDBPyConnection, public: PublicFolder, *, with_text: bool
) -> Exported:
    """Say what `publish` would write.

    Raises:
        BadInput: another store publishes there.
    """
    latest = _latest(connection, public)
    notes = ["nothing was written; bytes are those before compression"]
    for table in TABLES:
        files = _files(latest, _log(public, table.name))
        source, changes = _plan(connection, table, files, with_text=with_text)
        source.close(connection)
        n_kept = sum(file.n_rows for file in changes.kept.values())
        size = f"{changes.n_bytes / 1e6:,.1f} MB"
        notes.append(f"{table.name}: {changes.n_rows:,} rows to write ({size}), {n_kept:,} stay")
    return Exported(notes=notes)


def _commit(public: PublicFolder, pending: _Pending) -> int:
    folder = f"{PUBLIC}/{pending.table.name}"
    found = {key.removeprefix(f"{folder}/") for key, _ in public.place.files(folder)}
    missing = sorted(pending.files.keys() - found)
    if missing:
        raise StoreDamaged(
            f"{public.address}/{folder}: {missing[0]} is gone; publish again, by one machine at a "
            "time"
        )
    return pending.log.commit(pending.schema, pending.meanings, pending.files)


def _has_forgotten(latest: Publication | None, tables: _Tables) -> bool:
    """Return whether a run was there and is not any more, as after `evalstore forget`."""
    facts = [table.name for table in TABLES if table.is_fact]
    before = {} if latest is None else latest.tables
    return any(not before[name].runs() <= tables[name].runs() for name in facts if name in before)


def _with_snapshot(
    public: PublicFolder, publication: Publication, latest: Publication | None
) -> Publication:
    """Write the file of the snapshots that can be read, and return the publication with it."""
    is_kept = latest is not None and latest.number >= publication.oldest
    readable = [latest, publication] if is_kept else [publication]
    rows = [row for one in readable if one is not None for row in _snapshot_rows(one)]
    table = pa.Table.from_pylist(rows, schema=_snapshot_schema())
    file = write_file(table.to_reader(), public, SNAPSHOTS)
    own = {SNAPSHOTS: PublishedTable(-1, {file.path: file})}
    return replace(publication, tables=publication.tables | own)


def _snapshot_schema() -> pa.Schema:
    kinds = {
        **dict.fromkeys(("snapshot", "version", "n_rows", "n_bytes"), pa.int64()),
        "published_at": pa.timestamp("us", "UTC"),
        "with_text": pa.bool_(),
    }
    return pa.schema([(name, kinds.get(name, pa.string())) for name in _SNAPSHOT_MEANINGS])


def _snapshot_rows(publication: Publication) -> list[dict[str, object]]:
    return [
        {
            "snapshot": publication.number,
            "published_at": datetime.fromisoformat(publication.published_at),
            "table_name": name,
            "version": table.version,
            "n_rows": sum(file.n_rows for file in table.files.values()),
            "n_bytes": sum(file.n_bytes for file in table.files.values()),
            "with_text": publication.with_text,
            "lake_digest": publication.lake,
            "store_id": publication.store_id,
        }
        for name, table in publication.tables.items()
        if name != SNAPSHOTS
    ]


def _finish(public: PublicFolder, publication: Publication) -> list[str]:
    """Make a publication the newest snapshot, and delete what is not kept any more.

    What a process left undone when it was killed is done by the next: a publication exists as long
    as something of it has to be deleted.

    Returns:
        what remains of old logs, for the user.
    """
    files = publication.tables[SNAPSHOTS].files
    log = _log(public, SNAPSHOTS)
    log.commit(_snapshot_schema(), _SNAPSHOT_MEANINGS, files)
    notes = _clean(log, log.version)
    outdated = public.outdated(publication)
    if outdated and publication.oldest == publication.number:
        for name in publication.tables:
            _log(public, name).forget()
        public.sweep(publication)
    public.delete(outdated)
    return notes


def _clean(log: DeltaLog, oldest: int) -> list[str]:
    """Delete what no reader needs of a log; return what to say if that fails."""
    try:
        log.clean(oldest)
    except (EvalstoreError, OSError) as error:
        cause = error.__cause__ or error
        remains = f"old entries of the log of {log.path.name}, which nobody needs"
        return [f"warning: the publication is complete; {remains}, could not be deleted: {cause}"]
    return []


def _summary(publication: Publication, latest: Publication | None) -> str:
    before = {} if latest is None else latest.tables
    pairs = [
        (before.get(name, PublishedTable(-1, {})), table)
        for name, table in publication.tables.items()
        if name != SNAPSHOTS
    ]
    n_new = [len(new.files.keys() - old.files.keys()) for old, new in pairs]
    n_same = sum(old.version == new.version for old, new in pairs)
    n_empty = sum(old.version != new.version and not new.files for old, new in pairs)
    return (
        f"publication {publication.number}: wrote {counted(sum(n_new), 'file')} of "
        f"{counted(sum(map(bool, n_new)), 'table')}"
        + (f"; {counted(n_empty, 'table has no rows', 'tables have no rows')}" if n_empty else "")
        + (f"; {counted(n_same, 'table')} as before" if n_same else "")
    )
