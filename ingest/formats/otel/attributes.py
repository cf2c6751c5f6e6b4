"""Attributes of spans: which names mean what, and their values, whoever wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.binary import hash_of_binary, without_binary
from ingest.formats.common.fields import (
    finite_number,
    inner,
    known_sum,
    list_of,
    object_of,
    whole_number,
)
from ingest.formats.common.records import decoded
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warehouse.core.types import Json, JsonObject

# The names of each meaning; of those that a span has, the first counts.
NAMES: dict[str, tuple[str, ...]] = {
    "operation": (
        *("gen_ai.operation.name", "openinference.span.kind", "llm.request.type"),
        *("traceloop.span.kind", "langfuse.observation.type"),
    ),
    "model": (
        *("gen_ai.response.model", "ai.response.model", "llm.model_name"),
        *("gen_ai.request.model", "ai.model.id"),
    ),
    "provider": (
        *("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
        "ai.model.provider",
    ),
    "input_tokens": (
        *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
        *("llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"),
    ),
    "output_tokens": (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        *("llm.token_count.completion", "llm.usage.completion_tokens"),
        *("ai.usage.outputTokens", "ai.usage.completionTokens"),
    ),
    "cached_tokens": (
        *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        *("llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"),
        "gen_ai.usage.details.cache_read_tokens",
    ),
    "reasoning_tokens": (
        *("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
        *("llm.token_count.completion_details.reasoning", "ai.usage.reasoningTokens"),
        "gen_ai.usage.details.reasoning_tokens",
    ),
    "cost": ("llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.total_cost"),
    "input_cost": ("llm.cost.prompt", "gen_ai.usage.input_cost"),
    "output_cost": ("llm.cost.completion", "gen_ai.usage.output_cost"),
    "input": (
        *("input.value", "traceloop.entity.input", "gen_ai.input", "ai.prompt"),
        *("langfuse.observation.input", "gen_ai.input.messages"),
    ),
    "output": (
        *("output.value", "traceloop.entity.output", "gen_ai.output", "ai.response.text"),
        *("ai.response.object", "langfuse.observation.output", "gen_ai.output.messages"),
    ),
    "tool": ("gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name"),
    "call_id": ("gen_ai.tool.call.id", "tool.id", "tool_call.id", "ai.toolCall.id"),
    "arguments": (
        *("gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool_call.function.arguments"),
        *("ai.toolCall.args", "tool_arguments", "input.value", "traceloop.entity.input"),
        "langfuse.observation.input",
    ),
    "result": (
        *("gen_ai.tool.call.result", "gen_ai.tool.result", "ai.toolCall.result", "tool_response"),
        *("output.value", "gen_ai.output", "traceloop.entity.output"),
        "langfuse.observation.output",
    ),
    "agent": ("gen_ai.agent.name", "agent.name", "agent_name", "traceloop.entity.name"),
    "agent_version": ("gen_ai.agent.version",),
    "response_id": ("gen_ai.response.id", "ai.response.id"),
    "error": ("error.type", "exception.type"),
    "task": (
        *("evals.task.id", "eval.task.id", "evaluation.task.id", "benchmark.task.id"),
        *("task.id", "task_id", "metadata.task_id", "langfuse.trace.metadata.task_id"),
        *("ai.telemetry.metadata.taskId", "langfuse.experiment.item.id", "dataset.item.id"),
    ),
    "task_set": (
        *("evals.task.set", "evals.dataset", "benchmark.name", "dataset.name"),
        "langfuse.experiment.dataset.name",
    ),
    "run": (
        *("evals.run.id", "eval.run.id", "evaluation.run.id", "benchmark.run.id"),
        *("langfuse.experiment.name", "langfuse.experiment.id"),
    ),
    "attempt": ("evals.attempt", "evals.trial.index", "evals.epoch"),
}
_SCALARS = ("stringValue", "boolValue", "doubleValue")
_WORD = 2**32
_MOST_DIGITS = 30


def first(attributes: Mapping[str, Json], meaning: str) -> Json:
    """Return the value of a meaning: that of the first of its names; None for none."""
    for name in NAMES[meaning]:
        if (value := attributes.get(name)) not in (None, ""):
            return value
    return None


def text(attributes: Mapping[str, Json], meaning: str) -> str | None:
    """Return the value of a meaning if it is a text, or a number, which may be an id."""
    value = first(attributes, meaning)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return utf8(value) if isinstance(value, str) else None


def integer(value: Json) -> int | None:
    """Return an integer of any size: a number, digits, or a JavaScript Long of two words."""
    if isinstance(value, dict):
        low, high = integer(value.get("low")), integer(value.get("high"))
        return None if low is None or high is None else high * _WORD + low % _WORD
    if isinstance(value, str):
        digits = value.removeprefix("-")
        return int(value) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(attributes: Mapping[str, Json], meaning: str) -> int | None:
    """Return a count of tokens; None if it is none."""
    found = whole_number(integer(first(attributes, meaning)))
    return None if found is None or found < 0 else found


def cost(attributes: Mapping[str, Json]) -> float | None:
    """Return the cost of a call, US dollars: the total, or the sum of its parts."""
    total, *parts = (
        finite_number(first(attributes, name)) for name in ("cost", "input_cost", "output_cost")
    )
    return known_sum(parts) if total is None else total


def any_value(value: Json) -> Json:
    """Return the value of an OTLP attribute: `{"stringValue": "a"}` and the like."""
    given = object_of(value)
    for name in _SCALARS:
        if name in given:
            return without_binary(given[name])
    if "intValue" in given:
        return integer(given["intValue"])
    if "arrayValue" in given:
        return [any_value(each) for each in list_of(inner(given["arrayValue"], "values"))]
    if "kvlistValue" in given:
        return key_values(inner(given["kvlistValue"], "values"))
    if "bytesValue" in given:
        return hash_of_binary(str(given["bytesValue"]))
    return None


def key_values(pairs: Json) -> JsonObject:
    """Return OTLP attributes as an object; an object as it is, without binary values."""
    if isinstance(pairs, dict):
        return {str(name): without_binary(value) for name, value in pairs.items()}
    given = [object_of(pair) for pair in list_of(pairs)]
    return {
        utf8(pair["key"]): any_value(pair.get("value"))
        for pair in given
        if isinstance(pair.get("key"), str)
    }


def flat(attributes: JsonObject) -> JsonObject:
    """Return attributes with one name for each value: `{"a": {"b": [{"c": 1}]}}` has `a.b.0.c`."""
    return dict(_leaves("", attributes))


def _leaves(prefix: str, value: Json) -> Iterator[tuple[str, Json]]:
    items: Iterator[tuple[object, Json]] | None = None
    if isinstance(value, dict) and value:
        items = iter(value.items())
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        items = iter(enumerate(value))
    if items is None:
        yield prefix, value
        return
    if prefix:
        yield prefix, value
    for name, each in items:
        yield from _leaves(f"{prefix}.{name}" if prefix else str(name), each)


def nested(attributes: Mapping[str, Json], prefix: str) -> list[Json]:
    """Return the list of which attributes hold the leaves: `PREFIX.0.role`, `PREFIX.1.role`."""
    tree: JsonObject = {}
    start = f"{prefix}."
    for name in attributes:
        if not name.startswith(start) or isinstance(attributes[name], dict):
            continue
        node = tree
        *path, last = name.removeprefix(start).split(".")
        for part in path:
            below = node.setdefault(part, {})
            node = below if isinstance(below, dict) else {}
        node.setdefault(last, attributes[name])
    found = _lists(tree)
    return list(found) if isinstance(found, list) else []


def _lists(tree: Json) -> Json:
    if not isinstance(tree, dict):
        return tree
    if tree and all(name.isdecimal() for name in tree):
        return [_lists(tree[name]) for name in sorted(tree, key=int)]
    return {name: _lists(value) for name, value in tree.items()}


def unpacked(value: Json) -> Json:
    """Return what a JSON text holds, without binary values; any other value as it is."""
    found = decoded(value, "{", "[")
    return value if found is value else without_binary(found)
