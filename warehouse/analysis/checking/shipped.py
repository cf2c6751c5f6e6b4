"""The expectations that ship with evalstore and hold for every store.

- All batches of the lake are in the warehouse, and their files can be read.
- The schema of the lake: required columns are not NULL, JSON is valid, rows are unique.
- The files of `sql/expectations/`, in the same form as users' own.
- The views of `sql/checks/`, which select offending rows and so must be empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.checking.expectations import Expectation, Relation, read_relations
from warehouse.core.paths import EXPECTATIONS
from warehouse.core.schemas import TABLES
from warehouse.engine.tables.state import missing_folders
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.missing_files import unreadable_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.core.schemas import Table
    from warehouse.engine.base_store import BaseStore
    from warehouse.engine.views.sql_files import SqlFile

_RUN_KEY = ("suite", "run_id", "content_id")


def shipped_relations() -> list[Relation]:
    """Return the relations that every store is checked for."""
    return [
        *(relation for table in TABLES for relation in _of_table(table)),
        *(
            relation
            for path in sorted(EXPECTATIONS.glob("*.yaml"))
            for relation in read_relations(path.read_bytes(), f"sql/expectations/{path.name}")
        ),
        *(_of_view(file) for file in shipped_sql() if file.folder == "checks"),
    ]


def of_lake(store: BaseStore) -> list[Relation]:
    """Return what is expected of the lake's batches and their files."""
    with store.reading():  # opened once for both
        return [all_loaded(store), all_readable(store)]


def all_loaded(store: BaseStore) -> Relation:
    """Return the expectation that the warehouse has all batches: it lacks damaged ones."""
    folders = store.lake.batch_names()
    with store.reading() as connection:
        missing = missing_folders(connection, folders)
    missing &= store.lake.batch_names()  # merged or forgotten in the meantime
    if store.lake.mirror is not None:
        missing |= store.lake.mirror.unfetched.keys()
    return Relation(
        name="batches not loaded",
        query=_values(missing, "batch"),
        about="Damaged batches are left out of every figure.",
        expectations=(_expect_no_rows("all batches are in the warehouse"),),
    )


def all_readable(store: BaseStore) -> Relation:
    """Return the expectation that the files of all loaded batches can be read."""
    with store.reading() as connection:
        problems = unreadable_files(connection, store.lake)
    return Relation(
        name="unreadable files",
        query=_values(problems, "file"),
        about="A rebuild would lose the rows of files that cannot be read.",
        expectations=(_expect_no_rows("all files can be read"),),
    )


def _values(texts: Iterable[str], column: str) -> str:
    """Return a query of these texts, in order."""
    literals = ", ".join("'" + text.replace("'", "''") + "'" for text in sorted(texts))
    return f"SELECT unnest([{literals}]::VARCHAR[]) AS {column}"


def _of_table(table: Table) -> Iterator[Relation]:
    name = f"lake.{table.name}"
    key = _RUN_KEY if table.of_run else ("content_id",)
    required = [column.name for column in table.columns if not column.nullable]
    yield Relation(
        name=name,
        query=f"FROM {name}",
        key=key,
        about=f"Table of the lake: {table.grain}.",
        view=name,
        expectations=(
            _expect_unique(key),
            *(
                Expectation("expect_column_values_to_not_be_null", {"column": column})
                for column in (*required, "batch")
            ),
        ),
    )
    documents = [column.name for column in table.columns if column.type == "JSON"]
    if documents:
        valid = ", ".join(f"coalesce(json_valid({c}), true) AS {c}" for c in documents)
        yield Relation(
            name=f"JSON of {name}",
            query=f"SELECT {', '.join(key)}, {valid} FROM {name}",
            key=key,
            about="Columns that hold JSON: true if it is valid or NULL.",
            expectations=tuple(
                Expectation(
                    "expect_column_values_to_be_in_set",
                    {"column": column, "value_set": [True]},
                    description=f"{column}: valid JSON",
                )
                for column in documents
            ),
        )


def _expect_unique(key: Sequence[str]) -> Expectation:
    text = "no duplicate rows"
    if len(key) == 1:
        return Expectation(
            "expect_column_values_to_be_unique", {"column": key[0]}, description=text
        )
    return Expectation(
        "expect_compound_columns_to_be_unique", {"column_list": list(key)}, description=text
    )


def _of_view(file: SqlFile) -> Relation:
    return Relation(
        name=file.qualified,
        query=f"FROM {file.qualified}",
        view=file.qualified,
        about=file.purpose,
        expectations=(_expect_no_rows("no such rows", severity=file.severity),),
    )


def _expect_no_rows(description: str, *, severity: str = "critical") -> Expectation:
    return Expectation(
        "expect_table_row_count_to_equal",
        {"value": 0},
        severity=severity,
        description=description,
    )
