"""Rows of logs of judges and of people: tasks and answers once each, ratings, votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ingest.formats.common.documents import run_reading
from ingest.formats.common.fields import task_position
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ingest.formats.common.collector import RowCollector
    from ingest.reading import Block, Reading
    from warehouse.core.types import (
        JsonObject,
        PreferenceRow,
        RatingRow,
        ResultRow,
        Row,
        RunRow,
        TaskRow,
    )
    from warehouse.lake.batch import RunKey

Status: TypeAlias = Literal["ok", "unparsed", "error", "not_applicable"]
Outcome: TypeAlias = Literal["a", "b", "tie", "both_bad"]
Side: TypeAlias = Literal["a", "b"]

OVERALL = "overall"


class JudgedRows:
    """Adds the rows of one run of a suite: what was asked, answered, and how it was judged.

    An answer is the same in every file and run that has its task, model and text: so the votes of
    several judges meet. Without a text there is no row of `results`, and models are named only.

    Attributes:
        suite: the suite.
        task_set: the task set of all tasks.
        rows: collects the rows.
    """

    def __init__(self, suite: str, task_set: str, rows: RowCollector) -> None:
        self.suite = suite
        self.task_set = task_set
        self.rows = rows
        self._set_hash = content_hash(suite, task_set)

    def add_task(
        self, task_id: str, prompt: str | None, *, seq: int | None = None, **columns: str | None
    ) -> None:
        """Add a task; one that was added before stays as it is.

        Args:
            task_id: its id.
            prompt: what the models were asked.
            seq: its position in the task set, the same in all logs; by default, that in its id.
            columns: text columns of `tasks`, such as `target` and `extra`.
        """
        texts: JsonObject = {"prompt": prompt, **columns}
        task_hash = content_hash("task", canonical_json(texts))
        row: TaskRow = {
            "content_id": content_hash("task", self._set_hash, task_id, task_hash),
            "suite": self.suite,
            "task_set": self.task_set,
            "task_set_hash": self._set_hash,
            "seq": task_position(task_id) if seq is None else seq,
            "task_id": task_id,
            "task_hash": task_hash,
            "prompt": prompt,
        }
        self.rows.add("tasks", {**row, **columns})

    def add_answer(self, task_id: str, model: str, text: str | None, *, seq: int = 1) -> str | None:
        """Add an answer, once; return the id of its result, None without a text.

        Args:
            task_id: id of its task.
            model: the model that gave it.
            text: the answer.
            seq: position of its task; 1 if it has none.
        """
        if text is None:
            return None
        found = content_hash("answer", self._set_hash, task_id, model, text)
        row: ResultRow = {
            "content_id": found,
            "suite": self.suite,
            "run_id": self.rows.run_id,
            "seq": seq,
            "model": model,
            "task_set": self.task_set,
            "task_id": task_id,
            "raw_output": text,
            "success": True,
        }
        self.rows.add("results", row)
        return found

    def add_pair(
        self,
        task_id: str,
        pair_id: str | None,
        models: Sequence[str],
        texts: Sequence[str | None],
        seq: int,
    ) -> PreferenceRow:
        """Add two answers to a task; return the columns that all votes on them share.

        Args:
            task_id: id of the task.
            pair_id: id of the pair.
            models: the models of a and b.
            texts: their answers.
            seq: position of the pair in its file, from 1.
        """
        answers = [self.add_answer(task_id, *each) for each in zip(models, texts, strict=True)]
        return {
            "task_id": task_id,
            "pair_id": pair_id,
            "model_a": models[0],
            "model_b": models[1],
            "result_a": answers[0],
            "result_b": answers[1],
            "seq": seq,
        }

    def add_rating(self, row: RatingRow) -> None:
        """Add a rating, of which `task_id`, `rater_kind`, and `value` or `label` are given.

        The rest is added: `criterion` is `overall`, `status` is `ok`; without a value and a label
        it is `unparsed`.
        """
        self._add("ratings", row)

    def add_vote(self, row: PreferenceRow) -> None:
        """Add a vote, of which `task_id`, `model_a`, `model_b`, `rater_kind`, `outcome` are given.

        Both orders of a presentation are two votes with the same a and b. The rest is added:
        `criterion` is `overall`, `status` is `ok`; without an outcome it is `unparsed`.
        """
        self._add("preferences", row)

    def _add(self, table: str, row: Row) -> None:
        is_given = any(row.get(name) is not None for name in _GIVEN)
        row = {"criterion": OVERALL, "status": "ok" if is_given else "unparsed", **row}
        content = [(name, str(row[name])) for name in sorted(row) if name not in _NOT_CONTENT]
        self.rows.add(
            table,
            {
                **row,
                "suite": self.suite,
                "run_id": self.rows.run_id,
                "task_set": self.task_set,
                "content_id": self.rows.id_of(table, self.task_set, content),
            },
        )


def judged_reading(
    name: str,
    run: RunKey,
    paths: tuple[Path, ...],
    blocks: Callable[[], Iterator[Block]],
    header: RunRow,
) -> Reading:
    """Return the reading of a run that is streamed.

    Args:
        name: name of the format, for people.
        run: suite and id of the run.
        paths: the files that the blocks are read from; the first is the run's source.
        blocks: reads them.
        header: other columns of `runs`.
    """
    row: RunRow = {"suite": run[0], "run_id": run[1], "source_name": utf8(paths[0].name)}
    row |= header
    return run_reading(name, row, paths, _TABLES, blocks)


_TABLES = ("results", "ratings", "preferences", "tasks")


def side_of(position: Outcome | None, first_shown: Side) -> Outcome | None:
    """Return the better answer, where a judge named it by its position.

    Args:
        position: a for the answer shown first, b for the other.
        first_shown: which answer was shown first.
    """
    return position if first_shown == "a" else _OTHERS.get(position, position)


_OTHERS: dict[Outcome | None, Outcome] = {"a": "b", "b": "a"}
_NOT_CONTENT = {"seq", "file_sha256"}
_GIVEN = ("outcome", "value", "label")


def rater_config(
    *,
    model: str | None = None,
    prompt: str | None = None,
    with_reference: bool | None = None,
    **more: str | None,
) -> str | None:
    """Return the configuration of a judge as JSON; None if nothing is known.

    Args:
        model: the model that judges.
        prompt: name or hash of its prompt.
        with_reference: whether it was shown a reference answer.
        more: what else the log records.
    """
    found = {"model": model, "prompt": prompt, "with_reference": with_reference, **more}
    known: JsonObject = {name: value for name, value in found.items() if value is not None}
    return canonical_json(known) if known else None
