"""Recognises the data sets of JUDGE-BENCH, and the figures of judges on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


def is_ratings(candidate: Candidate) -> bool:
    """Return whether a file is items with the ratings of people."""
    return candidate.begins_object_with(b'"dataset"', b'"annotations"', b'"metric"', b'"category"')


def is_figures(candidate: Candidate) -> bool:
    """Return whether a file is the figures of judges, by model and criterion."""
    return candidate.begins_object_with(b'"corr_coeff"', b'"valid_responses"')


FORMAT = Format(
    "JUDGE-BENCH",
    readers={
        326: Reader("JUDGE-BENCH ratings", is_ratings, Late("judge_bench.ratings").read_ratings),
        327: Reader("JUDGE-BENCH figures", is_figures, Late("judge_bench.figures").read_figures),
    },
    suites=("judge_bench",),
)
