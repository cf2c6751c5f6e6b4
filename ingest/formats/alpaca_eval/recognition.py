"""Recognises the files of AlpacaEval."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_LEADERBOARD = re.compile(rb'(\xef\xbb\xbf)?("")?,[^\n]*\bwin_rate\b[^\n]*\bn_total\b')


def is_annotations(candidate: Candidate) -> bool:
    """Return whether a file is a list of annotations."""
    return candidate.begins_list_with(b'"instruction"', b'"output_1"', b'"generator_1"')


def is_outputs(candidate: Candidate) -> bool:
    """Return whether a file is a list of one model's answers."""
    is_named = candidate.path.name == "model_outputs.json"
    return is_named and candidate.begins_list_with(b'"instruction"', b'"output"', b'"generator"')


def is_leaderboard(candidate: Candidate) -> bool:
    """Return whether a file is a leaderboard, in which a column without a name has the models."""
    return candidate.path.suffix == ".csv" and _LEADERBOARD.match(candidate.head) is not None


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
