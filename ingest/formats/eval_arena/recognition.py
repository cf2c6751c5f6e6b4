"""Recognises eval-arena's JSON lines: a benchmark, a model, an item and a share of attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_KEYS = (b'"benchmark_id"', b'"model"', b'"example_id"', b'"pass1"', b'"count"')


def is_cells(candidate: Candidate) -> bool:
    """Return whether a file is lines of shares of attempts."""
    return candidate.begins_object_with(*_KEYS, suffix=".jsonl")


FORMAT = Format(
    "eval-arena",
    readers={331: Reader("eval-arena items", is_cells, Late("eval_arena.cells").read_cells)},
    suites=("eval-arena",),
)
