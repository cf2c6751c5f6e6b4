"""Recognises OpenClaw's files: a folder `runs/<run_id>/`, a results.jsonl by itself, prompts."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import Candidate
    from warehouse.core.types import JsonObject

LOG = "results.jsonl"

_RECORD_TYPES = ("result", "event")
# The first line may be longer than the head of the file.
_FIRST_RECORD = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"record_type"\s*:\s*"(result|event)"')
# Objects with these keys are results: a table.
_RESULT_KEYS = re.compile(rb'"(model|output|response|completion|score|passed)"\s*:')
# An export writes this for a run that never had the file.
_RECONSTRUCTED = {"reconstructed", "run_id"}
_CONFIG_WORDS = {"prompts_path", "ollama_models", "openai_model", "targets", "timeout_s"}
_INVENTORY_WORDS = {"ollama_list", "ollama_models", "claude_version", "host"}


def is_run(candidate: Candidate) -> bool:
    """Return whether a folder is a run's."""
    return candidate.is_folder and (
        _has_records(candidate.inside(LOG))
        or (
            _has_words(candidate.inside("config.json"), _CONFIG_WORDS | _RECONSTRUCTED)
            and _has_words(candidate.inside("inventory.json"), _INVENTORY_WORDS | _RECONSTRUCTED)
        )
    )


def is_log(candidate: Candidate) -> bool:
    """Return whether a file is a log of results."""
    return candidate.path.suffix in {".jsonl", ".ndjson"} and _has_records(candidate)


def is_prompts(candidate: Candidate) -> bool:
    """Return whether a file is a prompt file."""
    return (
        candidate.path.suffix == ".json"
        and candidate.head.lstrip().startswith(b"[")
        and b'"prompt"' in candidate.head
        and b'"id"' in candidate.head
        and not _RESULT_KEYS.search(candidate.head)
    )


def first_records(log: Candidate) -> Iterator[JsonObject]:
    """Yield the records at the start of a log that can be read."""
    for line in log.head.splitlines():
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _has_records(log: Candidate) -> bool:
    if _FIRST_RECORD.match(log.head):
        return True
    return any(record.get("record_type") in _RECORD_TYPES for record in first_records(log))


def _has_words(document: Candidate, words: set[str]) -> bool:
    return sum(f'"{word}"'.encode() in document.head for word in words) > 1
