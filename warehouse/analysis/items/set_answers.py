"""What models answered to the tasks of one task set, as the runs on its board have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.items.responses import read_responses
from warehouse.analysis.items.subsets import Answers
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

_TASK_SETS = """
SELECT DISTINCT task_set FROM loaded_responses WHERE n_attempts > 0 ORDER BY task_set
"""
_TASKS = "SELECT item, min(task_id) FROM loaded_responses GROUP BY item"
_FAMILIES = """
SELECT system, coalesce(min(model_family(model)), system) FROM loaded_responses GROUP BY system
"""
# With fewer families, models are kept apart by themselves.
_MIN_FAMILIES = 5


@dataclass(frozen=True, slots=True)
class SetAnswers:
    """The answers of models to the tasks of a task set.

    Attributes:
        task_set: its name.
        task_ids: the tasks, in the order of the columns.
        families: of each model, what is kept together in cross-validation.
        answers: of each model to each task.
        has_families: whether `families` are groups of models, and not the models.
    """

    task_set: str
    task_ids: Sequence[str]
    families: Sequence[str]
    answers: Answers
    has_families: bool


def read_set_answers(
    connection: duckdb.DuckDBPyConnection, suite: str, task_set: str | None = None
) -> SetAnswers:
    """Read the answers of all models to the tasks of a task set.

    Raises:
        BadInput: there are none, or the suite has several task sets and none is named.
    """
    responses = read_responses(connection, suite, task_set=task_set)
    names = [name for (name,) in connection.execute(_TASK_SETS).fetchall()]
    if len(names) > 1:
        raise BadInput(f"{suite} has several task sets: name one with --task-set: {names}")
    tasks = dict(connection.execute(_TASKS).fetchall())
    family_of = dict(connection.execute(_FAMILIES).fetchall())
    passed, attempts = np.zeros((2, *responses.shape))
    passed[responses.system, responses.item] = responses.passed
    attempts[responses.system, responses.item] = responses.attempts
    families = [family_of[system] for system in responses.systems]
    has_families = len(set(families)) >= _MIN_FAMILIES
    return SetAnswers(
        names[0],
        [tasks[item] for item in responses.items],
        families if has_families else list(responses.systems),
        Answers(passed, attempts),
        has_families,
    )
