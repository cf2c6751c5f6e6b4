"""Two models compared for agents: the test, the interval, and what they show in a sentence."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from warehouse.app.agents.parameters import Text
from warehouse.app.agents.queries import time_limit
from warehouse.app.agents.session import AgentSession
from warehouse.core.types import Row

if TYPE_CHECKING:
    from warehouse.analysis.decisions.comparison import Comparison

_A = (
    "the first side: a model (its run on the leaderboard), MODEL@2026-01-31 (its runs until then), "
    "run:RUN_ID, MODEL@run:RUN_ID or tag:NAME=VALUE"
)
_B = "the second side; the same model as `a` compares the settings of the model"
_METRIC = "any score, cost_usd, latency_ms or tokens; by default the verdict"
_BY = (
    "compare each slice of the tasks by a column such as task_class or prompt_length, and test "
    "whether the difference depends on it"
)


def compare_models(
    session: AgentSession,
    *,
    a: Annotated[Text, Field(description=_A)],
    b: Annotated[Text, Field(description=_B)],
    suite: Annotated[Text | None, Field(description="only tasks of this suite")] = None,
    task_set: Annotated[Text | None, Field(description="only tasks of this task set")] = None,
    metric: Annotated[Text | None, Field(description=_METRIC)] = None,
    by: Annotated[Text | None, Field(description=_BY)] = None,
) -> Row:
    """Return the comparisons of two sides by task set, each with a sentence that says it all.

    Raises:
        BadInput: a side is not known, the two share no task with values, or no task has the column.
    """
    # Imported here: numpy and scipy take time.
    from warehouse.analysis.decisions.comparison import SEED, compare
    from warehouse.analysis.decisions.contests import Choice, find_contests, sliced
    from warehouse.analysis.decisions.sentences import sentence
    from warehouse.analysis.decisions.slices import slice_sentences

    choice = Choice(suite=suite, task_set=task_set, metric=metric)
    with session.store.reading() as connection, time_limit(session, connection):
        whole = find_contests(connection, (a, b), choice)
        contests = whole if by is None else sliced(connection, whole, by)
        rows = compare(contests)
        tests = [] if by is None else slice_sentences(whole, contests, by, seed=SEED)
    notes = [note for row in rows for note in _notes(row)]
    if by is not None and any(contest.paired.clusters is not None for contest in whole):
        notes.append(
            f"of tasks in clusters it is not tested whether the difference depends on {by}"
        )
    return {
        "comparisons": [
            {"sentence": sentence(row, n_comparisons=len(rows)), **asdict(row)} for row in rows
        ],
        "differences_by": tests,
        "notes": notes,
    }


def _notes(row: "Comparison") -> Iterator[str]:
    from warehouse.analysis.decisions.comparison import FEW_CLUSTERS

    where = f"{row.suite}, {row.task_set}, {row.metric}"
    if row.n_clusters < FEW_CLUSTERS:
        unit = "tasks" if row.n_clusters == row.n_tasks else f"clusters of {row.n_tasks} tasks"
        few = f"only {row.n_clusters} {unit}"
        yield f"{where}: {few}; intervals are reliable from {FEW_CLUSTERS} on"
    if row.n_excluded:
        yield f"{where}: {row.n_excluded} tasks are left out, where only one side has a value"
    if row.n_changed:
        yield f"{where}: {row.n_changed} tasks are left out, whose content differs"
