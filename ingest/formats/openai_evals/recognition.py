"""Recognises the logs of openai/evals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_START = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"spec"\s*:\s*\{')
_WORDS = (b'"completion_fns"', b'"base_eval"', b'"eval_name"')


def is_log(candidate: Candidate) -> bool:
    """Return whether a file is the log of a run."""
    head = candidate.head
    return _START.match(head) is not None and any(word in head for word in _WORDS)


FORMAT = Format(
    "openai/evals",
    readers={170: Reader("openai/evals log", is_log, Late("openai_evals.log").read_log)},
    suites=("openai_evals",),
)
