"""The directory of an archive: its members, whose names are never used as paths."""

from __future__ import annotations

import struct
import zipfile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

_END = b"PK\x05\x06"
_END_OF_ZIP64 = b"PK\x06\x07"
_ENTRY_START = b"PK\x01\x02"
_LONGEST_END = 22 + 65_535
_SIZE_OF_DIRECTORY = struct.Struct("<12xI")
_IN_ZIP64 = 0xFFFF_FFFF
_LARGEST_DIRECTORY_BYTES = 64 * 2**20

# Signature; size and place of the directory; size of a comment.
_PLAIN_END = struct.Struct("<4s8xIIH")
# Signature; version needed, flags, compression; checksum, packed size, size; lengths of name, extra
# fields and comment; place of the member.
_ENTRY = struct.Struct("<4s2xHHH4xIIIHHH8xI")
_NEWEST_VERSION = 63  # as in `zipfile`, which refuses newer ones


class UnusableArchiveError(Exception):
    """Not an archive that can be read; the message says why."""


class Member(NamedTuple):
    """An entry of the directory.

    Attributes:
        name: its name, as recorded.
        flags: its flags.
        compress_type: its compression.
        crc: CRC-32 of its bytes.
        compress_size: packed bytes.
        file_size: its bytes.
        header_offset: where it starts.
    """

    name: str
    flags: int
    compress_type: int
    crc: int
    compress_size: int
    file_size: int
    header_offset: int

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.name.endswith("/")


def read_members(file: BinaryIO) -> Sequence[Member]:
    """Return the members of an archive, in the order of its directory.

    Raises:
        UnusableArchiveError: it is not an archive, or its directory is too large.
        OSError: it cannot be read.
    """
    members = _plain_members(file)
    return _members_of_any(file) if members is None else members


def _plain_members(file: BinaryIO) -> Sequence[Member] | None:
    """Return the members of an archive without anything unusual, in a third of the time.

    None for an archive with comments, extra fields, zip64, names in other codes, or faults:
    `zipfile` reads or refuses it.
    """
    size = file.seek(0, 2)
    file.seek(max(size - _PLAIN_END.size, 0))
    end = file.read(_PLAIN_END.size)
    if len(end) < _PLAIN_END.size:
        return None
    signature, n_bytes, start, n_comment = _PLAIN_END.unpack(end)
    is_plain = signature == _END and start + n_bytes + len(end) == size and not n_comment
    if not is_plain or n_bytes > _LARGEST_DIRECTORY_BYTES:
        return None
    file.seek(start)
    directory = file.read(n_bytes)
    if len(directory) < n_bytes or directory[-20:].startswith(_END_OF_ZIP64):
        return None
    return _plain_entries(directory)


def _plain_entries(directory: bytes) -> Sequence[Member] | None:
    members = []
    at = 0
    while at < len(directory):
        if at + _ENTRY.size > len(directory):
            return None
        signature, version, flags, codec, crc, packed, size, n_name, n_extra, n_comment, place = (
            _ENTRY.unpack_from(directory, at)
        )
        at += _ENTRY.size
        name = directory[at : at + n_name]
        at += n_name
        if (
            signature != _ENTRY_START
            or version > _NEWEST_VERSION
            or n_extra
            or n_comment
            or max(packed, size, place) == _IN_ZIP64
            or at > len(directory)
            or not name.isascii()
            or b"\0" in name
            or b"\\" in name
        ):
            return None
        members.append(Member(name.decode(), flags, codec, crc, packed, size, place))
    return members


def _members_of_any(file: BinaryIO) -> Sequence[Member]:
    _check_size(file, file.seek(0, 2))
    try:
        # Closing this leaves the file open.
        with zipfile.ZipFile(file) as archive:
            return list(map(_member, archive.infolist()))
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError) as error:
        raise UnusableArchiveError(f"not a zip archive: {error}") from error


def _member(found: zipfile.ZipInfo) -> Member:
    return Member(
        found.filename,
        found.flag_bits,
        found.compress_type,
        found.CRC,
        found.compress_size,
        found.file_size,
        found.header_offset,
    )


def _check_size(file: BinaryIO, size: int) -> None:
    """Check that the archive's directory, which is read as a whole, is of reasonable size."""
    start = max(size - _LONGEST_END, 0)
    file.seek(start)
    tail = file.read(_LONGEST_END)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _SIZE_OF_DIRECTORY.size:
        raise UnusableArchiveError("not a zip archive, or cut off: its end is missing")
    (declared,) = _SIZE_OF_DIRECTORY.unpack_from(tail, at)
    if declared == _IN_ZIP64:
        declared = _directory_bytes_in_zip64(file, start + at)
    if declared > _LARGEST_DIRECTORY_BYTES:
        raise UnusableArchiveError(
            f"a directory of {declared:,} bytes; the limit is {_LARGEST_DIRECTORY_BYTES:,}"
        )


def _directory_bytes_in_zip64(file: BinaryIO, end: int) -> int:
    locator = 20  # directly before the end, after the end of zip64
    file.seek(max(end - locator - 56, 0))
    record = file.read(56)
    if not record.startswith(b"PK\x06\x06"):
        raise UnusableArchiveError("not a zip archive: its end cannot be read")
    return int(struct.unpack_from("<Q", record, 40)[0])
