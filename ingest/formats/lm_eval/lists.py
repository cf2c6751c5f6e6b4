"""Samples that lm-evaluation-harness 0.4.0 wrote as one indented list instead of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.elements import BrokenElementsError, Elements
from ingest.formats.common.lines import LineBlock, line_blocks
from ingest.formats.lm_eval.layout import is_list
from ingest.reading import Candidate, Reject

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def sample_blocks(path: Path, n_bytes: int) -> Iterator[LineBlock]:
    """Yield the samples of a file, each on a line of its own.

    Args:
        path: lines, or a list; the line of a sample in a list is its place in it, from 1.
        n_bytes: how many bytes at a time; a sample may be longer.

    Raises:
        OSError: the file cannot be read.
    """
    if not is_list(Candidate(path)):
        yield from line_blocks(path, n_bytes)
        return
    first, lines, n_read = 1, list[bytes](), 0
    elements = Elements(path)
    reject = None
    try:
        for _ in elements.read():
            # In JSON, line feeds stand only between values.
            lines.append(elements.raw().encode().replace(b"\n", b" "))
            n_read += len(lines[-1])
            if n_read >= n_bytes:
                yield _block(lines, first)
                first, lines, n_read = first + len(lines), [], 0
    except BrokenElementsError as error:
        reject = Reject(str(error), first + len(lines))
    if lines:
        yield _block(lines, first)
    if reject is not None:
        yield LineBlock(b"", first + len(lines), 0, reject)


def _block(lines: list[bytes], first: int) -> LineBlock:
    return LineBlock(b"".join(line + b"\n" for line in lines), first, 0)
