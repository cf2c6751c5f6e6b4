"""Tables for readers: complete in a pipe or file, the answer first on a terminal."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from warehouse.output.formatting import human
from warehouse.output.screen_columns import LONGEST, Column, fit, is_flag, screen_columns
from warehouse.output.text_width import crop, fold, padded, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warehouse.output.rows import Batch, Rows
    from warehouse.output.terminal import Screen

SHOWN = 1_000  # rows: more are not read on a terminal
GAP = "  "
NAMED = 8  # columns that a note names
PADDED = 80  # cells: in a file, one long answer does not fill a thousand lines with spaces


def table(rows: Rows, screen: Screen) -> Iterator[str]:
    """Yield the lines of a table.

    A pipe, a file and `--wide` get everything, as the rows arrive. A terminal gets lines of its
    width: see `warehouse.output.screen_columns`. Empty tables are followed by the note "0 rows".
    """
    if screen.width is None or screen.layout.is_wide:
        yield from _complete(rows, screen)
    else:
        yield from _on_screen(rows, screen, screen.width)


def _complete(rows: Rows, screen: Screen) -> Iterator[str]:
    """Yield every row and column; widths are those of the first rows."""
    batches = rows.batches()
    first = next(batches, [])
    names = [human(name) for name in rows.columns]
    widths = [
        min(max([width_of(name), *(width_of(human(row[at])) for row in first)]), PADDED)
        for at, name in enumerate(names)
    ]
    yield _line(names, widths, rows.numeric)
    yield _line(["-" * width for width in widths], widths, rows.numeric)
    for batch in chain([first], batches):
        yield "".join(_line([human(value) for value in row], widths, rows.numeric) for row in batch)
    if not first:
        screen.note("0 rows")


def _on_screen(rows: Rows, screen: Screen, width: int) -> Iterator[str]:
    shown, has_more = _first_rows(rows)
    columns, empty = screen_columns(rows, shown, screen.layout)
    placed = fit(columns, width, gap=len(GAP))
    widths = [cells for _, cells in placed]
    numeric = [column.is_number for column, _ in placed]
    yield _line([_title(column, cells) for column, cells in placed], widths, numeric)
    yield _line(["─" * cells for cells in widths], widths, numeric)
    for at in range(len(shown)):
        yield _line([_cell(column, at, cells) for column, cells in placed], widths, numeric)
    if not shown:
        screen.note("0 rows")
    if has_more:
        screen.note(f"only the first {SHOWN:,} rows are shown; --format csv gives all of them")
    if left_out := list(_left_out(columns, [column for column, _ in placed])):
        answers = [name for name, is_answer in left_out if is_answer]
        names = _shortened(answers or [name for name, _ in left_out], len(left_out))
        screen.note(f"not shown: {names} ({screen.layout.options})")
    if empty:
        what = "empty or false" if any(map(is_flag, empty)) else "empty"
        screen.note(f"{what}: {_shortened(empty, len(empty))}")


def _left_out(columns: Sequence[Column], placed: Sequence[Column]) -> Iterator[tuple[str, bool]]:
    """Yield the names of what is not shown, each with whether it answers."""
    names = {column.name for column in placed}
    for column in columns:
        if column.name not in names:
            yield column.name, column.answers
        elif column.bare in placed:
            yield from ((f"{column.name}_{end}", column.answers) for end in ("low", "high"))


def _shortened(names: Sequence[str], count: int) -> str:
    shown = [human(name) for name in names[:NAMED]]
    rest = f" and {count - len(shown)} more" if count > len(shown) else ""
    return ", ".join(shown) + rest


def _first_rows(rows: Rows) -> tuple[Batch, bool]:
    shown: Batch = []
    for batch in rows.batches():
        room = SHOWN - len(shown)
        # Of long answers only what a line can show: a thousand of them may be 100 MB.
        shown += [tuple(map(_shortened_text, row)) for row in batch[:room]]
        if room < len(batch):
            return shown, True
    return shown, False


def _title(column: Column, width: int) -> str:
    """Return a header; where it is too long, that of an interval is the name of its figure."""
    named = column.bare if column.bare is not None and len(column.title) > width else column
    return fold(named.title, width)


def _shortened_text(value: object) -> object:
    return value[: LONGEST + 1] if isinstance(value, str) else value


def _cell(column: Column, at: int, width: int) -> str:
    text = column.texts[at]
    return crop(text, width) if column.is_prose else fold(text, width)


def _line(texts: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    cells = (
        padded(text, width, to_the_right=number)
        for text, width, number in zip(texts, widths, numeric, strict=True)
    )
    return GAP.join(cells).rstrip() + "\n"
