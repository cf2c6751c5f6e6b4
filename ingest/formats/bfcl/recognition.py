"""Recognises the files of BFCL: results, scores, and the tables of its leaderboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_JSON = {".json", ".jsonl", ".ndjson"}
_RESULT_NAME = re.compile(r"BFCL_.*_result|.*_result_.*")
_COUNTS = (b'"input_token_count"', b'"output_token_count"', b'"latency"')
_SCORE = re.compile(rb'\s*\{[^\n]*"(correct_count|total_count)"\s*:')
_RESULT = re.compile(rb'\s*\{\s*"id"\s*:\s*"[^\n]*"result"\s*:')
_TABLE = re.compile(rb"(\xef\xbb\xbf)?(Rank,)?([^\n]*,)?Model,")
_TABLE_NAME = re.compile(r"data_[a-z_]+\.csv")


def is_results(candidate: Candidate) -> bool:
    """Return whether a file holds the results of a category."""
    head, name = candidate.head, candidate.path.stem
    return (
        candidate.path.suffix in _JSON
        and _RESULT.match(head) is not None
        and (_RESULT_NAME.fullmatch(name) is not None or any(word in head for word in _COUNTS))
    )


def is_scores(candidate: Candidate) -> bool:
    """Return whether a file holds the scores of a category."""
    return (
        candidate.path.suffix in _JSON
        and b'"accuracy"' in candidate.head
        and _SCORE.match(candidate.head) is not None
    )


def is_without_ids(candidate: Candidate) -> bool:
    """Return whether a file holds results without ids, or none at all."""
    return (
        candidate.is_file
        and candidate.path.suffix in _JSON
        and _RESULT_NAME.fullmatch(candidate.path.stem) is not None
        and (not candidate.head.strip() or candidate.head.lstrip().startswith(b"["))
    )


def is_table(candidate: Candidate) -> bool:
    """Return whether a file is a table of the leaderboard."""
    return (
        _TABLE_NAME.fullmatch(candidate.path.name) is not None
        and _TABLE.match(candidate.head) is not None
    )


_files = Late("bfcl.files")
FORMAT = Format(
    "BFCL",
    readers={
        100: Reader("BFCL results", is_results, _files.read_results),
        110: Reader("BFCL scores", is_scores, _files.read_scores),
        120: Reader("BFCL results without ids", is_without_ids, _files.decline_without_ids),
        130: Reader("BFCL leaderboard", is_table, _files.read_table),
    },
    suites=("bfcl",),
)
