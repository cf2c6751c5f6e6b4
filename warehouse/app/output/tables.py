"""Tables for readers: complete in a pipe or file, the answer first on a terminal."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

from warehouse.app.output.screen_columns import (
    LONGEST,
    Column,
    constant_flags,
    fit,
    is_money,
    screen_columns,
)
from warehouse.core.text.figures import counted
from warehouse.core.text.formatting import human
from warehouse.core.text.text_width import crop, fold, fold_apart, padded, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from warehouse.app.output.terminal import Layout, Screen
    from warehouse.core.types import Row
    from warehouse.engine.rows import Batch, Rows

_FIGURE = ("metric", "scorer", "filter")  # columns that say what the figures of a row are
REMARK = "remark"  # a column that a terminal shows in notes, below the table
_MOST_REMARKS = 6
# What the macro `pass_rate_remark` says a pass rate may be wrong by.
_UNANSWERED = re.compile(r"no answer to (\d{1,18}) of (\d{1,18}) call")
_BOUNDS = re.compile(
    r"(\d{1,3}\.\d) % if the missing verdicts are failures, (\d{1,3}\.\d) % if passes"
)
SHOWN = 1_000  # rows: more are not read on a terminal
GAP = "  "
NAMED = 8  # columns that a note names
PADDED = 80  # cells: in a file, one long answer does not fill a thousand lines with spaces


def table(rows: Rows, screen: Screen) -> Iterator[str]:
    """Yield the lines of a table.

    A pipe, a file and `--wide` get everything, as the rows arrive. A terminal gets lines of its
    width: see `screen_columns`. Empty tables are followed by the note "0 rows".
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
    line = _aligned(widths, rows.numeric)
    yield line(names)
    yield line(["-" * width for width in widths])
    for batch in chain([first], batches):
        yield "".join(line(map(human, row)) for row in batch)
    if not first:
        screen.note("0 rows")


def _on_screen(rows: Rows, screen: Screen, width: int) -> Iterator[str]:
    shown, has_more = _first_rows(rows)
    flags = constant_flags(rows, shown, screen.layout)
    layout, blocks = _blocks(rows, shown, screen.layout)
    hidden = {*layout.blocks, *(() if layout.columns else (REMARK,))}
    left_out: dict[str, bool] = {}
    empty: Counter[str] = Counter()
    for place, (heading, block) in enumerate(blocks):
        said = _said_by_all(rows, block) if heading else {}
        columns, names = screen_columns(
            rows, block, _telling_apart(rows, block, layout), without={*flags, *hidden, *said}
        )
        placed = fit(columns, width, gap=len(GAP))
        if place:
            yield "\n"
        if heading:
            text = " · ".join([heading, *map(human, filter(None, said.values()))])
            yield f"{fold(text, width)}\n"
        yield from _lines(placed, len(block))
        left_out.update(_left_out(columns, [column for column, _ in placed]))
        empty.update(names)
    if not shown:
        screen.note("0 rows")
    if has_more:
        screen.note(f"only the first {SHOWN:,} rows are shown; --format csv gives all of them")
    for text in _remarks(rows, shown, layout, n_blocks=len(blocks)):
        screen.note(text)
    if left_out:
        answers = [name for name, is_answer in left_out.items() if is_answer]
        text = _shortened(answers or list(left_out), len(left_out))
        screen.note(f"not shown: {text} ({layout.options})")
    for what, names in _said_of_all([n for n in empty if empty[n] == len(blocks)], flags).items():
        if names:
            screen.note(f"{what}: {_shortened(names, len(names))}")


def _remarks(rows: Rows, shown: Batch, layout: Layout, *, n_blocks: int) -> Iterator[str]:
    """Yield what must be known to read a row, each with the block and model of the row."""
    if layout.columns:
        return
    blocks = layout.blocks if n_blocks > 1 else ()
    named = [name for name in (*blocks, "model", "settings") if name in rows.columns]
    found = [dict(zip(rows.columns, values, strict=True)) for values in shown]
    found = [row for row in found if row.get(REMARK)]
    labels = [_label(row, named) for row in found]
    if "run_id" in layout.answer or len(set(labels)) < len(labels):
        # What tells rows of a model apart.
        named += [name for name in ("provider", "run_id") if name in rows.columns]
        labels = [_label(row, named) for row in found]
    remarks = [str(row[REMARK]) for row in found]
    kept = heaviest(remarks, _MOST_REMARKS)
    yield from (f"{labels[at]}: {remarks[at]}" for at in kept)
    if len(remarks) > _MOST_REMARKS:
        more = counted(len(remarks) - _MOST_REMARKS, "more row has", "more rows have")
        yield f"{more} a remark; --columns model,{REMARK}"


def _label(row: Row, named: Iterable[str]) -> str:
    return ", ".join(filter(None, (human(row[name]) for name in named)))


def heaviest(remarks: Sequence[str], most: int) -> list[int]:
    """Return the positions of the remarks that move figures most, ascending; of ties, the first.

    Args:
        remarks: remarks on figures.
        most: how many are kept.
    """
    places = sorted(range(len(remarks)), key=lambda at: _weight(remarks[at]), reverse=True)
    return sorted(places[:most])


def _weight(remark: str) -> float:
    """Return by how much a pass rate may be wrong, from 0; 0 where a remark does not say it."""
    weight = 0.0
    if found := _UNANSWERED.search(remark):
        weight += int(found[1]) / max(int(found[2]), 1)
    if found := _BOUNDS.search(remark):
        weight += (float(found[2]) - float(found[1])) / 100
    return weight


def _said_of_all(empty: Sequence[str], flags: Mapping[str, bool]) -> dict[str, list[str]]:
    """Return the columns that say the same of all rows, by what they say."""
    nothing = [name for name in empty if not is_money(name)]
    no = [name for name, is_so in flags.items() if not is_so]
    return {
        "true in all rows": [name for name, is_so in flags.items() if is_so],
        "unknown in all rows": [name for name in empty if is_money(name)],
        "empty or false" if no else "empty": no + nothing,
    }


def _blocks(rows: Rows, shown: Batch, layout: Layout) -> tuple[Layout, list[tuple[str, Batch]]]:
    """Return the rows that stand together, each time with their heading, which may be empty.

    Where every block would be a single row, there is one table, and what would be in the headings
    comes first.
    """
    places = [] if layout.columns else [rows.columns.index(name) for name in layout.blocks]
    parts = groupby(shown, key=lambda row: [row[place] for place in places])
    blocks = [(values, list(block)) for values, block in parts]
    if places and (len(blocks) < len(shown) or len(shown) == 1):
        headings = (" · ".join(human(value) for value in values) for values, _ in blocks)
        return layout, [(text, block) for text, (_, block) in zip(headings, blocks, strict=True)]
    differing = [rows.columns[place] for place in places if len({row[place] for row in shown}) > 1]
    plain = replace(layout, answer=(*differing, *layout.answer), blocks=())
    return plain, [("", shown)]


def _said_by_all(rows: Rows, block: Batch) -> dict[str, object]:
    """Return what the figures of a block are, if all its rows say the same."""
    values = {
        name: {row[rows.columns.index(name)] for row in block}
        for name in _FIGURE
        if name in rows.columns
    }
    is_same = all(len(each) == 1 for each in values.values())
    return {name: value for name, (value,) in values.items()} if is_same else {}


def _telling_apart(rows: Rows, block: Batch, layout: Layout) -> Layout:
    """Return the layout with what tells figures of the same metric apart behind their metric."""
    if layout.columns or not layout.answer or _FIGURE[0] not in rows.columns:
        return layout
    metric, *others = (rows.columns.index(name) for name in _FIGURE if name in rows.columns)
    n_metrics = len({row[metric] for row in block})
    needed = [at for at in others if len({(row[metric], row[at]) for row in block}) > n_metrics]
    first = dict.fromkeys((_FIGURE[0], *(rows.columns[at] for at in needed), *layout.answer))
    return replace(layout, answer=tuple(first)) if needed else layout


def _lines(placed: Sequence[tuple[Column, int]], n_rows: int) -> Iterator[str]:
    """Yield a header, a rule and the rows."""
    line = _aligned([width for _, width in placed], [column.is_number for column, _ in placed])
    cells = [_cells(column, width) for column, width in placed]
    yield line(_title(column, width) for column, width in placed)
    yield line("─" * width for _, width in placed)
    for at in range(n_rows):
        yield line(texts[at] for texts in cells)


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


def _cells(column: Column, width: int) -> list[str]:
    if column.is_prose:
        return [crop(text, width) for text in column.texts]
    return fold_apart(column.texts, width)


def _aligned(widths: Sequence[int], numeric: Sequence[bool]) -> Callable[[Iterable[str]], str]:
    """Return a function that makes a line of the texts of some columns."""
    columns = list(zip(widths, numeric, strict=True))
    plain = GAP.join(f"%{width if number else -width}s" for width, number in columns)

    def line(texts: Iterable[str]) -> str:
        cells = tuple(texts)
        text = plain % cells
        if not text.isascii():  # a character may take two cells, or none
            text = GAP.join(
                padded(cell, width, to_the_right=number)
                for cell, (width, number) in zip(cells, columns, strict=True)
            )
        return text.rstrip() + "\n"

    return line
