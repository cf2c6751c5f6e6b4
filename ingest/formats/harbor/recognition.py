"""Recognises the folders of Harbor's trials, and the results files of trials and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_TRIAL = (b'"trial_name"', b'"task_name"', b'"task_checksum"')
_JOB = (b'"n_total_trials"', b'"stats"')


def is_trial(candidate: Candidate) -> bool:
    """Return whether a file is the result of a trial, or a folder has one."""
    if candidate.is_folder:
        return is_trial(candidate.inside("result.json"))
    is_result = candidate.path.suffix == ".json" and all(each in candidate.head for each in _TRIAL)
    return is_result and not is_job(candidate)


def is_job(candidate: Candidate) -> bool:
    """Return whether a file is the result of a job."""
    return candidate.path.suffix == ".json" and all(word in candidate.head for word in _JOB)


FORMAT = Format(
    "Harbor",
    readers={
        310: Reader("Harbor job", is_job, Late("harbor.jobs").read_job),
        320: Reader("Harbor trial", is_trial, Late("harbor.trials").read_trial),
    },
    suites=("harbor",),
)
