"""Records that are too long for a page to open at once: an excerpt, and the whole in pieces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from exports.site.samples.pieces import PIECE_CHARACTERS, piece, piece_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.core.types import Json

_TEXT_CHARACTERS = 2_000
_ENTRIES = 20


def excerpt(record: str) -> str:
    """Return the JSON text of a record with its texts and lists cut."""
    return json.dumps([_cut(field) for field in json.loads(record)], ensure_ascii=False)


def long_pieces(stem: str, number: int, record: str) -> Iterator[tuple[str, bytes]]:
    """Yield the pieces of a record's JSON text: strings that a page puts together.

    Args:
        stem: path of the run's long pieces, without number and suffix.
        number: number of the first piece.
        record: the JSON text.
    """
    for at in range(0, len(record), PIECE_CHARACTERS):
        text = json.dumps(record[at : at + PIECE_CHARACTERS], ensure_ascii=False)
        yield piece(piece_path(stem, number), text)
        number += 1


def n_long_pieces(record: str) -> int:
    """Return the number of pieces of a record."""
    return -(-len(record) // PIECE_CHARACTERS)


def _cut(value: Json) -> Json:
    if isinstance(value, str):
        return value if len(value) <= _TEXT_CHARACTERS else value[:_TEXT_CHARACTERS] + "…"
    if isinstance(value, list):
        return [_cut(each) for each in value[:_ENTRIES]]
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    return value
