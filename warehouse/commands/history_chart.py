"""The chart of `evalstore history`: a line for each run, with its figure and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.output.formatting import human, visible
from warehouse.output.text_width import fold, padded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warehouse.types import Row

NARROWEST = 60  # columns
_WIDEST = 120
_MOST_CELLS = 40
_SIGNIFICANT = 0.05
_VERDICT = "passed"


@dataclass(frozen=True, slots=True)
class _Marks:
    end_low: str
    line: str
    end_high: str
    point: str


# For terminals that cannot show others.
_ASCII = _Marks("[", "-", "]", "o")
_LINES = _Marks("├", "─", "┤", "●")


@dataclass(frozen=True, slots=True)
class _Scale:
    """What the cells of a chart stand for: the ends, and the number of cells."""

    low: float
    high: float
    n_cells: int

    def cell(self, value: float) -> int:
        """Return the cell of a value; one beyond an end is at the end."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return min(max(int(share * self.n_cells), 0), self.n_cells - 1)


def chart(rows: Sequence[Row], width: int, *, encoding: str) -> list[str]:
    """Return the lines of a chart of one series of `model_history`, in the order of its rows.

    Args:
        rows: rows of one suite, task set, metric, provider, model and settings.
        width: columns of the terminal.
        encoding: that of the terminal.
    """
    is_rate = rows[0]["metric"] == _VERDICT and rows[0]["scorer"] is None
    width = min(max(width, NARROWEST), _WIDEST)
    values = [_number(_of(row, "value"), is_rate=is_rate) for row in rows]
    changes = [_change(row, is_rate=is_rate) for row in rows]
    dates = [_date(row) for row in rows]
    value_width, change_width = max(map(len, values)), max(map(len, changes))
    room = width - max(map(len, dates)) - value_width - change_width - 8
    n_cells = min(_MOST_CELLS, room // 2)
    scale = _scale(rows, n_cells, is_rate=is_rate)
    marks = _LINES if _can_show(encoding, _LINES) else _ASCII
    lines = []
    for row, date, value, change in zip(rows, dates, values, changes, strict=True):
        cells = (
            padded(date, max(map(len, dates)), to_the_right=False),
            padded(value, value_width, to_the_right=True),
            _bar(row, scale, marks),
            padded(change, change_width, to_the_right=False),
            _run(row, room - n_cells, encoding),
        )
        lines.append("  ".join(cells).rstrip())
    ends = _ends(scale, is_rate=is_rate)
    lines.append(" " * (len(dates[0]) + value_width + 4) + ends)
    return [*lines, *_legend(changes)]


def title(row: Row) -> str:
    """Return what a series is of, in one line."""
    names = (row["suite"], row["task_set"] if row["task_set"] != row["suite"] else None)
    metric = " ".join(filter(None, (row["metric"], row["scorer"], row["filter"])))
    parts = [" ".join(filter(None, names)), metric, row["model"], row["settings"], row["provider"]]
    return visible(" · ".join(part for part in parts if part))


def drift_sentence(row: Row) -> str:
    """Return what `drift` has about a series with a break, as a sentence."""
    is_rate = row["metric"] == _VERDICT
    low, high = (f"{100 * row[name]:+.1f}" for name in ("change_low", "change_high"))
    unit = "points" if is_rate else "%"
    return (
        f"Drift: {row['metric']} changed by {100 * row['change']:+.1f} {unit} with run "
        f"{row['after_run_id']} of {row['changed_on']} (95 % interval {low} to {high}, "
        f"p = {row['p_holm']:.2g}, {row['n_tasks']} tasks)."
    )


def _of(row: Row, name: str) -> float | None:
    """Return a figure of a row, whether it is a pass rate or a score."""
    ends = {"value": ("pass_rate", "score"), "low": ("pass_rate_low", "score_low")}
    of_rate, of_score = {**ends, "high": ("pass_rate_high", "score_high")}[name]
    value: float | None = row[of_rate] if row[of_rate] is not None else row[of_score]
    return value


def _number(value: float | None, *, is_rate: bool) -> str:
    if value is None:
        return "unknown"
    return f"{100 * value:.1f} %" if is_rate else human(value)


def _change(row: Row, *, is_rate: bool) -> str:
    change = row["change"]
    if change is None:
        return ""
    text = f"{100 * change:+.1f}" if is_rate else f"{change:+.3g}"
    return text + ("*" if (row["p_holm"] or 1) < _SIGNIFICANT else "")


def _date(row: Row) -> str:
    return "undated" if row["run_date"] is None else str(row["run_date"])


def _run(row: Row, room: int, encoding: str) -> str:
    name = fold(visible(row["run_id"]), room)
    return name.encode(encoding, "replace").decode(encoding)


def _scale(rows: Sequence[Row], n_cells: int, *, is_rate: bool) -> _Scale:
    if is_rate:
        return _Scale(0, 1, n_cells)
    figures = [_of(row, name) for row in rows for name in ("value", "low", "high")]
    known = [value for value in figures if value is not None]
    return _Scale(min(known, default=0), max(known, default=0), n_cells)


def _bar(row: Row, scale: _Scale, marks: _Marks) -> str:
    value, low, high = (_of(row, name) for name in ("value", "low", "high"))
    cells = [" "] * scale.n_cells
    if low is not None and high is not None:
        first, last = scale.cell(low), scale.cell(high)
        cells[first : last + 1] = marks.line * (last + 1 - first)
        cells[first], cells[last] = marks.end_low, marks.end_high
    if value is not None:
        cells[scale.cell(value)] = marks.point
    return "".join(cells)


def _ends(scale: _Scale, *, is_rate: bool) -> str:
    low, high = (_number(end, is_rate=is_rate) for end in (scale.low, scale.high))
    if is_rate:
        low, high = "0 %", "100 %"
    return low + " " * max(1, scale.n_cells - len(low) - len(high)) + high


def _legend(changes: Sequence[str]) -> Iterator[str]:
    if any(changes):
        yield "The last figure is the change on the tasks that the run before asked too."
    if any(change.endswith("*") for change in changes):
        yield "* more than chance explains: p < 0.05, adjusted for all runs shown (Holm)"


def _can_show(encoding: str, marks: _Marks) -> bool:
    try:
        f"{marks.end_low}{marks.line}{marks.end_high}{marks.point}…·".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
