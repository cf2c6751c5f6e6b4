"""A Spark Connect server that dies: a fake one, in a process of its own, that ends in a request."""

import gc
import importlib.util
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from warehouse.core.errors import EvalstoreError
from warehouse.engine.scale.spark import spark_engine
from warehouse.lake.table_location import FolderLocation

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("pyspark"),
    reason="Spark's client is not installed: `make spark` runs these tests",
)
_LIMIT_SECONDS = 30


def serve(dies_in):
    """Answer as far as a sync asks before its first job; end at a request of this method."""
    import os
    from concurrent.futures import ThreadPoolExecutor

    import grpc
    from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc
    from pyspark.sql.connect.proto.types_pb2 import DataType

    class Servicer(base_pb2_grpc.SparkConnectServiceServicer):
        def Config(self, request, _):  # noqa: N802
            if dies_in == "Config":
                os._exit(9)
            found = base_pb2.ConfigResponse(session_id=request.session_id)
            for key in request.operation.get_with_default.pairs or request.operation.get.keys:
                found.pairs.add(key=getattr(key, "key", key), value="1000000")
            return found

        def AnalyzePlan(self, request, _):  # noqa: N802
            if dies_in == "AnalyzePlan":
                os._exit(9)
            schema = DataType.Struct()
            for name in ("number", "task"):
                kind = DataType(long={}) if name == "number" else DataType(string={})
                schema.fields.add(name=name, data_type=kind, nullable=True)
            found, rows = base_pb2.AnalyzePlanResponse(), DataType(struct=schema)
            found.session_id = request.session_id
            if request.HasField("ddl_parse"):
                found.ddl_parse.parsed.CopyFrom(rows)
            else:
                found.schema.schema.CopyFrom(rows)
            return found

        def ExecutePlan(self, *_):  # noqa: N802
            os._exit(9)

    server = grpc.server(ThreadPoolExecutor(4))
    base_pb2_grpc.add_SparkConnectServiceServicer_to_server(Servicer(), server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


@contextmanager
def serving(dies_in):
    command = [sys.executable, __file__, dies_in]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"sc://127.0.0.1:{int(process.stdout.readline())}", process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("dies_in", ["Config", "AnalyzePlan", "ExecutePlan"])
def test_a_server_that_dies_is_named_soon(tmp_path, dies_in):
    with serving(dies_in) as (address, process):
        started_at = time.monotonic()
        with (
            pytest.raises(EvalstoreError) as caught,
            spark_engine(address) as engine,
        ):
            engine.run("compute_shard", [{"lake": str(tmp_path)}], FolderLocation(tmp_path))
        assert time.monotonic() - started_at < _LIMIT_SECONDS
        assert process.wait(_LIMIT_SECONDS) == 9
    assert str(caught.value) == (
        f"{address}: the Spark server has ended, or cannot be reached any more: see that it runs; "
        "nothing was changed: run the command again"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_session_that_ended_leaves_threads_of_the_next_alone(tmp_path):
    """Python frees objects at any time, also while another session holds gRPC's locks."""
    from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator

    with serving("AnalyzePlan") as (address, _):
        with suppress(EvalstoreError), spark_engine(address) as engine:
            engine.run("compute_shard", [{"lake": str(tmp_path)}], FolderLocation(tmp_path))
        del engine
        shared = ExecutePlanResponseReattachableIterator._get_or_create_release_thread_pool()
        gc.collect()
    assert shared.submit(lambda: "runs").result() == "runs"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    serve(sys.argv[1])
