"""What standard output is connected to: its width, its pager, and readers that stop early."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import IO, Any, BinaryIO


@dataclass(frozen=True)
class Layout:
    """How the reader wants a table to be shown.

    Attributes:
        answer: columns that answer the question, the most important first: a terminal shows them
            before all others.
        blocks: columns that a terminal shows as the heading of the rows that follow each other and
            share their values.
        columns: the columns to write, in order; empty for all of them.
        is_wide: whether a terminal shows every column in full, as a file has it.
        is_paged: whether a table that is larger than the screen goes through a pager.
        options: what the note about hidden columns recommends.
        shares: columns whose name does not say that they are shares, shown as percentages.
        points: columns that are differences of shares, shown in percentage points.
        intervals: columns whose name does not say it, by the column that they are the interval of.
        left_out: which tasks the figures leave out, a last column of all rows; empty for none.
    """

    answer: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    is_wide: bool = False
    is_paged: bool = False
    options: str = "--wide shows all, --columns A,B chooses"
    shares: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    intervals: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    left_out: str = ""


@dataclass(frozen=True)
class Screen:
    """Where the output goes.

    Attributes:
        width: cells in a line of the terminal; None if the output is a pipe or a file.
        note: takes what the reader should know besides the rows (for standard error).
        layout: how tables are shown.
    """

    width: int | None
    note: Callable[[str], None]
    layout: Layout = field(default_factory=Layout)


def screen(out: BinaryIO, note: Callable[[str], None], layout: Layout | None = None) -> Screen:
    """Return what is known of the place that `out` writes to."""
    width = shutil.get_terminal_size().columns if out.isatty() else None
    return Screen(width, note, layout or Layout())


def write_paged(chunks: Iterable[bytes], out: BinaryIO) -> None:
    """Write text, through a pager if a person reads it and it is larger than the screen.

    The pager is that of `PAGER`, else `less`. There is none in a pipe, if `CI` or `NO_PAGER` is
    set, or if `PAGER` is empty or `cat`.
    """
    chunks = iter(chunks)
    if not _has_pager(out):
        write_all(chunks, out)
        return
    width, height = shutil.get_terminal_size()
    held: list[bytes] = []
    n_lines, is_large = 0, False
    for chunk in chunks:
        held.append(chunk)
        lines = chunk.decode().splitlines()
        n_lines += len(lines)
        if is_large := n_lines >= height or any(len(line) > width for line in lines):
            break
    if not is_large:
        write_all(held, out)
        return
    import click

    # Quit at once if all fits, cut long lines at the edge, leave the text on the screen.
    os.environ.setdefault("LESS", "-FRSX")
    click.echo_via_pager(chunk.decode() for chunk in chain(held, chunks))


def _has_pager(out: BinaryIO) -> bool:
    is_standard = sys.stdout is not None and out is getattr(sys.stdout, "buffer", None)
    is_read = is_standard and out.isatty() and sys.stdin is not None and sys.stdin.isatty()
    is_unwanted = "CI" in os.environ or "NO_PAGER" in os.environ
    return is_read and not is_unwanted and os.environ.get("PAGER", "less") not in {"", "cat"}


def write_all(chunks: Iterable[bytes], out: BinaryIO) -> None:
    """Write text as it comes."""
    for chunk in chunks:
        out.write(chunk)
        out.flush()  # so that a reader of the pipe sees rows as they are computed


@contextmanager
def quiet_pipe(out: BinaryIO) -> Iterator[None]:
    """End the block quietly when the reader closes the pipe (`| head`)."""
    try:
        yield
    except BrokenPipeError:
        silence(out)


def silence(out: IO[Any]) -> None:
    """Discard what is still in the buffers, or Python would complain when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)
