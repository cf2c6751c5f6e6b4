"""The fields of a YAML record, with their types checked and nothing lost.

A value of the wrong type is used if possible (`"4.1"` for a number), is reported, and marks the
record, so that its original text is kept along with the columns.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import is_integer, utf8
from warehouse.core.formats.yaml.documents import MappingNode, Node, ScalarNode, value_of
from warehouse.core.formats.yaml.nodes import repeats_keys

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

# No real duration in seconds or cost in dollars is larger.
LARGEST_AMOUNT = 1e12
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a rule of a file's specification.

    Attributes:
        line: from 1.
        field: a path such as `tasks[2].answer`, counted from 0 as in the file's list.
        rule: name of the rule.
        message: what is wrong, human-readable.
    """

    line: int
    field: str
    rule: str
    message: str


@dataclass(slots=True)
class Fields:
    """The fields of one mapping.

    Attributes:
        mapping: the node.
        path: its path, as a prefix for the names of fields: `tasks[2].`.
        violations: the violations found so far.
        is_faithful: whether the record can be restored from the columns and `extra`.
    """

    mapping: MappingNode
    path: str
    violations: list[Violation] = field(default_factory=list)
    is_faithful: bool = True
    _nodes: dict[str, Node] = field(init=False)

    def __post_init__(self) -> None:
        self._nodes = dict(self.mapping.items)
        for key, line in self.mapping.duplicates:
            self.is_faithful = False
            self.report(line, key, "unique_keys", "the key appears twice; the last one counts")

    def node(self, key: str) -> Node | None:
        """Return a field's node; None if it is absent."""
        return self._nodes.get(key)

    def text(self, key: str, *, required: bool = False) -> str | None:
        """Return a field that should be text; for another scalar, its text in the file."""
        node = self._present(key, required=required)
        if node is None:
            return None
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            return node.value if node.value.isascii() else self._utf8(node.value)
        self._wrong(key, node, "text")
        return utf8(node.text) if isinstance(node, ScalarNode) and node.value is not None else None

    def scalar_text(self, key: str) -> str | None:
        """Return the text of a field that may be any scalar, such as a version."""
        node = self._nodes.get(key)
        if node is None or isinstance(node, ScalarNode):
            return utf8(node.text) if node is not None and node.value is not None else None
        self._wrong(key, node, "text")
        return None

    def number(self, key: str, *, required: bool = False, is_float: bool = False) -> float | None:
        """Return a field that should be a number; if `is_float`, an integer is a violation."""
        node = self._present(key, required=required)
        if node is None:
            return None
        value = node.value if isinstance(node, ScalarNode) else None
        if type(value) is float and -LARGEST_AMOUNT <= value <= LARGEST_AMOUNT:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            if is_float and isinstance(value, int):
                self.report(node.line, key, "float", f"{value} is an integer, not a float")
            return self._amount(key, node, value)
        self._wrong(key, node, "a number")
        return _as_number(value)

    def count(self, key: str) -> int | None:
        """Return a field that should be an integer."""
        node = self._present(key, required=False)
        if node is None:
            return None
        value = node.value if isinstance(node, ScalarNode) else None
        if is_integer(value):
            return value
        self._wrong(key, node, "an integer")
        number = value if isinstance(value, float) else _as_number(value)
        whole = int(number) if number is not None and number.is_integer() else None
        return whole if is_integer(whole) else None

    def boolean(self, key: str, *, required: bool = False) -> bool | None:
        """Return a field that should be `true` or `false`."""
        node = self._present(key, required=required)
        if node is None:
            return None
        if isinstance(node, ScalarNode) and isinstance(node.value, bool):
            return node.value
        self._wrong(key, node, "true or false (lowercase)")
        return _BOOLEANS.get(node.text.lower()) if isinstance(node, ScalarNode) else None

    def timestamp(self, key: str) -> datetime | None:
        """Return a UTC timestamp of the form `YYYY-MM-DDTHH:MM:SSZ` as naive UTC."""
        node = self._present(key, required=False)
        if node is None:
            return None
        text = node.text if isinstance(node, ScalarNode) else ""
        is_utc = _TIMESTAMP.fullmatch(text) is not None
        try:
            moment = datetime.fromisoformat(text[:-1] if is_utc else text)
        except ValueError:
            moment = None
        if moment is None or not is_utc:
            self._wrong(key, node, "a UTC timestamp YYYY-MM-DDTHH:MM:SSZ")
        if moment is None or is_utc:
            return moment
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        try:
            return zoned.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:  # in UTC, before the year 1 or after 9999
            return None

    def unknown(self, known: AbstractSet[str]) -> dict[str, object]:
        """Return the fields that are not known, as plain values."""
        if self._nodes.keys() <= known:
            return {}
        return {key: self.plain(key) for key in self._nodes if key not in known}

    def plain(self, key: str) -> object:
        """Return a field's plain value, of any type, for `extra`."""
        node = self._nodes[key]
        value = value_of(node)
        if not is_exact(value) or repeats_keys(node):
            self.is_faithful = False
        return value

    def report(self, line: int, key: str, rule: str, message: str) -> None:
        """Add a violation of a rule at a field."""
        name = utf8(f"{self.path}{key}")
        self.violations.append(Violation(line, name, rule, f"{name}: {message}"))

    def _present(self, key: str, *, required: bool) -> Node | None:
        node = self._nodes.get(key)
        if node is None and required:
            self.report(self.mapping.line, key, "required", "the field is missing")
        return node

    def _wrong(self, key: str, node: Node, expected: str) -> None:
        self.is_faithful = False
        self.report(node.line, key, "type", f"{_shown(node)} is not {expected}")

    def _utf8(self, text: str) -> str:
        clean = utf8(text)
        if clean != text:
            self.is_faithful = False
        return clean

    def _amount(self, key: str, node: Node, value: float) -> float | None:
        if abs(value) > LARGEST_AMOUNT or math.isnan(value):
            self._wrong(key, node, "a plausible amount")
            return None
        return float(value)


def _as_number(value: object) -> float | None:
    if not isinstance(value, str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) <= LARGEST_AMOUNT else None


def _shown(node: Node, longest: int = 60) -> str:
    text = json_text(value_of(node))
    return text if len(text) <= longest else f"{text[:longest]}…"
