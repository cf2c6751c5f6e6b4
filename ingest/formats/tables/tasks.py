"""The tasks of a table: each version of a run's task set, known once all rows were read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import polars as pl

from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

_SET = ("run_id", "task_set")
_TASK = (*_SET, "task_id", "task_hash")
_TEXTS = ("prompt", "question", "choices", "target", "cluster")
_MERGED_AT = 16


class TaskSets:
    """The tasks that each run asked: about 100 bytes for each."""

    def __init__(self, suite: str) -> None:
        self._suite = suite
        self._parts: list[pl.DataFrame] = []

    @property
    def is_empty(self) -> bool:
        """Whether no task was added."""
        return not self._parts

    def add(self, results: pl.DataFrame) -> None:
        """Add the tasks of some results, in the order of the file."""
        self._parts.append(results.select(*_TASK, "cluster", "line").unique(_TASK, keep="first"))
        if len(self._parts) >= _MERGED_AT:
            self._parts = [self._all()]

    def chosen(self) -> pl.DataFrame:
        """Return `line`, `run_id` and `task_set_hash` of the first row of each task.

        A version of a set that several runs asked is left to the first of them.
        """
        tasks = self._all()
        sets = [
            {**dict(zip(_SET, key, strict=True)), "task_set_hash": _set_hash(part)}
            for key, part in tasks.partition_by(*_SET, as_dict=True, maintain_order=True).items()
        ]
        versions = pl.DataFrame(
            sets, schema={"run_id": pl.String, "task_set": pl.String, "task_set_hash": pl.String}
        ).unique(["task_set", "task_set_hash"], keep="first", maintain_order=True)
        return tasks.join(versions, on=_SET, nulls_equal=True, maintain_order="left").select(
            "line", "run_id", "task_set_hash"
        )

    def rows(
        self, results: pl.DataFrame, chosen: pl.DataFrame
    ) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield run id and the rows of `tasks` that are chosen among some results."""
        found = results.unique("line", keep="first", maintain_order=True).join(
            chosen, on=["line", "run_id"], maintain_order="left"
        )
        found = found.with_columns(
            pl.lit(self._suite).alias("suite"), pl.col("task_set").fill_null(self._suite)
        )
        said = pl.struct("suite", "task_set", "task_set_hash", "task_id", "task_hash")
        for (run_id,), part in found.partition_by(
            "run_id", as_dict=True, maintain_order=True
        ).items():
            yield (
                str(run_id),
                part.select(
                    said.struct.json_encode().alias("content_id"),
                    *("suite", "task_set", "task_set_hash", "task_id", "task_hash", *_TEXTS),
                    seq="line",
                ),
            )

    def _all(self) -> pl.DataFrame:
        return pl.concat(self._parts).unique(_TASK, keep="first", maintain_order=True)


def _set_hash(tasks: pl.DataFrame) -> str:
    """Return a hash of a set's tasks, whatever their order."""
    columns = ["task_id", "task_hash"]
    if tasks["cluster"].count():  # Sets without clusters keep the hashes that they have.
        columns.append("cluster")
    said = tasks.select(pl.struct(columns).struct.json_encode()).to_series().sort()
    joined = hashlib.sha256()
    for text in said.to_list():
        joined.update(text.encode())
    return content_hash("task set", joined.hexdigest())
