import duckdb
import pytest

from warehouse.engine.views.sql_files import shipped_sql


@pytest.fixture(scope="module")
def con():
    """Return a connection to an empty database that has the macros."""
    with duckdb.connect() as con:
        for file in shipped_sql():
            if file.is_function:
                con.execute(file.sql)
        yield con
