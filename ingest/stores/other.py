"""Another store that is imported: its lake, verified before anything is taken from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.stores.decisions import Batches
from ingest.stores.recognition import is_batch_name
from warehouse.core.errors import StoreDamaged
from warehouse.core.in_memory import open_in_memory
from warehouse.lake.lake import Lake
from warehouse.lake.schema_check import misfits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warehouse.lake.batch import Batch


@dataclass(frozen=True, slots=True)
class OtherStore:
    """Another store.

    Attributes:
        lake: its lake.
        folders: the folders of its lake that count.
        batches: its batches, next to those of this store.
    """

    lake: Lake
    folders: Sequence[Batch]
    batches: Batches


def open_other(path: Path, ours: Sequence[Batch]) -> OtherStore:
    """Read and verify another store; the caller keeps its lake from being changed.

    Args:
        path: its folder.
        ours: the batches of this store.

    Raises:
        StoreDamaged: one of its files is missing, has changed, or is not what a store has.
        StoreNewer: a newer version of evalstore wrote one of its batches.
    """
    lake = Lake(path)
    folders = _verified(lake)
    theirs = [part for folder in folders for part in folder.contents]
    return OtherStore(lake, folders, Batches(ours, sorted(theirs, key=lambda part: part.name)))


def _verified(other: Lake) -> list[Batch]:
    """Return the folders of the other lake, every byte of them verified.

    Raises:
        StoreDamaged: one of them is damaged.
    """
    folders = other.folders()
    for folder in folders:
        other.verify(folder)
        for part in folder.contents:
            if not is_batch_name(part.name):
                raise StoreDamaged(
                    f"{other.path / folder.name}: {part.name!r} is not the name of a batch"
                )
    with open_in_memory() as connection:
        for problem in misfits(other, folders, connection).values():
            raise StoreDamaged(problem)
    return folders
