"""Recognises the files of a Terminal-Bench run: results, trials, metadata, the lock file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_RESULTS = re.compile(rb'"results"\s*:\s*\[')
_TRIAL_KEYS = (b'"trial_name"', b'"is_resolved"', b'"failure_mode"')
_COUNT_KEYS = (b'"n_resolved"', b'"resolved_ids"', b'"accuracy"')
_METADATA_KEYS = (b'"run_id"', b'"dataset_name"', b'"agent_name"', b'"commit_hash"')
_LOCK_KEYS = (b'"lockfile_version"', b'"invocation"', b'"harness"', b'"agent"')


def is_run(candidate: Candidate) -> bool:
    """Return whether a file holds the results of a run."""
    is_list = _RESULTS.search(candidate.head) is not None
    return is_list and (
        candidate.begins_object_with(*_TRIAL_KEYS) or candidate.begins_object_with(*_COUNT_KEYS)
    )


def is_trial(candidate: Candidate) -> bool:
    """Return whether a file holds the results of a trial."""
    return _RESULTS.search(candidate.head) is None and candidate.begins_object_with(*_TRIAL_KEYS)


def is_metadata(candidate: Candidate) -> bool:
    """Return whether a file holds the metadata of a run."""
    return candidate.begins_object_with(*_METADATA_KEYS)


def is_lock(candidate: Candidate) -> bool:
    """Return whether a file is the lock file of a run."""
    return candidate.begins_object_with(*_LOCK_KEYS, suffix=".lock")


_files = Late("terminal_bench.files")
FORMAT = Format(
    "Terminal-Bench",
    readers={
        400: Reader("Terminal-Bench run", is_run, _files.read_run),
        401: Reader("Terminal-Bench trial", is_trial, _files.read_trial),
        402: Reader("Terminal-Bench metadata", is_metadata, _files.read_metadata),
        403: Reader("Terminal-Bench lock file", is_lock, _files.read_lock),
    },
    suites=("terminal-bench",),
)
