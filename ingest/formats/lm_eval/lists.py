"""Samples that lm-evaluation-harness 0.4.0 to 0.4.2 wrote as a list instead of lines."""

from __future__ import annotations

from collections import Counter
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

    In a list, samples do not name their filter. A document is in it once for each filter, in their
    order, so that from the second time on a sample gets the number of its filter as a name.

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
    n_before: Counter[int | str] = Counter()
    reject = None
    try:
        for sample in elements.read():
            # In JSON, line feeds stand only between values.
            line = elements.raw().encode().replace(b"\n", b" ")
            lines.append(_with_filter(line, sample, n_before))
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


def _with_filter(line: bytes, sample: object, n_before: Counter[int | str]) -> bytes:
    """Return a sample with a name of its filter, if it has none and is not of the first."""
    if not isinstance(sample, dict) or "filter" in sample:
        return line
    doc_id = sample.get("doc_id")
    if not isinstance(doc_id, int | str):
        return line
    n_before[doc_id] += 1
    nth = n_before[doc_id]
    return line if nth == 1 else line.replace(b"{", b'{"filter": "%d", ' % nth, 1)


def _block(lines: list[bytes], first: int) -> LineBlock:
    return LineBlock(b"".join(line + b"\n" for line in lines), first, 0)
