"""Recognises Inspect's logs, and the files that list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_LOG_KEYS = {"version", "status", "plan", "results", "stats", "samples"}


def is_log(candidate: Candidate) -> bool:
    """Return whether a file is a log: an archive with its journal or header, or a JSON object."""
    head = candidate.head
    if candidate.path.suffix == ".eval" and candidate.is_file:
        return True
    if head.startswith(b"PK\x03\x04"):
        return b"_journal/start.json" in head or (b"header.json" in head and b"samples/" in head)
    if b'"eval"' not in head or b'"task"' not in head:
        return False
    keys = _head_keys(head)
    return "eval" in keys and not _LOG_KEYS.isdisjoint(keys)


def is_index(candidate: Candidate) -> bool:
    """Return whether a file lists logs: `logs.json` of a folder, `eval-set.json` of a set."""
    head = candidate.head
    if candidate.path.suffix != ".json" or not head.lstrip().startswith(b"{"):
        return False
    keys = _head_keys(head) if b'"eval' in head or b".eval" in head or b'"status"' in head else []
    if "eval_set_id" in keys and "tasks" in keys:
        return True
    is_listing = candidate.path.name == "logs.json" or all(
        k.endswith((".eval", ".json")) for k in keys
    )
    return bool(keys) and is_listing and b'"eval"' in head and b'"task"' in head


def _head_keys(head: bytes) -> list[str]:
    from ingest.formats.common.json_spans import head_keys  # imports numpy

    return head_keys(head)


FORMAT = Format(
    "Inspect",
    readers={
        # By the keys of the whole object: samples of Inspect hold texts of any kind.
        30: Reader("Inspect log", is_log, Late("inspect.logs").read_log),
        250: Reader(
            "list of Inspect logs", is_index, declining("it lists Inspect logs and holds none")
        ),
    },
    suites=("inspect",),
)
