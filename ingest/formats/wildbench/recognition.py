"""Recognises the files of WildBench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


def is_judged(candidate: Candidate) -> bool:
    """Return whether a file is a list of scores, or of battles."""
    return candidate.begins_list_with(b'"session_id"', b'"parsed_result"')


def is_leaderboard(candidate: Candidate) -> bool:
    """Return whether a file has the figures of models."""
    return candidate.begins_object_with(b'"avg_len"', b'"task_categorized_')


_files = Late("wildbench.files")
FORMAT = Format(
    "WildBench",
    readers={
        314: Reader("WildBench judgements", is_judged, _files.read_judged),
        315: Reader("WildBench leaderboard", is_leaderboard, _files.read_leaderboard),
    },
    suites=("wildbench",),
)
