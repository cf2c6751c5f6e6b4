"""Recognises poster workspaces, published reports and ledgers."""

from __future__ import annotations

from ingest.format import Format, Reader, small_file
from ingest.late import Late

FORMAT = Format(
    "posters",
    readers={
        230: Reader(
            "poster workspace",
            Late("posters.layout").is_workspace,
            Late("posters.workspace").read_workspace,
        ),
        235: Reader(
            "published poster report",
            Late("posters.layout").is_published,
            Late("posters.workspace").read_published_folder,
        ),
        240: Reader(
            "poster ledger",
            Late("posters.layout").is_ledger,
            small_file(Late("posters.workspace").read_ledger_file),
        ),
    },
    suites=("posters",),
)
