"""What a comparison shows, in a sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.comparison import ALPHA

if TYPE_CHECKING:
    from warehouse.analysis.decisions.comparison import Comparison

# Of fewer tasks no difference is shown.
_FEWEST_FOR_SIZE = 10
# The winner, the size of the difference, the loser.
_PHRASES = {
    "passed": "{} passes {}more than {}",
    "cost_usd": "{} typically costs {}less per task than {}",
    "latency_ms": "{} typically answers {}faster than {}",
    "ttft_ms": "{} typically starts to answer {}sooner than {}",
    "tokens": "{} typically uses {}fewer tokens per task than {}",
    "input_tokens": "{} typically reads {}fewer tokens per task than {}",
    "output_tokens": "{} typically writes {}fewer tokens per task than {}",
}
_UNITS = {
    "cost_usd": "US dollars",
    "latency_ms": "ms",
    "ttft_ms": "ms",
    "tokens": "tokens",
    "input_tokens": "tokens",
    "output_tokens": "tokens",
}


def sentence(row: Comparison, *, n_comparisons: int = 1) -> str:
    """Return what a comparison shows, its winner first.

    Args:
        row: the comparison.
        n_comparisons: comparisons that are shown together; of several, each names its sides.
    """
    where = _where(row, n_comparisons)
    winner, loser = _winner(row)
    rest = [_p(row, n_comparisons), _counts(row)]
    figures = ", ".join([*_figures(_from_winner(row)), *rest])
    if row.conclusion != "unclear":
        return f"{where}{_claim(row)} ({figures}){_held(row)}."
    if row.p_missing is not None and row.p_value < ALPHA <= row.p_missing:
        return (
            f"{where}{winner} is ahead of {loser} on the tasks that both were judged on ({figures})"
            ", but need not be better: not if the missing verdicts are counted against it."
        )
    if row.p_value < ALPHA <= (row.p_adjusted or 0.0):
        # The number of comparisons is all that stands against it.
        than = "" if n_comparisons == 1 else f" than {loser}"
        return (
            f"{where}That {winner} is better{than} is not supported ({figures}).{_detectable(row)}"
        )
    the = "The" if n_comparisons == 1 else f"{row.a} and {row.b}: the"
    by = "" if row.metric == "passed" or n_comparisons > 1 else f" by {row.metric}"
    # No side is named before the counts.
    counts = _counts(row).replace(" by it only", " by one only")
    rest = [_p(row, n_comparisons), counts]
    if _has_interval(row):
        rest = [counts] if row.n_clusters != row.n_tasks else []
    figures = ", ".join([*_figures(row), *rest])
    return f"{where}{the} data do not show which is better{by} ({figures}).{_detectable(row)}"


def margin_sentence(row: Comparison, margin: float) -> str:
    """Return whether the first side is inferior by more than a margin."""
    size = size_of(row, margin) if row.ratio is None else f"{_number(100 * margin)} %"
    if row.noninferior is None:
        return f"Whether {row.a} is at most {size} worse than {row.b} cannot be said: no interval."
    if row.noninferior:
        return f"{row.a} is not worse than {row.b} by {size} or more (95 % interval)."
    return f"It is not shown that {row.a} is less than {size} worse than {row.b}."


def p_text(p_value: float) -> str:
    """Return a p-value that is never rounded across 0.05: `= 0.021`, `= 0.06`, `< 0.0001`."""
    if p_value < 1e-4:  # noqa: PLR2004 - four decimals
        return "< 0.0001"
    text = ""
    for digits in range(2 if p_value >= ALPHA else 3, 7):
        text = f"{p_value:.{digits}f}"
        # Not 0, and not 0.05 unless it is.
        if float(text) > 0 and (float(text) != ALPHA or p_value == ALPHA):
            break
    return f"= {text}"


def amount(metric: str, value: float, scorer: str | None = None) -> str:
    """Return a difference with its unit; of pass rates in points."""
    if metric == "passed" and scorer is None:
        return f"{_number(100 * value)} points"
    unit = _UNITS.get(metric)
    return f"{_size(value)} {unit}" if unit else _size(value)


def size_of(row: Comparison, value: float) -> str:
    """Return a difference of a comparison's figure with its unit."""
    return amount(row.metric, value, None if _is_pass_rate(row) else row.scorer)


def _is_pass_rate(row: Comparison) -> bool:
    """Return whether each task was passed or not: what a scorer calls `passed` can be a score."""
    return row.metric == "passed" and (row.scorer is None or row.n_only_a is not None)


def _held(row: Comparison) -> str:
    if row.p_missing is None:
        return ""
    return "; this holds with the missing verdicts counted against it"


def _where(row: Comparison, n_comparisons: int) -> str:
    if n_comparisons == 1:
        return ""
    place = row.suite if row.task_set == row.suite else f"{row.suite}, {row.task_set}"
    named = [row.metric] if row.metric != "passed" else []
    named += [f"scorer {row.scorer}"] if row.scorer not in {None, row.metric} else []
    named += [f"filter {row.filter}"] if row.filter else []
    named += [row.slice] if row.slice is not None else []
    return f"{', '.join([place, *named])}: "


def _claim(row: Comparison) -> str:
    winner, loser = _winner(row)
    size = ""
    if row.n_tasks >= _FEWEST_FOR_SIZE:
        size = f"{_reduction(row.ratio) if row.ratio else size_of(row, abs(row.difference))} "
    if row.metric in _PHRASES and (row.metric != "passed" or _is_pass_rate(row)):
        return _PHRASES[row.metric].format(winner, size, loser)
    more = "less" if row.less_is_better else "more"
    return f"{winner} scores {size}{more} in {row.metric} than {loser}"


def _reduction(ratio: float) -> str:
    """Return by how much the smaller of two amounts is below the larger."""
    return f"{_number(100 * (1 - min(ratio, 1 / ratio)))} %"


def _winner(row: Comparison) -> tuple[str, str]:
    is_a = row.difference > 0 if row.ratio is None else row.ratio > 1
    if row.less_is_better:
        is_a = not is_a
    return (row.a, row.b) if is_a else (row.b, row.a)


def _from_winner(row: Comparison) -> Comparison:
    """Return the figures of a comparison as those of the winner against the loser."""
    if _winner(row)[0] == row.a:
        return row
    return replace(
        row,
        difference=-row.difference,
        low=None if row.high is None else -row.high,
        high=None if row.low is None else -row.low,
        ratio=None if row.ratio is None else 1 / row.ratio,
        ratio_low=None if row.ratio_high is None else 1 / row.ratio_high,
        ratio_high=None if row.ratio_low is None else 1 / row.ratio_low,
    )


def _has_interval(row: Comparison) -> bool:
    return row.n_tasks >= _FEWEST_FOR_SIZE and (row.low, row.ratio_low) != (None, None)


def _figures(row: Comparison) -> list[str]:
    """Return the interval and, where no claim has it, the difference; nothing of few tasks."""
    if row.n_tasks < _FEWEST_FOR_SIZE:
        return []
    is_claimed = row.conclusion != "unclear"
    if row.ratio is not None:
        return _figures_of_ratio(row, row.ratio, is_claimed=is_claimed)
    found = [] if is_claimed else [f"difference {size_of(row, row.difference)}"]
    sign = -1 if is_claimed and row.difference < 0 else 1
    return [*found, _interval(row, sign)] if _has_interval(row) else found


def _figures_of_ratio(row: Comparison, ratio: float, *, is_claimed: bool) -> list[str]:
    found = [] if is_claimed else [f"typical ratio {_size(ratio)}"]
    if row.ratio_low is None or row.ratio_high is None:
        return found
    low, high = row.ratio_low, row.ratio_high
    if not is_claimed:
        return [*found, f"95 % interval {_size(low)} to {_size(high)}"]
    ends = (low, high) if ratio > 1 else (high, low)
    return [f"95 % interval {_reduction(ends[0]).removesuffix(' %')} to {_reduction(ends[1])}"]


def _counts(row: Comparison) -> str:
    tasks = "1 task" if row.n_tasks == 1 else f"{row.n_tasks:,} tasks"
    if row.n_clusters != row.n_tasks:
        tasks += f" in {row.n_clusters:,} cluster{'' if row.n_clusters == 1 else 's'}"
    if row.n_only_a is None or row.n_only_b is None:
        return tasks
    more, fewer = max(row.n_only_a, row.n_only_b), min(row.n_only_a, row.n_only_b)
    return f"{tasks}; {more} passed by it only, {fewer} by the other only"


def _interval(row: Comparison, sign: int) -> str:
    """Return the interval without its unit, of the difference or of the winner's advantage."""
    scale = 100 if _is_pass_rate(row) else 1
    ends = sorted(sign * scale * end for end in (row.low or 0.0, row.high or 0.0))
    write = _number if scale == 100 else _size  # noqa: PLR2004 - points
    return f"95 % interval {write(ends[0])} to {write(ends[1])}"


def _p(row: Comparison, n_comparisons: int) -> str:
    if n_comparisons == 1 or row.p_adjusted is None:
        return f"p {p_text(row.p_value)}"
    return f"adjusted p {p_text(row.p_adjusted)}"


def _detectable(row: Comparison) -> str:
    if row.detectable_difference is None:
        return ""
    unit = "cluster" if row.n_clusters != row.n_tasks else "task"
    size = size_of(row, row.detectable_difference)
    units = f"{row.n_clusters:,} {unit}s"
    return f" {units} like these have 80 % power to detect a true difference of {size}."


def _number(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _size(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1e3 else f"{value:,.0f}"  # noqa: PLR2004 - digits
