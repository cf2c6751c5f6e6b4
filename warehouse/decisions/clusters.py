"""The clusters of tasks that depend on each other, as the store knows them or by a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.decisions.task_columns import task_values
from warehouse.statistics.arrays import cluster_indices

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    import duckdb

    from warehouse.decisions.paired import Panel
    from warehouse.statistics.arrays import Indices

_KNOWN = "SELECT suite, task_set, task_id, cluster FROM scores.task_clusters WHERE NOT is_copy"


def set_clusters(
    connection: duckdb.DuckDBPyConnection, panels: Iterable[Panel], column: str | None = None
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
    labels: dict[tuple[str, str], dict[str, Hashable]] = {}
    if column is None:
        for suite, task_set, task_id, cluster in connection.execute(_KNOWN).fetchall():
            labels.setdefault((suite, task_set), {})[task_id] = cluster
    else:
        labels.update(task_values(connection, column))  # type: ignore[arg-type]
    for panel in panels:
        panel.clusters = _clusters(panel, labels)


def _clusters(
    panel: Panel, labels: Mapping[tuple[str, str], Mapping[str, Hashable]]
) -> Indices | None:
    """Return the number of each task's cluster; None if each task is one."""
    places = {(one.key.suite, one.key.task_set): one for one in panel.series}
    links = []
    for place, one in places.items():
        if place in labels:
            named = labels[place]
            tasks = (one.asked.get(task_id) for task_id in panel.task_ids)
            ids = (
                task_id if asked is None or asked.task_id is None else asked.task_id
                for task_id, asked in zip(panel.task_ids, tasks, strict=True)
            )
            links.append(cluster_indices([named.get(task_id) for task_id in ids]))
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
