"""Recognises the files of lm-evaluation-harness: results and samples."""

from __future__ import annotations

from ingest.format import Format, Reader
from ingest.late import Late

FORMAT = Format(
    "lm-evaluation-harness",
    readers={
        70: Reader(
            "lm-evaluation-harness results",
            Late("lm_eval.layout").is_results,
            Late("lm_eval.runs").read_run,
        ),
        80: Reader(
            "lm-evaluation-harness samples",
            Late("lm_eval.layout").is_samples,
            Late("lm_eval.runs").read_run,
        ),
    },
    suites=("lm-eval",),
)
