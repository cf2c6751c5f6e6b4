"""The verification of tables: each file of the version that counts is read, nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.files import problem
from warehouse.engine.scale.snapshot import current_snapshot, data_files, file_key, named_objects

if TYPE_CHECKING:
    from warehouse.engine.scale.snapshot import File, Snapshot
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
        StoreDamaged, StoreUnreachable: as `latest`.
    """
    for _ in range(_TRIES - 1):
        snapshot = current_snapshot(place)
        found = _verify(place, snapshot)
        if not found.missing or current_snapshot(place).number == snapshot.number:
            return found
    return _verify(place, current_snapshot(place))


def _verify(place: TableLocation, snapshot: Snapshot) -> TablesVerification:
    # Listed first: what a sync writes meanwhile is not unknown.
    written = {key for key, _ in data_files(place)}
    known = snapshot.objects() | named_objects(place)
    files = {file_key(file): file for file in snapshot.files}
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
        version=snapshot.number,
        n_table_files=len(files),
        n_undamaged=len(files) - len(damaged) - len(missing),
        damaged=tuple(damaged),
        missing=tuple(missing),
        unknown=tuple(sorted(written - known)),
        n_shards=snapshot.n_shards(),
    )


def _difference(place: TableLocation, key: str, written: File) -> str | None:
    """Return how a file differs from what was written; None if it does not."""
    size, sha256 = place.digest(key)
    if size != written["n_bytes"]:
        return f"{size:,} bytes, was {written['n_bytes']:,} when written"
    if sha256 != written["sha256"]:
        return f"SHA-256 is {sha256[:12]}…, was {written['sha256'][:12]}… when written"
    return None
