"""Expectations as data, and the YAML files that they are written in: ours and users' alike.

A file is a list of batches. A batch is a view, or a query with a name, and what is expected of it:

    - view: leaderboard
      key: [suite, provider, model, settings]
      expectations:
        - expect_column_values_to_be_between: {column: pass_rate, min_value: 0, max_value: 1}

Names and arguments are those of Great Expectations, `severity` and `description` too. Whether they
fit each other is for it to say (`warehouse.checking.gx`); here is the form alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

from warehouse.errors import BadInput
from warehouse.formats.yaml.documents import (
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

# Great Expectations' own; only what is critical makes the check fail.
SEVERITIES: Final = ("critical", "warning", "info")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said: a file, and a line from 1 (0 where it is no file of lines)."""

    file: str
    line: int = 0

    def refuse(self, message: str) -> NoReturn:
        """Say what is wrong here.

        Raises:
            BadInput: always.
        """
        where = f"{self.file}:{self.line}" if self.line else self.file
        raise BadInput(f"{where}: {message}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """Something that is expected of a batch.

    Attributes:
        type: its name in Great Expectations.
        kwargs: its arguments, less the two below.
        severity: one of `SEVERITIES`.
        description: a sentence for people; empty where name and arguments say it.
        place: where it is written.
        lines: of its arguments.
    """

    type: str
    kwargs: dict[str, object]
    severity: str = "critical"
    description: str = ""
    place: Place = Place("evalstore")
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at; none where it looks at the whole table."""
        one = [self.kwargs.get(name) for name in ("column", "column_A", "column_B")]
        several = self.kwargs.get("column_list")
        names = [*one, *(several if isinstance(several, list) else [])]
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))

    @property
    def is_of_no_rows(self) -> bool:
        """Whether it expects that the batch has no row at all: then every row offends."""
        return self.type == "expect_table_row_count_to_equal" and self.kwargs.get("value") == 0

    @property
    def text(self) -> str:
        """What it says, for people."""
        if self.description:
            return self.description
        what = self.type.removeprefix("expect_").removeprefix("column_").replace("_", " ")
        named = ("column", "column_A", "column_B", "column_list")
        rest = ", ".join(f"{k} {_plain(v)}" for k, v in self.kwargs.items() if k not in named)
        return ": ".join(filter(None, [", ".join(self.columns), what])) + (rest and f" ({rest})")


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that DuckDB selects, and what is expected of them.

    Attributes:
        name: of the view, or of the query.
        query: gives the rows.
        expectations: in the order in which they are told.
        key: columns that know a row; they are shown with the offending ones. None: all columns.
        about: a sentence for people.
        is_table: it is a table of the lake as it is: nothing has to be computed.
        place: where it is written.
    """

    name: str
    query: str
    expectations: tuple[Expectation, ...]
    key: tuple[str, ...] = ()
    about: str = ""
    is_table: bool = False
    place: Place = Place("evalstore")


def read_batches(data: bytes, file: str) -> list[Batch]:
    """Read a file of expectations.

    Args:
        data: YAML, UTF-8.
        file: its name, for messages.

    Raises:
        BadInput: it has another form; the message names file, line and key.
    """
    try:
        root = parse(data, max_bytes=MAX_BYTES)
    except YamlError as error:
        raise BadInput(f"{file}: {error}") from None
    return [
        _batch(_Keys(item, file, "a batch"))
        for item in _items(root, Place(file, root.line), "the file")
    ]


class _Keys:
    """The keys of a mapping, each taken once; what is left over is refused."""

    def __init__(self, node: Node, file: str, what: str) -> None:
        self.place = Place(file, node.line)
        self.what = what
        if not isinstance(node, MappingNode):
            self.place.refuse(f"{what} has to be a mapping of keys and values")
        for key, line in node.duplicates:
            Place(file, line).refuse(f"{key}: the key stands twice")
        self.nodes = dict(node.items)

    def at(self, node: Node) -> Place:
        return Place(self.place.file, node.line)

    def take(self, key: str) -> Node | None:
        return self.nodes.pop(key, None)

    def text(self, key: str) -> str:
        """Take a text; empty where it is absent."""
        node = self.take(key)
        if node is None:
            return ""
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str) or not node.value:
            self.at(node).refuse(f"{key}: has to be text")
        return node.value

    def texts(self, key: str) -> tuple[str, ...]:
        node = self.take(key)
        values = [] if node is None else _items(node, self.at(node), key)
        for item in values:
            if not isinstance(item, ScalarNode) or not isinstance(item.value, str):
                self.at(item).refuse(f"{key}: has to be a list of text")
        return tuple(str(value_of(item)) for item in values)

    def end(self, known: str) -> None:
        for key in self.nodes:
            Place(self.place.file, self.nodes[key].line).refuse(
                f"{key}: {self.what} has no such key; known: {known}"
            )


def _batch(keys: _Keys) -> Batch:
    view, query, name = keys.text("view"), keys.text("query"), keys.text("name")
    if bool(view) == bool(query):
        keys.place.refuse("a batch has either the key view or the key query")
    if query and not name:
        keys.place.refuse("name: a query needs a name, by which its results are told")
    expectations = keys.take("expectations")
    if expectations is None:
        keys.place.refuse("expectations: missing")
    items = _items(expectations, keys.at(expectations), "expectations")
    batch = Batch(
        name=name or view,
        query=query or f"FROM {_quoted(view)}",
        expectations=tuple(
            _expectation(_Keys(item, keys.place.file, "an expectation")) for item in items
        ),
        key=keys.texts("key"),
        about=keys.text("about"),
        is_table=view.startswith("lake."),
        place=keys.place,
    )
    keys.end("view, query, name, key, about, expectations")
    return batch


def _expectation(keys: _Keys) -> Expectation:
    if len(keys.nodes) != 1:
        keys.place.refuse("an expectation is one name with its arguments: expect_…: {column: …, …}")
    [(type_, node)] = keys.nodes.items()
    arguments = _Keys(node, keys.place.file, type_)
    lines = {key: item.line for key, item in arguments.nodes.items()}
    severity = arguments.text("severity") or "critical"
    if severity not in SEVERITIES:
        Place(keys.place.file, lines["severity"]).refuse(
            f"severity: {severity!r} is none of {', '.join(SEVERITIES)}"
        )
    return Expectation(
        type=type_,
        severity=severity,
        description=arguments.text("description"),
        kwargs={key: value_of(item) for key, item in arguments.nodes.items()},
        place=keys.place,
        lines=lines,
    )


def _items(node: Node, place: Place, what: str) -> list[Node]:
    if not isinstance(node, SequenceNode) or not node.items:
        place.refuse(f"{what}: has to be a list with at least one item")
    return node.items


def _quoted(view: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in view.split("."))


def _plain(value: object) -> Iterator[str] | str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
