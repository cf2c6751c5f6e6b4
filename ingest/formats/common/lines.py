"""Blocks of whole lines of a file of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.reading import Reject
from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import open_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_BLOCK_BYTES = 8 * 2**20
_LONGEST_LINE_BYTES = 256 * 2**20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Consecutive lines of a file.

    Attributes:
        data: the lines, each with its line feed.
        first_line: number of the first line, from 1.
        offset: position of the first line in the file, in bytes.
        reject: the reject for a line that is too long; `data` is then empty.
    """

    data: bytes
    first_line: int
    offset: int
    reject: Reject | None = None


def line_blocks(path: Path, n_bytes: int | None = None) -> Iterator[LineBlock]:
    """Yield the lines of a file, some megabytes at a time, without its byte order mark.

    Args:
        path: the file.
        n_bytes: how many bytes at a time; a line may be longer.

    Raises:
        OSError: the file cannot be read.
    """
    line, offset, n_bytes_read = 1, 0, n_bytes or _BLOCK_BYTES
    with open_regular(path) as file:
        rest = file.read(len(_BOM))
        if rest == _BOM:
            rest, offset = b"", len(_BOM)
        # Read into new memory: a buffer made before would be filled with zeros first, which takes
        # most of the time of a small file.
        while read := file.read(n_bytes_read):
            data = rest + read
            cut = data.rfind(b"\n", len(rest)) + 1
            del read
            # A private key of several lines stays in one block, so that all of it is masked.
            cut = open_key(data, cut) or cut
            if cut:
                lines, rest = (data, b"") if cut == len(data) else (data[:cut], data[cut:])
                del data
                yield LineBlock(lines, line, offset)
                line += lines.count(b"\n")
                offset += cut
                continue
            rest = data
            if len(rest) > _LONGEST_LINE_BYTES:
                reason = f"a line of more than {_LONGEST_LINE_BYTES:,} bytes"
                yield LineBlock(b"", line, offset, Reject(reason, line, offset))
                skipped = len(rest) + _skip_line(file)
                line, offset, rest = line + 1, offset + skipped, b""
    if rest:
        yield LineBlock(rest + b"\n", line, offset)


def _skip_line(file: BinaryIO) -> int:
    n_skipped = 0
    while part := file.readline(_BLOCK_BYTES):
        n_skipped += len(part)
        if part.endswith(b"\n"):
            break
    return n_skipped
