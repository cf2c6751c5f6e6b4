"""The nodes of a YAML document, with their line numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from warehouse.core.errors import BadInput

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"


class YamlError(BadInput):
    """A document that is not valid YAML or exceeds a limit.

    Attributes:
        line: line of the error, from 1; 0 if it concerns the whole document.
        column: column of the error, from 1; 0 if unknown.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        self.line = line
        self.column = column
        place = f"line {line}" + (f", column {column}" if column else "")
        super().__init__(f"{place}: {message}" if line else message)


@dataclass(slots=True)
class ScalarNode:
    """A single value.

    Attributes:
        value: the value by the rules of YAML 1.2.
        text: its text in the document, without quotes, escapes and folding.
        line: first line, from 1.
        end_line: last line, from 1.
    """

    value: bool | int | float | str | None
    text: str
    line: int
    end_line: int


@dataclass(slots=True)
class SequenceNode:
    """A list of nodes, with its first and last line from 1."""

    items: list[Node]
    line: int
    end_line: int


@dataclass(slots=True)
class MappingNode:
    """Keys and nodes in the order of the document.

    Attributes:
        items: every pair, repeated keys included.
        line: first line, from 1.
        end_line: last line, from 1.
        duplicates: each repetition of a key, with its line.
    """

    items: list[tuple[str, Node]]
    line: int
    end_line: int
    duplicates: list[tuple[str, int]]


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


def value_of(node: Node) -> Value:
    """Return the plain Python value of a node; the last of repeated keys wins."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, MappingNode):
        # Most fields are scalars: calling this function for each would take half of the time.
        return {
            key: item.value if isinstance(item, ScalarNode) else value_of(item)
            for key, item in node.items
        }
    return [value_of(item) for item in node.items]


def repeats_keys(node: Node) -> bool:
    """Return whether a mapping in a node repeats a key, so that `value_of` drops a value."""
    if isinstance(node, ScalarNode):
        return False
    if isinstance(node, MappingNode):
        return bool(node.duplicates) or any(repeats_keys(item) for _, item in node.items)
    return any(repeats_keys(item) for item in node.items)


def slice_text(lines: list[str], node: Node) -> str:
    """Return the whole lines of a node, given the `text_lines` of its document."""
    return "".join(lines[node.line - 1 : node.end_line])
