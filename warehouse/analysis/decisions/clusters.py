"""The clusters of tasks that depend on each other, as the store knows them or by a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.decisions.task_columns import task_values
from warehouse.engine.statistics.arrays import cluster_indices

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    import duckdb

    from warehouse.analysis.decisions.paired import Panel
    from warehouse.engine.statistics.arrays import Indices

    # Of each suite and task set, the cluster of each task that has one.
    Labels: TypeAlias = Mapping[tuple[str, str], Mapping[str, Hashable]]

_KNOWN = """
SELECT suite, task_set, task_id, cluster
FROM scores.task_clusters
SEMI JOIN (SELECT unnest($suite) AS suite, unnest($task_set) AS task_set) USING (suite, task_set)
WHERE NOT is_copy
"""


def set_clusters(
    connection: duckdb.DuckDBPyConnection, panels: Sequence[Panel], column: str | None = None
) -> None:
    """Set the clusters of panels: those that the store knows, or by the values of a column.

    Where the series of a panel are of several suites that cluster its items differently, items that
    share a cluster in any of them do.

    Args:
        connection: an open warehouse.
        panels: the panels, whose `clusters` are set; None where no two tasks share a cluster.
        column: a column of `tasks`, or a key in `extra`.

    Raises:
        BadInput: no task of the store has a value in this column.
    """
    labels: Labels = (
        _known_clusters(connection, panels) if column is None else task_values(connection, column)
    )
    for panel in panels:
        panel.clusters = _clusters(panel, labels)


def _known_clusters(connection: duckdb.DuckDBPyConnection, panels: Iterable[Panel]) -> Labels:
    sets = sorted({(one.key.suite, one.key.task_set) for panel in panels for one in panel.series})
    parameters = {
        "suite": [suite for suite, _ in sets], "task_set": [task_set for _, task_set in sets]
    }  # fmt: skip
    labels: dict[tuple[str, str], dict[str, Hashable]] = {}
    for suite, task_set, task_id, cluster in connection.execute(_KNOWN, parameters).fetchall():
        labels.setdefault((suite, task_set), {})[task_id] = cluster
    return labels


def _clusters(panel: Panel, labels: Labels) -> Indices | None:
    """Return the number of each task's cluster; None if each task is one."""
    # Of several suites, the tasks have the names of their items; each set has its own.
    own_ids: dict[tuple[str, str], dict[str, str]] = {}
    for one in panel.series:
        of_set = own_ids.setdefault((one.key.suite, one.key.task_set), {})
        of_set.update({item: asked.task_id for item, asked in one.asked.items() if asked.task_id})
    links = [
        cluster_indices([labels[key].get(ids.get(task_id, task_id)) for task_id in panel.task_ids])
        for key, ids in own_ids.items()
        if key in labels
    ]
    numbers: Indices = np.arange(len(panel.task_ids))
    # Each task takes the smallest number in its clusters, until all that are linked have the same.
    while links:
        before = numbers
        for link in links:
            smallest = np.full(len(numbers), len(numbers))
            np.minimum.at(smallest, link, numbers)
            numbers = smallest[link]
        if (numbers == before).all():
            break
    return None if len(np.unique(numbers)) == len(numbers) else numbers
