"""Recognises the pairs of JudgeBench, with a judge's verdicts or without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_KEYS = (b'"pair_id"', b'"original_id"', b'"response_model"', b'"response_A"')


def is_pairs(candidate: Candidate) -> bool:
    """Return whether a file is pairs of answers, one in each line."""
    return candidate.begins_object_with(*_KEYS, suffix=".jsonl")


FORMAT = Format(
    "JudgeBench",
    readers={321: Reader("JudgeBench pairs", is_pairs, Late("judgebench.pairs").read_pairs)},
    suites=("judgebench",),
)
