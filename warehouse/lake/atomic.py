"""Atomic and durable file writes."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file through a temporary one in its folder, so that no reader sees a part of it.

    Raises:
        BadInput: the file cannot be written.
    """
    write_lines(path, [data])


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file as `write_whole` does, from lines that need not fit in memory.

    Raises:
        BadInput: the file cannot be written.
    """
    temporary = path.with_name(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.writelines(lines)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error


def write_durably(path: Path, data: bytes) -> None:
    """Write a file and flush it to disk.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_file(path: Path) -> None:
    """Flush a written file to disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Flush a folder to disk: the names of its files."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
