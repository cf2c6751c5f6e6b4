"""The tasks on which two sides differ, with their prompts, answers and values side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.analysis.decisions.comparison import Contest

_ANSWERS = """
WITH wanted AS (
    SELECT unnest($place) AS place, unnest($suite) AS suite, unnest($run_id) AS run_id,
        unnest($task_set) AS task_set, unnest($provider) AS provider, unnest($model) AS model,
        unnest($settings) AS settings, unnest($task_id) AS task_id
)

SELECT
    wanted.place,
    arg_min(calls.prompt, (calls.attempt, calls.seq)) AS prompt,
    arg_min(
        coalesce(nullif(calls.answer, ''), calls.raw_output, calls.answer, calls.failure_type),
        (calls.attempt, calls.seq)
    ) AS answer
FROM wanted
JOIN results AS calls
    ON calls.suite = wanted.suite
    AND calls.run_id = wanted.run_id
    AND calls.task_set = wanted.task_set
    AND calls.provider IS NOT DISTINCT FROM wanted.provider
    AND calls.model = wanted.model
    AND calls.settings = wanted.settings
    AND calls.task_id = wanted.task_id
-- The join alone would read the texts of all runs.
WHERE NOT calls.is_replay AND list_contains($run_ids, calls.run_id)
GROUP BY wanted.place
"""


class ChangedTask(NamedTuple):
    """A task on which two sides differ.

    Attributes:
        suite: suite.
        task_set: task set.
        metric: the metric.
        task_id: the task; of several suites, the hash of its item.
        a: name of the first side.
        b: name of the second.
        value_a: mean of the first side's attempts; 1 or 0 for a single verdict.
        value_b: the same of the second.
        prompt: the prompt, if known.
        answer_a: first answer of the first side, or why there is none.
        answer_b: the same of the second.
    """

    suite: str
    task_set: str
    metric: str
    task_id: str
    a: str
    b: str
    value_a: float
    value_b: float
    prompt: str | None
    answer_a: str | None
    answer_b: str | None


def changed_tasks(
    connection: duckdb.DuckDBPyConnection, contests: Sequence[Contest]
) -> list[ChangedTask]:
    """Return the tasks on which the sides differ, the largest differences first.

    Args:
        connection: an open warehouse.
        contests: the pairs.
    """
    names = ("place", "suite", "run_id", "task_set", "provider", "model", "settings", "task_id")
    wanted: dict[str, list[Any]] = {name: [] for name in names}
    found: list[tuple[Contest, int]] = []
    for contest in contests:
        paired = contest.paired
        differences = paired.differences
        for at in sorted(differences.nonzero()[0], key=lambda at: -abs(differences[at])):
            for row in (paired.a, paired.b):
                series = paired.panel.series[row]
                task_id = paired.panel.task_ids[paired.tasks[at]]
                values = {
                    **series.key._asdict(),
                    "place": len(wanted["place"]),
                    "task_id": series.asked[task_id].task_id or task_id,
                    "run_id": series.asked[task_id].run_id,
                }
                for name in names:
                    wanted[name].append(values[name])
            found.append((contest, int(at)))
    run_ids = sorted(set(wanted["run_id"]))
    rows = connection.execute(_ANSWERS, {**wanted, "run_ids": run_ids}).fetchall() if found else []
    answers = {place: (prompt, answer) for place, prompt, answer in rows}
    return [
        _changed(
            contest, at, answers.get(2 * n, (None, None)), answers.get(2 * n + 1, (None, None))
        )
        for n, (contest, at) in enumerate(found)
    ]


def _changed(
    contest: Contest, at: int, of_a: tuple[str | None, ...], of_b: tuple[str | None, ...]
) -> ChangedTask:
    paired = contest.paired
    return ChangedTask(
        suite=paired.panel.suite,
        task_set=paired.panel.task_set,
        metric=paired.panel.metric.metric,
        task_id=paired.panel.task_ids[paired.tasks[at]],
        a=contest.a,
        b=contest.b,
        value_a=float(paired.means_a[at]),
        value_b=float(paired.means_b[at]),
        prompt=of_a[0] or of_b[0],
        answer_a=of_a[1],
        answer_b=of_b[1],
    )
