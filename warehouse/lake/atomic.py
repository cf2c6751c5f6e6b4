"""Durable writes of the store's own files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_durably(path: Path, data: bytes) -> None:
    """Write a file and flush it to disk.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def create_durably(path: Path, data: bytes) -> bool:
    """Write a new file, whole or not at all, by a hard link, which fails where there is one.

    A process that is killed may leave a file that begins with a dot.

    Returns:
        whether there was none before.

    Raises:
        OSError: the file cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_durably(partial, data)
        os.link(partial, path)
    except FileExistsError:
        return False
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


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
