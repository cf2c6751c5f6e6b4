"""Recognises the files of every_eval_ever: aggregates, samples, and indexes of a datastore."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_JSON_LINES = {".jsonl", ".ndjson"}
_INPUT = re.compile(rb'"input"\s*:')
# A JSON schema has an object here.
_EVALUATION = re.compile(rb'"evaluation_id"\s*:\s*[^\s{]')
_INDEX = re.compile(rb'"object_uuid"\s*:[^\n]*"record_type"\s*:')


def is_aggregate(candidate: Candidate) -> bool:
    """Return whether a file holds the aggregate results of an evaluation."""
    head = candidate.head
    return (
        candidate.path.suffix == ".json"
        and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
        and _EVALUATION.search(head) is not None
        and (b'"evaluation_results"' in head or b'"source_metadata"' in head)
    )


def is_samples(candidate: Candidate) -> bool:
    """Return whether a file holds the samples of evaluations."""
    head = candidate.head
    return (
        candidate.path.suffix in _JSON_LINES
        and b'"evaluation_id"' in head
        and b'"sample_id"' in head
        and _INPUT.search(head) is not None
    )


def is_index(candidate: Candidate) -> bool:
    """Return whether a file is an index of a datastore."""
    return candidate.path.suffix in _JSON_LINES and _INDEX.search(candidate.head) is not None


_files = Late("eee.files")
_INDEX_IS = "an index of every_eval_ever files; import the files that it lists"
FORMAT = Format(
    "every_eval_ever",
    readers={
        140: Reader("every_eval_ever aggregate", is_aggregate, _files.read_aggregate),
        150: Reader("every_eval_ever samples", is_samples, _files.read_samples),
        160: Reader("every_eval_ever index", is_index, declining(_INDEX_IS)),
    },
    suites=("eee",),
)
