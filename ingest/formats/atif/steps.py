"""The steps of ATIF trajectories as rows, and what the steps of each trajectory come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import (
    Fields,
    list_of,
    object_of,
    text_of,
    texts_of,
    whole_number,
)
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, StepRow

_KINDS = {"system": "system", "user": "user", "agent": "model"}


@dataclass(slots=True)
class Totals:
    """The sums over the steps of a trajectory; None where no step has any.

    Attributes:
        n_steps: number of steps, copied ones included.
    """

    n_steps: int = 0
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    cached_tokens: float | None = None
    cost_usd: float | None = None

    def add(self, row: StepRow) -> None:
        """Add a step."""
        self.n_steps += 1
        self.prompt_tokens = plus(self.prompt_tokens, row["input_tokens"])
        self.completion_tokens = plus(self.completion_tokens, row["output_tokens"])
        self.cached_tokens = plus(self.cached_tokens, row["cached_tokens"])
        self.cost_usd = plus(self.cost_usd, row["cost_usd"])


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Whose steps are read.

    Attributes:
        name: name of the trajectory in its trial; None for the main one.
        agent: the agent, where it is not the trial's.
        model: model of the steps that name none.
        is_part: whether it continues the main one or is it; else it is of a sub-agent.
    """

    name: str | None
    agent: str | None
    model: str | None
    is_part: bool = True


class StepRows:
    """Makes rows of the steps of one trial.

    Args:
        rows: collects them.
        result_id: the trial.
    """

    def __init__(self, rows: RowCollector, result_id: str) -> None:
        self._rows = rows
        self._result_id = result_id
        self._seq = 0

    def add(self, step: Json, trajectory: Trajectory, totals: Totals) -> None:
        """Add the rows of a step: itself, its calls of tools, other observations."""
        fields = Fields(step)
        number = fields.integer("step_id")
        name = str(totals.n_steps + 1 if number is None else number)
        step_id = name if trajectory.name is None else f"{trajectory.name}/{name}"
        calls = list_of(fields.value("tool_calls"))
        results = list_of(fields.inside("observation").value("results"))
        row = self._step(step, fields, trajectory, step_id)
        totals.add(row)
        self._rows.add("steps", row)
        called = {text_of(object_of(call).get("tool_call_id")) for call in calls}
        for call in calls:
            call_id = text_of(object_of(call).get("tool_call_id"))
            answers = [each for each in results if _source(each) == call_id and call_id is not None]
            self._add_part(row, call, answers)
        for result in results:
            if _source(result) is None or _source(result) not in called:
                self._add_part(row, None, [result])

    def _step(self, step: Json, fields: Fields, trajectory: Trajectory, step_id: str) -> StepRow:
        metrics = fields.inside("metrics")
        source = fields.text("source")
        kind = _KINDS.get(source or "", "other")
        if source not in _KINDS and source is not None:
            fields = Fields({**fields.left(), "source": source})
        if kind == "model" and fields.peek("llm_call_count") == 0:
            kind = "agent"
        message = fields.value("message")
        self._seq += 1
        model = fields.text("model_name")
        row: StepRow = {
            "content_id": self._rows.id_of("step", self._result_id, step_id, step),
            "result_id": self._result_id,
            "seq": self._seq,
            "trajectory": trajectory.name,
            "step_id": step_id,
            "parent_id": None,
            "agent": trajectory.agent,
            "kind": kind,
            "role": None if trajectory.is_part or kind != "model" else "subagent",
            "model": model or (trajectory.model if kind == "model" else None),
            "started_at": fields.moment("timestamp"),
            "input_tokens": metrics.integer("prompt_tokens"),
            "cached_tokens": metrics.integer("cached_tokens"),
            "output_tokens": metrics.integer("completion_tokens"),
            "cost_usd": metrics.number("cost_usd"),
            "text": texts_of(message),
            "reasoning": fields.text("reasoning_content"),
            "is_copied": fields.boolean("is_copied_context") or False,
            # The steps of a sub-agent are inside of one of the trial's.
            "is_counted": trajectory.is_part,
            "extra": None,
        }
        parts = None if isinstance(message, str | None) else without_binary(message)
        row["extra"] = fields.extra(parts=parts)
        return row

    def _add_part(self, step: StepRow, call: Json, results: list[Json]) -> None:
        """Add a call of a tool with its results, or a result without a call."""
        fields, answers = Fields(call), [Fields(result) for result in results]
        contents = [answer.value("content") for answer in answers]
        texts = [text for text in map(texts_of, contents) if text is not None]
        text = "\n".join(texts) if texts else None
        call_id = fields.text("tool_call_id")
        for answer in answers:
            call_id = answer.text("source_call_id") or call_id
        marks = [object_of(answer.peek("extra")) for answer in answers]
        codes = [whole_number(mark.get("exit_code")) for mark in marks]
        is_error = any(mark.get("is_error") is True for mark in marks)
        left = [answer.left() for answer in answers]
        others = [without_binary(each) for each in contents if not isinstance(each, str | None)]
        arguments = fields.value("arguments")
        self._seq += 1
        row: StepRow = {
            "content_id": self._rows.id_of("part", step["content_id"], self._seq, call, results),
            "result_id": self._result_id,
            "seq": self._seq,
            "trajectory": step["trajectory"],
            "step_id": f"{step['step_id']}.{self._seq}",
            "parent_id": step["step_id"],
            "agent": step["agent"],
            "kind": "sandbox" if call is None else "tool",
            "name": fields.text("function_name"),
            "started_at": step["started_at"],
            "call_id": call_id,
            "arguments": None if arguments is None else json_text(arguments),
            "text": text,
            "error": (text or "error") if is_error else None,
            "exit_code": next((code for code in codes if code is not None), None),
            "is_copied": step["is_copied"],
            "is_counted": False,
            "extra": None,
        }
        row["extra"] = fields.extra(
            results=[each for each in left if each] or None, parts=others or None
        )
        self._rows.add("steps", row)


def plus(total: float | None, value: float | None) -> float | None:
    """Return a sum of which either part may be unknown."""
    if value is None:
        return total
    return value if total is None else total + value


def _source(result: Json) -> str | None:
    return text_of(object_of(result).get("source_call_id"))
