"""Recognises settings of other tools."""

from __future__ import annotations

from ingest.format import Format, Reader
from ingest.late import Late

FORMAT = Format(
    "settings",
    readers={
        260: Reader(
            "settings",
            Late("settings.files").is_settings,
            Late("settings.files").decline_settings,
        ),
    },
)
