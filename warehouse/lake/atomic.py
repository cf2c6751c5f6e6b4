"""Writes files whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that nobody sees a part of it.

    Raises:
        BadInput: the file cannot be written.
    """
    write_lines(path, [data])


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file as `write_whole` does, of lines that need not all be in memory.

    Raises:
        BadInput: the file cannot be written.
    """
    beside = path.with_name(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.writelines(lines)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error
