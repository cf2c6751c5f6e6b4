"""A JSON object in a file of any size: its members, and the objects in its lists one by one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.common.documents import BOM, NO_OBJECT
from ingest.formats.common.fields import object_of
from ingest.formats.common.json_spans import file_spans, value_offset
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.reading import Reject
from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.json_spans import ObjectSpans
    from warehouse.core.types import Json, JsonObject

MOST_MEMBER_BYTES = 64 * 2**20
_MOST_OBJECT_BYTES = 256 * 2**20
_LONGEST_KEY = 1000
_BLOCK_BYTES = 2**20


@dataclass(slots=True)
class Parts:
    """Reads parts of a file, in their order.

    Attributes:
        is_masked: whether possible secrets are masked.
        line: the line in which the last part begins, from 1.
        data: the text of the last part.
        secrets: line and kind of each possible secret in the last part.
    """

    file: BinaryIO
    is_masked: bool
    line: int = 1
    data: bytes = b""
    secrets: list[tuple[int, str]] = field(default_factory=list)
    _at: int = 0

    def read(self, start: int, end: int, most: int) -> bytes:
        """Return the next part.

        Raises:
            UnreadableRecordError: it has more than `most` bytes.
            OSError: the file cannot be read.
        """
        self.data, self.secrets = b"", []
        self.line += self._line_feeds(start)
        if end - start > most:
            raise UnreadableRecordError(f"more than {most:,} bytes")
        self.file.seek(start)
        data = self.file.read(end - start).removeprefix(BOM)
        secrets = find_secrets(data)
        self.secrets = lines_of(data, secrets, self.line)
        self.data = mask(data, secrets) if self.is_masked and secrets else data
        return self.data

    def usable(
        self,
        place: tuple[int, int],
        rows: RowCollector,
        name: str,
        problem_of: Callable[[JsonObject], str],
    ) -> JsonObject | None:
        """Return the object in the next part; None, with a reject in `rows`, for none of use.

        Args:
            place: where the part begins and ends.
            rows: collects the reject, and secrets.
            name: what the part is, for messages.
            problem_of: why an object cannot be used; "" if it can.

        Raises:
            OSError: the file cannot be read.
        """
        value: Json = None
        try:
            value = parsed(self.read(*place, _MOST_OBJECT_BYTES))[0]
            problem = problem_of(value) if isinstance(value, dict) else NO_OBJECT
        except UnreadableRecordError as error:
            problem = str(error)
        rows.secrets += self.secrets
        if problem:
            rows.rejects.append(self.reject(f"{name}: {problem}", place[0]))
        return value if isinstance(value, dict) and not problem else None

    def reject(self, reason: str, start: int) -> Reject:
        """Return the reject of the last part, which may begin with spaces."""
        spaces = self.data[: len(self.data) - len(self.data.lstrip())]
        line = self.line + spaces.count(b"\n")
        return Reject(reason, line, start + len(spaces), self.data or None)

    def _line_feeds(self, end: int) -> int:
        n_feeds = 0
        self.file.seek(self._at)
        while self._at < end and (block := self.file.read(min(end - self._at, _BLOCK_BYTES))):
            n_feeds += block.count(b"\n")
            self._at += len(block)
        return n_feeds


@dataclass(slots=True)
class LargeObject:
    """An object in a file, or in a part of one.

    Attributes:
        path: the file.
        spans: where its members are.
        is_masked: whether possible secrets are masked.
        root: its members without the long lists.
        rejects: members that cannot be used.
        secrets: line and kind of each possible secret in them.
    """

    path: Path
    spans: ObjectSpans
    is_masked: bool
    root: JsonObject = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)

    def n_objects(self, key: str) -> int:
        """Return the number of objects in a long list."""
        listed = self.spans.lists.get(key)
        return listed.n_objects if listed is not None else 0

    def objects(
        self,
        key: str,
        rows: RowCollector,
        name: str,
        problem_of: Callable[[JsonObject], str] = lambda _: "",
        *,
        elements: str = "",
    ) -> Iterator[tuple[int, JsonObject]]:
        """Yield the objects in a long list with their numbers, from 1.

        Those that cannot be used are added to `rows`, as are secrets.

        Args:
            key: the list.
            rows: collects them.
            name: what an object is, for messages.
            problem_of: why an object cannot be used; "" if it can.
            elements: what all elements are, for messages; by default the key.

        Raises:
            OSError: the file cannot be read.
        """
        listed = self.spans.lists.get(key)
        if listed is None:
            return
        with open_regular(self.path) as file:
            parts = Parts(file, self.is_masked)
            # An object in which the file is cut off has no end: a problem of the whole.
            places = zip(listed.places[::2], listed.places[1::2], strict=False)
            for number, place in enumerate(places, 1):
                value = parts.usable(place, rows, f"{name} {number}", problem_of)
                if value is not None:
                    yield number, value
        if listed.n_elements > listed.n_objects:
            n_others = listed.n_elements - listed.n_objects
            rows.rejects.append(Reject(f"{n_others:,} {elements or key} are not objects"))

    def first(self, key: str) -> bytes:
        """Return the text of the first object in a long list; empty without one, or a longer one.

        Raises:
            OSError: the file cannot be read.
        """
        if not self.n_objects(key):
            return b""
        start, end = self.spans.lists[key].places[:2]
        with open_regular(self.path) as file, suppress(UnreadableRecordError):
            return Parts(file, self.is_masked).read(start, end, _MOST_OBJECT_BYTES)
        return b""

    def read_members(self, without: Collection[str]) -> None:
        """Read all members but some.

        Raises:
            OSError: the file cannot be read.
        """
        with open_regular(self.path) as file:
            parts = Parts(file, self.is_masked)
            for name, (start, end) in self.spans.members.items():
                if name in without:
                    continue
                try:
                    member = parts.read(start, end, MOST_MEMBER_BYTES)
                    read = object_of(parsed(b"{" + member + b"}")[0])
                    self.root |= read
                    # Of a key with a secret, the root has the masked one.
                    self._places |= dict.fromkeys(read, (start, end))
                except UnreadableRecordError as error:
                    self.rejects.append(parts.reject(f"`{utf8(name)}`: {error}", start))
                self.secrets += parts.secrets

    def value_place(self, key: str) -> tuple[int, int]:
        """Return where the value of a member is, in bytes."""
        start, end = self._places.get(key) or self.spans.members[key]
        with open_regular(self.path) as file:
            file.seek(start)
            return start + (value_offset(file.read(min(end - start, _LONGEST_KEY))) or 0), end


def large_object(
    path: Path, lists: Collection[str], *, is_masked: bool, start: int = 0, end: int | None = None
) -> LargeObject:
    """Return the object in a file, or in a part of one.

    Args:
        path: the file.
        lists: keys of members whose objects are read one by one.
        is_masked: whether possible secrets are masked.
        start: where the object begins, in bytes.
        end: where it ends; None for the end of the file.

    Raises:
        OSError: the file cannot be read.
    """
    spans = file_spans(path, lists, start=start, end=end)
    made = LargeObject(path, spans, is_masked)
    if spans.problem:
        made.rejects.append(Reject(spans.problem))
    made.read_members(lists)
    return made
