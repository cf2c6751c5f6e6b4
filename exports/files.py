"""Writes files whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from warehouse.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that nobody sees a part of it.

    Raises:
        BadInput: the file cannot be written.
    """
    beside = path.with_name(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error
