"""Rows that record the origin of data, and what could not be used."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from ingest.reading import SourceFile
from warehouse.core.files import read_regular
from warehouse.core.formats.secrets import redact_fields, redact_file
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reading import Reject
    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.core.types import FileRow, QuarantineRow, ViolationRow
    from warehouse.lake.batch import RunKey

# The store keeps the bytes of files up to this size, so that a better reader can read them again.
LARGEST_KEPT_BYTES = 16 * 2**20
_SEPARATED = {".csv", ".tsv"}


def file_row(file: SourceFile, file_format: str, *, size: int | None = None) -> FileRow:
    """Return the row of an imported file.

    Args:
        file: the file.
        file_format: name of the format.
        size: size of the file in bytes, if it was not read into memory.
    """
    is_kept = size is None and len(file.data) <= LARGEST_KEPT_BYTES
    return {
        "content_id": content_hash("file", file.sha256, file_format),
        "path": utf8(str(file.path)),
        "sha256": file.sha256,
        "format": file_format,
        "size_bytes": len(file.data) if size is None else size,
        "content": file.data if is_kept else None,
    }


def log_row(
    path: Path,
    sha256: str,
    file_format: str,
    *,
    is_masked: bool,
    is_kept: bool,
    data: bytes | None = None,
) -> FileRow:
    """Return the row of a file that was read in blocks.

    Args:
        path: path of the file.
        sha256: hash of its bytes.
        file_format: name of the format.
        is_masked: whether secrets are masked. This is impossible in binary files, whose bytes are
            therefore not kept.
        is_kept: whether its bytes are kept, up to the limit of their size.
        data: its bytes, if they have been read.
    """
    size = path.stat().st_size if data is None else len(data)
    if not is_kept:
        data = None
    elif data is None and size <= LARGEST_KEPT_BYTES:
        data = read_regular(path)
    if data is not None and is_masked:
        is_table = path.suffix.lower() in _SEPARATED
        redact = redact_fields if is_table else redact_file
        data = None if b"\0" in data else redact(data)
    if data is None:
        return file_row(SourceFile(path, b"", sha256), file_format, size=size)
    return file_row(SourceFile(path, data, sha256), file_format)


def quarantine_row(path: Path, sha256: str, reject: Reject) -> QuarantineRow:
    """Return the row of a record, or a whole file, that could not be used."""
    is_small = reject.raw is not None and len(reject.raw) <= LARGEST_KEPT_BYTES
    return {
        "content_id": content_hash("quarantine", sha256, reject.line, reject.reason),
        "path": utf8(str(path)),
        "sha256": sha256,
        "line": reject.line,
        "byte_offset": reject.byte_offset,
        "raw": reject.raw if is_small else None,
        "reason": utf8(reject.reason),
    }


def violation_row(file: SourceFile, run: RunKey | None, violation: Violation) -> ViolationRow:
    """Return the row of a broken rule."""
    suite, run_id = run or (None, None)
    return {
        "content_id": content_hash("violation", file.sha256, run_id, astuple(violation)),
        "path": utf8(str(file.path)),
        "sha256": file.sha256,
        "suite": suite,
        "run_id": run_id,
        "line": violation.line,
        "field": violation.field,
        "rule": violation.rule,
        "message": violation.message,
    }
