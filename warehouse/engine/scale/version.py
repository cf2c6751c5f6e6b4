"""The versions of tables: which files count, written as one object that appears at once."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from warehouse.core.errors import BadInput, StoreDamaged, StoreNewer
from warehouse.lake.table_location import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warehouse.lake.table_location import TableLocation

# A file of tables: its key, rows, bytes and SHA-256.
File = dict[str, Any]
Files = dict[str, list[File]]

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of the tables.

    Attributes:
        number: its number, from 1; the highest counts.
        written_by: version of evalstore.
        definitions: hashes of its tables, and of its views and scores.
        engine: version of DuckDB, whose hashes are in the tables.
        lake: hash of the names of the lake's folders.
        n_parts: parts of the calls.
        reference: files of the rows of no run, by table.
        duplicates: files of the duplicate calls, by table.
        shards: what each shard wrote, by its name: `files`, `calls`, its `suites`, and hashes of
            the `reference` rows and `duplicates` that it knew.
        plan: the file that has the shard of each run.
    """

    number: int
    written_by: str
    definitions: list[str]
    engine: str
    lake: str
    n_parts: int
    reference: Files
    duplicates: Files
    shards: dict[str, dict[str, Any]]
    plan: File
    format: int = field(default=_FORMAT)

    def files(self) -> Files:
        """Return the files of each table of the warehouse."""
        found: Files = {}
        of_shards = (shard["files"] for shard in self.shards.values())
        for part in (self.reference, self.duplicates, *of_shards):
            for table, files in part.items():
                found.setdefault(table, []).extend(files)
        return found

    def written(self) -> list[File]:
        """Return the files that it needs: of tables, calls and the plan."""
        parts = (*self.reference.values(), *self.duplicates.values(), [self.plan])
        of_shards = (file for shard in self.shards.values() for file in shard_files(shard))
        return [*of_shards, *(file for part in parts for file in part)]

    def objects(self) -> set[str]:
        """Return the keys of the files that it needs."""
        return {file["key"] for file in self.written()}


def shard_files(shard: Mapping[str, Any]) -> list[File]:
    """Return the files that a shard wrote."""
    of_tables = [file for files in shard["files"].values() for file in files]
    return [*of_tables, *(file for file in shard["calls"] if file)]


def latest(place: TableLocation) -> Version | None:
    """Return the version that counts; None if there is none.

    Raises:
        StoreDamaged: it cannot be read.
        StoreNewer: a newer version of evalstore wrote it.
        StoreUnreachable: the object store cannot be reached.
    """
    keys = [key for key, _ in place.names(VERSIONS) if key.endswith(".json")]
    return read(place, max(keys)) if keys else None


def current_version(place: TableLocation) -> Version:
    """Return the version of the tables that counts.

    Raises:
        BadInput: there is none.
        StoreDamaged, StoreNewer, StoreUnreachable: as `latest`.
    """
    version = latest(place)
    if version is None:
        raise BadInput(f"{place.address}: no version of tables; `evalstore sync --to`")
    return version


def named_objects(place: TableLocation) -> set[str]:
    """Return the keys of the files of all versions that can be read."""
    named = set()
    for key, _ in place.names(VERSIONS):
        with suppress(FileNotFoundError, StoreDamaged, StoreNewer):
            named |= read(place, key).objects()
    return named


def discard_copies(place: TableLocation) -> None:
    """Delete this machine's copies of files that no version names any more.

    Those of a sync that is going on are newer than all that a version names; they are kept.
    """
    if copies := place.copies():
        named = named_objects(place)
        newest = max(map(_name, named), default="")
        place.discard(key for key in copies if key not in named and _name(key) < newest)


def _name(key: str) -> str:
    """Return the name of a file, a ULID: by it, files are in the order of their time."""
    return PurePosixPath(key).stem


def publish(place: TableLocation, version: Version) -> bool:
    """Make a version count; return False if another process wrote this version meanwhile."""
    content = json.dumps(asdict(version), sort_keys=True, indent=1).encode()
    return place.create(f"{VERSIONS}/{version.number:09}.json", content)


def read(place: TableLocation, key: str) -> Version:
    """Read the version with a key.

    Raises:
        StoreDamaged, StoreNewer: as `latest`.
    """
    try:
        document = json.loads(place.get(key))
        if document["format"] > _FORMAT:
            raise StoreNewer(
                f"{place.address}/{key}: written by evalstore {document['written_by']}, whose "
                "tables this version cannot read: upgrade it"
            )
        version = Version(**document)
        version.objects()
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreDamaged(
            f"{place.address}/{key}: cannot be read as a version of tables "
            f"({type(error).__name__}: {error}); delete it, so that the version before "
            "counts, then write another one: `evalstore --store STORE sync --to TABLES`"
        ) from error
    return version
