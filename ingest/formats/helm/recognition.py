"""Recognises run folders of HELM, the tables of its suites, and what repeats them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_WORDS = (b'"title"', b'"header"', b'"markdown"')


def is_table(candidate: Candidate) -> bool:
    """Return whether a file is a table, or a list of tables."""
    if candidate.path.suffix != ".json" or candidate.head.lstrip()[:1] not in {b"{", b"["}:
        return False
    return all(word in candidate.head for word in _WORDS)


_layout = Late("helm.layout")
_SUMMARY_IS = "made by HELM of runs, which have all of it"
FORMAT = Format(
    "HELM",
    readers={
        40: Reader("HELM run", _layout.is_run, Late("helm.runs").read_run),
        50: Reader("HELM table", is_table, Late("helm.tables").read_table),
        60: Reader("HELM summary", _layout.is_derived, declining(_SUMMARY_IS)),
    },
    suites=("helm",),
)
