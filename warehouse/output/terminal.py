"""Tables for people, and what standard output is connected to."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from warehouse.output.formatting import human

if TYPE_CHECKING:
    from warehouse.output.rows import Batch, Rows

SHOWN = 1_000  # rows: nobody reads more of them in a terminal
GAP = "  "
NARROW = 8  # cells: a column of text is not cropped to less
PADDED = 80  # cells: in a file, one long answer does not fill a thousand lines with spaces


@dataclass(frozen=True)
class Screen:
    """Where the output goes.

    Attributes:
        width: the cells in a line of the terminal; None if the output is a pipe or a file.
        note: takes what the reader should know besides the rows (for standard error).
    """

    width: int | None
    note: Callable[[str], None]


def screen(out: BinaryIO, note: Callable[[str], None]) -> Screen:
    """Returns what is known of the place that `out` writes to."""
    return Screen(shutil.get_terminal_size().columns if out.isatty() else None, note)


@contextmanager
def quiet_pipe(out: BinaryIO) -> Iterator[None]:
    """Ends the block in peace when the reader has had enough (`| head`)."""
    try:
        yield
    except BrokenPipeError:
        silence(out)


def silence(out: IO[Any]) -> None:
    """Sends nowhere what is still in the buffers, or Python would complain at its own exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)


def table(rows: "Rows", screen: Screen) -> Iterator[str]:
    """Gives a table, its widths chosen by the first rows.

    A terminal gets lines of its own width: long text is cropped (`…`), a number never; columns
    that find no place and rows after the first 1,000 are left out and the note says so. A pipe or
    a file gets everything in full.
    """
    batches = rows.batches()
    first = next(batches, [])
    widths = _fit(*_widths(rows, first, screen), screen.width)
    lines = _Lines(widths, rows.numeric, screen.width)
    yield lines.head(rows.columns)
    shown = 0
    for batch in chain([first], batches):
        room = len(batch) if screen.width is None else SHOWN - shown
        yield "".join(lines.row(row) for row in batch[:room])
        shown += len(batch[:room])
        if room < len(batch):
            screen.note(f"only the first {SHOWN:,} rows are shown; --format csv gives all of them")
            break
    if left_out := rows.columns[len(widths) :]:
        names = ", ".join(map(human, left_out))
        screen.note(f"too wide for this terminal, not shown: {names}; --format csv gives all")


@dataclass(frozen=True)
class _Lines:
    """Sets lines of cells; `width` is the terminal's."""

    widths: Sequence[int]
    numeric: Sequence[bool]
    width: int | None

    def head(self, columns: Sequence[str]) -> str:
        rule = "-" if self.width is None else "─"
        names = [self._cell(at, human(columns[at]), crop=True) for at in range(len(self.widths))]
        return self._line(names) + self._line([rule * width for width in self.widths])

    def row(self, row: Sequence[object]) -> str:
        cells = []
        for at in range(len(self.widths)):
            number = self.numeric[at]
            text = human(row[at], None if number else self.width)
            cells.append(self._cell(at, text, crop=not number))
        return self._line(cells)

    def _cell(self, at: int, text: str, *, crop: bool) -> str:
        from rich.cells import cell_len, set_cell_size  # 13 ms for tables only

        width, length = self.widths[at], cell_len(text)
        if length > width and crop and self.width is not None:
            return set_cell_size(text, width - 1) + "…"
        fill = " " * (width - length)
        return fill + text if self.numeric[at] else text + fill

    def _line(self, cells: list[str]) -> str:
        return GAP.join(cells).rstrip() + "\n"


def _widths(rows: "Rows", batch: "Batch", screen: Screen) -> tuple[list[int], list[int]]:
    """Returns the width that each column would like, and the width that it cannot do without."""
    from rich.cells import cell_len

    wanted, needed = [], []
    for at, name in enumerate(rows.columns):
        limit = None if rows.numeric[at] else screen.width
        longest = max((cell_len(human(row[at], limit)) for row in batch), default=0)
        wanted.append(max(longest, cell_len(human(name))))
        needed.append(longest if rows.numeric[at] else 0)
    return wanted, needed


def _fit(wanted: list[int], needed: list[int], width: int | None) -> list[int]:
    if width is None:
        return [min(column, PADDED) for column in wanted]
    for count in range(len(wanted), 1, -1):
        for cap in range(max(NARROW, *wanted[:count]), NARROW - 1, -1):
            widths = [max(n, min(w, cap)) for w, n in zip(wanted[:count], needed, strict=False)]
            if sum(widths) + len(GAP) * (count - 1) <= width:
                return widths
    return [max(needed[0], min(wanted[0], width))] if wanted else []
