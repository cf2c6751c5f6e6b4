"""Where the noise of a task set is: whether more attempts or tasks would narrow its scores."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from warehouse.analysis.decisions.comparison import ALPHA
from warehouse.analysis.decisions.sentences import amount, p_text
from warehouse.core.text.figures import percent, whole_percent
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

# Attempts that narrow an error by less than this are not worth their calls.
_LEAST_NARROWING = 0.1
# Of a task set with verdicts, only these.
_ROWS = """
SELECT
    suite, task_set, metric, scorer, n_models, n_tasks,
    if(attempts_from = 'run', n_attempts, 1) AS n_attempts, variance, attempt_variance,
    attempt_share, attempt_share_low, attempt_share_high,
    {run: run_variance, template: template_variance, judge: judge_variance} AS shifts,
    {run: run_p, template: template_p, judge: judge_p} AS p_values,
    EXISTS (
        FROM scores.task_clusters AS clusters
        WHERE clusters.suite = parts.suite AND clusters.task_set = parts.task_set AND NOT is_copy
    ) AS has_clusters
FROM variance_parts AS parts
WHERE suite = $suite AND filter IS NULL
QUALIFY metric = 'passed' OR NOT bool_or(metric = 'passed') OVER (PARTITION BY task_set)
ORDER BY task_set, metric, scorer
"""


class _Parts(NamedTuple):
    """What `variance_parts` says of a metric of a task set.

    Attributes:
        n_attempts: attempts at a task in one run, harmonic mean.
        shifts: variance by what is another: `run`, `template`, `judge`.
        p_values: of tests whether these shift anything.
        has_clusters: whether some tasks depend on each other.
    """

    suite: str
    task_set: str
    metric: str
    scorer: str | None
    n_models: int
    n_tasks: int
    n_attempts: float
    variance: float | None
    attempt_variance: float | None
    attempt_share: float | None
    attempt_share_low: float | None
    attempt_share_high: float | None
    shifts: dict[str, float | None]
    p_values: dict[str, float | None]
    has_clusters: bool

    def size(self, value: float) -> str:
        """Return a figure with its unit."""
        return amount(self.metric, value, self.scorer)

    def narrowing(self, share: float) -> float:
        """Return by what share of it attempts without limit would narrow the error of a score."""
        of_attempts = share / self.n_attempts
        return 1 - sqrt((1 - share) / (1 - share + of_attempts)) if share < 1 else 1.0


def noise_sentences(connection: duckdb.DuckDBPyConnection, suites: Sequence[str]) -> Iterator[str]:
    """Yield where the noise in the scores of each task set is, and what would narrow it."""
    for suite in suites:
        for row in connection.execute(_ROWS, {"suite": suite}).fetchall():
            parts = _Parts(*row)
            if parts.variance:
                says = (_shares(parts), _error(parts), _attempts(parts), *_shifts(parts))
                yield " ".join(filter(None, says))


def _shares(parts: _Parts) -> str:
    place = "/".join(dict.fromkeys((parts.suite, parts.task_set)))
    by = f" by {parts.scorer}" if parts.scorer else ""
    what = visible(f"{place}, {parts.metric}{by}")
    models = "1 model" if parts.n_models == 1 else f"{parts.n_models:,} models"
    where = f"{what} ({models}, {parts.n_tasks:,} tasks)"
    if parts.attempt_share is None:
        return (
            f"{where}: no task has two attempts with a score of their own, so that tasks and "
            "attempts cannot be told apart."
        )
    low, high = parts.attempt_share_low, parts.attempt_share_high
    if low is None or high is None:
        ends = "no interval, for too few tasks or none that differ"
    else:
        ends = f"95 % interval {whole_percent(low)} to {whole_percent(high)}"
    return (
        f"{where}: of the variance of one answer, {whole_percent(parts.attempt_share)} ({ends}) "
        "is between attempts at the same task, the rest between tasks."
    )


def _error(parts: _Parts) -> str:
    """Say how far a score is from that of all such tasks, where tasks are independent."""
    if parts.has_clusters or parts.variance is None:
        return "Tasks depend on each other, so that the error is that of their clusters."
    of_mean = parts.variance - (parts.attempt_variance or 0.0) * (1 - 1 / parts.n_attempts)
    error = sqrt(max(0.0, of_mean) / parts.n_tasks)
    return (
        f"A model's score has a standard error of {parts.size(error)}; {3 * parts.n_tasks:,} more "
        f"tasks like these would halve it."
    )


def _attempts(parts: _Parts) -> str:
    """Say whether more attempts at each task would narrow the error, if the interval shows it."""
    if parts.attempt_share == 0:
        return "No two attempts at a task differ."
    if parts.attempt_share_low is None or parts.attempt_share_high is None:
        return ""
    least, most = map(parts.narrowing, (parts.attempt_share_low, parts.attempt_share_high))
    if most < _LEAST_NARROWING:
        return (
            f"More attempts do not help: however many, they narrow it by less than {percent(most)}."
        )
    if least >= _LEAST_NARROWING:
        return (
            f"More attempts help: without limit they narrow it by {whole_percent(least)} or more."
        )
    return (
        f"More attempts without limit would narrow it by {whole_percent(least)} to "
        f"{whole_percent(most)}."
    )


def _shifts(parts: _Parts) -> Iterator[str]:
    for name, p_value in parts.p_values.items():
        variance = parts.shifts[name]
        if p_value is None or variance is None:
            continue
        if p_value >= ALPHA or variance <= 0:
            yield f"That another {name} shifts scores is not shown (p {p_text(p_value)})."
        else:
            yield (
                f"Another {name} shifts a model's whole score by {parts.size(sqrt(variance))} "
                f"(standard deviation, p {p_text(p_value)}), which comes on top and which neither "
                f"tasks nor attempts average out."
            )
