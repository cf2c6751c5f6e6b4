"""Pieces: files of JavaScript that hand data to a page, of bounded size.

A page opened from a disk cannot read files, but can run scripts of its own folder. A piece calls
one function with its name and one string, the JSON text of its data:

    evalstore.piece("samples/r1/rows-000.js", '[["capitals","fr",…],…]')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE_CHARACTERS = 200_000
_Key = TypeVar("_Key", int, str)

# Inside a string in single quotes. `<` so that nothing ends or opens a script element wherever a
# piece is put; the others end a line.
_ESCAPES = (
    ("\\", "\\\\"),
    ("'", "\\'"),
    ("<", "\\x3c"),
    ("\n", "\\n"),
    ("\r", "\\r"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)


def piece(path: str, text: str) -> tuple[str, bytes]:
    """Return the path and the bytes of the piece that holds a JSON text.

    Args:
        path: path in the site, of characters that need no escape.
        text: the JSON text.
    """
    for char, escape in _ESCAPES:
        text = text.replace(char, escape)
    return path, f"evalstore.piece(\"{path}\",'{text}');\n".encode()


class Pieces(Generic[_Key]):
    """Writes JSON values, one after another, to numbered pieces.

    Each value has a key, by which a page finds its piece: the number of a sample, or a hash.

    Attributes:
        starts: the first key of each complete piece.
    """

    def __init__(self, stem: str) -> None:
        """Take the path of the pieces, without number and suffix."""
        self._stem = stem
        self._values: list[str] = []
        self._size = 0
        self._first: _Key
        self.starts: list[_Key] = []

    def add(self, key: _Key, value: str) -> Iterator[tuple[str, bytes]]:
        """Add a value as JSON text, by its key; yield the piece that it completes, if any."""
        if self._values and self._size + len(value) > PIECE_CHARACTERS:
            yield from self.end()
        if not self._values:
            self._first = key
        self._values.append(value)
        self._size += len(value)

    def end(self) -> Iterator[tuple[str, bytes]]:
        """Yield the last piece, if it holds anything."""
        if self._values:
            path = piece_path(self._stem, len(self.starts))
            self.starts.append(self._first)
            yield piece(path, f"[{','.join(self._values)}]")
        self._values, self._size = [], 0


def piece_path(stem: str, number: int) -> str:
    """Return the path of a piece; a page computes the same."""
    return f"{stem}-{number:04}.js"
