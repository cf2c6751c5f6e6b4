"""Opens regular files only: a pipe or a device would block, or never end.

Everything that a user, a log or the store names is opened here. A size limit holds before
anything is read.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from io import BufferedReader, FileIO
    from pathlib import Path

# A file of any kind that is read into memory as a whole.
LARGEST_BYTES = 64 * 2**20

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotRegularError(OSError):
    """A folder, a pipe, a device or a socket where a file should be."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        OSError: it cannot be opened; a `NotRegularError` if it is not a regular file.
    """
    return open(path, "rb", opener=_descriptor)


def open_for_appending(path: Path) -> FileIO:
    """Open a regular file for appending, without a buffer; create it if it does not exist.

    Raises:
        OSError: it cannot be opened; a `NotRegularError` if it is not a regular file.
    """
    return open(path, "ab", buffering=0, opener=_descriptor)


def read_regular(path: Path, *, max_bytes: int = LARGEST_BYTES) -> bytes:
    """Read a regular file of bounded size.

    Raises:
        OSError: it cannot be read, is not a regular file, or has more than `max_bytes`.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        # A file in /proc has no size, and another one may grow while it is read.
        data = file.read(max_bytes + 1) if size <= max_bytes else b""
    size = max(size, len(data))
    if size > max_bytes:
        reason = f"{size:,} bytes; the limit is {max_bytes:,}"
        raise OSError(errno.EFBIG, reason, str(path))
    return data


def read_input(path: Path, *, max_bytes: int = LARGEST_BYTES) -> bytes:
    """Read a file that the user named, as `read_regular` does.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        return read_regular(path, max_bytes=max_bytes)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def check_regular(path: Path) -> None:
    """Check that a path leads to a regular file.

    Raises:
        NotRegularError: it leads to something else.
        OSError: it leads nowhere, or cannot be followed.
    """
    _check(path, path.stat().st_mode)


def real_path(path: Path, folders: dict[Path, str]) -> str:
    """Return `os.path.realpath` of a file, for many files of a folder in a fraction of its time.

    Args:
        path: the file.
        folders: the real paths of folders known so far; its folder is added.
    """
    # `Path.is_symlink` raises an error for a name that is too long.
    if path.name in {"", ".."} or os.path.islink(path):  # noqa: PTH114
        return os.path.realpath(path)
    if path.parent not in folders:
        folders[path.parent] = os.path.realpath(path.parent)
    return os.path.join(folders[path.parent], path.name)  # noqa: PTH118 - of texts


def problem(error: Exception) -> str:
    """Return what is wrong, without the path that an `OSError` repeats."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _descriptor(name: str, flags: int) -> int:
    # Opening a device can have effects, so the kind is checked before, and again once it is open.
    try:
        _check(name, os.stat(name).st_mode)  # noqa: PTH116 - no path is made of each name
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    # Without waiting for the other end of a pipe.
    descriptor = os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    try:
        _check(name, os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: Path | str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise NotRegularError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "a special file")
        raise NotRegularError(errno.EINVAL, f"{kind}, not a regular file", str(path))
