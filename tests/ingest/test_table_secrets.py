"""Secrets in tables are found and masked in the values, however the file writes them."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import command, files_in, queried_store

KEY = "q8Zr3LxV7tN2mKf9WbYs4HdP6gJc1TaE"
FORMS = [
    f'{{"api_key": "{KEY}"}}',
    f'export SERVICE_KEY="{KEY}"',
    f"client_secret: '{KEY}'",
    f'{{"a": "x", "password": "{KEY}!"}}, and more',
    f"first line\nAPI_TOKEN={KEY}\nlast line",
]
COLUMNS = ("run_id", "model", "task_id", "output", "passed")


def write(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))), path)
    elif path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
        path.write_text("\n".join(lines))
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows([COLUMNS, *rows])
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_no_form_of_a_secret_is_stored(tmp_path, ending):
    rows = [("r", "m", f"t{n}", form, True) for n, form in enumerate(FORMS)]
    path = write(tmp_path / f"log.{ending}", rows)
    store = queried_store(tmp_path / "store")
    ended = command(store.path, "import", path, "--yes", "--redact")
    assert ended.code == 0
    stored = store.sql("SELECT raw_output FROM results ORDER BY task_id").fetchall()
    assert [text for (text,) in stored] == [
        form.replace(f"{KEY}!", "(redacted)").replace(KEY, "(redacted)") for form in FORMS
    ]
    assert not any(KEY.encode() in data for data in files_in(store.path).values())
    assert KEY not in ended.out + ended.err


@pytest.mark.slow
def test_a_masked_secret_takes_no_field_with_it(tmp_path):
    token = "fm2_" + KEY + "lJPECAAAAAAA" * 4
    path = tmp_path / "log.csv"
    path.write_text(f"run_id,model,task_id,passed,output,note\nr,m,t,true,{token},fm2_x{KEY}\n")
    store = queried_store(tmp_path / "store")
    assert command(store.path, "import", path, "--yes", "--redact").code == 0
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(1,)]


def test_rows_in_quarantine_are_masked_and_named(tmp_path):
    path = tmp_path / "log.csv"
    rows = ["run_id,model,task_id,passed,output", "r,m,t,true,x"]
    rows.append(f'r,m,u,true,"{{""api_key"": ""{KEY}""}}",y')
    path.write_text("\n".join(rows))
    store = queried_store(tmp_path / "store")
    ended = command(store.path, "import", path, "--yes", "--redact")
    assert "1 possible secret" in ended.out + ended.err
    assert not any(KEY.encode() in data for data in files_in(store.path).values())
