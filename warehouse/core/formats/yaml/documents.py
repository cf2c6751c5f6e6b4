"""YAML 1.2 documents, read safely and with line numbers.

libyaml scans the text and emits events; nodes are built from them within limits on size, depth,
number of nodes and alias expansion. Plain scalars get their YAML 1.2 meaning: only `true`
and `false` are booleans, dates and `12:30` stay text, `<<` is an ordinary key.

A line is what `str.splitlines` calls a line, which is also what libyaml counts.
"""

from __future__ import annotations

import re
from typing import Final

import yaml

from warehouse.core.formats.yaml.composer import compose
from warehouse.core.formats.yaml.nodes import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    Value,
    YamlError,
    slice_text,
    value_of,
)

__all__ = [
    "MAX_BYTES",
    "MappingNode",
    "Node",
    "ScalarNode",
    "SequenceNode",
    "Value",
    "YamlError",
    "load",
    "parse",
    "slice_text",
    "text_lines",
    "value_of",
]

MAX_BYTES: Final = 64 * 2**20
# libyaml clears its whitespace buffer at every word, and the buffer is as long as the longest run
# of whitespace. The longest run times the size bounds that work, here to a few seconds.
MAX_WHITESPACE_WORK: Final = 400_000_000_000

# libyaml compares every %TAG directive with all previous ones; tags are refused anyway.
_TAG_DIRECTIVE: Final = re.compile(
    rb"(?:\A|\A\xef\xbb\xbf|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])%TAG\b"
)
# Whitespace and the bytes of rarer line breaks (NEL, LS, PS) become spaces, the rest x.
_WHITESPACE: Final = bytes(
    ord(" ") if byte in b" \t\r\n\xc2\x85\xe2\x80\xa8\xa9" else ord("x") for byte in range(256)
)
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

_REMEDIES: Final = (
    (
        "mapping values are not allowed",
        "quote text that contains ': ', or check the indent",
    ),
    ("cannot start any token", "quote the text; indent with spaces, not tabs"),
    ("found a tab character", "indent with spaces, not tabs"),
    ("unexpected end of stream", "close the quote"),
    ("invalid Unicode character escape code", "write the character itself; no lone surrogates"),
    ("unknown escape character", "write the backslash twice, or use single quotes"),
    ("could not find expected ':'", "close the quote above, or put ':' after the key"),
    ("did not find expected", "check the indent and the quotes here and just above"),
)


def parse(data: bytes, *, max_bytes: int = MAX_BYTES) -> Node:
    """Return the root node of one YAML document; nodes have line numbers.

    Args:
        data: the document, UTF-8, with or without a byte order mark.
        max_bytes: largest size accepted.

    Raises:
        YamlError: the document is not valid, is empty, is not the only one, is not UTF-8, contains
            control characters or tags, or exceeds a limit.
    """
    _check_bytes(data, max_bytes)
    try:
        return compose(data)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error) from None
    except yaml.reader.ReaderError as error:
        raise _character_error(data, error) from None


def load(data: bytes, *, max_bytes: int = MAX_BYTES) -> Value:
    """Return one YAML document as plain Python values.

    Raises:
        YamlError: as for `parse`.
    """
    return value_of(parse(data, max_bytes=max_bytes))


def text_lines(data: bytes) -> list[str]:
    """Return the lines, with line ends, of a document that `parse` accepted."""
    return data.decode("utf-8-sig").splitlines(keepends=True)


def _check_bytes(data: bytes, max_bytes: int) -> None:
    """Refuse what libyaml would read in another encoding, or would take far too long to read."""
    if len(data) > max_bytes:
        raise YamlError(
            f"{len(data):,} bytes, more than the {max_bytes:,} accepted: split the file"
        )
    if data.startswith(_OTHER_ENCODINGS):
        raise YamlError("the text is UTF-16 or UTF-32: save it as UTF-8")
    if b"%TAG" in data and (directive := _TAG_DIRECTIVE.search(data)):
        raise YamlError(
            "%TAG directives are not accepted: remove them", *_place(data, directive.end())
        )
    longest = MAX_WHITESPACE_WORK // max(len(data), 1)
    if longest < len(data) and b" " * longest in data.translate(_WHITESPACE):
        raise YamlError(
            f"more than {longest:,} spaces in a row in a file of this size: remove them"
        )


def _syntax_error(error: yaml.MarkedYAMLError) -> YamlError:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "cannot be read"
    remedy = next((hint for part, hint in _REMEDIES if part in problem), "")
    context = f" {error.context}" if error.context else ""
    message = f"not valid YAML: {problem}{context}" + (f"; {remedy}" if remedy else "")
    return YamlError(message, mark.line + 1, mark.column + 1) if mark else YamlError(message)


def _character_error(data: bytes, error: yaml.reader.ReaderError) -> YamlError:
    place = _place(data, error.position)
    if "control characters" in error.reason:
        message = f"control character U+{error.character:04X}: remove it, or escape it in quotes"
        return YamlError(message, *place)
    return YamlError(f"not UTF-8 ({error.reason}): save the file as UTF-8", *place)


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """Return line and column of a byte, both from 1."""
    before = (data[:offset].decode("utf-8-sig", "replace") + "x").splitlines()
    return len(before), len(before[-1])
