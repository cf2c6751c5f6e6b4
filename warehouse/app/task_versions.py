"""Named versions of a suite's task sets: without the tasks that people rated as wrong by then.

A version is a run of the suite `ratings`, whose settings list the tasks, and who rated them as
wrong. It never changes: ratings given or taken back later make another version.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.core.schemas import RUNS
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.query import rows_by_name
from warehouse.engine.tables.left_out_tasks import LeftOutTask
from warehouse.lake.batch import Generation
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.app.store import Store
    from warehouse.core.types import Row, RunRow

COLUMNS = (
    *("version", "suite", "task_set", "task_id", "task_hash", "n_raters_wrong", "n_raters"),
    *("raters", "notes", "named_at"),
)
_WRONG = """
SELECT task_set, task_id, task_hash, n_raters_wrong, n_raters, raters, notes
FROM wrong_tasks
WHERE suite = $suite AND n_raters_wrong >= $n_raters
ORDER BY task_set, task_id, task_hash
"""
_VERSIONS = f"""
SELECT run_id, config, started_at FROM lake.runs
WHERE suite = '{RATINGS_SUITE}' AND json_exists(config, '$.task_version')
ORDER BY started_at, run_id
"""  # noqa: S608 - a constant


class TaskVersion(NamedTuple):
    """A version of a suite's task sets.

    Attributes:
        run_id: the run of the suite `ratings` that has it.
        name: its name.
        suite: the suite.
        named_at: when it was named, UTC.
        wrong: the tasks that it leaves out, as rows of `wrong_tasks` of that moment.
    """

    run_id: str
    name: str
    suite: str
    named_at: datetime
    wrong: Sequence[Row]

    @property
    def left_out(self) -> list[LeftOutTask]:
        """The tasks that it leaves out."""
        names = ("task_set", "task_id", "task_hash")
        return [LeftOutTask(self.suite, *(row[name] for name in names)) for row in self.wrong]

    @property
    def sentence(self) -> str:
        """What every figure of the version says."""
        n_tasks = len({task[:3] for task in self.left_out})
        return f"{self.suite}: {n_tasks} task{'s' * (n_tasks != 1)} left out as wrong ({self.name})"

    def rows(self) -> list[tuple[object, ...]]:
        """Return a row of `COLUMNS` for each task that it leaves out."""
        about = {"version": self.name, "suite": self.suite, "named_at": self.named_at}
        return [tuple({**about, **row}[name] for name in COLUMNS) for row in self.wrong]


def name_version(store: Store, suite: str, name: str, n_raters: int) -> TaskVersion:
    """Name the version of a suite's task sets without the tasks that are rated as wrong now.

    Args:
        store: the store.
        suite: the suite.
        name: a name that no version has.
        n_raters: how many raters must say of a task that it is wrong.

    Raises:
        BadInput: the name cannot be used, or no task is rated as wrong by so many.
        StoreReadOnly: the store cannot be written.
    """
    from warehouse.app.labelling.samples import checked_name

    name = checked_name("without-wrong", name)
    if any(name in {known.name, known.run_id} for known in read_versions(store)):
        raise BadInput(f"there is a version {name!r}, which never changes: choose another name")
    with store.reading() as connection:
        query = connection.execute(_WRONG, {"suite": suite, "n_raters": n_raters})
        wrong = list(rows_by_name(query))
    if not wrong:
        least = f" by {n_raters} raters" if n_raters > 1 else ""
        raise BadInput(
            f"no task of {suite} is rated as wrong{least}; people rate tasks in `evalstore view`, "
            "and `evalstore show wrong_tasks` lists them"
        )
    config = json_text({"task_version": name, "suite": suite, "left_out": wrong})
    now = datetime.now(UTC)
    key = content_hash("task version", config, now.isoformat())
    run_id = f"task version {name} {key[:8]}"
    row: RunRow = {"suite": RATINGS_SUITE, "run_id": run_id, "generation": "root"}
    row |= {"content_id": key, "origin": "recorded", "started_at": now, "config": config}
    with shared_lake_lock(store.path), store.lake.write("version") as writer:
        writer.add(RUNS, [row])
        writer.commit(generations=[Generation(RATINGS_SUITE, run_id)])
    return TaskVersion(run_id, name, suite, now.replace(tzinfo=None), wrong)


def read_versions(store: Store) -> list[TaskVersion]:
    """Return the versions that were named, the oldest first."""
    found = []
    for run_id, config, named_at in store.sql(_VERSIONS).fetchall():
        document = json.loads(config)
        about = (document["task_version"], document["suite"], named_at)
        found.append(TaskVersion(run_id, *about, document["left_out"]))
    return found


def find_version(store: Store, name: str) -> TaskVersion:
    """Return the version with a name, or whose run has it as its id.

    Raises:
        BadInput: there is none, or merged stores have several.
    """
    known = read_versions(store)
    found = [version for version in known if name in {version.name, version.run_id}]
    if not found:
        names = [version.name for version in known]
        hint = did_you_mean(name, names, f"there are: {', '.join(names) or 'none'}")
        raise BadInput(f"there is no task version {name!r}; {hint}")
    if len(found) > 1:
        runs = ", ".join(repr(version.run_id) for version in found)
        raise BadInput(f"several task versions are named {name!r}: name one by its run, of {runs}")
    return found[0]
