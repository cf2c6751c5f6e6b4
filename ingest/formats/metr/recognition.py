"""Recognises runs of tasks with human times, and the horizons that were fitted to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_RUN = (b'"task_id"', b'"task_family"', b'"alias"', b'"score_binarized"', b'"human_minutes"')
_RESULTS = (b"benchmark_name:", b"results:", b"p50_horizon_length:")
_FITS = b"agent,coefficient,intercept,"


def is_runs(candidate: Candidate) -> bool:
    """Return whether a file is lines of runs of tasks."""
    return candidate.begins_object_with(*_RUN, suffix=".jsonl")


def is_results(candidate: Candidate) -> bool:
    """Return whether a file is METR's published horizons."""
    named = candidate.path.suffix in {".yaml", ".yml"}
    return named and all(key in candidate.head for key in _RESULTS)


def is_fits(candidate: Candidate) -> bool:
    """Return whether a file is the table of logistic fits."""
    return candidate.path.suffix == ".csv" and candidate.head.startswith(_FITS)


_horizons = Late("metr.horizons")
FORMAT = Format(
    "METR",
    readers={
        # Before the reader of all other YAML.
        259: Reader("METR results", is_results, _horizons.read_results),
        332: Reader("METR runs", is_runs, Late("metr.runs").read_runs),
        333: Reader("METR fits", is_fits, _horizons.read_fits),
    },
    suites=("metr",),
)
