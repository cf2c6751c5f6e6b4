"""The directory of an archive is read as `zipfile` reads it, whatever is in it."""

import io
import random
import struct
import zipfile
from operator import attrgetter

import pytest

from ingest.formats.inspect.archive import UnusableArchiveError, read_members

FIELDS = attrgetter(
    *("filename", "flag_bits", "compress_type", "CRC"),
    *("compress_size", "file_size", "header_offset"),
)
NAMES = ("_journal/start.json", "samples/1_epoch_1.json", "samples/", "header.json")


def archive(names=NAMES, *, comment=b"", of_members=b"", extra=b""):
    """Return an archive with a member of each name."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        file.comment = comment
        for name in names:
            member = zipfile.ZipInfo(name)
            member.comment, member.extra = of_members, extra
            file.writestr(member, name * 3)
    return written.getvalue()


def read(data):
    """Return the members, or None if the archive is refused."""
    try:
        return list(map(FIELDS, read_members(io.BytesIO(data))))
    except UnusableArchiveError:
        return None


def read_by_zipfile(data):
    try:
        return list(map(FIELDS, zipfile.ZipFile(io.BytesIO(data)).infolist()))
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError):
        return None


def with_zip64(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    return archive()


KINDS = {
    "usual": archive(),
    "no members": archive(()),
    "comment": archive(comment=b"of the archive"),
    "comments of members": archive(of_members=b"of a member"),
    "extra fields": archive(extra=struct.pack("<HH4s", 0x7075, 4, b"\0\0\0\0")),
    "cut extra fields": archive(extra=struct.pack("<HHH", 1, 16, 0)),
    "other letters": archive(["samples/äö_epoch_1.json"]),
    "backslashes": archive(["samples\\1_epoch_1.json"]),
    "bytes before it": b"#!/bin/sh\n" + archive(),
    "bytes after it": archive() + b"\n",
    "nothing": b"",
    "not an archive": b"PK\x03\x04" + b"\0" * 40,
}


@pytest.mark.parametrize("kind", KINDS)
def test_archives_of_any_kind_are_read_as_by_zipfile(kind):
    data = KINDS[kind]
    assert read(data) == read_by_zipfile(data)


def test_zip64_is_read_as_by_zipfile(monkeypatch):
    data = with_zip64(monkeypatch)
    assert b"PK\x06\x07" in data
    assert read(data) == read_by_zipfile(data)


def test_damaged_directories_are_read_as_by_zipfile():
    data = archive()
    start = data.index(b"PK\x01\x02")
    chance = random.Random(5)
    for at in range(start, len(data)):
        for value in (0, 0xFF, chance.randrange(256)):
            damaged = bytearray(data)
            damaged[at] = value
            assert read(bytes(damaged)) == read_by_zipfile(bytes(damaged)), (at, value)


def test_cut_directories_are_refused_as_by_zipfile():
    data = archive()
    for end in range(len(data)):
        assert read(data[:end]) == read_by_zipfile(data[:end]), end
