"""The groups of tasks in a results file: the tasks behind a group's figure, and its weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warehouse.core.types import Json

_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Leaf:
    """A task of a group that has the metric.

    Attributes:
        task: its name.
        value: its figure; None if it is not a number.
        stderr: its standard error; None if it is not a number.
        n: number of samples; None if unknown.
    """

    task: str
    value: float | None
    stderr: float | None
    n: int | None


def leaves_of(group: str, subtasks: Mapping[str, Json]) -> list[str]:
    """Return the tasks of a group and of the groups in it, each once."""
    found: dict[str, None] = {}
    seen, waiting = {group}, [group]
    while waiting:
        children = subtasks.get(waiting.pop(0))
        for child in children if isinstance(children, list) else ():
            if not isinstance(child, str):
                continue
            if isinstance(subtasks.get(child), list) and subtasks.get(child):
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
            else:
                found[child] = None
    return list(found)


def is_unweighted(value: float, leaves: list[Leaf]) -> bool:
    """Return whether a group's figure is the plain mean of its tasks' figures.

    A group's own configuration (`weight_by_size`) is not in the log. False if the figure is also,
    or rather, the mean weighted by the number of samples, which is the default.
    """
    known = [
        (each.value, each.n) for each in leaves if each.value is not None and each.n is not None
    ]
    total = sum(n for _, n in known)
    if len(known) < len(leaves) or not total:
        return False
    weighted = sum(each * n for each, n in known) / total
    plain = sum(each for each, _ in known) / len(known)
    return not _is_close(value, weighted) and _is_close(value, plain)


def is_independent(stderr: float, leaves: list[Leaf]) -> bool:
    """Return whether a group's standard error is that of the mean of independent tasks.

    Since version 0.4.13 it is that of a plain mean (`unweighted_mean_stderr` in
    `lm_eval.api.metrics`); older versions pool the variances, as of a weighted mean.
    """
    errors = [each.stderr for each in leaves if each.stderr is not None]
    if len(errors) < len(leaves) or not errors:
        return False
    return _is_close(stderr, math.hypot(*errors) / len(errors))


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
