"""Expectations as data, and the YAML files that define them, ours and users' alike.

A file is a list of relations, each a view, or a query with a name, and its expectations:

    - view: leaderboard
      key: [suite, provider, model, settings]
      expectations:
        - expect_column_values_to_be_between: {column: pass_rate, min_value: 0, max_value: 1}

Names and arguments are those of Great Expectations, with `severity` and `description`. This module
checks only the form of a file; `warehouse.analysis.checking.gx` checks names and arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

from warehouse.core.errors import BadInput
from warehouse.core.formats.yaml.documents import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    YamlError,
    parse,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 2**20

# Arguments that name columns, the last one a list of them.
COLUMN_ARGUMENTS: Final = ("column", "column_A", "column_B", "column_list")

# As in Great Expectations; only critical ones make the check fail.
SEVERITIES: Final = ("critical", "warning", "info")


@dataclass(frozen=True, slots=True)
class Location:
    """A file and a line from 1, for messages; line 0 for the file as a whole."""

    file: str
    line: int = 0

    def fail(self, message: str) -> NoReturn:
        """Raise an error for this location.

        Raises:
            BadInput: always.
        """
        where = f"{self.file}:{self.line}" if self.line else self.file
        raise BadInput(f"{where}: {message}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation of a relation.

    Attributes:
        type: its name in Great Expectations.
        kwargs: its arguments, without the two below.
        severity: one of `SEVERITIES`.
        description: a sentence; empty if name and arguments say enough.
        location: where it is written.
        lines: line of each argument.
    """

    type: str
    kwargs: dict[str, object]
    severity: str = "critical"
    description: str = ""
    location: Location = Location("evalstore")
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is about; empty if it is about the whole relation."""
        *one, several = map(self.kwargs.get, COLUMN_ARGUMENTS)
        names = [*one, *(several if isinstance(several, list) else [])]
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))

    @property
    def expects_no_rows(self) -> bool:
        """Whether it expects the relation to be empty, so that every row offends."""
        return self.type == "expect_table_row_count_to_equal" and self.kwargs.get("value") == 0

    @property
    def text(self) -> str:
        """The description; if empty, one composed of the type and the arguments."""
        if self.description:
            return self.description
        what = self.type.removeprefix("expect_").removeprefix("column_").replace("_", " ")
        rest = ", ".join(
            f"{k} {_plain(v)}" for k, v in self.kwargs.items() if k not in COLUMN_ARGUMENTS
        )
        return ": ".join(filter(None, [", ".join(self.columns), what])) + (rest and f" ({rest})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A view or query, and the expectations of its rows.

    Attributes:
        name: name of the view or query.
        query: selects the rows.
        expectations: in the order of the report.
        key: columns that identify a row, shown with offending values; empty shows all columns.
        about: a sentence that describes the relation.
        view: the view or table, with its schema unless that is `main`; empty for a query.
        location: where it is written.
    """

    name: str
    query: str
    expectations: tuple[Expectation, ...]
    key: tuple[str, ...] = ()
    about: str = ""
    view: str = ""
    location: Location = Location("evalstore")

    @property
    def is_table(self) -> bool:
        """Whether it is a table of the lake, which can be read without computing anything."""
        return self.view.startswith("lake.")


def read_relations(data: bytes, file: str) -> list[Relation]:
    """Return the relations that a file of expectations defines.

    Args:
        data: YAML, UTF-8.
        file: the file's name, for messages.

    Raises:
        BadInput: the file does not have this form; the message names file, line and key.
    """
    try:
        root = parse(data, max_bytes=MAX_BYTES)
    except YamlError as error:
        raise BadInput(f"{file}: {error}") from None
    return [
        _relation(_Keys(item, file, "a relation"))
        for item in _items(root, Location(file, root.line), "the file")
    ]


class _Keys:
    """The keys of a mapping, each taken once; `end` rejects those that are left."""

    def __init__(self, node: Node, file: str, what: str) -> None:
        self.location = Location(file, node.line)
        self.what = what
        if not isinstance(node, MappingNode):
            self.location.fail(f"{what} must be a mapping of keys to values")
        for key, line in node.duplicates:
            Location(file, line).fail(f"{key}: duplicate key")
        self.nodes = dict(node.items)

    def at(self, node: Node) -> Location:
        """Return the location of a node."""
        return Location(self.location.file, node.line)

    def take(self, key: str) -> Node | None:
        """Take the node of a key; None if the key is missing."""
        return self.nodes.pop(key, None)

    def text(self, key: str) -> str:
        """Take a text; empty if the key is missing."""
        node = self.take(key)
        if node is None:
            return ""
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str) or not node.value:
            self.at(node).fail(f"{key}: must be text")
        return node.value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of text; empty if the key is missing."""
        node = self.take(key)
        values = [] if node is None else _items(node, self.at(node), key)
        for item in values:
            if not isinstance(item, ScalarNode) or not isinstance(item.value, str):
                self.at(item).fail(f"{key}: must be a list of text")
        return tuple(str(value_of(item)) for item in values)

    def end(self, known: str) -> None:
        """Reject the keys that were not taken.

        Args:
            known: the names of the valid keys, for the message.
        """
        for key in self.nodes:
            Location(self.location.file, self.nodes[key].line).fail(
                f"{key}: unknown key of {self.what}; the keys are: {known}"
            )


def _relation(keys: _Keys) -> Relation:
    view, query, name = keys.text("view"), keys.text("query"), keys.text("name")
    if bool(view) == bool(query):
        keys.location.fail("a relation needs either `view` or `query`")
    if query and not name:
        keys.location.fail("name: missing; a query is reported by its name")
    expectations = keys.take("expectations")
    if expectations is None:
        keys.location.fail("expectations: missing")
    items = _items(expectations, keys.at(expectations), "expectations")
    relation = Relation(
        name=name or view,
        query=query or f"FROM {_quoted(view)}",
        expectations=tuple(
            _expectation(_Keys(item, keys.location.file, "an expectation")) for item in items
        ),
        key=keys.texts("key"),
        about=keys.text("about"),
        view=view,
        location=keys.location,
    )
    keys.end("view, query, name, key, about, expectations")
    return relation


def _expectation(keys: _Keys) -> Expectation:
    if len(keys.nodes) != 1:
        keys.location.fail(
            "an expectation is one name with its arguments: expect_…: {column: …, …}"
        )
    [(type_, node)] = keys.nodes.items()
    arguments = _Keys(node, keys.location.file, type_)
    lines = {key: item.line for key, item in arguments.nodes.items()}
    severity = arguments.text("severity") or "critical"
    if severity not in SEVERITIES:
        Location(keys.location.file, lines["severity"]).fail(
            f"severity: {severity!r} is not one of {', '.join(SEVERITIES)}"
        )
    return Expectation(
        type=type_,
        severity=severity,
        description=arguments.text("description"),
        kwargs={key: value_of(item) for key, item in arguments.nodes.items()},
        location=keys.location,
        lines=lines,
    )


def _items(node: Node, location: Location, what: str) -> list[Node]:
    if not isinstance(node, SequenceNode) or not node.items:
        location.fail(f"{what}: must be a list with at least one item")
    return node.items


def _quoted(view: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in view.split("."))


def _plain(value: object) -> Iterator[str] | str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
