"""Recognises tables of labels by the ids of their answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_ID = re.compile(rb"\blabel-[0-9a-f]{16}\b")


def is_labels(candidate: Candidate) -> bool:
    """Return whether a file is a table with the columns `id` and `label`, and such ids."""
    if candidate.path.suffix.lower() != ".csv" or not _ID.search(candidate.head):
        return False
    header = candidate.head.removeprefix(b"\xef\xbb\xbf").splitlines()[0].lower()
    return {b"id", b"label"} <= {cell.strip(b' "') for cell in re.split(rb"[,;\t]", header)}


FORMAT = Format(
    "labels",
    readers={328: Reader("labels of people", is_labels, Late("labels.labels").read_labels)},
)
