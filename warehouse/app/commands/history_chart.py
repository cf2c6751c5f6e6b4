"""The chart of `evalstore history`: a line for each run, with its figure and its interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.core.text.figures import counted, points
from warehouse.core.text.formatting import human, visible
from warehouse.core.text.text_width import fold, padded, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.core.types import Row

    # A piece of a sentence: its text, and the column that it names, which a page can link.
    Piece = tuple[str, str | None]

NARROWEST = 60  # columns
_WIDEST = 120
_MOST_CELLS = 40
_MOST_REMARKS = 3
_SIGNIFICANT = 0.05
_VERDICT = "passed"
_DRIFTING = {
    _VERDICT: "the pass rate",
    "answer_characters": "the length of answers",
    "latency_ms": "the latency",
    "cost_usd": "the cost",
}


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
    """Return a table of one series of `model_history`, in the order of its rows, with a chart.

    It has a header and a rule as the tables of other commands; the header of the chart is its
    scale. Changes are left out where no row has one.

    Args:
        rows: rows of one suite, task set, metric, provider, model and settings.
        width: columns of the terminal.
        encoding: that of the terminal.
    """
    is_rate = _is_rate(rows[0])
    marks = _LINES if _can_show(encoding, _LINES) else _ASCII
    values = [_value(row, is_rate=is_rate) for row in rows]
    changes = _changes(rows)
    before = [
        _column("run_date", [_date(row) for row in rows], to_the_right=False),
        _column("pass_rate" if is_rate else "score", values, to_the_right=True),
    ]
    after = [_column("change", changes, to_the_right=True)] if any(changes) else []
    gaps = 2 * (len(before) + len(after) + 1)
    taken = sum(width_of(column[0]) for column in (*before, *after))
    room = min(max(width, NARROWEST), _WIDEST) - taken - gaps
    scale = _scale(rows, min(_MOST_CELLS, room // 2), is_rate=is_rate)
    names = [_run(row, room - scale.n_cells, encoding) for row in rows]
    columns = [
        *before,
        [_ends(scale, is_rate=is_rate), *(_bar(row, scale, marks) for row in rows)],
        *after,
        _column("run_id", names, to_the_right=False),
    ]
    header, *lines = ("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))
    return [header, "  ".join(marks.line * width_of(column[0]) for column in columns), *lines]


def legend(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what the reader of a chart should know, a paragraph each."""
    from warehouse.app.output.tables import heaviest  # pages have no legend

    changes = _changes(rows)
    if any(changes):
        yield "change: on the tasks that the run before asked too"
    if any(change.endswith("*") for change in changes):
        by = " by McNemar's test" if any(row["test"] == "mcnemar" for row in rows) else ""
        yield f"* more than chance explains: p < 0.05{by}, adjusted for all runs shown (Holm)"
    repeats = [visible(row["run_id"]) for row in rows if row["repeats_failures"]]
    if repeats:
        yield f"compared with no other run, because they only repeat failures: {', '.join(repeats)}"
    remarks = [row for row in rows if row["remark"] is not None]
    # Of equals the latest.
    last = len(remarks) - 1
    kept = heaviest([row["remark"] for row in reversed(remarks)], _MOST_REMARKS)
    for row in (remarks[last - at] for at in reversed(kept)):
        yield f"{_date(row)}, run {visible(row['run_id'])}: {row['remark']}"
    if (n_more := len(remarks) - _MOST_REMARKS) > 0:
        yield f"there are remarks on {counted(n_more, 'more run')}; see --wide"


def title(row: Row) -> str:
    """Return what a series is of, in one line."""
    names = (row["suite"], row["task_set"] if row["task_set"] != row["suite"] else None)
    metric = " ".join(filter(None, (row["metric"], row["scorer"], row["filter"])))
    parts = [" ".join(filter(None, names)), metric, row["model"], row["settings"], row["provider"]]
    return visible(" · ".join(part for part in parts if part))


def sentence(pieces: Iterable[Piece]) -> str:
    """Return the text of a sentence."""
    return "".join(text for text, _ in pieces)


def drift_pieces(row: Row) -> list[Piece]:
    """Return what `drift` has about a series with a break, as a sentence in pieces."""
    low, high = (f"{100 * row[name]:+.1f}" for name in ("change_low", "change_high"))
    unit = "points" if row["metric"] == _VERDICT else "%"
    evidence = f"95 % interval {low} to {high}, p = {row['p_holm']:.2g}, {row['n_tasks']} tasks"
    return [
        ("Drift in ", None),
        *_series_pieces(row, f": {_DRIFTING[row['metric']]} of "),
        (f" changed by {100 * row['change']:+.1f} {unit} with run ", None),
        (row["after_run_id"], "after_run_id"),
        (f" of {row['changed_on']} ({evidence}).", None),
    ]


def outage_pieces(row: Row) -> list[Piece]:
    """Return what `outages` has about a model, as a sentence in pieces."""
    n_runs = row["n_runs"]
    runs = "latest run" if n_runs == 1 else f"latest {n_runs} runs"
    since = "" if row["since"] is None else f", since {row['since']}"
    last = row["last_answered_run_id"]
    shown: list[Piece] = [("no run of it has answers", None)]
    if last is not None:
        shown = [("figures are those of run ", None), (last, "last_answered_run_id")]
    return [
        *_series_pieces(row, f": the {runs} of "),
        (f" got no answers{since}; ", None),
        *shown,
        (".", None),
    ]


def _series_pieces(row: Row, between: str) -> list[Piece]:
    """Return suite and task set, what stands between, and the model with its settings."""
    task_set = "" if row["task_set"] == row["suite"] else f", {row['task_set']}"
    settings = f" ({row['settings']})" if row["settings"] else ""
    return [
        (row["suite"], "suite"),
        (f"{task_set}{between}", None),
        (row["model"] or "an unknown model", "model"),
        (settings, None),
    ]


def _of(row: Row, name: str) -> float | None:
    """Return a figure of a row, whether it is a pass rate or a score."""
    ends = {"value": ("pass_rate", "score"), "low": ("pass_rate_low", "score_low")}
    of_rate, of_score = {**ends, "high": ("pass_rate_high", "score_high")}[name]
    value: float | None = row[of_rate] if row[of_rate] is not None else row[of_score]
    return value


def _value(row: Row, *, is_rate: bool) -> str:
    is_unanswered = row["n_results"] and row["n_results"] == row["n_unanswered"]
    value = _of(row, "value")
    return "no answers" if is_unanswered and value is None else _number(value, is_rate=is_rate)


def _number(value: float | None, *, is_rate: bool) -> str:
    if value is None:
        return "unknown"
    return f"{100 * value:.1f} %" if is_rate else human(value)


def _is_rate(row: Row) -> bool:
    return row["metric"] == _VERDICT and row["scorer"] is None


def _column(name: str, texts: Sequence[str], *, to_the_right: bool) -> list[str]:
    """Return a header and texts, all of one width."""
    width = max(map(width_of, (name, *texts)))
    return [padded(text, width, to_the_right=to_the_right) for text in (name, *texts)]


def _changes(rows: Sequence[Row]) -> list[str]:
    """Return the change of each row; where one has a star, the others have a place for it."""
    write = points if _is_rate(rows[0]) else "{:+.3g}".format
    texts = ["" if row["change"] is None else write(row["change"]) for row in rows]
    if not any(map(_is_clear, rows)):
        return texts
    stars = ["*" if _is_clear(row) else " " for row in rows]
    return [text + star if text else "" for text, star in zip(texts, stars, strict=True)]


def _is_clear(row: Row) -> bool:
    """Return whether a change is more than chance explains."""
    return row["p_holm"] is not None and row["p_holm"] < _SIGNIFICANT


def _date(row: Row) -> str:
    return "undated" if row["run_date"] is None else str(row["run_date"])


def _run(row: Row, room: int, encoding: str) -> str:
    name = fold(visible(row["run_id"]), room)
    return name.encode(encoding, "replace").decode(encoding)


def _scale(rows: Sequence[Row], n_cells: int, *, is_rate: bool) -> _Scale:
    """Return a scale for all figures, of `n_cells` or more, so that both ends can be named."""
    if is_rate:
        return _Scale(0, 1, n_cells)
    figures = [_of(row, name) for row in rows for name in ("value", "low", "high")]
    known = [value for value in figures if value is not None]
    scale = _Scale(min(known, default=0), max(known, default=0), n_cells)
    return replace(scale, n_cells=max(n_cells, len(_ends(scale, is_rate=False))))


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


def _can_show(encoding: str, marks: _Marks) -> bool:
    try:
        f"{marks.end_low}{marks.line}{marks.end_high}{marks.point}…·".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
