"""Tables of pages: the columns of a view as the terminal shows them, with headings and links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.site.figures import got_no_answer
from exports.site.paths import shared_path
from warehouse.app.output.screen_columns import screen_columns
from warehouse.app.output.terminal import Layout
from warehouse.core.text.formatting import human
from warehouse.core.text.headings import heading
from warehouse.engine.rows import of_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warehouse.app.output.screen_columns import Column
    from warehouse.core.types import Row

    Address = Callable[[Row], str | None]

_ROWS = 1_000
# What an empty cell says, of columns that every table has: the store does not know it.
_UNKNOWN = {
    **dict.fromkeys(("run_date", "last_date", "started_at", "ended_at"), "unknown"),
    **dict.fromkeys(("n_timed", "p50_ms", "p95_ms", "p99_ms", "ttft_p50_ms"), "unknown"),
    **dict.fromkeys(("input_tokens", "output_tokens"), "unknown"),
    **dict.fromkeys(("mean_cost_usd", "cost_per_passed_usd"), "unknown"),
    **dict.fromkeys(("pass_rate", "objective_pass_rate"), "no verdicts"),
}
# The same in a row of calls that all got no answer.
_UNANSWERED = dict.fromkeys(("pass_rate", "objective_pass_rate"), "no answers")
# The same in a row whose remark says why, as of an adaptive run.
_REMARKED = {
    **dict.fromkeys(("pass_rate", "objective_pass_rate"), "no score"),
    "cost_per_passed_usd": "no figure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table, as the macro `data_table` of `parts.html` writes it.

    Attributes:
        columns: header of each column, and whether it holds numbers.
        rows: for each row its cells: text, and path of the page that it links to, or None.
        n_left_out: rows that the page leaves out.
        empty: names of columns that are left out because they are empty.
        common: header and value of columns that are said once, below the table.
    """

    columns: list[tuple[str, bool]]
    rows: list[list[tuple[str, str | None]]]
    n_left_out: int = 0
    empty: list[str]
    common: list[tuple[str, str]]


def table(
    rows: Sequence[Row],
    columns: Sequence[str] = (),
    *,
    headings: Mapping[str, str] | None = None,
    links: Mapping[str, Address] | None = None,
    shares: Sequence[str] = (),
    unknown: Mapping[str, str] | None = None,
    once: Sequence[str] = (),
    limit: int = _ROWS,
    n_rows: int | None = None,
) -> Table:
    """Return a table of rows of a view: rates in per cent, intervals in brackets, short paths.

    Args:
        rows: the rows, in the order in which they are shown.
        columns: columns to show, in order; the ends of an interval go with their figure. By
            default, all.
        headings: headers of columns, with units; others are words made of their names.
        links: for a column, the path of the page that a row's cell links to.
        shares: columns that are shares though their names do not say so: in per cent.
        unknown: for a column, what a cell says that would be empty.
        once: columns that are said once, below the table, where all rows have the same value.
        limit: maximum number of rows.
        n_rows: number of rows that there are, if `rows` are only some of them.
    """
    names = list(columns) or list(rows[0] if rows else ())
    same = {name: rows[0][name] for name in once if len({row[name] for row in rows}) == 1}
    if len(rows) > 1:
        names = [name for name in names if name not in same]
    else:
        same = {}
    shown = [tuple(_shared(name, row[name]) for name in names) for row in rows[:limit]]
    layout = Layout(answer=tuple(names), shares=tuple(shares))
    # Of costs a page says that they are unknown; other columns without a value are left out.
    costs = [name for name in names if name.endswith("_usd")]
    placed, empty = screen_columns(of_values(names, shown), shown, layout, keep=costs)
    empty_cells = _UNKNOWN | dict(unknown or {})
    cells = [
        [
            (
                column.texts[at].strip() or _empty_cell(column.name, row, empty_cells),
                links[column.name](row) if links and column.name in links else None,
            )
            for column in placed
        ]
        for at, row in enumerate(rows[:limit])
    ]
    return Table(
        columns=[(_heading(column, headings or {}), column.is_whole) for column in placed],
        rows=cells,
        n_left_out=(len(rows) if n_rows is None else n_rows) - len(shown),
        empty=empty,
        common=[
            ((headings or {}).get(name) or heading(human(name)), str(value))
            for name, value in same.items()
            if value not in (None, "")
        ],
    )


def _empty_cell(name: str, row: Row, texts: Mapping[str, str]) -> str:
    """Return what a cell says that is empty; a run that has a remark has verdicts, but no rate."""
    if row.get("remark"):
        texts = {**texts, **_REMARKED}
    elif got_no_answer(row):
        texts = {**texts, **_UNANSWERED}
    return texts.get(name, "")


def _heading(column: Column, headings: Mapping[str, str]) -> str:
    title = headings.get(column.name) or heading(human(column.name))
    return title if column.bare is None else f"{title} [95\u00a0% interval]"


def _shared(name: str, value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shared_path(value) if name == "path" and isinstance(value, str) else value
