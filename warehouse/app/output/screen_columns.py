"""The columns of a table on a terminal: what they say, and which of them find a place.

- Columns that answer (see `Layout.answer`) come first and are kept longest.
- `x_rate` (`x_rate_a` and `x_rate_b` of two models) and `accuracy` are shown as percentages, their
  differences in percentage points (pp). An interval `x_low`, `x_high` is shown with its `x` or
  `x_score`, and as `[> low]` where the upper end is not known.
- Floats have four significant digits. An unknown cost is `unknown`; a total that covers only some
  of the calls is a lower bound, `≥`.
- Columns that are empty throughout, and flags (`is_…`) that say what is ordinary of all rows, are
  left out.
- Names that are too long are folded in the middle, prose is cropped at its end; numbers and the
  IDs of our own runs never.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.core.text.figures import UNKNOWN, money, number, percent, points
from warehouse.core.text.formatting import human
from warehouse.core.text.text_width import width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from warehouse.app.output.terminal import Layout
    from warehouse.engine.rows import Batch, Rows

    Formatter = Callable[[object], str]

_PROSE = 80  # characters: longer text with spaces is not a name
LONGEST = 500  # characters: no line of a terminal holds more of a cell
_NARROWEST, _NARROW, _PART = 8, 16, 5  # cells, cells, and how many parts of a line
_COMFORTABLE = 24  # cells: text is folded to no less in favour of columns that do not answer
_HEADER = 10  # cells: the header of a narrow number is not folded to less
_ID = 18  # characters: IDs of our own runs have 15
_ORDINARY = {"is_main", "is_comparable"}  # flags that mark a row where they are false


@dataclass(frozen=True)
class Column:
    """A column as it is shown.

    Attributes:
        name: its name in the query.
        title: its header.
        texts: its cells.
        is_number: whether cells are aligned to the right.
        is_whole: whether cells are never shortened: numbers and intervals.
        is_prose: whether a long cell is cropped at its end and not folded.
        answers: whether it is one of the columns that answer.
        bare: the column without its interval, if it shows one.
    """

    name: str
    title: str
    texts: list[str]
    is_number: bool
    is_whole: bool
    is_prose: bool
    answers: bool
    bare: Column | None = None

    @property
    def longest(self) -> int:
        """Cells of its longest cell."""
        return max(map(width_of, self.texts), default=0)

    @property
    def wanted(self) -> int:
        """Cells that show it in full."""
        return max(self.longest, width_of(self.title))

    @property
    def _longest_id(self) -> int:
        """Characters of the longest ID of our own runs, which readers copy."""
        ids = self.texts if self.name == "run_id" else []
        return max((len(text) for text in ids if len(text) <= _ID), default=0)

    def least(self, floor: int) -> int:
        """Return the cells below which it is not shown, if text may be folded to `floor`."""
        needed = self.longest if self.is_whole else self._longest_id
        return max(needed, min(self.wanted, _HEADER if self.is_whole else floor))


def screen_columns(
    rows: Rows,
    shown: Batch,
    layout: Layout,
    *,
    without: Collection[str] = (),
    keep: Collection[str] = (),
) -> tuple[list[Column], list[str]]:
    """Return the columns in the order in which they are shown, and the names of the empty ones.

    Args:
        rows: what the columns are.
        shown: the rows to show.
        layout: how the reader wants them.
        without: columns to leave out.
        keep: columns to show though they are empty.
    """
    values = {name: [row[at] for row in shown] for at, name in enumerate(rows.columns)}
    numeric = dict(zip(rows.columns, rows.numeric, strict=True))
    # Columns that the reader chose are shown as they are, in that order.
    answer = () if layout.columns else layout.answer
    intervals = {} if layout.columns else dict(_intervals(rows.columns, numeric))
    if not layout.columns:
        intervals.update(layout.intervals)
    ends = {end for pair in intervals.values() for end in pair}
    order = [name for name in answer if name in values]
    order += [name for name in rows.columns if name not in order]
    order = [name for name in order if name not in without]
    empty = [name for name in order if shown and _is_empty(values[name])]
    empty = [name for name in empty if name not in {*layout.columns, *keep}]
    columns = []
    for name in order:
        if name in ends or name in empty:
            continue
        texts = _texts(name, values, layout, numeric=numeric[name])
        column = Column(
            name=name,
            title=human(name),
            texts=texts,
            is_number=numeric[name],
            is_whole=numeric[name] or all(isinstance(v, bool | None) for v in values[name]),
            is_prose=not numeric[name] and any(len(t) > _PROSE and " " in t for t in texts),
            answers=not answer or name in answer,
        )
        if name in intervals:
            write = _formatter(name, values[name], layout, numeric=True)
            column = _with_interval(column, values, write, *intervals[name])
        columns.append(column)
    return columns, [name for name in empty if name not in ends]


def _intervals(
    names: Sequence[str], numeric: Mapping[str, bool]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the columns with an interval, and its ends: `x` or `x_score`, `x_low`, `x_high`."""
    for name in names:
        for stem in (name, name.removesuffix("_score")):
            low, high = f"{stem}_low", f"{stem}_high"
            if numeric[name] and low in numeric and high in numeric:
                yield name, (low, high)
                break


def fit(columns: Sequence[Column], width: int, *, gap: int) -> list[tuple[Column, int]]:
    """Return the columns that find a place in a line, with their widths.

    An interval that finds no place leaves its figure.

    Args:
        columns: in the order in which they are shown.
        width: cells of the line.
        gap: cells between two columns.
    """
    chosen: dict[str, Column] = {}
    # Text of columns that answer is not folded to less.
    narrow = max(_NARROWEST, min(_NARROW, width // _PART))

    def choose(column: Column, floor: int) -> None:
        for form in (column, column.bare):
            cells = sum(each.least(floor) + gap for each in (*chosen.values(), form) if each) - gap
            if form is not None and cells <= width:
                chosen[column.name] = form
                return

    for column in columns:
        if column.answers:
            choose(column, narrow)
    for column in columns:
        if not column.answers:
            choose(column, _COMFORTABLE)
    ordered = [chosen[column.name] for column in columns if column.name in chosen]
    ordered = ordered or list(columns[:1])
    least = [min(column.least(narrow), max(width, 1)) for column in ordered]
    wanted = [column.wanted for column in ordered]
    widths = _levelled(least, wanted, width - gap * (len(ordered) - 1))
    return list(zip(ordered, widths, strict=True))


def _levelled(least: list[int], wanted: list[int], room: int) -> list[int]:
    """Return widths that fill the room: the widest columns give way first."""
    for cap in range(max(wanted, default=0), 0, -1):
        widths = [max(low, min(high, cap)) for low, high in zip(least, wanted, strict=True)]
        if sum(widths) <= room:
            return widths
    return least


def _is_empty(values: Sequence[object]) -> bool:
    return all(value in (None, "", [], {}) for value in values)


def constant_flags(rows: Rows, shown: Batch, layout: Layout) -> dict[str, bool]:
    """Return the flags that say what is ordinary of all rows, and what they say."""
    flags = {}
    for at, name in enumerate(rows.columns):
        is_ordinary = name in _ORDINARY
        if name.startswith("is_") and name not in layout.columns and shown:
            said = {row[at] for row in shown}
            if said <= ({True} if is_ordinary else {False, None}):
                flags[name] = is_ordinary
    return flags


def _texts(
    name: str, values: dict[str, list[object]], layout: Layout, *, numeric: bool
) -> list[str]:
    write = _formatter(name, values[name], layout, numeric=numeric)
    texts = [write(value) for value in values[name]]
    return _lower_bounds(texts, values) if name == "total_cost_usd" else texts


def _with_interval(
    column: Column, values: dict[str, list[object]], write: Formatter, low: str, high: str
) -> Column:
    """Return the column with the ends of its interval in brackets."""
    texts = []
    for text, *ends in zip(column.texts, values[low], values[high], strict=True):
        bounds = ", ".join(write(end).removesuffix(" %").removesuffix(" pp") for end in ends)
        brackets = "" if None in ends else f" [{bounds}]"
        if ends[0] is not None and ends[1] is None:
            brackets = f" [> {write(ends[0])}]"
        texts.append(text.rjust(column.longest) + brackets)
    return replace(
        column, title=f"{column.title} [low, high]", texts=texts, is_number=False, bare=column
    )


def _formatter(name: str, values: Sequence[object], layout: Layout, *, numeric: bool) -> Formatter:
    known = [value for value in values if value is not None]
    is_rate = _is_rate(name) or name in layout.shares
    if numeric and is_rate and all(_is_share(value) for value in known):
        return percent
    if numeric and (name.endswith("_rate_difference") or name in layout.points):
        return points
    if numeric and is_money(name):
        return money
    return number if numeric else _text


def _is_rate(name: str) -> bool:
    return name in {"rate", "accuracy"} or name.endswith(("_rate", "_rate_a", "_rate_b"))


def is_money(name: str) -> bool:
    """Return whether a column holds US dollars."""
    return name.endswith("_usd")


def _is_share(value: object) -> bool:
    return isinstance(value, float) and 0 <= value <= 1


def _text(value: object) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    return human(value, LONGEST)


def _lower_bounds(texts: list[str], values: dict[str, list[object]]) -> list[str]:
    """Mark totals of costs that are not known of every call."""
    known, calls = values.get("n_cost_known"), values.get("n_results")
    if known is None or calls is None:
        return texts
    return [
        _lower_bound(text) if _is_partial(k, n) else text
        for text, k, n in zip(texts, known, calls, strict=True)
    ]


def _lower_bound(text: str) -> str:
    if text.strip() in {"", UNKNOWN}:
        return UNKNOWN
    return f"≥ {text}"


def _is_partial(known: object, calls: object) -> bool:
    return isinstance(known, int) and isinstance(calls, int) and known < calls
