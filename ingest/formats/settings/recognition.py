"""Recognises settings of other tools."""

from __future__ import annotations

from ingest.format import Format, Reader
from ingest.late import Late

_files = Late("settings.files")
FORMAT = Format(
    "settings",
    readers={260: Reader("settings", _files.is_settings, _files.decline_settings)},
)
