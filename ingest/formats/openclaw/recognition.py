"""Recognises run folders of OpenClaw, logs by themselves, and prompt files."""

from __future__ import annotations

from ingest.format import Format, Reader, small_file
from ingest.late import Late

_layout = Late("openclaw.layout")
_runs = Late("openclaw.runs")
FORMAT = Format(
    "OpenClaw",
    readers={
        10: Reader("openclaw run", _layout.is_run, _runs.read_run),
        20: Reader("openclaw log", _layout.is_log, _runs.read_log),
        90: Reader(
            "openclaw prompts", _layout.is_prompts, small_file(Late("openclaw.prompts").read)
        ),
    },
    suites=("openclaw",),
)
