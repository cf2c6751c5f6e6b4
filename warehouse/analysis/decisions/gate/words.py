"""The words and figures that decisions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.decisions.gate.runs import NAMES
from warehouse.core.text.figures import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.decisions.gate.rules import Rule
    from warehouse.analysis.decisions.paired import Panel
    from warehouse.analysis.decisions.series import SeriesKey
    from warehouse.core.types import Row

_SHOWN_RUNS = 5


def amount(value: float, scale: float | None) -> str:
    """Return a value of a metric: of shares and percentages, points.

    Args:
        value: in the metric's unit.
        scale: largest possible value, 1 or 100; None if not known.
    """
    if scale is None:
        return f"{value:.4g}"
    points = f"{100 * value / scale:.3g}"
    return f"{points} point{'' if points == '1' else 's'}"


def interval_words(low: float | None, high: float | None, scale: float | None, alpha: float) -> str:
    """Return the interval of a drop; empty if it has none."""
    if low is None or high is None:
        return ""
    level = f"{100 * (1 - alpha):.3g} % interval of the drop"
    factor = 1.0 if scale is None else 100 / scale
    return f"{level} {factor * low:.3g} to {factor * high:.3g}"


def in_brackets(remark: str | None) -> str:
    """Return a remark in brackets after a blank; empty if there is none."""
    return f" ({remark})" if remark else ""


def p_words(p_value: float) -> str:
    """Return a p-value: `p = 0.021`."""
    return "p < 0.0001" if p_value < 0.0001 else f"p = {p_value:.2g}"  # noqa: PLR2004 - four decimals


def tasks_words(n_tasks: int) -> str:
    """Return a number of tasks: `1 task`, `1,000 tasks`."""
    return f"{n_tasks:,} task{'' if n_tasks == 1 else 's'}"


def runs_words(run_ids: Sequence[str]) -> str:
    """Return runs by name: `run a`, `runs a, b and 3 more`."""
    more = len(run_ids) - _SHOWN_RUNS
    listed = ", ".join(run_ids[:_SHOWN_RUNS]) + (f" and {more:,} more" if more > 0 else "")
    return f"run{'' if len(run_ids) == 1 else 's'} {listed}"


def few_words(n_tasks: int, n_clusters: int | None, least: int) -> str | None:
    """Return that there are fewer tasks, or clusters of them, than the least; None if not."""
    if (n_tasks if n_clusters is None else n_clusters) >= least:
        return None
    found = tasks_words(n_tasks)
    if n_clusters is not None:
        found = f"{n_clusters:,} cluster{'' if n_clusters == 1 else 's'} of {found}"
    return f"only {found}, less than min_tasks ({least:,})"


def too_few_attempts(rule: Rule, panel: Panel, row: int) -> str | None:
    """Return that tasks of a series have too few attempts for a rule's k; None if none have."""
    series = panel.series[row]
    if not series.n_too_few:
        return None
    return (
        f"{series.n_too_few:,} of {tasks_words(len(series.asked))} of the {NAMES[series.key.side]} "
        f"have fewer than {rule.k} attempts with a verdict; make {rule.k} attempts or more at each "
        "task and judge them, or lower k"
    )


def series_name(key: SeriesKey) -> str:
    """Return what was called: the model, with its provider and settings if they are known."""
    details = ", ".join(filter(None, (key.provider, key.settings)))
    return f"{key.model} ({details})" if details else key.model


def judge_text(judge: Row) -> str:
    """Return what the labels show of a judge, in words."""
    name = judge["judge"]
    if judge["other"] is None:
        labels = "no label of people, and no gold, is on any answer that it judged"
        return f"uncalibrated judge {name}: {labels}"
    kappa, age = "kappa is not defined", "the labels have no date"
    if judge["kappa"] is not None:
        ends = "too few tasks for an interval"
        if judge["kappa_low"] is not None:
            ends = f"95 % interval {judge['kappa_low']:.2f} to {judge['kappa_high']:.2f}"
        weights = "with quadratic weights " if judge["is_weighted"] else ""
        kappa = f"kappa {weights}{judge['kappa']:.2f} ({ends})"
    if judge["newest_label_at"] is not None:
        age = f"newest label of {judge['newest_label_at']:%Y-%m-%d}"
        if (days := judge["age_days"]) is not None:
            age += f", {abs(days):,} days {'after' if days < 0 else 'before'} the candidate"
    share = f"{percent(judge['agreement_rate'])} of {judge['n_items']:,} labelled answers"
    return f"judge {name} agrees with {judge['other']} on {share}, {kappa}; {age}"
