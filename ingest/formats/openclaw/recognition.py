"""Recognises run folders of OpenClaw, logs by themselves, and prompt files."""

from __future__ import annotations

from ingest.format import Format, Reader, small_file
from ingest.late import Late

FORMAT = Format(
    "OpenClaw",
    readers={
        10: Reader(
            "openclaw run",
            Late("openclaw.layout").is_run,
            Late("openclaw.runs").read_run,
        ),
        20: Reader(
            "openclaw log",
            Late("openclaw.layout").is_log,
            Late("openclaw.runs").read_log,
        ),
        90: Reader(
            "openclaw prompts",
            Late("openclaw.layout").is_prompts,
            small_file(Late("openclaw.prompts").read),
        ),
    },
    suites=("openclaw",),
)
