"""Arrays of numbers, and their sums over clusters of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
Indices: TypeAlias = "npt.NDArray[np.int64]"

# Below so many clusters there are no intervals and no tests.
MIN_CLUSTERS = 6


def cluster_indices(labels: Sequence[Hashable]) -> Indices:
    """Return a number from 0 for each label, in the order in which the labels first appear.

    A label of None is a cluster of its own: nothing is known that it shares with others.
    """
    numbers: dict[Hashable, int] = {}
    places = [
        numbers.setdefault(("", place) if label is None else (label,), len(numbers))
        for place, label in enumerate(labels)
    ]
    return np.array(places, dtype=np.int64)


def cluster_sums(values: Floats, clusters: Indices) -> Floats:
    """Return the sum of the values of each cluster.

    Args:
        values: one value for each task, shape (tasks,), or a row of them for each model, shape
            (models, tasks).
        clusters: the number of each task's cluster, from 0 and without gaps: shape (tasks,).
    """
    if values.ndim == 1:
        sums: Floats = np.bincount(clusters, weights=values).astype(np.float64)
        return sums
    return np.stack([np.bincount(clusters, weights=row) for row in values])
