"""Recognises the files of lm-evaluation-harness: results and samples."""

from __future__ import annotations

from ingest.format import Format, Reader
from ingest.late import Late

_layout = Late("lm_eval.layout")
_runs = Late("lm_eval.runs")
FORMAT = Format(
    "lm-evaluation-harness",
    readers={
        70: Reader("lm-evaluation-harness results", _layout.is_results, _runs.read_run),
        80: Reader("lm-evaluation-harness samples", _layout.is_samples, _runs.read_run),
    },
    suites=("lm-eval",),
)
