"""The steps of ATIF trajectories as rows, and what the steps of each trajectory come to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import (
    Fields,
    inner,
    known_sum,
    list_of,
    text_of,
    texts_of,
    whole_number,
)

if TYPE_CHECKING:
    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, StepRow

_KINDS = {"system": "system", "user": "user", "agent": "model"}
_Column = Literal["input_tokens", "output_tokens", "cached_tokens", "cost_usd"]
_SUMS: dict[str, _Column] = {
    "total_prompt_tokens": "input_tokens",
    "total_completion_tokens": "output_tokens",
    "total_cached_tokens": "cached_tokens",
    "total_cost_usd": "cost_usd",
}
# The totals that steps say.
FIGURES = {*_SUMS, "total_steps"}


@dataclass(slots=True)
class Totals:
    """The sums over the steps of a trajectory; None where no step has any.

    Attributes:
        sums: by the name that the document gives to its total.
        n_steps: number of steps, copied ones included.
    """

    sums: dict[str, float | None] = field(default_factory=dict)
    n_steps: int = 0

    def add(self, row: StepRow) -> None:
        """Add a step."""
        self.n_steps += 1
        for name, column in _SUMS.items():
            self.sums[name] = known_sum((self.sums.get(name), row[column]))

    def total(self, name: str) -> float | None:
        """Return the sum for a total of the document."""
        return self.n_steps if name == "total_steps" else self.sums.get(name)


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
        called = [text_of(inner(call, "tool_call_id")) for call in calls]
        sources = [text_of(inner(result, "source_call_id")) for result in results]
        for call, call_id in zip(calls, called, strict=True):
            answers = [
                result
                for result, source in zip(results, sources, strict=True)
                if source == call_id and call_id is not None
            ]
            self._add_part(row, call, answers)
        for result, source in zip(results, sources, strict=True):
            if source is None or source not in called:
                self._add_part(row, None, [result])

    def _step(self, step: Json, fields: Fields, trajectory: Trajectory, step_id: str) -> StepRow:
        metrics = fields.inside("metrics")
        kind = _KINDS.get(str(fields.peek("source")), "other")
        if kind != "other":
            fields.drop("source")
        if kind == "model" and fields.peek("llm_call_count") == 0:
            kind = "agent"
        message = fields.value("message")
        parts = None if isinstance(message, str | None) else without_binary(message)
        self._seq += 1
        row: StepRow = {
            "content_id": self._rows.id_of("step", self._result_id, step_id, step),
            "result_id": self._result_id,
            "seq": self._seq,
            "trajectory": trajectory.name,
            "step_id": step_id,
            "agent": trajectory.agent,
            "kind": kind,
            "role": None if trajectory.is_part or kind != "model" else "subagent",
            "model": fields.text("model_name") or (trajectory.model if kind == "model" else None),
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
        }
        row["extra"] = fields.extra(parts=parts)
        return row

    def _add_part(self, step: StepRow, call: Json, results: list[Json]) -> None:
        """Add a call of a tool with its results, or a result without a call."""
        fields, answers = Fields(call), [Fields(result) for result in results]
        contents = [answer.value("content") for answer in answers]
        text = texts_of(list(map(texts_of, contents)))
        call_id = fields.text("tool_call_id")
        for answer in answers:
            call_id = answer.text("source_call_id") or call_id
        codes = [whole_number(inner(answer.peek("extra"), "exit_code")) for answer in answers]
        is_error = any(inner(answer.peek("extra"), "is_error") is True for answer in answers)
        left = [answer.left() for answer in answers]
        others = [without_binary(each) for each in contents if not isinstance(each, str | None)]
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
            "arguments": fields.json("arguments"),
            "text": text,
            "error": (text or "error") if is_error else None,
            "exit_code": next((code for code in codes if code is not None), None),
            "is_copied": step["is_copied"],
            "is_counted": False,
        }
        row["extra"] = fields.extra(
            results=[each for each in left if each] or None, parts=others or None
        )
        self._rows.add("steps", row)
