"""Tables that a real Spark cluster on loopback writes, by the command line."""

import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request

import pytest
from spark_cluster import kill, spark_cluster
from support import EXAMPLES, REFERENCE, ROOT, import_into, log, task, write_log
from table_content import assert_equal, content

import evalstore
from warehouse.app.store import Store
from warehouse.lake.compaction import merge_small
from warehouse.lake.forgetting import forget

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("pyspark", "moto"))),
        reason="Spark is not installed: `make spark` runs these tests",
    ),
]
# More in `make spark-full` and `make spark-kills`.
SHARDS = [int(n) for n in os.environ.get("EVALSTORE_SPARK_SHARDS", "2").split()]
KILLS = range(int(os.environ.get("EVALSTORE_SPARK_KILLS", "1")))
_LIMIT_SECONDS = 1200
_COMMANDS = []


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    """A cluster, and a server that speaks S3 with an empty bucket; its address is set."""
    from moto.server import ThreadedMotoServer

    s3 = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    s3.start()
    base = "http://{}:{}".format(*s3.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "planted-secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": base,
        }.items():
            patch.setenv(name, value)
        urllib.request.urlopen(urllib.request.Request(f"{base}/bucket", method="PUT"))
        folder = tmp_path_factory.mktemp("cluster")
        with spark_cluster(
            folder, {**os.environ, "EVALSTORE_CACHE": str(folder / "s3")}
        ) as cluster:
            yield cluster
            for process in _COMMANDS:
                process.kill()
    s3.stop()


@pytest.fixture(autouse=True)
def _logs(request, servers):
    """Print what the cluster has logged where a test fails."""
    n_failed = request.session.testsfailed
    yield
    if request.session.testsfailed > n_failed:
        print(servers.log_ends())


def start(store, *arguments, **environment):
    """Start a command in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evalstore", "--store", str(store), *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    _COMMANDS.append(process)
    return process


def run(store, *arguments, code=0, **environment):
    """Run a command to its end; return what it printed."""
    process = start(store, *arguments, **environment)
    text, _ = process.communicate(timeout=_LIMIT_SECONDS)
    assert process.returncode == code, text
    return text


def write(folder, n, numbers=(1, 2), **fields):
    day = f"2025-03-{n:02}"
    document = log(numbers, date=day, model=f"models/example-m{n}-1.yaml", **fields)
    return write_log(folder / f"{day}-example-m{n}.yaml", document)


def add_duplicates(store, folder):
    """Import two runs that hold the same call."""
    shared = [{**task(7), "timestamp": "2025-03-01T10:00:00Z"}]
    for n in (7, 8):
        document = log(tasks=shared, date="2025-03-01", model="models/example-same-1.yaml")
        path = write_log(folder / f"{n}" / "2025-03-01-a.yaml", document)
        import_into(store, path, run_as=f"r{n}")


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    """Return the folder of a store with some runs and duplicate calls."""
    folder = tmp_path_factory.mktemp("few")
    store = Store(folder / "store", wait_seconds=0)
    for n in range(1, 5):
        import_into(store, write(folder, n))
    add_duplicates(store, folder)
    store.sync()
    return store.path


@pytest.fixture
def store(few, tmp_path):
    shutil.copytree(few, tmp_path / "store")
    return Store(tmp_path / "store", wait_seconds=0)


@pytest.mark.parametrize("n_shards", SHARDS)
def test_a_cluster_writes_the_rows_of_one_warehouse(servers, tmp_path, n_shards):
    """On all reference data; then runs are added, grown, replaced, merged, forgotten."""
    store, tables = Store(tmp_path / "store", wait_seconds=0), tmp_path / "tables"
    import_into(store, REFERENCE if REFERENCE.is_dir() else EXAMPLES, redact=True)
    for n in range(1, 5):
        import_into(store, write(tmp_path, n))
    to = ("--to", tables, "--engine", servers.address)
    text = run(store.path, "sync", *to, "--shards", n_shards)
    assert f"of {n_shards} shards" in text
    assert_equal(store, tables)

    add_duplicates(store, tmp_path)
    import_into(store, write(tmp_path, 2, (1, 2, 3)))
    import_into(store, write(tmp_path, 3, (4, 5)), replace=True)
    merge_small(store.lake)
    forget(store.lake, ("palindrome", "2025-03-04/models/example-m4-1.yaml"))
    run(store.path, "sync", *to)
    assert_equal(store, tables, has_views=True)
    assert "up to date" in run(store.path, "sync", *to)


@pytest.mark.parametrize("moment", KILLS)
@pytest.mark.parametrize("what", ["executors", "pythons"])
def test_tasks_of_a_killed_worker_are_repeated(servers, store, tmp_path, what, moment):
    tables = tmp_path / "tables"
    arguments = ("sync", "--to", tables, "--shards", 3, "--engine", servers.address)
    process = start(store.path, *arguments)
    n_lost = servers.log().count("Lost task")
    _wait_for_files(process, tables, moment)
    for pid in servers.executors()[:1] if what == "executors" else servers.pythons():
        kill(pid)
    text, _ = process.communicate(timeout=_LIMIT_SECONDS)
    print(f"{what} at moment {moment}: lost tasks {servers.log().count('Lost task') - n_lost}")
    assert process.returncode == 0, text
    assert_equal(store, tables)


@pytest.mark.parametrize("moment", KILLS)
def test_a_killed_command_leaves_the_old_tables(servers, store, tmp_path, moment):
    tables = tmp_path / "tables"
    arguments = ("sync", "--to", tables, "--engine", servers.address)
    run(store.path, *arguments)
    before = content(evalstore.open(tables))
    import_into(store, write(tmp_path, 9))
    process = start(store.path, *arguments, "--shards", 3)
    _wait_for_files(process, tables, moment)
    process.kill()
    process.communicate()
    after = content(evalstore.open(tables))
    print(f"the command at moment {moment}: code {process.returncode}, old: {after == before}")
    run(store.path, *arguments)
    assert_equal(store, tables)
    assert after in (before, content(evalstore.open(tables)))


def _wait_for_files(process, tables, moment):
    """Wait until some more files of results, or of tables written later, are there."""
    end = time.monotonic() + _LIMIT_SECONDS
    n = _n_written(tables)
    while _n_written(tables) <= n + moment and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def _n_written(tables):
    # Of shards only: the command writes its files before them.
    names = ("results", "runs", "calls", "scores.task_facts", "scores.entry_calls")
    return sum(1 for name in names for _ in tables.glob(f"tables/{name}/*.parquet"))


def test_stores_and_tables_on_an_object_store(servers, tmp_path):
    cache = {"EVALSTORE_CACHE": str(tmp_path / "cache")}
    store, tables = "s3://bucket/evals", "s3://bucket/tables"
    for n in (1, 2, 3):
        write(tmp_path / "logs", n)
    run(store, "import", tmp_path / "logs", **cache)
    run(store, "sync", "--to", tables, "--shards", 2, "--engine", servers.address, **cache)
    query = ("sql", "FROM results ORDER BY ALL", "--format", "csv")
    assert run(tables, *query, **cache) == run(store, *query, **cache)


def test_an_error_of_a_worker_is_a_message(servers, store, tmp_path):
    path = next(store.lake.path.glob("*/results.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    text = run(store.path, "sync", "--to", tmp_path / "tables", "--engine", servers.address, code=2)
    assert "SHA-256" in text
    assert "org.apache" not in text
    assert "Traceback" not in text


def test_an_environment_is_sent_to_the_workers(servers, store, tmp_path):
    # What runs in this Python keeps its caches in a folder of its own.
    script = f"""#!/bin/sh
echo "$(readlink -f "$0") $*" >> "{tmp_path}/used"
export EVALSTORE_CACHE="{tmp_path}/cache"
exec "{sys.executable}" "$@"
""".encode()
    member = tarfile.TarInfo("bin/python")
    member.mode, member.size = 0o755, len(script)
    with tarfile.open(tmp_path / "packed.tar.gz", "w:gz") as archive:
        archive.addfile(member, io.BytesIO(script))
    to = ("--to", tmp_path / "tables", "--engine", servers.address)
    run(store.path, "sync", *to, "--environment", tmp_path / "packed.tar.gz")
    for line in (tmp_path / "used").read_text().splitlines():
        path, _, arguments = line.partition(" ")
        assert re.search(r"/worker[12]/.+/environment/bin/python$", path)
        assert "pyspark.daemon" in arguments
    # The tasks ran in it: each makes an empty warehouse, which is kept as a template.
    assert [*tmp_path.glob("cache/warehouses/*.duckdb")]
    assert_equal(store, tmp_path / "tables")
