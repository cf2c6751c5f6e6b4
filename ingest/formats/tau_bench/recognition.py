"""Recognises results of tau-bench and tau2, and submissions to their leaderboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_LIST = re.compile(rb"(\xef\xbb\xbf)?\s*\[\s*\{")
_INFO_KEYS = (b'"info"', b'"agent_info"', b'"user_info"')
_SIMULATION_KEYS = (b'"simulations"', b'"termination_reason"', b'"reward_info"')
_V1_KEYS = (b'"task_id"', b'"reward"', b'"traj"')
_SUBMISSION_KEYS = (b'"model_name"', b'"results"', b'"pass_1"')
_ENHANCED = "_enhanced_logs.json"
_ENHANCED_IS = "a log of tau2-enhanced repeats parts of a tau2 results file; import that"


def is_enhanced(candidate: Candidate) -> bool:
    """Return whether a file is a log that tau2-enhanced writes next to the results."""
    return candidate.path.name.endswith(_ENHANCED) and candidate.is_file


def is_results(candidate: Candidate) -> bool:
    """Return whether a file is the results of tau2, with or without its simulations."""
    return any(candidate.begins_object_with(*keys) for keys in (_INFO_KEYS, _SIMULATION_KEYS))


def is_folder(candidate: Candidate) -> bool:
    """Return whether a folder has the results of tau2, and each simulation in a file."""
    inner = candidate.inside("simulations")
    return candidate.is_folder and inner.is_folder and is_results(candidate.inside("results.json"))


def is_v1(candidate: Candidate) -> bool:
    """Return whether a file is a list of trials of the first tau-bench."""
    head = candidate.head if candidate.path.suffix == ".json" else b""
    return _LIST.match(head) is not None and all(key in head for key in _V1_KEYS)


def is_submission(candidate: Candidate) -> bool:
    """Return whether a file is a submission to the leaderboard; its schema is none."""
    is_of_keys = candidate.begins_object_with(*_SUBMISSION_KEYS)
    return is_of_keys and b'"properties"' not in candidate.head


_files = Late("tau_bench.files")
_submissions = Late("tau_bench.submissions")
FORMAT = Format(
    "tau-bench",
    readers={
        280: Reader("tau2-enhanced log", is_enhanced, declining(_ENHANCED_IS)),
        281: Reader("tau2 folder", is_folder, _files.read_folder),
        282: Reader("tau2 results", is_results, _files.read_results),
        283: Reader("tau-bench trials", is_v1, _files.read_v1),
        284: Reader("tau-bench submission", is_submission, _submissions.read_submission),
    },
    suites=("tau-bench",),
)
