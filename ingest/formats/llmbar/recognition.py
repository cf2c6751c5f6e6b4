"""Recognises the pairs of LLMBar, judged or not, and the statistics next to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_LIST = re.compile(rb"(\xef\xbb\xbf)?\s*\[\s*\{")
_FIGURES = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"correct_False"\s*:\s*"')
_KEYS = (b'"input"', b'"output_1"', b'"output_2"', b'"label"')


def is_pairs(candidate: Candidate) -> bool:
    """Return whether a file is a list of pairs."""
    head = candidate.head if candidate.path.suffix == ".json" else b""
    return _LIST.match(head) is not None and all(key in head for key in _KEYS)


def is_statistics(candidate: Candidate) -> bool:
    """Return whether a file is the figures of a judge."""
    return _FIGURES.match(candidate.head) is not None


FORMAT = Format(
    "LLMBar",
    readers={
        322: Reader("LLMBar pairs", is_pairs, Late("llmbar.pairs").read_pairs),
        323: Reader("LLMBar statistics", is_statistics, Late("llmbar.statistics").read_statistics),
    },
    suites=("llmbar",),
)
