"""Recognises sessions of coding agents: Claude Code, Codex, BenchFlow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_SUMMARY = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"type"\s*:\s*"summary"')
_LINE_KEYS = (b'"sessionId"', b'"uuid"', b'"parentUuid"')
_RESULT_KEYS = (b'"task_name"', b'"rewards"', b'"n_tool_calls"')
_RESULT_NAMES = (b'"n_prompts"', b'"rollout_name"')
_ROLLOUT = re.compile(rb'"type"\s*:\s*"(session_meta|response_item|turn_context)"')
_ROUND_KEYS = (b'"round"', b'"rewards"', b'"n_trajectory_events"')
_ROUNDS_ARE = "rounds of a BenchFlow rollout, whose verdict is in its result.json"


def is_session(candidate: Candidate) -> bool:
    """Return whether a file is a session of Claude Code, or holds only summaries of some."""
    is_summary = _SUMMARY.match(candidate.head) is not None and b'"leafUuid"' in candidate.head
    return is_summary or candidate.begins_object_with(*_LINE_KEYS, suffix=".jsonl")


def is_rollout(candidate: Candidate) -> bool:
    """Return whether a file is a rollout of Codex."""
    is_lines = candidate.begins_object_with(b'"timestamp"', b'"payload"', suffix=".jsonl")
    return is_lines and _ROLLOUT.search(candidate.head) is not None


def is_result(candidate: Candidate) -> bool:
    """Return whether a file is the result of a BenchFlow rollout."""
    is_named = any(name in candidate.head for name in _RESULT_NAMES)
    return is_named and candidate.begins_object_with(*_RESULT_KEYS)


def is_rounds(candidate: Candidate) -> bool:
    """Return whether a file lists the rounds of a BenchFlow rollout."""
    return candidate.begins_object_with(*_ROUND_KEYS, suffix=".jsonl")


FORMAT = Format(
    "coding-agent sessions",
    readers={
        304: Reader("Claude Code session", is_session, Late("sessions.claude").read_session),
        301: Reader("BenchFlow result", is_result, Late("sessions.benchflow").read_result),
        303: Reader("Codex rollout", is_rollout, Late("sessions.codex").read_rollout),
        302: Reader("BenchFlow rounds", is_rounds, declining(_ROUNDS_ARE)),
    },
    suites=("sessions",),
)
