"""The formats that can be imported: one folder of `ingest/formats/` each."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.format import Format, Reader
    from ingest.reading import Candidate


def find_formats(folders: Iterable[str]) -> Iterator[Format]:
    """Yield the formats of the folders that have a module `recognition`, in order of their names.

    Args:
        folders: paths of the package `ingest.formats`.
    """
    paths = (path for folder in folders for path in Path(folder).glob("*/recognition.py"))
    for name in sorted(path.parent.name for path in paths):
        yield import_module(f"ingest.formats.{name}.recognition").FORMAT


def in_order(found: Iterable[Format]) -> tuple[Reader, ...]:
    """Return the readers of formats in the order in which they are asked.

    Raises:
        ValueError: two readers have the same place.
    """
    places: dict[int, Reader] = {}
    for each in found:
        for place, reader in each.readers.items():
            if place in places:
                names = f"{places[place].format!r} and {reader.format!r}"
                raise ValueError(f"two readers have place {place}: {names}")
            places[place] = reader
    return tuple(places[place] for place in sorted(places))


FORMATS = tuple(find_formats(formats.__path__))
# The first reader that claims a file or folder reads it.
READERS = in_order(FORMATS)
# Reads tables that were given by name and that no reader claims.
(TABLES,) = (each.of_named for each in FORMATS if each.of_named is not None)
# Reads all other files that were given by name; it says what is wrong with them.
(FALLBACK,) = (each.fallback for each in FORMATS if each.fallback is not None)


def reader_of_named(candidate: Candidate) -> Reader:
    """Return the reader of a file that was given by name."""
    found = reader_of(candidate)
    return found or (TABLES if TABLES.claims(candidate) else FALLBACK)


def reader_of(candidate: Candidate) -> Reader | None:
    """Return the reader that claims a file or folder; None if no reader does."""
    try:
        return next((reader for reader in READERS if reader.claims(candidate)), None)
    except OSError:
        return None
