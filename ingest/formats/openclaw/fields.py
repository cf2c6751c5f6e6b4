"""The fields of a line of results.jsonl: their columns, and the values that fit the columns.

A line that matches `FITTING_LINE` is valid JSON with the specification's 23 keys in order, each
once, and values that columns reproduce exactly, so that it can be loaded by columns and need not be
kept as text. The pattern is for RE2, which takes linear time and matches only valid UTF-8 if the
line is declared to be text.
"""

from __future__ import annotations

from dataclasses import dataclass

# A lone surrogate is not UTF-8, but is within RE2's ranges.
_TEXT = r'"(?:[^"\\\x00-\x1f\x{d800}-\x{dfff}]|\\(?:["\\nrtbf]|u00(?:0[1-9a-f]|1[0-9a-f])))*"'
_INTEGER = r"-?(?:0|[1-9][0-9]{0,17})"
_NUMBER = rf"{_INTEGER}(?:\.[0-9]{{1,17}})?(?:e[+-][0-9]{{1,2}})?"
_MOMENT = r"(?:0|[1-9][0-9]{0,13}|-[1-9][0-9]{0,12})"  # milliseconds, years 1653 to 5138
_BOOLEAN = "true|false"
_TEXTS = rf"\[(?:{_TEXT}(?:, {_TEXT})*)?\]"


def _json_value(depth: int) -> str:
    scalar = f"{_TEXT}|{_NUMBER}|{_BOOLEAN}|null"
    if depth == 0:
        return f"(?:{scalar})"
    inner = _json_value(depth - 1)
    item = f"{_TEXT}: {inner}"
    return rf"(?:{scalar}|\[(?:{inner}(?:, {inner})*)?\]|\{{(?:{item}(?:, {item})*)?\}})"


@dataclass(frozen=True, slots=True)
class LineField:
    """A field of a result line.

    Attributes:
        name: its key in the line.
        column: its column in table `results`.
        type: DuckDB's type for it.
        pattern: values that fit the column, apart from `null`.
    """

    name: str
    column: str
    type: str
    pattern: str


FIELDS = (
    LineField("run_id", "run_id", "VARCHAR", _TEXT),
    LineField("provider", "provider", "VARCHAR", _TEXT),
    LineField("model", "model", "VARCHAR", _TEXT),
    LineField("thinking_level", "thinking_level", "VARCHAR", _TEXT),
    LineField("prompt_id", "task_id", "VARCHAR", _TEXT),
    LineField("prompt_name", "task_name", "VARCHAR", _TEXT),
    LineField("availability_status", "availability_status", "VARCHAR", _TEXT),
    LineField("started_at_ms", "started_at", "BIGINT", _MOMENT),
    LineField("ended_at_ms", "ended_at", "BIGINT", _MOMENT),
    LineField("e2e_ms", "e2e_ms", "BIGINT", _INTEGER),
    LineField("ttft_ms", "ttft_ms", "BIGINT", _INTEGER),
    LineField("success", "success", "BOOLEAN", _BOOLEAN),
    LineField("failure_type", "failure_type", "VARCHAR", _TEXT),
    LineField("objective_pass", "objective_pass", "BOOLEAN", _BOOLEAN),
    LineField("violation", "violation", "VARCHAR", _TEXT),
    LineField("input_tokens", "input_tokens", "BIGINT", _INTEGER),
    LineField("output_tokens", "output_tokens", "BIGINT", _INTEGER),
    LineField("raw_output", "raw_output", "VARCHAR", _TEXT),
    LineField("parsed_output", "parsed_output", "JSON", _json_value(2)),
    LineField("tool_calls", "tool_calls", "VARCHAR[]", _TEXTS),
    LineField("tool_call_count", "tool_call_count", "BIGINT", _INTEGER),
    LineField("tool_use_success", "tool_use_success", "BOOLEAN", _BOOLEAN),
)
MOMENTS = ("started_at", "ended_at")
# Their types do not include null. The original writes null for the name of a prompt without one.
NEVER_NULL = frozenset(
    {
        *("run_id", "provider", "model", "prompt_id", "availability_status", "raw_output"),
        *("started_at_ms", "ended_at_ms", "e2e_ms", "success"),
        *("tool_calls", "tool_call_count", "tool_use_success"),
    }
)

KEYS = ("record_type", *(field.name for field in FIELDS))


def _fitting_line() -> str:
    # A line without a run id belongs to the run of its folder, so it is parsed exactly.
    fields = ['"record_type": "result"', f'"run_id": {_TEXT}']
    for field in FIELDS[1:]:
        null = "" if field.name in NEVER_NULL else "null|"
        fields.append(f'"{field.name}": (?:{null}{field.pattern})')
    return r"\A\{" + ", ".join(fields) + r"\}\n\z"


FITTING_LINE = _fitting_line()
