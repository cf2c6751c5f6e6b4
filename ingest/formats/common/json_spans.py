"""Where the members of a large JSON object are, found without parsing or holding the file.

A log of a gigabyte is one object with a long list in it. A scan of the bytes, vectorised and block
by block, finds the places of the object's members and of the objects in its long lists. Each is
then read and parsed by itself, so that memory holds one of them.
"""

from __future__ import annotations

import json
import re
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warehouse.core.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

BLOCK_BYTES = 4 * 2**20
_MOST_ELEMENTS = 10_000_000
_LONGEST_KEY_BYTES = 1000
_KEY = re.compile(rb'\s*("(?:[^"\\]|\\.)*")\s*:', re.DOTALL)
_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_OPEN, _CLOSE, _COMMA = 1, 2, 3
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(b"{[")] = _OPEN
_KINDS[list(b"}]")] = _CLOSE
_KINDS[ord(",")] = _COMMA
_MEMBER, _VALUE, _ELEMENT = 1, 2, 3  # depths: in the object, in a member's value, in an element


@dataclass(slots=True)
class ListSpans:
    """The objects in a list, a member of the object.

    Attributes:
        places: start and end of each object, one after the other, in bytes.
        n_elements: number of elements, objects or not.
    """

    places: array[int] = field(default_factory=lambda: array("Q"))
    n_elements: int = 0

    @property
    def n_objects(self) -> int:
        """The number of objects in the list."""
        return len(self.places) // 2


@dataclass(slots=True)
class ObjectSpans:
    """The members of an object.

    Attributes:
        members: start and end of the text `"key": value` of each member, in bytes, by its key.
        lists: the objects in the lists that were asked for, by key.
        problem: why the text is not a whole object, human-readable; empty if it is one.
    """

    members: dict[str, tuple[int, int]] = field(default_factory=dict)
    lists: dict[str, ListSpans] = field(default_factory=dict)
    problem: str = ""


def file_spans(
    path: Path, lists: Collection[str], *, start: int = 0, end: int | None = None
) -> ObjectSpans:
    """Return the members of the object in a file, or in a part of it.

    Args:
        path: the file.
        lists: keys of members whose objects are wanted one by one.
        start: where the object begins, in bytes.
        end: where it ends; None for the end of the file.

    Raises:
        OSError: the file cannot be read.
    """
    with open_regular(path) as file:

        def text(start: int, end: int) -> bytes:
            at = file.tell()
            file.seek(start)
            data = file.read(end - start)
            file.seek(at)
            return data

        scan = _Scan(lists, text, start)
        file.seek(start)
        while block := file.read(_up_to(end, file.tell())):
            if not scan.add(block):
                break
        return scan.result()


def value_offset(member: bytes) -> int | None:
    """Return where the value begins in the text `"key": value` of a member; None if nowhere."""
    found = _KEY.match(member)
    return (
        None
        if found is None
        else found.end() + len(member[found.end() :]) - len(member[found.end() :].lstrip())
    )


def _up_to(end: int | None, at: int) -> int:
    return BLOCK_BYTES if end is None else max(min(BLOCK_BYTES, end - at), 0)


def head_keys(head: bytes) -> list[str]:
    """Return the keys of the object that a text begins with, as far as the text goes."""
    scan = _Scan((), lambda start, end: head[start:end])
    scan.add(head)
    return scan.keys()


class _Scan:
    """The state of a scan between blocks."""

    def __init__(
        self, lists: Collection[str], text: Callable[[int, int], bytes], start: int = 0
    ) -> None:
        self._wanted = lists
        self._text = text
        self._found = ObjectSpans()
        self._start = self._offset = start
        self._depth = 0
        self._n_quotes = 0
        self._n_backslashes = 0
        self._member_at: int | None = None
        self._element_at = 0
        self._list: ListSpans | None = None
        self._is_done = False

    def add(self, block: bytes) -> bool:
        """Scan the next block; return whether there is more to scan."""
        data = np.frombuffer(block, np.uint8)
        if self._offset == self._start and not block.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
            b"{"
        ):
            self._found.problem, self._is_done = "not a JSON object", True
        if self._is_done:
            self._check_rest(block)
            return not self._found.problem
        quotes = self._unescaped_quotes(data)
        places = np.flatnonzero(_KINDS[data])
        is_outside = (self._n_quotes + np.searchsorted(quotes, places)) % 2 == 0
        places = places[is_outside]
        kinds = _KINDS[data[places]]
        steps = np.where(kinds == _OPEN, 1, np.where(kinds == _CLOSE, -1, 0))
        depths = self._depth + np.cumsum(steps)
        if len(depths):
            self._depth = int(depths[-1])
        self._n_quotes += len(quotes)
        # An opening bracket counts at the depth inside it, a closing one at that outside it.
        is_event = (depths <= np.where(kinds == _OPEN, _ELEMENT, _VALUE)) & (
            (kinds != _COMMA) | (depths <= _VALUE)
        )
        for place, kind, depth in zip(
            places[is_event].tolist(),
            kinds[is_event].tolist(),
            depths[is_event].tolist(),
            strict=True,
        ):
            if self._step(place + self._offset, kind, depth, block[place]):
                self._check_rest(block[place + 1 :])
                break
        self._offset += len(block)
        return not self._found.problem

    def keys(self) -> list[str]:
        """Return the keys found so far, that of an unfinished member included."""
        keys = list(self._found.members)
        if self._member_at is not None:
            key = self._key(self._member_at, self._member_at + _LONGEST_KEY_BYTES)
            keys += [] if key is None else [key]
        return keys

    def result(self) -> ObjectSpans:
        """Return what was found, once all blocks were added."""
        if not self._is_done and not self._found.problem:
            self._found.problem = "the file ends in the middle of the object"
        return self._found

    def _step(self, place: int, kind: int, depth: int, byte: int) -> bool:
        """Follow a bracket or comma; return whether it is the last of the object."""
        if kind == _OPEN and depth == _MEMBER:
            self._member_at = place + 1
        elif kind == _OPEN and depth == _VALUE:
            self._begin_value(place, byte)
        elif self._list is not None and depth >= _VALUE:
            self._step_in_list(place, kind, depth, byte)
        elif depth == _MEMBER and kind == _CLOSE and self._list is not None:
            self._end_list(place)
        elif depth == _MEMBER and kind == _COMMA:
            self._end_member(place)
            self._member_at = place + 1
        elif depth < _MEMBER:
            self._end_member(place)
            self._member_at, self._is_done = None, True
        return self._is_done

    def _begin_value(self, place: int, byte: int) -> None:
        if not self._wanted or byte != ord("[") or self._member_at is None:
            return
        key = self._key(self._member_at, place)
        if key is not None and key in self._wanted:
            self._list = self._found.lists[key] = ListSpans()
            self._element_at = place + 1

    def _step_in_list(self, place: int, kind: int, depth: int, byte: int) -> None:
        current = self._list
        if current is None:
            return
        if kind == _COMMA:
            current.n_elements += depth == _VALUE
        elif kind == _OPEN and byte == ord("{"):
            current.places.append(place)
        elif kind == _CLOSE and byte == ord("}") and len(current.places) % 2:
            current.places.append(place + 1)
            if current.n_objects > _MOST_ELEMENTS:
                self._found.problem = f"a list of more than {_MOST_ELEMENTS:,} objects"
                self._is_done = True

    def _end_list(self, place: int) -> None:
        current, self._list = self._list, None
        if current is None:
            return
        is_empty = not current.n_elements and not current.places
        if not is_empty or self._text(self._element_at, min(place, self._element_at + 100)).strip():
            current.n_elements += 1

    def _end_member(self, place: int) -> None:
        if self._member_at is None:
            return
        key = self._key(self._member_at, place)
        # A member without a key that can be read is not lost: parsing it says what is wrong.
        if (
            key is not None
            or self._text(self._member_at, min(place, self._member_at + 100)).strip()
        ):
            key = f"the text at byte {self._member_at}" if key is None else key
            self._found.members[key] = (self._member_at, place)

    def _key(self, start: int, end: int) -> str | None:
        found = _KEY.match(self._text(start, min(end, start + _LONGEST_KEY_BYTES)))
        try:
            key = json.loads(found[1]) if found is not None else None
        except ValueError:
            return None
        return key if isinstance(key, str) else None

    def _unescaped_quotes(self, data: np.ndarray) -> np.ndarray:
        """Return the places of quotes that begin or end a string."""
        quotes = np.flatnonzero(data == _QUOTE)
        slashes = np.flatnonzero(data == _BACKSLASH)
        before = self._n_backslashes
        if not len(slashes):
            self._n_backslashes = 0
            is_escaped = (quotes == 0) & (before % 2 == 1)
            unescaped: np.ndarray = quotes[~is_escaped]
            return unescaped
        is_first = np.diff(slashes, prepend=-2) != 1
        run_starts = np.maximum.accumulate(np.where(is_first, slashes, 0))
        lengths = slashes - run_starts + 1 + np.where(run_starts == 0, before, 0)
        at = np.searchsorted(slashes, quotes - 1)
        at_known = np.minimum(at, len(slashes) - 1)
        follows = slashes[at_known] == quotes - 1
        is_escaped = follows & (lengths[at_known] % 2 == 1)
        if before % 2 == 1 and slashes[0] != 0:
            is_escaped |= quotes == 0
        ends_with = slashes[-1] == len(data) - 1
        self._n_backslashes = int(lengths[-1]) if ends_with else 0
        kept: np.ndarray = quotes[~is_escaped]
        return kept

    def _check_rest(self, rest: bytes) -> None:
        if rest.strip() and not self._found.problem:
            self._found.problem = "more text after the end of the object"
