"""Recognises poster workspaces, published reports and ledgers."""

from __future__ import annotations

from ingest.format import Format, Reader, small_file
from ingest.late import Late

_layout = Late("posters.layout")
_workspace = Late("posters.workspace")
FORMAT = Format(
    "posters",
    readers={
        230: Reader("poster workspace", _layout.is_workspace, _workspace.read_workspace),
        235: Reader(
            "published poster report", _layout.is_published, _workspace.read_published_folder
        ),
        240: Reader("poster ledger", _layout.is_ledger, small_file(_workspace.read_ledger_file)),
    },
    suites=("posters",),
)
