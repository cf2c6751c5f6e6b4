"""Shards on a Spark cluster, through Spark Connect.

Spark only schedules: a Spark task is one task of a sync, which runs the same code in the Python of
a worker as in a process of one machine. Spark repeats it where a worker is lost. What a task
reports as an error is not repeated: it comes back as a reply.
"""

from __future__ import annotations

import json
import re
import socket
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa

from warehouse.core import errors
from warehouse.core.errors import BadInput, EvalstoreError
from warehouse.engine.scale.engine import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from warehouse.lake.lake import Lake
    from warehouse.lake.table_location import TableLocation

_PORT = 15002
_CONNECT_SECONDS = 30
# Of a request to a server that is gone: ten seconds in all; by default, more than ten minutes.
_RETRIES, _PAUSE_MS = 5, 4_000
# Sessions that ended, each kept until the process ends: when Python frees one it closes the threads
# that all sessions share, and waits for them, perhaps with a lock in hand that they need
# (SPARK-55406; until Spark 4.2).
_ENDED: list[Any] = []
# Of one job of Spark, so that neither its plan nor its replies get large.
_TASKS_AT_ONCE = 1_000
_BYTES_AT_ONCE = 16 * 2**20
_SCHEMA = "number long, reply string"
_ARROW_SCHEMA = pa.schema([("number", pa.int64()), ("reply", pa.string())])
# The client repeats only what a server that cannot be reached leaves undone; before 4.2 it says so.
_GONE = re.compile(r"StatusCode\.UNAVAILABLE|failed to connect|Socket closed|RETRIES_EXCEEDED")
_MISSING = re.compile(r"No module named '(?:warehouse|evalstore)\b")
_UNSEEN = "a worker does not see this folder: use one that all machines share, or an object store"


@contextmanager
def spark_engine(address: str, environment: Path | None = None) -> Iterator[SparkEngine]:
    """Connect to a Spark Connect server; the session ends with the context.

    Args:
        address: such as `sc://host:15002`.
        environment: an archive with the Python environment of the workers; by default, they use
            what the cluster has.

    Raises:
        BadInput: the address cannot be used, or pyspark is not installed.
        EvalstoreError: the server cannot be reached, or refuses.
    """
    name = _reachable(address)
    try:
        from grpc import RpcError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
        from pyspark.sql.connect.client.retries import DefaultPolicy
    except ImportError as error:
        raise BadInput(
            f"--engine {name} needs pyspark: in a checkout, `pip install '.[spark]'` ({error})"
        ) from error
    failures = (PySparkException, RpcError)
    with _messages(name, failures):
        session = SparkSession.builder.remote(address).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES, max_backoff=_PAUSE_MS)])
    try:
        if environment is not None:
            with _messages(name, failures):
                session.addArtifacts(f"{environment.resolve()}#environment", archive=True)
                session.conf.set("spark.sql.execution.pyspark.python", "environment/bin/python")
        yield SparkEngine(session, name, failures)
    finally:
        _ENDED.append(session)
        session.client.set_retry_policies([])  # a session that is lost ends by itself
        session.stop()


class SparkEngine:
    """Runs tasks on the workers of a Spark cluster.

    Args:
        session: a session of Spark Connect.
        name: the address of its server, for messages.
        failures: what the session raises.
    """

    def __init__(
        self,
        session: Any,  # noqa: ANN401 - pyspark is not installed everywhere
        name: str,
        failures: tuple[type[Exception], ...],
    ) -> None:
        self._session = session
        self._name = name
        self._failures = failures

    def lake_text(self, lake: Lake) -> str:
        """Return the address of the lake, or its folder, which all workers must see."""
        return str(lake.store_path.resolve()) if lake.mirror is None else lake.mirror.address

    def run(
        self, function: str, tasks: Sequence[Mapping[str, Any]], place: TableLocation
    ) -> list[dict[str, Any]]:
        """Run the tasks, a Spark task each.

        Raises:
            EvalstoreError: a task or the cluster failed; that of a task has its class.
        """
        to = place.address if "://" in place.address else str(Path(place.address).resolve())
        texts = [json.dumps({**task, "to": to}) for task in tasks]
        replies = [reply for some in _groups(texts) for reply in self._run(function, some)]
        for reply in replies:
            if "error" in reply:
                raise getattr(errors, reply["error"], EvalstoreError)(reply["message"])
        return replies

    def _run(self, function: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        n = len(texts)
        try:
            with _messages(self._name, self._failures):
                rows = list(enumerate(texts))
                tasks = self._session.createDataFrame(rows, "number long, task string")
                # A range has as many partitions as asked for, and such a join keeps them.
                numbers = self._session.range(0, n, 1, n).withColumnRenamed("id", "number")
                replies = numbers.join(tasks.hint("broadcast"), "number").mapInArrow(
                    partial(run_tasks, function), _SCHEMA
                )
                found = dict(replies.collect())
        except KeyboardInterrupt:
            self._session.interruptAll()
            raise
        return [json.loads(found[number]) for number in range(n)]


def run_tasks(function: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run tasks in the Python of a worker.

    Args:
        function: name in `FUNCTIONS`.
        batches: rows of `number` and `task` (JSON).

    Yields:
        Rows of `number` and `reply` (JSON); of an error that a user can fix, its class and message.
    """
    for batch in batches:
        for row in batch.to_pylist():
            reply = json.dumps(_replied(function, json.loads(row["task"])))
            yield pa.RecordBatch.from_pylist(
                [{"number": row["number"], "reply": reply}], schema=_ARROW_SCHEMA
            )


def _replied(function: str, task: Mapping[str, Any]) -> dict[str, Any]:
    try:
        for text in (task["lake"], task["to"]):
            is_read = task.get("runs") or task.get("calls")
            if is_read and "://" not in text and not Path(text).is_dir():
                raise BadInput(f"{text}: {_UNSEEN}")
        return FUNCTIONS[function](task)
    except EvalstoreError as error:
        return {"error": type(error).__name__, "message": str(error)}


def _groups(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the tasks in groups, each of one job of Spark."""
    start = size = 0
    for end, text in enumerate(texts):
        size += len(text)
        if end > start and (size > _BYTES_AT_ONCE or end - start == _TASKS_AT_ONCE):
            yield texts[start:end]
            start, size = end, len(text)
    if start < len(texts):
        yield texts[start:]


def _reachable(address: str) -> str:
    """Check that a server listens at an address; return it without parameters such as tokens."""
    wrong = "--engine takes the address of a Spark Connect server: sc://HOST:15002"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError as error:
        raise BadInput(wrong) from error
    if host is None or parts.scheme != "sc" or parts.username is not None:
        raise BadInput(wrong)
    name = f"sc://{host}:{port}"
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise EvalstoreError(
            f"{name}: cannot be reached ({error.strerror or error}); check the address, and that "
            "a Spark Connect server runs there; without --engine, processes of this machine work"
        ) from error
    return name


@contextmanager
def _messages(name: str, failures: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except failures as error:
        raise EvalstoreError(
            f"{name}: {_message(str(error))}; nothing was changed: run the command again"
        ) from error


def _message(text: str) -> str:
    """Return what an error of Spark says, without its stack traces."""
    if _MISSING.search(text):
        return (
            "the Python of its workers does not have evalstore: install the same version there, "
            "or send it with --environment"
        )
    if _GONE.search(text):
        return "the Spark server has ended, or cannot be reached any more: see that it runs"
    text = text.partition("JVM stacktrace")[0].partition("Driver stacktrace")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("at ")]
    # Of Python's traceback the last line says what happened.
    is_python = any(line.startswith("Traceback ") for line in told)
    return (told[-1] if is_python else told[0])[:500].rstrip(".:;") if told else "failed"
