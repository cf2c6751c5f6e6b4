"""Values of tasks by the name of a column: for clusters, and for slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

PROMPT_LENGTH = "prompt_length"
MOST_SLICES = 20
# Numbers with more different values than this are grouped by quarters of the tasks.
_FEW_NUMBERS = 8
# Of calls, for logs without their task file.
_OF_CALLS = {"prompt": "prompt", "task_name": "task_name", PROMPT_LENGTH: "length(prompt)"}
# Columns about the row, not about the task.
_NO_GROUPS = {"suite", "task_version", "seq", "extra", "source", "file_sha256", "batch", "task_id"}
_COLUMNS = """
SELECT column_name
FROM duckdb_columns()
WHERE table_name = 'tasks' AND schema_name = 'main'
ORDER BY column_index
"""
_KEYS = """
SELECT DISTINCT unnest(json_keys(extra)) AS name
FROM (SELECT extra FROM tasks UNION ALL SELECT extra FROM results)
WHERE json_type(extra) = 'OBJECT'
ORDER BY name
"""
_VALUES = """
SELECT suite, task_set, task_id, min(value) AS value
FROM (
    SELECT suite, task_set, task_id, CAST({of_task} AS VARCHAR) AS value FROM tasks
    UNION ALL
    SELECT suite, task_set, task_id, CAST({of_call} AS VARCHAR) AS value
    FROM results
    WHERE NOT is_replay
)
WHERE value IS NOT NULL
GROUP BY suite, task_set, task_id
"""


def task_values(
    connection: duckdb.DuckDBPyConnection, column: str
) -> dict[tuple[str, str], dict[str, str]]:
    """Return the value of each task that has one, as text, by suite and task set.

    Args:
        connection: an open warehouse.
        column: a column of `tasks`, a key in its `extra` or in that of the results, or
            `prompt_length`.

    Raises:
        BadInput: no task has such a value; the message names the columns.
    """
    columns = [name for (name,) in connection.execute(_COLUMNS).fetchall()]
    columns = [*(name for name in columns if name not in _NO_GROUPS), PROMPT_LENGTH]
    rows: list[tuple[str, str, str, str]] = []
    if column in columns:
        of_task = "length(prompt)" if column == PROMPT_LENGTH else f'"{column}"'
        of_call = _OF_CALLS.get(column, "NULL")
        rows = connection.execute(_VALUES.format(of_task=of_task, of_call=of_call)).fetchall()
    if not rows:
        by_key = "json_extract_string(extra, $path)"
        # A JSON pointer: in a path, quotation marks in a key cannot be escaped.
        path = {"path": "/" + column.replace("~", "~0").replace("/", "~1")}
        rows = connection.execute(_VALUES.format(of_task=by_key, of_call=by_key), path).fetchall()
    found: dict[tuple[str, str], dict[str, str]] = {}
    for suite, task_set, task_id, value in rows:
        found.setdefault((suite, task_set), {})[task_id] = value
    if not found:
        columns = [name for name in columns if name != column]
        keys = [name for (name,) in connection.execute(_KEYS).fetchall()]
        known = f"columns of tasks are: {', '.join([*columns, *keys])}"
        hint = did_you_mean(column, [*columns, *keys], known)
        raise BadInput(f"no task has a value {column!r}; {hint}")
    return found


def slices(values: Mapping[str, str], task_ids: Sequence[str]) -> dict[str, list[bool]]:
    """Return the slices of tasks with the same value, each with whether a task is in it.

    Many different numbers are grouped by quarters of the tasks. Tasks without a value are the
    slice `not known`.

    Raises:
        BadInput: there are more than 20 slices.
    """
    labels = [values.get(task) for task in task_ids]
    known = [label for label in labels if label is not None]
    numbers = _numbers(known)
    if numbers is not None and len(set(numbers)) > _FEW_NUMBERS:
        quarters = iter(_quarters(numbers))
        labels = [None if label is None else next(quarters) for label in labels]
        order = list(dict.fromkeys(_quarters(sorted(numbers))))
    else:
        order = sorted(set(known)) if numbers is None else sorted(set(known), key=float)
    if len(order) > MOST_SLICES:
        raise BadInput(
            f"the tasks have {len(order)} different values; --by takes up to {MOST_SLICES} slices"
        )
    found = {label: [other == label for other in labels] for label in order}
    if None in labels:
        found["not known"] = [label is None for label in labels]
    return found


def _numbers(texts: Sequence[str]) -> list[float] | None:
    """Return the texts as numbers; None if one of them is none, or not finite."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _quarters(numbers: Sequence[float]) -> list[str]:
    """Return the quarter of each number as text, such as `10 to 25`."""
    ends = np.quantile(numbers, [0.25, 0.5, 0.75], method="inverted_cdf")
    places = np.searchsorted(ends, numbers, side="left")
    texts = {}
    for place in set(places.tolist()):
        within = [number for number, at in zip(numbers, places, strict=True) if at == place]
        texts[place] = f"{min(within):g} to {max(within):g}"
    return [texts[int(place)] for place in places]
