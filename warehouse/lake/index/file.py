"""The index of a batch: a file next to a long `batch.json`, with its entries in order of keys.

    {"index": 1, "batch": …, "entries": n, …}    one line
    key, start, length and CRC-32 of each entry  n times 24 bytes, in order of keys
    the entries                                  JSON, one after the other

It holds nothing that the description does not say. One that is absent, damaged or of another
version is not used: the description is read instead.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from warehouse.core.files import open_regular
from warehouse.core.schemas import BY_NAME, LAKE_FORMAT
from warehouse.lake.index.entries import entries_of

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

    import numpy as np

    from warehouse.lake.batch import Batch
    from warehouse.lake.index.entries import Entry

NAME = "index"
# Shorter descriptions, of some seventy batches, are read as fast as an index.
LEAST_BYTES = 64 * 2**10
_VERSION = 1
_PLACE = [("key", "<u8"), ("start", "<u8"), ("length", "<u4"), ("crc", "<u4")]
_PLACE_BYTES = 24
_LONGEST_HEADER = 2**16
_NOT_AN_INDEX = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


class StaleIndexError(Exception):
    """An entry of an index is damaged; its argument is the batch."""


@dataclass(frozen=True, slots=True)
class BatchIndex:
    """The index of a batch, open for look-ups.

    Attributes:
        batch: name of the batch, and of its folder in the lake.
        tables: names of its tables.
        keys: the keys of its entries, in order; several entries may have the same one.
    """

    batch: str
    tables: frozenset[str]
    keys: np.ndarray
    _path: Path
    _places: np.ndarray
    _offset: int

    def entry(self, number: int) -> Entry:
        """Read an entry, by its number in the order of keys.

        Raises:
            StaleIndexError: it cannot be read, or is not what was written.
        """
        import orjson

        place = self._places[number]
        try:
            with open_regular(self._path) as file:
                file.seek(self._offset + int(place["start"]))
                data = file.read(int(place["length"]))
        except OSError as error:
            raise StaleIndexError(self.batch) from error
        if zlib.crc32(data) != place["crc"]:
            raise StaleIndexError(self.batch)
        entry: Entry = orjson.loads(data)
        return entry


def index_bytes(folder: Batch, n_bytes: int) -> bytes:
    """Return the content of the index of a batch, given the size of its description in bytes."""
    import numpy as np
    import orjson

    entries = [(key, orjson.dumps(entry)) for key, entry in entries_of(folder)]
    entries.sort(key=itemgetter(0))
    keys, texts = [key for key, _ in entries], [text for _, text in entries]
    places = np.zeros(len(entries), dtype=_PLACE)
    places["key"] = np.array(keys, np.uint64)
    places["length"] = [len(text) for text in texts]
    places["crc"] = [zlib.crc32(text) for text in texts]
    places["start"][1:] = np.cumsum(places["length"], dtype=np.uint64)[:-1]
    header = {
        "index": _VERSION,
        "batch": folder.name,
        "schema_version": folder.schema_version,
        "description_bytes": n_bytes,
        "tables": list(folder.files),
        "entries": len(entries),
        "sha256": hashlib.sha256(places.tobytes()).hexdigest(),
    }
    return b"".join((orjson.dumps(header), b"\n", places.tobytes(), *texts))


def write_index(path: Path, folder: Batch, n_bytes: int) -> bool:
    """Write the index of a batch, if its description is long; return whether there is one now.

    It is not flushed to disk: one that a power failure damages is not used. Nor does a full disk
    matter, which leaves none.

    Args:
        path: the file to write.
        folder: the batch.
        n_bytes: size of its description.
    """
    if n_bytes < LEAST_BYTES:
        return False
    try:
        path.write_bytes(index_bytes(folder, n_bytes))
    except OSError:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return False
    return True


def open_index(folder: Path) -> BatchIndex | None:
    """Open the index of a batch in the lake; None if it has none, or one that cannot be used."""
    try:
        with open_regular(folder / NAME) as file, open_regular(folder / "batch.json") as described:
            return _checked(folder, file, os.fstat(described.fileno()).st_size)
    except _NOT_AN_INDEX:
        return None


def _checked(folder: Path, file: BufferedReader, n_bytes: int) -> BatchIndex | None:
    import numpy as np
    import orjson

    line = file.readline(_LONGEST_HEADER)
    header = orjson.loads(line)
    expected = {"index": _VERSION, "batch": folder.name, "description_bytes": n_bytes}
    n_entries, size = header["entries"], os.fstat(file.fileno()).st_size
    is_right = (
        {name: header[name] for name in expected} == expected
        # Descriptions that a newer version wrote are refused when they are read.
        and header["schema_version"] <= LAKE_FORMAT
        and BY_NAME.keys() >= set(header["tables"])
        and 0 <= n_entries * _PLACE_BYTES <= size
    )
    data = file.read(n_entries * _PLACE_BYTES) if is_right else b""
    if not is_right or hashlib.sha256(data).hexdigest() != header["sha256"]:
        return None
    places = np.frombuffer(data, dtype=_PLACE)
    return BatchIndex(
        batch=folder.name,
        tables=frozenset(header["tables"]),
        keys=places["key"],
        _path=folder / NAME,
        _places=places,
        _offset=len(line) + len(data),
    )
