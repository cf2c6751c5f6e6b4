"""Copies of imported files, half of the bytes of a lake, which few commands read.

An object store has a list of the files of each batch next to the copies. A cache fetches the list
in place of `files.parquet`, and that file when a command asks for its copies.
"""

from __future__ import annotations

import hashlib
import re
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

# Name of a list in the folder of its batch.
LIST = "files.list"
_HEAD = re.compile(rb"([0-9a-f]{64}) ([0-9]{1,18})\n")


class FileList(NamedTuple):
    """The files of a batch without their copies.

    Attributes:
        sha256: hash of the rows.
        whole_bytes: size of the `files.parquet` that it is a list of.
        rows: a Parquet file of them, in which `content` is empty instead of the bytes of a copy.
    """

    sha256: str
    whole_bytes: int
    rows: bytes

    @property
    def head(self) -> bytes:
        """The line that an object begins with, and that a cache keeps."""
        return f"{self.sha256} {self.whole_bytes}\n".encode()


def make_list(path: Path) -> FileList | None:
    """Return the list of a `files.parquet`; None if that has no copies."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        if "content" not in names:
            return None
        rows = file.read([name for name in names if name != "content"])
        # One row group at a time: a batch may have more copies than fit into memory.
        groups = (file.read_row_group(n, ["content"]) for n in range(file.num_row_groups))
        emptied = [
            pc.if_else(each["content"].combine_chunks().is_valid(), b"", None) for each in groups
        ]
        rows = rows.append_column("content", pa.chunked_array(emptied, pa.binary()))
    written = BytesIO()
    pq.write_table(rows, written, compression="zstd", store_schema=False)
    content = written.getvalue()
    return FileList(hashlib.sha256(content).hexdigest(), path.stat().st_size, content)


def read_list(content: bytes) -> FileList | None:
    """Return the list that an object has, or the head of one; None if it is damaged."""
    match = _HEAD.match(content)
    if match is None:
        return None
    found = FileList(match[1].decode(), int(match[2]), content[match.end() :])
    is_sound = not found.rows or hashlib.sha256(found.rows).hexdigest() == found.sha256
    return found if is_sound else None
