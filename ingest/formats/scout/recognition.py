"""Recognises the transcript database of Inspect Scout."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late
from warehouse.core.files import open_regular

if TYPE_CHECKING:
    from ingest.reading import Candidate

_MAGIC = b"PAR1"
_FOOTER_BYTES = 65_536
_NAME = re.compile(r"transcripts_\d{8}T\d{6}_\w+\.parquet")
_COLUMNS = (b"transcript_id", b"source_type", b"messages")


def is_transcripts(candidate: Candidate) -> bool:
    """Return whether a file is Parquet with the columns of transcripts, which its end names."""
    if not candidate.head.startswith(_MAGIC) or is_index(candidate):
        return False
    if _NAME.fullmatch(candidate.path.name):
        return True  # even if its end is damaged
    try:
        with open_regular(candidate.path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _FOOTER_BYTES))
            footer = file.read()
    except OSError:
        return False
    return all(name in footer for name in _COLUMNS)


def is_index(candidate: Candidate) -> bool:
    """Return whether a file is an index of such a database."""
    is_named = candidate.path.suffix == ".idx" and candidate.path.parent.name == "_index"
    return is_named and candidate.head.startswith(_MAGIC)


FORMAT = Format(
    "Inspect Scout",
    readers={
        345: Reader(
            "Inspect Scout transcripts",
            is_transcripts,
            Late("scout.transcripts").read_transcripts,
        ),
        346: Reader(
            "index of Inspect Scout transcripts",
            is_index,
            declining("an index of transcripts, which have all of it"),
        ),
    },
    suites=("scout",),
)
