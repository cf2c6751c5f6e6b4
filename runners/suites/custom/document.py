"""The file of a suite: its content, the line of each field, and the problems found in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.formats.values import MAX_DEPTH, is_nested_deeply
from warehouse.core.formats.yaml.documents import (
    MappingNode,
    Node,
    SequenceNode,
    YamlError,
    parse,
    value_of,
)
from warehouse.core.suggestions import did_you_mean, similar_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_MOST_PROBLEMS = 20
_LONGEST_KEY = 60


@dataclass(slots=True)
class SuiteFile:
    """A suite's file.

    Attributes:
        path: the file, as the user named it.
        content: its content; a list of tasks becomes `{"tasks": ...}`.
        lines: line of each field, by its path, such as `tasks[2].scorer.type`.
        problems: what is wrong, with file, line and field.
        warnings: what has no effect, in the same form.
    """

    path: Path
    content: dict[str, object]
    lines: Mapping[str, int]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def report(self, place: str, message: str) -> None:
        """Add a problem at a field, which need not exist: its parent's line counts then."""
        self.problems.append(self._located(place, message))

    def check_keys(self, place: str, given: Iterable[str], known: Iterable[str]) -> None:
        """Report keys that are not known but similar to one that is, and warn of all others."""
        known = list(known)
        for key in given:
            if key in known:
                continue
            path = f"{place}.{key}" if place else key
            name = f"{place}.{key[:_LONGEST_KEY]}" if place else key[:_LONGEST_KEY]
            if similar_names(key[:_LONGEST_KEY], known):
                self.report(path, f"unknown key; {did_you_mean(key, known)}")
            else:
                self.warnings.append(self._located(path, "unknown key, has no effect", name))

    def raise_problems(self) -> None:
        """Raise the problems found so far.

        Raises:
            BadInput: there are any.
        """
        shown = self.problems[:_MOST_PROBLEMS]
        n_more = len(self.problems) - len(shown)
        if shown:
            raise BadInput("\n".join([*shown, *([f"and {n_more} more"] if n_more else [])]))

    def _located(self, place: str, message: str, name: str | None = None) -> str:
        parent = place
        while parent and parent not in self.lines:
            parent = parent[: max(parent.rfind("."), parent.rfind("["), 0)]
        line = self.lines.get(parent)
        where = f"{self.path}:{line}" if line is not None else str(self.path)
        return f"{where}: {name or place}: {message}"


def read_suite_file(path: Path) -> SuiteFile:
    """Read a YAML or JSON file.

    Raises:
        BadInput: it cannot be read, or is neither a mapping nor a list.
    """
    try:
        data = read_regular(path)
        if path.suffix == ".json":
            content: object = json.loads(data)
            node = _json_nodes(data)
        else:
            node = parse(data)
            content = value_of(node)
    except (OSError, YamlError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: {problem(error)}") from error
    if is_nested_deeply(content):
        raise BadInput(f"{path}: nested more than {MAX_DEPTH} levels deep: flatten it")
    start = "tasks" if isinstance(content, list) else ""
    if isinstance(content, list):
        content = {"tasks": content}
    if not isinstance(content, dict):
        raise BadInput(f"{path}: not a suite: it has neither tasks nor prompts")
    file = SuiteFile(path, {**content}, dict(_lines(node, start)) if node is not None else {})
    for place, key in _repeated_keys(node, start) if node is not None else ():
        file.report(place, f"the key {key!r} appears twice")
    return file


def _json_nodes(data: bytes) -> Node | None:
    try:
        return parse(data)
    except YamlError:  # not all JSON is YAML: surrogate pairs in escapes, for one, are not
        return None


def _lines(node: Node, place: str) -> Iterator[tuple[str, int]]:
    yield place, node.line
    for child, child_place in _children(node, place):
        yield from _lines(child, child_place)


def _repeated_keys(node: Node, place: str) -> Iterator[tuple[str, str]]:
    for key, _line in node.duplicates if isinstance(node, MappingNode) else ():
        yield f"{place}.{key}" if place else key, key
    for child, child_place in _children(node, place):
        yield from _repeated_keys(child, child_place)


def _children(node: Node, place: str) -> Iterator[tuple[Node, str]]:
    if isinstance(node, MappingNode):
        for key, child in node.items:
            yield child, f"{place}.{key}" if place else key
    elif isinstance(node, SequenceNode):
        for number, child in enumerate(node.items):
            yield child, f"{place}[{number}]"
