"""Recognises the files of MT-Bench."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_QUESTION_ID = b'"question_id"'
_JUDGED = (
    (b'"judge_id"', b'"score_turn1"'),
    (b'"judge_id"', b'"winner_ab"'),
    (b'"judge"', b'"score"', b'"judgment"'),
    (b'"judge"', b'"g1_winner"'),
)
# Votes of an arena have the same columns; their questions are not numbered.
_VOTED = (b'"judge"', b'"winner"', b'"conversation_a"')
_NUMBERED = re.compile(rb'"question_id"\s*:\s*[0-9]')
_TABLE = re.compile(rb"(\xef\xbb\xbf)?(judge,en_|language,(judge,protocol|row_type),)")
_REVIEW = re.compile(rb"(\xef\xbb\xbf)?category,n,bleu_mean,")


def is_judged(candidate: Candidate) -> bool:
    """Return whether a file is lines of judgements or votes, of either dialect."""
    is_vote = _is_lines_with(candidate, *_VOTED) and _NUMBERED.search(candidate.head) is not None
    return is_vote or any(_is_lines_with(candidate, *keys) for keys in _JUDGED)


def is_questions(candidate: Candidate) -> bool:
    """Return whether a file is lines of questions."""
    return _is_lines_with(candidate, b'"category"', b'"turns"')


def is_table(candidate: Candidate) -> bool:
    """Return whether a file is a table of figures of judges."""
    return candidate.path.suffix == ".csv" and _TABLE.match(candidate.head) is not None


def is_review(candidate: Candidate) -> bool:
    """Return whether a file is a table about the translation of the questions."""
    return candidate.path.suffix == ".csv" and _REVIEW.match(candidate.head) is not None


def _is_lines_with(candidate: Candidate, *keys: bytes) -> bool:
    return candidate.begins_object_with(_QUESTION_ID, *keys, suffix=".jsonl")


_files = Late("mt_bench.files")
FORMAT = Format(
    "MT-Bench",
    readers={
        316: Reader("MT-Bench judgements", is_judged, _files.read_judged),
        317: Reader("MT-Bench questions", is_questions, _files.read_questions),
        318: Reader("MT-Bench table", is_table, _files.read_table),
        319: Reader(
            "MT-Bench review",
            is_review,
            declining("a review of the questions' translation, which is about no run"),
        ),
    },
    suites=("mt_bench",),
)
