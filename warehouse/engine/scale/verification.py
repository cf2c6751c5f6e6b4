"""The verification of tables: each file of the version that counts is read, nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.files import problem
from warehouse.engine.scale.version import current_version, named_objects
from warehouse.lake.table_location import TABLES

if TYPE_CHECKING:
    from warehouse.engine.scale.version import File, Version
    from warehouse.lake.table_location import TableLocation

# A sync that has forgotten runs deletes the files of the version before at once.
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesVerification:
    """The result of a verification.

    Attributes:
        version: number of the version that counts.
        n_table_files: files of this version.
        n_undamaged: files of this version whose SHA-256 matches.
        damaged: one message per file that is not what was written.
        missing: one message per file that is gone.
        unknown: keys of files that no version names: of a sync that is going on or ended early.
        n_shards: number of shards that the version was computed in.
    """

    version: int
    n_table_files: int
    n_undamaged: int
    damaged: tuple[str, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    n_shards: int


def verify_tables(place: TableLocation) -> TablesVerification:
    """Read every file of the version that counts, from where the tables are.

    Raises:
        BadInput: there is no version.
        StoreDamaged, StoreNewer, StoreUnreachable: as `latest`.
    """
    for _ in range(_TRIES - 1):
        version = current_version(place)
        found = _verify(place, version)
        if not found.missing or current_version(place).number == version.number:
            return found
    return _verify(place, current_version(place))


def _verify(place: TableLocation, version: Version) -> TablesVerification:
    # Listed first: what a sync writes meanwhile is not unknown.
    written = {key for key, _ in place.names(TABLES)}
    known = version.objects() | named_objects(place)
    files = {file["key"]: file for file in version.written()}
    damaged, missing = [], []
    for key, file in sorted(files.items()):
        try:
            if (difference := _difference(place, key, file)) is not None:
                damaged.append(f"{place.address}/{key}: {difference}")
        except FileNotFoundError:
            missing.append(f"{place.address}/{key}")
        except OSError as error:
            damaged.append(f"{place.address}/{key}: {problem(error)}")
    return TablesVerification(
        version=version.number,
        n_table_files=len(files),
        n_undamaged=len(files) - len(damaged) - len(missing),
        damaged=tuple(damaged),
        missing=tuple(missing),
        unknown=tuple(sorted(written - known)),
        n_shards=len(version.shards),
    )


def _difference(place: TableLocation, key: str, written: File) -> str | None:
    """Return how a file differs from what was written; None if it does not."""
    size, sha256 = place.digest(key)
    if size != written["bytes"]:
        return f"{size:,} bytes, was {written['bytes']:,} when written"
    if sha256 != written["sha256"]:
        return f"SHA-256 is {sha256[:12]}…, was {written['sha256'][:12]}… when written"
    return None
