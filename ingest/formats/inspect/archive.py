"""Members of an `.eval` archive, each of bounded size; their names are never used as paths."""

from __future__ import annotations

import struct
import zipfile
import zlib
from operator import attrgetter
from typing import TYPE_CHECKING

import pyarrow as pa

from warehouse.core.files import LARGEST_BYTES, open_regular
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_ZSTD = 93  # Python's zipfile cannot read it before 3.14
_ENCRYPTED = 1
_LOCAL_HEADER = struct.Struct("<4s22xHH")
# Deflate reaches 1,032:1; a zstd archive of text that often repeats itself 200:1.
_LARGEST_RATIO = 1000
_ALWAYS_ALLOWED_BYTES = 2**30
_LARGEST_DIRECTORY_BYTES = 64 * 2**20
_END = b"PK\x05\x06"
_LONGEST_END = 22 + 65_535
_SIZE_OF_DIRECTORY = struct.Struct("<12xI")
_IN_ZIP64 = 0xFFFF_FFFF


class UnusableArchiveError(Exception):
    """Not an archive that can be read; the message says why."""


class UnusableMemberError(Exception):
    """A member that cannot be read; the message says why."""


class Archive:
    """An archive that is open for reading."""

    def __init__(self, path: Path) -> None:
        """Open an archive and read its directory.

        Raises:
            UnusableArchiveError: it is not an archive, or looks like a bomb.
            OSError: it cannot be read.
        """
        self._file: BinaryIO = open_regular(path)
        try:
            self.members = _checked_members(self._file)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, member: zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member.

        Raises:
            UnusableMemberError: it is too large, damaged, or of an unknown compression.
        """
        if member.flag_bits & _ENCRYPTED:
            raise UnusableMemberError("encrypted")
        if max(member.file_size, member.compress_size) > LARGEST_BYTES:
            raise UnusableMemberError(f"{member.file_size:,} bytes; the limit is {LARGEST_BYTES:,}")
        self._file.seek(member.header_offset)
        header = self._file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise UnusableMemberError("no member where the directory says")
        _, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
        self._file.seek(name_bytes + extra_bytes, 1)
        packed = self._file.read(member.compress_size)
        if len(packed) < member.compress_size:
            raise UnusableMemberError("cut off")
        data = _unpacked(packed, member)
        if len(data) != member.file_size:
            raise UnusableMemberError(f"not the {member.file_size:,} bytes that it declares")
        if zlib.crc32(data) != member.CRC:
            raise UnusableMemberError("damaged: its checksum is another")
        return data


def member_name(member: zipfile.ZipInfo) -> str:
    """Return the name of a member, for messages."""
    return utf8(member.filename)


def read_members(file: BinaryIO) -> list[zipfile.ZipInfo]:
    """Return the members of an archive, in the order of its directory.

    Raises:
        UnusableArchiveError: it is not an archive, or its directory is too large.
        OSError: it cannot be read.
    """
    _check_size(file, file.seek(0, 2))
    try:
        # Closing this leaves the file open.
        with zipfile.ZipFile(file) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError) as error:
        raise UnusableArchiveError(f"not a zip archive: {error}") from error


def _checked_members(file: BinaryIO) -> list[zipfile.ZipInfo]:
    members = read_members(file)
    end = 0
    for member in sorted(members, key=attrgetter("header_offset")):
        if member.header_offset < end:
            raise UnusableArchiveError("members of the archive overlap")
        end = member.header_offset + _LOCAL_HEADER.size + member.compress_size
    unpacked = sum(member.file_size for member in members)
    size = file.seek(0, 2)
    if unpacked > _ALWAYS_ALLOWED_BYTES + _LARGEST_RATIO * size:
        raise UnusableArchiveError(
            f"{unpacked:,} bytes in an archive of {size:,}: it looks like a bomb"
        )
    return members


def _unpacked(packed: bytes, member: zipfile.ZipInfo) -> bytes:
    """Return the unpacked bytes, one more than declared at most."""
    most = member.file_size + 1
    try:
        if member.compress_type == zipfile.ZIP_STORED:
            return packed[:most]
        if member.compress_type == zipfile.ZIP_DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        if member.compress_type == _ZSTD:
            with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
                data: bytes = stream.read(most)
                return data
    except (OSError, zlib.error, pa.ArrowException) as error:
        raise UnusableMemberError(f"damaged: {error}") from error
    raise UnusableMemberError(f"of an unknown compression, {member.compress_type}")


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
