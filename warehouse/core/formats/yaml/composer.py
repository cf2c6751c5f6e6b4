"""Builds the nodes of a YAML document from libyaml's events, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from yaml._yaml import CParser

from warehouse.core.formats.values import MAX_DEPTH
from warehouse.core.formats.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, YamlError
from warehouse.core.formats.yaml.scalars import ScalarValue, resolve, tagged_value

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_NODES: Final = 2_000_000
# Nodes plus characters that aliases may add to a document.
MAX_ALIASED: Final = 1_000_000


# PyYAML's stubs declare every attribute of an event optional, whatever its kind.
_Event: TypeAlias = Any
_Mark: TypeAlias = Any


def compose(data: bytes) -> Node:
    """Return the root node of the only document in a stream.

    Raises:
        YamlError: the stream does not contain exactly one document, contains a tag or a key that is
            not text, or exceeds a limit.
        yaml.YAMLError: the stream is not valid YAML.
    """
    return _Composer(data).document()


class _Composer:
    """Builds the nodes of one stream from libyaml's events."""

    __slots__ = ("aliased", "anchors", "next_event", "nodes")

    def __init__(self, data: bytes) -> None:
        self.next_event: Callable[[], _Event] = CParser(data).get_event
        # None marks an anchor whose node is still open.
        self.anchors: dict[str, Node | None] = {}
        self.nodes = 0
        self.aliased = 0

    def document(self) -> Node:
        """Return the root node."""
        self.next_event()  # the stream's start
        if type(self.next_event()) is StreamEndEvent:
            raise YamlError("the document is empty: nothing but whitespace or comments")
        node = self.node(self.next_event(), 1)
        self.next_event()  # the document's end
        event = self.next_event()
        if type(event) is not StreamEndEvent:
            _refuse("a second document starts here: keep one document per file", event.start_mark)
        return node

    def node(self, event: _Event, depth: int) -> Node:
        """Return the node that an event begins; depth is the level of a collection, from 1."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            _refuse(f"more than {MAX_NODES:,} values: split the file", event.start_mark)
        kind = type(event)
        if kind is ScalarEvent:
            return self.scalar(event)
        if kind is AliasEvent:
            return self.alias(event, depth)
        return self.collection(event, depth)

    def scalar(self, event: _Event) -> ScalarNode:
        """Return a scalar node with its YAML 1.2 value."""
        text = event.value
        line = event.start_mark.line + 1
        end = event.end_mark
        # A block scalar ends at the start of the line after it.
        end_line = end.line + 1 if end.column else max(line, end.line)
        value: ScalarValue = text
        if event.tag is not None:
            value = _tagged(event, event.tag)
        elif event.implicit[0]:  # plain: neither quoted nor a block
            value = resolve(text)
        node = ScalarNode(value, text, line, end_line)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def collection(self, event: _Event, depth: int) -> SequenceNode | MappingNode:
        """Return a sequence or mapping node, and record its anchor."""
        if depth > MAX_DEPTH:
            _refuse(f"nested more than {MAX_DEPTH} levels deep: flatten it", event.start_mark)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        node = (
            self.mapping(event, depth)
            if type(event) is MappingStartEvent
            else self.sequence(event, depth)
        )
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def sequence(self, start: _Event, depth: int) -> SequenceNode:
        """Return the sequence node that an event begins."""
        _check_tag(start, "tag:yaml.org,2002:seq")
        items: list[Node] = []
        next_event = self.next_event
        event = next_event()
        last = start.start_mark.line + 1
        while type(event) is not SequenceEndEvent:
            item = self.node(event, depth + 1)
            items.append(item)
            last = _last_line(event, item)
            event = next_event()
        return SequenceNode(items, start.start_mark.line + 1, _end_line(start, event, last))

    def mapping(self, start: _Event, depth: int) -> MappingNode:
        """Return the mapping node that an event begins, with duplicate keys recorded."""
        _check_tag(start, "tag:yaml.org,2002:map")
        items: list[tuple[str, Node]] = []
        next_event = self.next_event
        event = next_event()
        line = last = start.start_mark.line + 1
        keys: list[_Event] = []
        while type(event) is not MappingEndEvent:
            keys.append(event)
            key = self.key(event)
            event = next_event()
            # Most values are scalars: two calls less for each.
            if type(event) is ScalarEvent and self.nodes < MAX_NODES:
                self.nodes += 1
                item: Node = self.scalar(event)
                last = item.end_line
            else:
                item = self.node(event, depth + 1)
                last = _last_line(event, item)
            items.append((key, item))
            event = next_event()
        return MappingNode(items, line, _end_line(start, event, last), _repeated(items, keys))

    def key(self, event: _Event) -> str:
        """Return the text of a key."""
        if type(event) is ScalarEvent:
            if event.tag is None and event.anchor is None:
                return event.value
            return self.scalar(event).text
        node = self.alias(event, 1) if type(event) is AliasEvent else None
        if not isinstance(node, ScalarNode):
            _refuse("a list or mapping as a key: only text can be a key", event.start_mark)
        return node.text

    def alias(self, event: _Event, depth: int) -> Node:
        """Return the node that an alias refers to, within the limits for aliases."""
        mark = event.start_mark
        name = event.anchor[:60]
        if event.anchor not in self.anchors:
            _refuse(f"*{name} is not defined: no &{name} before it", mark)
        node = self.anchors[event.anchor]
        if node is None:
            _refuse(f"*{name} contains itself: write the value out", mark)
        weight, levels = _measure(node)
        self.aliased += weight
        if self.aliased > MAX_ALIASED:
            _refuse("the aliases (*name) expand to too much: write the values out", mark)
        if depth + levels - 1 > MAX_DEPTH:
            _refuse(f"nested more than {MAX_DEPTH} levels deep by *{name}", mark)
        return node


def _repeated(items: list[tuple[str, Node]], keys: list[_Event]) -> list[tuple[str, int]]:
    """Return each repetition of a key, with its line, given the events of the keys."""
    if len(dict(items)) == len(items):
        return []
    seen: set[str] = set()
    repeated = []
    for (key, _), event in zip(items, keys, strict=True):
        if key in seen:
            repeated.append((key, event.start_mark.line + 1))
        seen.add(key)
    return repeated


def _measure(node: Node) -> tuple[int, int]:
    """Return the weight of a node (nodes plus characters) and its levels of collections."""
    if isinstance(node, ScalarNode):
        return 1 + len(node.text), 0
    if isinstance(node, MappingNode):
        weight = 1 + sum(1 + len(key) for key, _ in node.items)
        parts = [_measure(item) for _, item in node.items]
    else:
        weight = 1
        parts = [_measure(item) for item in node.items]
    return weight + sum(part[0] for part in parts), 1 + max((part[1] for part in parts), default=0)


def _last_line(event: _Event, item: Node) -> int:
    """Return the last line of an item; for an alias, its own line and not its anchor's."""
    if type(event) is not AliasEvent:
        return item.end_line
    mark: _Mark = event.end_mark
    end: int = mark.line + 1
    return end


def _end_line(start: _Event, end: _Event, last: int) -> int:
    """Return the last line of a collection: its bracket's, or in block style its last item's."""
    return end.end_mark.line + 1 if start.flow_style else last


def _tagged(event: _Event, tag: str) -> ScalarValue:
    try:
        return tagged_value(tag, event.value)
    except ValueError as error:
        _refuse(str(error), event.start_mark)


def _check_tag(event: _Event, expected: str) -> None:
    if event.tag is not None and event.tag != expected:
        _refuse(f"the tag {event.tag[:60]!r} is not accepted: remove it", event.start_mark)


def _refuse(message: str, mark: _Mark) -> NoReturn:
    raise YamlError(message, mark.line + 1, mark.column + 1)
