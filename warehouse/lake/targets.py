"""Writes the files that a user asks for: pages, snapshots, exports, reports.

A file appears complete or not at all, and one that is replaced keeps its mode and owner. Links
are followed to the file they name. Pipes and character devices, such as `/dev/stdout`, are written
through. Anything else is refused, and never replaced.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.lake.locks import abandoned_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

STDOUT = 1
_FOLDERS_OF_DESCRIPTORS = (Path("/proc/self/fd"), Path("/dev/fd"))
_MOST_LINKS = 40
_TEMPORARY = re.compile(r"\.\d+\.\d+\.part")  # process and thread


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, and the folders it is in.

    Raises:
        BadInput: it cannot be written.
    """
    write_lines(path, [data])


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file as `write_whole` does, from lines that need not fit in memory.

    Raises:
        BadInput: it cannot be written.
    """
    with open_target(path, with_folders=True) as file:
        file.writelines(lines)


@contextmanager
def open_target(path: Path, *, with_folders: bool = False) -> Iterator[BinaryIO]:
    """Open a target for writing; without an error in the block, it is then complete.

    Args:
        path: the target.
        with_folders: whether to create the folders it is in.

    Raises:
        BadInput: it cannot be written.
    """
    try:
        if with_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = own_descriptor(path)
        if descriptor is not None:
            # A reader that has had enough is not an error, as for all output.
            with suppress(BrokenPipeError), _duplicate(descriptor) as file:
                yield file
        elif _is_file_to_be(path):
            with _replacement(Path(os.path.realpath(path))) as file:
                yield file
        else:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb") as file:
                yield file
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error


def check_spelling(path: Path) -> None:
    """Check that a path is not another one's, on a file system that ignores case.

    Raises:
        BadInput: its folder has the name in another spelling.
    """
    if not path.exists() or path.name in os.listdir(path.parent):  # noqa: PTH208 - names only
        return
    raise BadInput(
        f"{path}: exists under a name that differs only in case, which this file system ignores; "
        "write to another folder"
    )


def own_descriptor(path: Path) -> int | None:
    """Return the open file of this process that a path names: 1 for `/dev/stdout`; else None.

    It has to be written as it is: opened by its name, a file would be written from its start, and a
    socket could not be opened.
    """
    for _ in range(_MOST_LINKS):
        if path.name.isdecimal():
            folder = os.path.realpath(path.parent)
            if folder in map(os.path.realpath, _FOLDERS_OF_DESCRIPTORS):
                return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


def _is_file_to_be(path: Path) -> bool:
    """Return whether a path leads to a file or to nothing; False for what is written through.

    Raises:
        OSError: it leads to a folder, a block device or a socket.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        kind = "a block device" if stat.S_ISBLK(mode) else "a socket"
        raise OSError(errno.EINVAL, f"{kind}; only files, pipes and character devices can be")
    return stat.S_ISREG(mode)


@contextmanager
def _duplicate(descriptor: int) -> Iterator[BinaryIO]:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        yield file


@contextmanager
def _replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of a file, which it replaces when it is complete."""
    sweep(path.parent)
    temporary = path.with_name(f".{os.getpid()}.{get_ident()}.part")
    lock = _create_locked(temporary)
    try:
        with os.fdopen(os.dup(lock), "wb") as file:
            _keep_mode_and_owner(path, lock)
            yield file
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        os.close(lock)


@cache
def sweep(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder, once per process."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                with suppress(OSError), abandoned_file(Path(entry.path)) as file:
                    if file is not None:
                        Path(entry.path).unlink()


def _create_locked(path: Path) -> int:
    """Create a file that is not there, and lock it so that no other process removes it."""
    while True:
        # A killed process may have had the same id.
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        # Without locks, as on some network file systems, others do not remove it either.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
        os.close(descriptor)  # removed before it was locked


def _keep_mode_and_owner(path: Path, descriptor: int) -> None:
    """Give an open file the mode and owner of another one, if there is one.

    Only root can give a file to another user. Otherwise it belongs to who writes it, and its group
    gets no rights that were those of another one.
    """
    try:
        before = path.stat()
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(before.st_mode)
    try:
        os.fchown(descriptor, before.st_uid, before.st_gid)
    except OSError:
        mode &= 0o777
        try:
            os.fchown(descriptor, -1, before.st_gid)
        except OSError:
            mode &= 0o707
    # Some file systems have no modes.
    with suppress(OSError):
        os.fchmod(descriptor, mode)
