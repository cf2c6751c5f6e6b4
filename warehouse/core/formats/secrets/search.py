"""Finds secrets in bytes of any format, about as fast as a scan for their prefixes."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.formats.secrets.assignments import ASSIGNMENT_GATE, assigned_secrets
from warehouse.core.formats.secrets.contexts import contexts
from warehouse.core.formats.secrets.patterns import late_pattern
from warehouse.core.formats.secrets.private_keys import PRIVATE_KEY_GATE, private_keys
from warehouse.core.formats.secrets.secret import Secret, is_words, started
from warehouse.core.formats.values import import_pyarrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

_RULES = Path(__file__).with_name("rules.toml")
_SHORTEST_BODY = 8
_LONG_LINE = 1 << 14
# Every token has at least this many characters of the run that contains its prefix.
_SHORTEST_TOKEN = 15
_RUN = late_pattern(rb"[\w$%%+/.:,@~=\\-]{%d,}" % _SHORTEST_TOKEN)
# Inputs up to this size are searched directly, in less time than compiling the gate takes.
SEARCHED_WHOLE = 1 << 13


def find_secrets(data: bytes | memoryview) -> list[Secret]:
    """Return the secrets in some bytes, in order and without overlaps."""
    data = bytes(data)
    is_small = len(data) <= SEARCHED_WHOLE
    return _find_in_parts(
        data, [(0, len(data))] if is_small else list(_suspects(data, 0, len(data), b"\n"))
    )


def find_secrets_in(texts: Sequence[bytes]) -> list[list[Secret]]:
    """Return the secrets in each of many texts, as `find_secrets` does.

    To prepare the search for suspects takes longer than to search a file of some ten kB, so that
    one search covers all texts.
    """
    parts: list[list[tuple[int, int]]] = [[(0, len(text))] for text in texts]
    large = [at for at, text in enumerate(texts) if len(text) > SEARCHED_WHOLE]
    if large:
        suspects = _suspects_in([texts[at] for at in large])
        for at, found in zip(large, suspects, strict=True):
            parts[at] = found
    return [_find_in_parts(text, own) for text, own in zip(texts, parts, strict=True)]


def _find_in_parts(data: bytes, parts: list[tuple[int, int]]) -> list[Secret]:
    if not parts:
        return []
    # A key has several lines; the one with its label is a suspect.
    found = list(private_keys(data))
    for start, end in parts:
        found += _find_in_part(data, start, end)
    return list(_without_overlaps(found))


def may_hold_secrets(texts: Sequence[bytes], also: str = "") -> list[bool]:
    """Return for each text whether it may contain secrets; if not, it contains none.

    One search of RE2 over all texts takes a small part of the time of `find_secrets` for each.

    Args:
        texts: the texts.
        also: an RE2 expression of something else to look for; it costs nothing in the same search.
    """
    pa = import_pyarrow()
    import pyarrow.compute as pc

    may_hold: list[bool] = pc.match_substring_regex(
        pa.array(texts, pa.large_binary()), f"{_gate()}|{also}" if also else _gate()
    ).to_pylist()
    return may_hold


def _find_in_part(data: bytes, start: int, end: int) -> Iterator[Secret]:
    yield from _find_tokens(data, start, end)
    lowered = data[start:end].lower()
    for context in contexts():
        if context.part in lowered:
            yield from context.find(data, start, end)
    yield from assigned_secrets(data, lowered, start, end)


def _find_tokens(data: bytes, start: int, end: int) -> Iterator[Secret]:
    rules = _rules()
    # Most texts have few of the prefixes or none; an expression of only those is much faster.
    present = _present_prefixes(data, start, end)
    if not present:
        return
    for match in _starts(present).finditer(data, start, end):
        for kind, pattern in rules[match[0]]:
            token = pattern.match(data, match.start(), end)
            if token and not is_words(token[0]):
                yield Secret(*token.span(), kind)
                break


def _present_prefixes(data: bytes, start: int, end: int) -> frozenset[bytes]:
    """Return the prefixes of tokens that occur where a token is possible."""
    runs = b" ".join(_RUN.findall(data, start, end))
    if not runs:
        return frozenset()
    return frozenset(
        prefix
        for head, prefixes in _prefixes_by_head().items()
        if head in runs
        for prefix in prefixes
        if prefix.split()[-1] in runs
    )


def _suspects_in(texts: Sequence[bytes]) -> list[list[tuple[int, int]]]:
    """Return for each text its lines in which a secret may begin."""
    import numpy as np

    ends = np.cumsum([len(text) for text in texts])
    starts = [0, *ends.tolist()]
    data = b"".join(texts)
    lines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    found: list[list[tuple[int, int]]] = [[] for _ in texts]
    for first, last in _suspected(data, np.unique(np.concatenate([[0], lines, ends]))):
        at = int(np.searchsorted(ends, first, side="right"))
        line = first - starts[at], last - starts[at]
        found[at] += _pieces(texts[at], *line, b"\n")
    return found


def _suspects(data: bytes, start: int, end: int, border: bytes) -> Iterator[tuple[int, int]]:
    """Yield the parts of some bytes, split after a separator, in which a secret may begin."""
    import numpy as np

    codes = np.frombuffer(data, np.uint8, end - start, start)
    cuts = np.flatnonzero(codes == ord(border)) + 1
    offsets = np.concatenate([[0], cuts, [end - start]]) + start
    for first, last in _suspected(data, offsets):
        yield from _pieces(data, first, last, border)


def _pieces(data: bytes, first: int, last: int, border: bytes) -> Iterator[tuple[int, int]]:
    """Yield a suspect, or its parts in which a secret may begin if it is a long line."""
    if border == b"\n" and last - first > _LONG_LINE:
        yield from _suspects(data, first, last, b"{")
    else:
        yield first, last


def _suspected(data: bytes, offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the parts between offsets in which a secret may begin.

    RE2 searches all parts in one call, during which other threads can run.
    """
    import numpy as np

    pa = import_pyarrow()
    import pyarrow.compute as pc

    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data)]
    parts = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    may_hold = pc.match_substring_regex(parts, _gate())
    for at in np.flatnonzero(may_hold.to_numpy(zero_copy_only=False)).tolist():
        yield int(offsets[at]), int(offsets[at + 1])


def _without_overlaps(found: Iterable[Secret]) -> Iterator[Secret]:
    """Yield the first of overlapping secrets; of those with the same start, the longest."""
    end = 0
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if secret.start >= end:
            yield secret
            end = secret.end


@lru_cache(maxsize=256)
def _starts(prefixes: frozenset[bytes]) -> re.Pattern[bytes]:
    """Return an expression that matches these prefixes of tokens."""
    starts = sorted(map(bytes.decode, prefixes), key=lambda text: (text.isalnum(), -len(text)))
    return re.compile("|".join(map(started, starts)).encode())


@cache
def _gate() -> str:
    """Return an RE2 expression that matches wherever any of the other expressions can."""
    starts = "|".join(re.escape(start.decode()) for start in sorted(_rules()))
    before = r"(?:^|[^A-Za-z0-9_-]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-F]{2})"
    tokens = rf"{before}(?:{starts})[\w%+/.:,@~=\\-]{{{_SHORTEST_BODY}}}"
    gates = [tokens, PRIVATE_KEY_GATE, ASSIGNMENT_GATE, *(context.gate for context in contexts())]
    return "|".join(gates)


@cache
def _prefixes_by_head() -> dict[bytes, list[bytes]]:
    """Return the prefixes of tokens by their first two bytes: few texts have many of these.

    Of a prefix with a space, which no run has, what follows the space counts.
    """
    prefixes: dict[bytes, list[bytes]] = {}
    for prefix in _rules():
        prefixes.setdefault(prefix.split()[-1][:2], []).append(prefix)
    return prefixes


@cache
def _rules() -> dict[bytes, list[tuple[str, re.Pattern[bytes]]]]:
    """Return the kinds and patterns of tokens by prefix."""
    rules: dict[bytes, list[tuple[str, re.Pattern[bytes]]]] = {}
    for kind, starts, body in tomllib.loads(_RULES.read_text("utf-8"))["rules"]:
        for start in map(str.encode, starts):
            pattern = late_pattern(re.escape(start) + body.encode())
            rules.setdefault(start, []).append((kind, pattern))
    return rules
