"""The queries of docs/queries-spark.md give the figures of the warehouse, in each engine."""

import re
from importlib.util import find_spec
from pathlib import Path

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable
from support import ROOT, add_rows, import_into, log, task, write_log

from exports.delta.command import publish_tables

QUERIES = dict(
    re.findall(
        r"## ([^\n]+)\n(?:(?!\n## ).)*?```sql\n(.*?)```",
        (ROOT / "docs/queries-spark.md").read_text(),
        re.DOTALL,
    )
)
# What the warehouse's own views say; by default, the same query of the views of these names.
OWN = {
    "What was the pass rate of every run?": """
        SELECT suite, run_id, model, settings, task_set, n_passed, n_trials, pass_rate,
            wilson_low(n_passed, n_trials), wilson_high(n_passed, n_trials)
        FROM pass_rates WHERE n_trials > 0""",
    "Which of two models is better on the tasks that both did?": """
        SELECT suite, model_a, model_b, n_tasks, n_only_a, n_only_b, pass_rate_difference
        FROM paired_comparisons""",
    "What does a passed task cost?": """
        SELECT suite, run_id, model, settings, n_results, n_cost_known, total_cost_usd,
            cost_per_passed_usd
        FROM costs""",
    "Do raters agree with the verdicts?": """
        SELECT rater, criterion, value, count(*), avg(passed::INTEGER)
        FROM ratings JOIN verdicts
            ON result_suite = verdicts.suite AND result_run_id = verdicts.run_id
            AND ratings.result_id = verdicts.result_id
        WHERE is_current AND passed IS NOT NULL GROUP BY ALL""",
    "Which calls gave no answer, and why?": """
        SELECT suite, run_id, model, settings, availability_status, failure_type, n
        FROM failures""",
    "Which tasks does no model pass?": """
        SELECT suite, task_id, n_models, n_trials FROM task_difficulty
        WHERE n_solved = 0 AND n_models >= 2""",
}


@pytest.fixture
def published(store, tmp_path):
    """Publish runs of two models with failures, costs, messages, ratings and reported figures."""
    key = {"suite": "toys", "generation": "root"}
    for n, model in enumerate(("one", "two", "one", "two")):
        run = key | {"run_id": f"run-{n}"}
        call = run | {"provider": "here", "model": model, "task_set": "set", "cost_usd": 0.25 + n}
        ok = {"availability_status": "ok", "success": True}
        results = [
            call | ok | {"content_id": f"{n}-{i}", "task_id": f"t{i}", "seq": i,
                         "is_correct": i > 2 and (i + n) % 3 > 0}
            for i in range(9)
        ]  # fmt: skip
        failed = {"availability_status": "error", "success": False, "failure_type": "timeout"}
        results.append(call | failed | {"content_id": f"{n}-9", "task_id": "t8", "seq": 9})
        text = "bash: Permission denied" if n % 2 else "fine"
        message = run | {"content_id": f"m-{n}", "result_id": f"{n}-1", "role": "tool"}
        rating = run | {"rater": "anna", "rater_kind": "human", "criterion": "good", "status": "ok"}
        report = run | {"provider": "here", "model": model, "task_set": "set", "metric": "passed"}
        add_rows(
            store.lake,
            runs=[run | {"content_id": f"head-{n}"}],
            results=results,
            messages=[message | {"seq": 1, "text": text}],
            ratings=[
                rating | {"content_id": f"r-{n}", "result_id": f"{n}-4", "seq": 1, "value": n / 2}
            ],
            reported_metrics=[report | {"content_id": f"f-{n}", "seq": 1, "value": 0.9, "n": 10}],
        )
    import_into(store, write_log(tmp_path / "a.yaml", log((1, 2))))
    import_into(store, write_log(tmp_path / "b.yaml", tasks=[task(3)]), run_as="second")
    publish_tables(store, tmp_path / "out")
    return tmp_path / "out/public"


def files(public):
    """Return the files of each table in the newest snapshot, and its version."""
    rows = pl.read_delta(str(public / "snapshots"))
    newest = rows.filter(pl.col("snapshot") == pl.col("snapshot").max())
    return dict(newest.select("table_name", "version").rows())


def in_duckdb(public, query):
    """Run a query by DuckDB's `delta_scan`, or where it is missing by the files of the log."""
    with duckdb.connect() as connection:
        has_delta = find_spec("duckdb_extension_delta") and duckdb.__version__.startswith("1.5.5")
        if has_delta:
            import duckdb_extension_delta

            [extension] = Path(duckdb_extension_delta.__path__[0]).rglob("*.duckdb_extension")
            connection.execute(f"LOAD '{extension}'")
        for name, version in files(public).items():
            table = DeltaTable(str(public / name), version=version)
            if has_delta:
                scan = f"delta_scan('{public / name}', version = {version})"
            elif uris := table.file_uris():
                scan = f"read_parquet({uris!r})"
            else:
                connection.register(f"{name}_empty", table.to_pyarrow_table())
                scan = f"{name}_empty"
            connection.execute(f"CREATE VIEW {name} AS FROM {scan}")
        return connection.execute(query).fetchall()


def in_polars(public, query):
    tables = {
        name: pl.scan_delta(str(public / name), version=version)
        for name, version in files(public).items()
    }
    return pl.SQLContext(tables).execute(query).collect().rows()


def comparable(rows):
    """Return rows with rounded numbers, which the engines sum in an order of their own."""
    return sorted(
        (
            tuple(round(v, 5) + 0.0 if isinstance(v, int | float) else v for v in row)
            for row in rows
        ),
        key=repr,
    )


def test_the_page_has_ten_queries():
    assert len(QUERIES) == 10
    assert OWN.keys() <= QUERIES.keys()


def in_spark(public, query):
    """Run a query by Spark, with Delta's jars from Maven; skip where they cannot be had."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]")
    for name, value in {
        "jars.packages": "io.delta:delta-spark_2.13:4.0.0",
        "sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }.items():
        builder = builder.config(f"spark.{name}", value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001 - whatever Java says
        pytest.skip(f"Spark does not start with Delta's jars from Maven: {error}")
    for name, version in files(public).items():
        table = spark.read.format("delta").option("versionAsOf", version)
        table.load(str(public / name)).createOrReplaceTempView(name)
    return [tuple(row) for row in spark.sql(query).collect()]


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("py4j"), reason="`make delta-spark` installs Spark")
def test_spark_gives_the_figures_of_the_warehouse(store, published):
    for question, query in QUERIES.items():
        own = query.replace("FROM messages", "FROM main.messages")
        known = comparable(store.sql(OWN.get(question, own)).fetchall())
        assert comparable(in_spark(published, query)) == known, question


@pytest.mark.slow
def test_the_queries_give_the_figures_of_the_warehouse(store, published):
    for question, query in QUERIES.items():
        own = query.replace("FROM messages", "FROM main.messages")
        known = comparable(store.sql(OWN.get(question, own)).fetchall())
        assert comparable(in_duckdb(published, query)) == known, question
        assert comparable(in_polars(published, query)) == known, question
        assert known, question
