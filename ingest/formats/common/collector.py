"""Collects the rows of a run into blocks of a stream; a record that is repeated counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ingest.formats.common.elements import BrokenElementsError, DeepElement
from ingest.formats.common.repeats import SeenHashes
from ingest.reading import Block, Reject
from warehouse.core.formats.values import TOO_DEEP
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from ingest.formats.common.elements import Elements
    from ingest.formats.common.records import LineRecord, RecordBlock
    from warehouse.core.types import JsonObject, Row

_ROWS = 4000
_PART_DIGITS = 8
_HASHED_DIGITS = 16


def part_id(name: str) -> str:
    """Return the id of a part of a run, for `Stream.parts`."""
    return content_hash("part", name)[:_PART_DIGITS]


def id_in(part: str, *record: object) -> str:
    """Return the content id of a record of a part, which begins with the id of the part."""
    return part + content_hash(*record)[len(part) :]


class RowCollector:
    """The rows of one run, or of one part of it, that were read and not yet yielded.

    Attributes:
        run_id: the run; "" where only rejects and secrets are collected.
        path: the file that what is not yet yielded was read from.
        rejects: records that cannot be used.
        secrets: line and kind of each possible secret.
    """

    def __init__(self, path: Path, run_id: str, *, part: str = "") -> None:
        self.run_id = run_id
        self.rejects: list[Reject] = []
        self.secrets: list[tuple[int, str]] = []
        self.path = path
        self._part = part
        self._rows: dict[str, list[Row]] = {}
        self._seen: dict[str, SeenHashes] = {}

    def id_of(self, *record: object) -> str:
        """Return the content id of a record of this part."""
        found = content_hash(*record)
        return self._part + found[: len(found) - len(self._part)]

    def add(self, table: str, *rows: Row) -> None:
        """Add rows with their `content_id`."""
        if rows:
            self._rows.setdefault(table, []).extend(rows)

    def add_lines(
        self, blocks: Iterable[RecordBlock], add: Callable[[LineRecord], None]
    ) -> Iterator[Block]:
        """Yield blocks of what `add` makes of each line.

        Raises:
            OSError: the file cannot be read.
        """
        for block in blocks:
            self.rejects += block.rejects
            self.secrets += block.secrets
            for record in block.records:
                add(record)
                yield from self.full()

    def add_elements(
        self, elements: Elements, name: str, add: Callable[[JsonObject, int], str]
    ) -> Iterator[Block]:
        """Yield blocks of what `add` makes of each object in a list, given its number from 1.

        Args:
            elements: the list.
            name: what an element is, for reasons.
            add: returns why an element cannot be used; "" if it was added.

        Raises:
            OSError: the file cannot be read.
        """
        try:
            for seq, value in enumerate(elements.read(), 1):
                if isinstance(value, dict):
                    problem = add(value, seq)
                else:
                    problem = TOO_DEEP if isinstance(value, DeepElement) else "not a JSON object"
                if problem:
                    raw = elements.raw().encode("utf-8", "replace")
                    self.rejects.append(Reject(f"{name} {seq}: {problem}", raw=raw))
                self.secrets += elements.take_secrets()
                yield from self.full()
        except BrokenElementsError as error:
            self.rejects.append(Reject(str(error)))
        self.secrets += elements.take_secrets()

    def full(self) -> Iterator[Block]:
        """Yield a block if there are rows enough for one."""
        if sum(map(len, self._rows.values())) >= _ROWS:
            yield from self.rest()

    def rest(self) -> Iterator[Block]:
        """Yield what was collected."""
        rows = {table: self._first(table, rows) for table, rows in self._rows.items()}
        block = Block(path=self.path, run_id=self.run_id or None, rows={**rows})
        block.rejects, block.secrets = self.rejects, self.secrets
        self._rows, self.rejects, self.secrets = {}, [], []
        if block.rows or block.rejects or block.secrets:
            yield block

    def _first(self, table: str, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that are not repeated."""
        ids = [int(row["content_id"][-_HASHED_DIGITS:], 16) for row in rows]
        again = self._seen.setdefault(table, SeenHashes()).add(np.array(ids, np.uint64))
        return [
            row for row, is_repeated in zip(rows, again.tolist(), strict=True) if not is_repeated
        ]
