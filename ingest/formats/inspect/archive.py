"""Members of an `.eval` archive, each of bounded size; their names are never used as paths."""

from __future__ import annotations

import struct
import zipfile
import zlib
from operator import attrgetter
from typing import TYPE_CHECKING

import pyarrow as pa

from ingest.formats.inspect.directory import Member, UnusableArchiveError, read_members
from warehouse.core.files import LARGEST_BYTES, open_regular
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import BinaryIO, Self

_ZSTD = 93  # Python's zipfile cannot read it before 3.14
_ENCRYPTED = 1
_LOCAL_HEADER = struct.Struct("<4s22xHH")
# Deflate reaches 1,032:1; a zstd archive of text that often repeats itself 200:1.
_LARGEST_RATIO = 1000
_ALWAYS_ALLOWED_BYTES = 2**30


class UnusableMemberError(Exception):
    """A member that cannot be read; the message says why."""


class Archive:
    """An archive that is open for reading."""

    def __init__(self, path: Path, members: Sequence[Member] | None = None) -> None:
        """Open an archive and read its directory.

        Args:
            path: the archive.
            members: its directory, if that has been read before.

        Raises:
            UnusableArchiveError: it is not an archive, or looks like a bomb.
            OSError: it cannot be read.
        """
        self._file: BinaryIO = open_regular(path)
        try:
            self.members = _checked_members(self._file) if members is None else members
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def read(self, member: Member) -> bytes:
        """Return the bytes of a member.

        Raises:
            UnusableMemberError: it is too large, damaged, or of an unknown compression.
        """
        if member.flags & _ENCRYPTED:
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
        if zlib.crc32(data) != member.crc:
            raise UnusableMemberError("damaged: its checksum is another")
        return data


def member_name(member: Member) -> str:
    """Return the name of a member, for messages."""
    return utf8(member.name)


def _checked_members(file: BinaryIO) -> Sequence[Member]:
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


def _unpacked(packed: bytes, member: Member) -> bytes:
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
