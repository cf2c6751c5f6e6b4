"""Published Delta tables next to the warehouse: what tests of folders and object stores share."""

from collections import Counter
from datetime import UTC, datetime

import polars as pl
from support import SECRET, add_rows, import_into, task, write_log

from exports.delta.tables import TABLES, public_columns

GONE = ("palindrome", "2026-04-03/models/kokeilu-1.yaml")
NAMES = [table.name for table in TABLES]


def rows_in(frame):
    return Counter(map(repr, frame.rows()))


def in_warehouse(connection, table, *, with_text=True):
    columns = public_columns(connection, table, with_text=with_text)
    expressions = ", ".join(column.expression for column in columns)
    return connection.sql(f"SELECT {expressions} FROM ({table.sql})").pl()


def snapshot(folder):
    """Return the newest version of each table, as a reader finds it."""
    rows = pl.read_delta(str(folder / "public" / "snapshots"))
    newest = rows.filter(pl.col("snapshot") == pl.col("snapshot").max())
    return dict(newest.select("table_name", "version").rows())


def published(folder, name):
    return pl.read_delta(str(folder / "public" / name), version=snapshot(folder)[name])


def check_equals_warehouse(store, folder, *, with_text=True):
    versions = snapshot(folder)
    with store.reading() as connection:
        for table in TABLES:
            rows = in_warehouse(connection, table, with_text=with_text)
            path = folder / "public" / table.name
            shown = pl.read_delta(str(path), version=versions[table.name])
            assert rows_in(shown) == rows_in(rows), table.name


def data_files(folder):
    return {path.relative_to(folder / "public") for path in folder.glob("public/*/*.parquet")}


def traces(folder, text):
    """Return the files of a folder that have a text in their bytes or rows."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    found = [path for path in files if text.encode() in path.read_bytes() + str(path).encode()]
    for path in files:
        if path.suffix == ".parquet":
            found += [path] if text in str(pl.read_parquet(path).rows()) else []
    return found


def run_rows(n, suite="toys", texts=()):
    """Return rows of a run: a header, and a result for each text."""
    run = {"suite": suite, "run_id": f"run-{n}", "generation": "root", "content_id": f"head-{n}"}
    result = {**run, "model": f"model-{n}", "task_set": "set", "provider": "here"}
    result |= {
        "is_correct": n % 2 == 0,
        "cost_usd": n / 8,
        "started_at": datetime(2026, 1, n + 1, tzinfo=UTC),
    }
    results = [
        {**result, "content_id": f"{n}-{i}", "task_id": f"t{i}", "answer": text, "seq": i}
        for i, text in enumerate(texts or (f"answer {n}", f"other {n}"))
    ]
    return {"runs": [run], "results": results}


def add_run(store, n, **options):
    add_rows(store.lake, **run_rows(n, **options))


def add_secret(store, tmp_path):
    tasks = [task(9, answer=SECRET)]
    import_into(store, write_log(tmp_path / "logs/gone.yaml", tasks=tasks, date=GONE[1][:10]))
