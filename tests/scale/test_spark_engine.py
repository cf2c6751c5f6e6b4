"""The engine for Spark, with a session that runs everything in this process."""

import random
import socket
import sys

import pyarrow as pa
import pytest
from serving import closed_port
from support import import_into, log, new_store, write_log

import evalstore
from warehouse.core.errors import EvalstoreError, StoreDamaged
from warehouse.engine.scale import driver, spark
from warehouse.engine.scale.spark import SparkEngine
from warehouse.lake.table_location import FolderLocation


class SessionError(Exception):
    """What a session raises."""


class Frame:
    """Rows as of Spark: in no order, and computed twice where a worker was lost."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows

    def withColumnRenamed(self, old, new):  # noqa: N802
        return Frame([new if name == old else name for name in self.columns], self.rows)

    def hint(self, name):
        assert name == "broadcast"
        return self

    def join(self, other, name):
        assert self.columns == [name]
        rows = [row for (key,) in self.rows for row in other.rows if row[0] == key]
        return Frame(other.columns, rows)

    def mapInArrow(self, function, schema):  # noqa: N802
        assert schema == "number long, reply string"
        found = []
        for row in random.Random(3).sample(self.rows, len(self.rows)):
            batch = pa.RecordBatch.from_pylist([dict(zip(self.columns, row, strict=True))])
            for _ in range(2):
                replies = [r for some in function(iter([batch])) for r in some.to_pylist()]
            found += [tuple(reply.values()) for reply in replies]
        return Frame(["number", "reply"], found)

    def collect(self):
        return self.rows


class Session:
    def __init__(self, failure=None):
        self.failure = failure
        self.n_jobs = 0

    def createDataFrame(self, rows, schema):  # noqa: N802
        assert schema == "number long, task string"
        self.n_jobs += 1
        if self.failure is not None:
            raise self.failure
        return Frame(["number", "task"], rows)

    def range(self, start, end, step, n_partitions):
        assert (start, step, n_partitions) == (0, 1, end)
        return Frame(["id"], [(n,) for n in range(end)])


def engine(**options):
    return SparkEngine(Session(**options), "sc://host:15002", (SessionError,))


@pytest.fixture
def store(tmp_path):
    store = new_store(tmp_path / "store")
    for n in (1, 2, 3):
        document = log((1, 2), date=f"2025-03-{n:02}", model=f"models/example-m{n}-1.yaml")
        import_into(store, write_log(tmp_path / f"2025-03-{n:02}-example-m{n}.yaml", document))
    return store


@pytest.mark.slow
def test_tasks_run_as_jobs_of_spark(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # workers have another folder
    session = Session()
    spark_engine = SparkEngine(session, "sc://host:15002", (SessionError,))
    monkeypatch.setattr(spark, "_TASKS_AT_ONCE", 1)
    report = driver.sync_tables(store, "tables", spark_engine, n_shards=3)
    assert session.n_jobs == report.n_shards + 1 > 2  # one of duplicate calls
    for name in ("lake.results", "scores.task_facts", "main.leaderboard"):
        query = f"FROM {name} ORDER BY ALL"
        rows = store.sql(query).fetchall()
        assert rows
        assert evalstore.open("tables").sql(query).fetchall() == rows


def test_tasks_are_grouped_by_number_and_size(monkeypatch):
    monkeypatch.setattr(spark, "_TASKS_AT_ONCE", 3)
    monkeypatch.setattr(spark, "_BYTES_AT_ONCE", 10)
    texts = ["a" * n for n in (1, 1, 1, 1, 9, 2, 50, 1, 1)]
    groups = list(spark._groups(texts))
    assert groups == [texts[:3], texts[3:5], texts[5:6], texts[6:7], texts[7:]]
    assert list(spark._groups([])) == []


def test_an_error_of_a_task_is_one_of_the_command(tmp_path, monkeypatch):
    def damaged(task):
        raise StoreDamaged(f"{task['n']}: is damaged")

    monkeypatch.setitem(spark.FUNCTIONS, "damaged", damaged)
    place = FolderLocation(tmp_path / "tables")
    task = {"lake": str(tmp_path), "to": "", "n": 7}
    with pytest.raises(StoreDamaged, match=r"^7: is damaged$"):
        engine().run("damaged", [task], place)
    unseen = {"lake": str(tmp_path / "lake"), "runs": [("a", "b")]}
    with pytest.raises(EvalstoreError, match="does not see this folder"):
        engine().run("damaged", [unseen], place)


TRACEBACK = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/x/y.py", line 1, in f
{}

JVM stacktrace:
org.apache.spark.api.python.PythonException
\tat org.apache.spark.Some.thing(Some.scala:1)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRACEBACK.format("OSError: disk full"), "OSError: disk full"),
        (
            TRACEBACK.format("ModuleNotFoundError: No module named 'warehouse'"),
            "does not have evalstore",
        ),
        (
            "Job aborted due to stage failure: lost.\n\nDriver stacktrace:\n\tat org.apache.X",
            "Job aborted due to stage failure: lost;",
        ),
        ("", "sc://host:15002: failed"),
    ],
)
def test_a_failure_of_the_cluster_is_a_message(tmp_path, text, expected):
    with pytest.raises(EvalstoreError) as caught:
        engine(failure=SessionError(text)).run("x", [{}], FolderLocation(tmp_path))
    message = str(caught.value)
    assert expected in message
    assert message.endswith("nothing was changed: run the command again")
    assert "\n" not in message
    assert "org.apache" not in message


@pytest.mark.parametrize(
    "address", ["host:15002", "sc://", "http://host", "sc://h:port", "sc://a@h"]
)
def test_an_address_of_something_else_is_refused(cli, tmp_path, address):
    found = cli("sync", "--to", tmp_path / "tables", "--engine", address)
    assert (found.code, "sc://HOST:15002" in found.err) == (2, True)


def test_options_that_need_others(cli, tmp_path):
    assert cli("sync", "--engine", "sc://host").code == 2
    assert cli("sync", "--to", tmp_path / "tables", "--environment", __file__).code == 2


def test_no_server_is_a_message(cli, tmp_path):
    address = closed_port().replace("http", "sc") + "/;token=planted-secret"
    found = cli("sync", "--to", tmp_path / "tables", "--engine", address)
    assert (found.code, "cannot be reached" in found.err) == (2, True)
    assert "planted-secret" not in found.err
    assert not (tmp_path / "tables").exists()


def test_pyspark_is_asked_for(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"sc://127.0.0.1:{server.getsockname()[1]}"
        found = cli("sync", "--to", tmp_path / "tables", "--engine", address)
    assert (found.code, "pip install '.[spark]'" in found.err) == (2, True)
