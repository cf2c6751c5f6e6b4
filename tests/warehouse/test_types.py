"""The tables of the lake have the columns that their row types define."""

from datetime import datetime
from typing import Annotated, TypedDict, get_type_hints

import pytest

from warehouse.core import types
from warehouse.core.schemas import RESULTS, TABLES, Column, columns_of
from warehouse.core.types import Int32, JsonText, SourceColumns


class _Key(TypedDict, total=False):
    key: Annotated[str, "the key"]


class _Row(_Key, SourceColumns, total=False):
    document: Annotated[JsonText, "JSON that is required"]
    plan: Annotated[JsonText | None, "JSON"]
    n: Annotated[int | None, "64 bits"]
    small: Annotated[Int32 | None, "32 bits"]
    smaller: Annotated[Int32, "32 bits, required"]
    texts: Annotated[list[str] | None, "texts"]
    at: Annotated[datetime | None, "a time"]


def test_a_row_type_defines_names_types_meanings_and_what_is_required():
    assert columns_of(_Row)[:8] == (
        Column("key", "VARCHAR", "the key", nullable=False),
        Column("document", "JSON", "JSON that is required", nullable=False),
        Column("plan", "JSON", "JSON"),
        Column("n", "BIGINT", "64 bits"),
        Column("small", "INTEGER", "32 bits"),
        Column("smaller", "INTEGER", "32 bits, required", nullable=False),
        Column("texts", "VARCHAR[]", "texts"),
        Column("at", "TIMESTAMP", "a time"),
    )


def test_columns_about_the_source_come_last():
    assert [column.name for column in columns_of(_Row)][8:] == list(SourceColumns.__annotations__)
    assert RESULTS.column_names[:4] == ("suite", "run_id", "generation", "content_id")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_table_has_the_row_type_that_names_it(table):
    [row] = [
        value
        for name, value in vars(types).items()
        if name.endswith("Row") and f"row of `{table.name}`" in (value.__doc__ or "")
    ]
    assert set(get_type_hints(row)) == set(table.column_names)
    assert all(column.meaning for column in table.columns)
