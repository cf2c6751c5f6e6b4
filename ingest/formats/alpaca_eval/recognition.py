"""Recognises the files of AlpacaEval."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_LIST = re.compile(rb"(\xef\xbb\xbf)?\s*\[\s*\{")
_ANNOTATION = (b'"instruction"', b'"output_1"', b'"generator_1"')
_OUTPUT = (b'"instruction"', b'"output"', b'"generator"')
_LEADERBOARD = re.compile(rb'(\xef\xbb\xbf)?("")?,[^\n]*\bwin_rate\b[^\n]*\bn_total\b')


def is_annotations(candidate: Candidate) -> bool:
    """Return whether a file is a list of annotations."""
    return _is_list_with(candidate, _ANNOTATION)


def is_outputs(candidate: Candidate) -> bool:
    """Return whether a file is a list of one model's answers."""
    return _is_list_with(candidate, _OUTPUT) and candidate.path.name == "model_outputs.json"


def is_leaderboard(candidate: Candidate) -> bool:
    """Return whether a file is a leaderboard, in which a column without a name has the models."""
    return candidate.path.suffix == ".csv" and _LEADERBOARD.match(candidate.head) is not None


def _is_list_with(candidate: Candidate, keys: tuple[bytes, ...]) -> bool:
    head = candidate.head if candidate.path.suffix == ".json" else b""
    return _LIST.match(head) is not None and all(key in head for key in keys)


_files = Late("alpaca_eval.files")
FORMAT = Format(
    "AlpacaEval",
    readers={
        311: Reader("AlpacaEval annotations", is_annotations, _files.read_annotations),
        312: Reader("AlpacaEval leaderboard", is_leaderboard, _files.read_leaderboard),
        313: Reader(
            "AlpacaEval outputs",
            is_outputs,
            declining("answers of a model; its annotations have them, too"),
        ),
    },
    suites=("alpaca_eval",),
)
