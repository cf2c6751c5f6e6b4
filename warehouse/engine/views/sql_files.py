"""The SQL files: their headers, and the order in which they depend on each other."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from warehouse.core.errors import EvalstoreError
from warehouse.core.paths import SCORING, SQL, STATISTICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

# The schema of the warehouse that holds each folder's views.
_SCHEMAS = {"functions": "main", "base": "main", "marts": "main", "scores": "scores"} | {
    "checks": "checks"
}
_IMPORTS_OF_OURS = re.compile(
    rb"^[ \t]*from warehouse[\w.]* import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE
)
# The folder of the rows of `suite_traits`, a file for each suite.
_SUITES = "suites"
# Labels without a text.
_KINDS_OF_TABLES = ("materialised", "refreshed", "by_run", "board")


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFile:
    """A file of `sql/`.

    Its header is the block of comments at its top: a sentence, `grain:`, then the meanings of
    columns (`name: meaning`, or `name, name: meaning`). `inherits:` names the views and tables
    whose columns mean the same here; `first:` names the columns that a terminal shows first, and
    `blocks:` those that it shows as headings. A check has `severity:`; a score has `materialised`,
    `suite:`, `key:` and `inputs:`. `refreshed` marks a small table that many views join: sync
    computes it from scratch, before the scores, if tables that it depends on have changed.
    `by_run` marks a table whose rows each depend on one run: sync computes those of the runs that
    have changed; it names the relations to restrict to them where DuckDB does not push that down,
    as through a macro with a query. `board` marks a table that sync computes after these, because
    its rows depend on several runs.

    Attributes:
        folder: functions, base, scores, marts or checks.
        family: subfolder: facts, shared, or a suite; empty in `base`.
        name: name of the view, table or function that it defines.
        purpose: the sentence at the start of the header.
        grain: what a row represents.
        columns: meaning by column name.
        inherits: views, and tables of the lake, whose columns mean the same here.
        suite: the suite whose runs a materialised score covers; None for a view.
        key: the columns that identify a row of a materialised score.
        inputs: the view in `scores` that a materialised score is computed from; None for a view.
        is_refreshed: whether it is a table that sync computes before the scores.
        is_by_run: whether it is a table whose rows sync computes for each run that has changed.
        restricted: the relations that are restricted to these runs; empty where all are.
        is_board: whether it is a table that sync computes after the facts of all runs.
        answer: the columns that a terminal shows first, the most important first.
        blocks: the columns that a terminal shows as headings of the rows that share them.
        severity: severity of a check, critical or warning; empty for other files.
        sql: the whole text.
    """

    folder: str
    family: str
    name: str
    purpose: str
    grain: str
    columns: dict[str, str]
    inherits: tuple[str, ...]
    suite: str | None
    key: tuple[str, ...]
    inputs: str | None
    is_refreshed: bool
    is_by_run: bool
    restricted: tuple[str, ...]
    is_board: bool
    answer: tuple[str, ...]
    blocks: tuple[str, ...]
    severity: str
    sql: str

    @property
    def schema(self) -> str:
        """Its schema in the warehouse."""
        return _SCHEMAS[self.folder]

    @property
    def qualified(self) -> str:
        """Its full name in the warehouse."""
        return f"{self.schema}.{self.name}"

    @property
    def is_function(self) -> bool:
        """Whether it creates a function, not a view or table."""
        return self.folder == "functions"

    @property
    def is_materialised(self) -> bool:
        """Whether sync keeps its rows in a table, and computes only those that are missing."""
        return self.inputs is not None

    @property
    def is_table(self) -> bool:
        """Whether it is a table of the warehouse, not a view or function."""
        return self.is_materialised or self.is_refreshed or self.is_by_run or self.is_board


def read_sql_files(root: Path = SQL) -> list[SqlFile]:
    """Read all SQL files: functions in order of their calls, then the others by path."""
    paths = sorted(path for folder in _SCHEMAS for path in (root / folder).rglob("*.sql"))
    files = [
        parse_sql_file(
            path.relative_to(root),
            traits_sql(root) if path.stem == "suite_traits" else path.read_text("utf-8"),
        )
        for path in paths
    ]
    functions = {file.name: file for file in files if file.is_function}
    calls = {
        name: [other for other in functions if other != name and f"{other}(" in file.sql]
        for name, file in functions.items()
    }
    ordered = [functions[name] for name in TopologicalSorter(calls).static_order()]
    return ordered + [file for file in files if not file.is_function]


def traits_sql(root: Path = SQL) -> str:
    """Return the query of `suite_traits`: its columns, and the rows of all suites."""
    paths = [root / "marts/shared/suite_traits.sql", *sorted((root / _SUITES).glob("*.sql"))]
    return "UNION ALL BY NAME\n".join(path.read_text("utf-8") for path in paths)


def shown_views() -> dict[str, SqlFile]:
    """Return the views that users query by name: the key is the name they type."""
    return {
        file.name if file.schema == "main" else file.qualified: file
        for file in shipped_sql()
        if file.schema in {"main", "checks"} and not file.is_function
    }


@cache
def sql_digest() -> str:
    """Return a hash of the SQL files: if it changes, views are recreated."""
    hashed = hashlib.sha256()
    for path, text in _files(SQL, ".sql", (*_SCHEMAS, _SUITES)):
        hashed.update(f"{path} {len(text)} ".encode() + text)
    return hashed.hexdigest()


@cache
def code_digest() -> str:
    """Return a hash of the code of the scoring functions: if it changes, scores are recomputed."""
    return _hash_of_code(SCORING)


@cache
def statistics_digest() -> str:
    """Return a hash of the code of the statistics: if it changes, kept tests are recomputed."""
    return _hash_of_code(STATISTICS)


def _hash_of_code(folder: Path) -> str:
    """Return a hash of its Python files.

    Where a file is, and where it imports ours from, does not count: moving it changes no score.
    """
    hashed = hashlib.sha256()
    for text in sorted(_IMPORTS_OF_OURS.sub(b"", text) for _, text in _files(folder, ".py")):
        hashed.update(b"%d " % len(text) + text)
    return hashed.hexdigest()


def _files(root: Path, ending: str, folders: Iterable[str] = ("",)) -> Iterator[tuple[str, bytes]]:
    """Yield the paths and bytes of files; every query waits for them, so that none is parsed."""
    for folder in folders:
        for inner, _, names in sorted(os.walk(root / folder)):
            for name in sorted(names):
                if name.endswith(ending):
                    with open(f"{inner}/{name}", "rb") as file:  # noqa: PTH123 - faster
                        yield f"{inner.removeprefix(str(root))}/{name}", file.read()


def parse_sql_file(path: Path, sql: str) -> SqlFile:
    """Read the header of a SQL file.

    Args:
        path: relative to `sql/`.
        sql: the whole text.
    """
    purpose: list[str] = []
    notes: dict[str, str] = {}
    labels: tuple[str, ...] = ()
    for line in _header(sql):
        label, colon, text = line.partition(": ")
        names = _names(label)
        if (colon and all(name.isidentifier() for name in names)) or line in _KINDS_OF_TABLES:
            labels = names
            notes |= dict.fromkeys(names, text.strip())
        elif labels:
            notes |= {name: f"{notes[name]} {line}".strip() for name in labels}
        else:
            purpose.append(line)
    # Only a score has these labels: a view may have columns of the same names.
    of_score = (
        {label: notes.pop(label, None) for label in ("suite", "key", "inputs")}
        if notes.pop("materialised", None) is not None
        else {}
    )
    return SqlFile(
        folder=path.parts[0],
        family="/".join(path.parts[1:-1]),
        name=path.stem,
        purpose=" ".join(purpose),
        grain=notes.pop("grain", ""),
        inherits=_names(notes.pop("inherits", "")),
        suite=of_score.get("suite"),
        key=_names(of_score.get("key") or ""),
        inputs=of_score.get("inputs"),
        is_refreshed=notes.pop("refreshed", None) is not None,
        is_by_run="by_run" in notes,
        restricted=_names(notes.pop("by_run", "")),
        is_board=notes.pop("board", None) is not None,
        answer=_names(notes.pop("first", "")),
        blocks=_names(notes.pop("blocks", "")),
        severity=notes.pop("severity", ""),
        columns=notes,
        sql=sql,
    )


def references(
    files: Iterable[SqlFile], connection: duckdb.DuckDBPyConnection
) -> dict[str, set[str]]:
    """Return the qualified names of the views, scores and tables that each file refers to.

    Raises:
        EvalstoreError: a file does not parse.
    """
    return {
        file.qualified: _references(file, connection) - {file.qualified}
        for file in files
        if not file.is_function
    }


def in_order(files: Sequence[SqlFile], referred: Mapping[str, set[str]]) -> list[SqlFile]:
    """Return files sorted so that each comes after those it refers to; functions come first.

    Raises:
        EvalstoreError: files refer to each other in a cycle.
    """
    relations = {file.qualified: file for file in files if not file.is_function}
    graph = {name: referred[name] & relations.keys() for name in relations}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise EvalstoreError(
            f"sql/: views refer to each other in a cycle: {error.args[1]}"
        ) from None
    return [file for file in files if file.is_function] + [relations[name] for name in order]


def lake_tables(
    files: Iterable[SqlFile], referred: Mapping[str, set[str]]
) -> dict[str, frozenset[str]]:
    """Return the tables of the lake that each view and score depends on, also indirectly.

    Args:
        files: in order.
        referred: see `references`.
    """
    below: dict[str, frozenset[str]] = {}
    for file in files:
        if not file.is_function:
            deeper = (below.get(name, frozenset({name})) for name in referred[file.qualified])
            below[file.qualified] = frozenset().union(*deeper)
    return {
        name: frozenset(t.removeprefix("lake.") for t in tables if t.startswith("lake."))
        for name, tables in below.items()
    }


def _header(sql: str) -> Iterator[str]:
    for line in sql.splitlines():
        if not line.startswith("--"):
            return
        yield line[2:].strip()


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _references(file: SqlFile, connection: duckdb.DuckDBPyConnection) -> set[str]:
    references = _tables_in(file.sql, connection)
    if file.inputs is not None:
        references.add(f"scores.{file.inputs}")
    return references


def _tables_in(sql: str, connection: duckdb.DuckDBPyConnection) -> set[str]:
    # Fetched completely: an open result would hide the error below.
    [(text,)] = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
    tree: dict[str, object] = json.loads(text)
    if tree["error"]:
        raise EvalstoreError(f"sql/: {tree['error_message']} in: {sql[:200]}")
    return set(_base_tables(tree))


def _base_tables(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield f"{node['schema_name'] or 'main'}.{node['table_name']}"
        for child in node.values():
            yield from _base_tables(child)
    elif isinstance(node, list):
        for child in node:
            yield from _base_tables(child)


@cache
def shipped_sql() -> tuple[SqlFile, ...]:
    """Return the SQL files that ship with evalstore; they are read once."""
    return tuple(read_sql_files())
