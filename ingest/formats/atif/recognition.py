"""Recognises ATIF documents that are not part of a Harbor trial."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_VERSION = re.compile(rb'"schema_version"\s*:\s*"ATIF-v\d')


def is_document(candidate: Candidate) -> bool:
    """Return whether a file is an ATIF document, or an object of several."""
    return candidate.begins_object_with() and _VERSION.search(candidate.head) is not None


FORMAT = Format(
    "ATIF",
    readers={330: Reader("ATIF trajectory", is_document, Late("atif.files").read_trajectory)},
    suites=("atif",),
)
