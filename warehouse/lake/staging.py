"""The batches that other processes are writing."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.files import read_regular
from warehouse.lake.locks import abandoned_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.lake.base_lake import BaseLake


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedBatch:
    """A batch that is being written.

    Attributes:
        name: its name: a ULID, which says when it was begun.
        command: the command that writes it; empty if it is of an earlier version.
        n_bytes: what is on disk of it so far.
    """

    name: str
    command: str
    n_bytes: int


def staged_batches(lake: BaseLake) -> Iterator[StagedBatch]:
    """Yield the batches that are being written, oldest first; what cannot be read is left out."""
    with suppress(OSError):
        for path in sorted(lake.staging.glob("*.lock")):
            with suppress(OSError), abandoned_file(path) as lock:
                if lock is None and path.exists():
                    yield StagedBatch(
                        name=path.stem,
                        command=read_regular(path, max_bytes=100)
                        .decode("utf-8", "replace")
                        .strip(),
                        n_bytes=sum(
                            file.stat().st_size for file in os.scandir(path.with_suffix(""))
                        ),
                    )
