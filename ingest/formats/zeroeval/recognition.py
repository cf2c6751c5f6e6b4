"""Recognises the answers of ZeroEval, a file for each model, and its summaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_ANSWER = (b'"session_id"', b'"chat_history"', b'"output"', b'"generator"', b'"dataset"')
_SUMMARY = re.compile(rb'(\xef\xbb\xbf)?\s*\[\s*\{\s*"Model"\s*:\s*"[^"]*",\s*"Mode"\s*:\s*"')


def is_answers(candidate: Candidate) -> bool:
    """Return whether a file is the answers of a model."""
    return candidate.begins_list_with(*_ANSWER)


def is_summary(candidate: Candidate) -> bool:
    """Return whether a file is the summary of a board."""
    named = candidate.path.name.endswith(".summary.json")
    return named and _SUMMARY.match(candidate.head) is not None


_answers = Late("zeroeval.answers")
FORMAT = Format(
    "ZeroEval",
    readers={
        337: Reader("ZeroEval answers", is_answers, _answers.read_answers),
        338: Reader("ZeroEval summary", is_summary, _answers.read_summary),
    },
    suites=("zeroeval",),
)
