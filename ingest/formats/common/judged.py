"""Rows of logs of judges and of people: tasks and answers once each, ratings, votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from warehouse.core.formats.json_text import canonical_json
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import JsonObject, PreferenceRow, RatingRow, ResultRow, Row, TaskRow

RaterKind: TypeAlias = Literal["human", "judge", "gold", "reward"]
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
        self, task_id: str, prompt: str | None, *, seq: int = 1, **columns: str | None
    ) -> None:
        """Add a task; one that was added before stays as it is.

        Args:
            task_id: its id.
            prompt: what the models were asked.
            seq: its position in the task set, the same in all logs; 1 if it has none.
            columns: text columns of `tasks`, such as `target` and `extra`.
        """
        texts: JsonObject = {"prompt": prompt, **columns}
        task_hash = content_hash("task", canonical_json(texts))
        row: TaskRow = {
            "content_id": content_hash("task", self._set_hash, task_id, task_hash),
            "suite": self.suite,
            "task_set": self.task_set,
            "task_set_hash": self._set_hash,
            "seq": seq,
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
            seq: position of its task, as in `add_task`.
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

    def add_rating(self, row: RatingRow) -> None:
        """Add a rating, of which `task_id`, `rater_kind`, and `value` or `label` are given.

        The rest is added: `criterion` is `overall`, `status` is `ok`.
        """
        self._add("ratings", row)

    def add_vote(self, row: PreferenceRow) -> None:
        """Add a vote, of which `task_id`, `model_a`, `model_b`, `rater_kind`, `outcome` are given.

        Both orders of a presentation are two votes with the same a and b. The rest is added:
        `criterion` is `overall`, `status` is `ok`.
        """
        self._add("preferences", row)

    def _add(self, table: str, row: Row) -> None:
        row = {**_DEFAULTS, **row}
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


_NOT_CONTENT = {"seq", "file_sha256"}
_DEFAULTS: Row = {"criterion": OVERALL, "status": "ok"}


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
