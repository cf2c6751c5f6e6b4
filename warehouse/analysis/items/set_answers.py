"""What models answered to the tasks of one task set, as the runs on its board have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.items.responses import read_responses
from warehouse.analysis.items.subsets import Answers
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import duckdb

_TASK_SETS = """
SELECT DISTINCT task_set FROM loaded_responses WHERE n_attempts > 0 ORDER BY task_set
"""
_TASKS = "SELECT item, min(task_id) FROM loaded_responses GROUP BY item"
_FAMILIES = """
SELECT system, coalesce(min(model_family(model)), system), coalesce(min(model), system)
FROM loaded_responses GROUP BY system
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
        systems: the labels of the models, with their settings.
        n_adaptive: systems some of whose answers are left out, to tasks chosen by their answers.
    """

    task_set: str
    task_ids: Sequence[str]
    families: Sequence[str]
    answers: Answers
    has_families: bool
    systems: Sequence[str]
    n_adaptive: int


def read_set_answers(
    connection: duckdb.DuckDBPyConnection,
    suite: str,
    task_set: str | None = None,
    without: Collection[str] = (),
    *,
    with_adaptive: bool = True,
) -> SetAnswers:
    """Read the answers of all models to the tasks of a task set.

    Args:
        connection: the warehouse.
        suite: the suite.
        task_set: the task set; None if the suite has one only.
        without: names of models to leave out, and with them tasks that only they answered.
        with_adaptive: whether answers of adaptive runs count. They tell how able a model is, but
            not how many models pass a task: it was asked those that it may as well pass as fail.

    Raises:
        BadInput: there are none, or the suite has several task sets and none is named.
    """
    responses = read_responses(connection, suite, task_set=task_set)
    chosen = () if with_adaptive else responses.system[responses.is_adaptive]
    responses = responses if with_adaptive else responses.rated()
    names = [name for (name,) in connection.execute(_TASK_SETS).fetchall()]
    if len(names) > 1:
        listed = ", ".join(names)
        raise BadInput(f"{suite} has several task sets: name one with --task-set: {listed}")
    tasks = dict(connection.execute(_TASKS).fetchall())
    about = connection.execute(_FAMILIES).fetchall()
    family_of = {system: family for system, family, model in about if model not in without}
    passed, attempts = np.zeros((2, *responses.shape))
    passed[responses.system, responses.item] = responses.passed
    attempts[responses.system, responses.item] = responses.attempts
    is_asked = attempts.any(axis=1)
    kept = is_asked & np.array([system in family_of for system in responses.systems])
    systems = [responses.systems[each] for each in np.flatnonzero(kept).tolist()]
    items = np.flatnonzero(attempts[kept].any(axis=0))
    cells = np.ix_(kept, items)
    families = [family_of[system] for system in systems]
    has_families = len(set(families)) >= _MIN_FAMILIES
    return SetAnswers(
        names[0],
        [tasks[responses.items[item]] for item in items.tolist()],
        families if has_families else systems,
        Answers(passed[cells], attempts[cells]),
        has_families,
        systems,
        len(set(chosen)),
    )
