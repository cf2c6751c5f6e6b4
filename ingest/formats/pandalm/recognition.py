"""Recognises the test set of PandaLM, and the verdicts of its judges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_PAIRS = re.compile(rb'(\xef\xbb\xbf)?\s*\[\s*\{\s*"idx".*?"cmp_key".*?"annotator1"', re.DOTALL)
_VERDICTS = re.compile(rb'(\xef\xbb\xbf)?\s*\[\s*\{\s*"idx"\s*:\s*\d+,\s*"\w+_result"\s*:')


def is_pairs(candidate: Candidate) -> bool:
    """Return whether a file is pairs with the votes of people."""
    return candidate.path.suffix == ".json" and _PAIRS.match(candidate.head) is not None


def is_verdicts(candidate: Candidate) -> bool:
    """Return whether a file is the verdicts of a judge."""
    return candidate.path.suffix == ".json" and _VERDICTS.match(candidate.head) is not None


_files = Late("pandalm.files")
FORMAT = Format(
    "PandaLM",
    readers={
        324: Reader("PandaLM test set", is_pairs, _files.read_pairs),
        325: Reader("PandaLM verdicts", is_verdicts, _files.read_verdicts),
    },
    suites=("pandalm",),
)
