"""The first rows of a query, as a notebook or the Python prompt shows them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from warehouse.app.output.tables import table
from warehouse.app.output.terminal import Layout, Screen
from warehouse.core.text.formatting import human, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.engine.rows import Batch, Rows

SHOWN = 20  # rows
_LONGEST = 200  # characters of a cell
_TEXT_CELL = '<td dir="auto">'
_ALL = "`.pl()` has all"


def text_preview(rows: Rows) -> str:
    """Return the first rows as a table for the width of the terminal, and what it leaves out."""
    shown, has_more = _first(rows)
    notes: list[str] = []
    width = shutil.get_terminal_size(fallback=(100, 24)).columns
    layout = Layout(options=f"{_ALL} columns")
    lines = "".join(table(_of_batch(rows, shown), Screen(width, notes.append, layout)))
    notes += [f"first {SHOWN} rows; {_ALL}"] if has_more else []
    return lines + "\n".join(notes)


def html_preview(rows: Rows) -> str:
    """Return the first rows as an HTML table; text of the data is escaped."""
    shown, has_more = _first(rows)
    head = "".join(f"<th>{escape(visible(name))}</th>" for name in rows.columns)
    body = "".join(f"<tr>{_cells(rows, row)}</tr>\n" for row in shown)
    count = f"{len(shown)} row{'' if len(shown) == 1 else 's'}"
    note = f"first {count}; <code>.pl()</code> has all" if has_more else count
    return (
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n<p>{note}</p>"
    )


def _cells(rows: Rows, row: tuple[object, ...]) -> str:
    # Without `dir`, Arabic or Hebrew would reorder the cells next to it.
    return "".join(
        f"{'<td>' if number else _TEXT_CELL}{escape(human(value, _LONGEST))}</td>"
        for value, number in zip(row, rows.numeric, strict=True)
    )


def _first(rows: Rows) -> tuple[Batch, bool]:
    shown: Batch = []
    for batch in rows.batches():
        shown += batch[: SHOWN + 1 - len(shown)]
        if len(shown) > SHOWN:
            break
    return shown[:SHOWN], len(shown) > SHOWN


def _of_batch(rows: Rows, batch: Batch) -> Rows:
    def batches() -> Iterator[Batch]:
        yield batch

    return replace(rows, batches=batches)
