"""A Spark cluster on loopback: a master, two workers and a Connect server, a session each."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

# Java starts slowly on a busy machine; what takes longer than this has failed.
_LIMIT_SECONDS = 600
_LOOPBACK = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    # Nothing is taken for lost that a busy machine keeps waiting.
    "spark.network.timeout": "900s",
    "spark.sql.broadcastTimeout": "900s",
    "spark.ui.enabled": "false",
}


class SparkCluster:
    """Two workers with a core each, and a Connect server. Every port is chosen by the system.

    Attributes:
        address: of the server, `sc://127.0.0.1:PORT`.
    """

    def __init__(self, folder, environment, stack):
        self._folder, self._stack = folder, stack
        self._home = Path(find_spec("pyspark").origin).parent
        self._started, self._workers = [], []
        self._environment = {
            **environment,
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "640m",
            "SPARK_MASTER_OPTS": "-Dspark.worker.timeout=900 -Dspark.deploy.maxExecutorRetries=-1",
            "PYSPARK_PYTHON": sys.executable,
            "OPENBLAS_NUM_THREADS": "1",
            "TMPDIR": str(folder / "scratch"),
            "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={folder / 'scratch'}",
        }
        (folder / "scratch").mkdir()

    def start(self):
        """Start all, each when the one before is ready."""
        start = self._home / "bin" / "spark-class", "org.apache.spark.deploy."
        [master], _ = self._start(
            "master", r"at (spark://127\.0\.0\.1:\d+)", *_class(start, "Master")
        )
        for n in (1, 2):
            name = f"worker{n}"
            limits = ("--cores", "1", "--memory", "1g", "--work-dir", self._folder / name, master)
            registered = "Successfully registered with master"
            _, process = self._start(name, registered, *_class(start, "Worker"), *limits)
            self._workers.append(process.pid)
        [port], _ = self._start(
            "connect",
            r"Spark Connect server started at: \S*:(\d+)",
            *(self._home / "bin" / "spark-submit", "--class", _CONNECT, "--master", master),
            *(part for key, value in _SETTINGS.items() for part in ("--conf", f"{key}={value}")),
        )
        self.address = f"sc://127.0.0.1:{port}"

    def log(self):
        """Return what the Connect server has logged."""
        return (self._folder / "connect.log").read_text(errors="replace")

    def log_ends(self):
        """Return the end of what each process has logged, those of the executors included."""
        paths = sorted([*self._folder.glob("*.log"), *self._folder.glob("worker*/*/*/stderr")])
        return "\n".join(
            f"--- {path.relative_to(self._folder)}\n{path.read_text(errors='replace')[-4000:]}"
            for path in paths
        )

    def executors(self):
        """Return the ids of the Java processes that run tasks."""
        return self._running("CoarseGrainedExecutorBackend")

    def pythons(self):
        """Return the ids of the Python processes in which tasks run: forks of a daemon each."""
        found = self._running("pyspark.daemon")
        return [pid for pid in found if _parent(pid) in found]

    def processes(self):
        """Return the command line of each process of the cluster, by its id."""
        return {
            pid: _command_line(pid)
            for pid, session in _sessions().items()
            if session in self._started
        }

    def _running(self, name):
        sessions = _sessions()
        return [
            pid
            for pid, session in sessions.items()
            if session in self._workers and name in _command_line(pid)
        ]

    def _start(self, name, pattern, *arguments):
        log = self._folder / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [str(each) for each in arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
                cwd=self._folder,
            )
        self._stack.callback(_stop, process)
        self._started.append(process.pid)
        end = time.monotonic() + _LIMIT_SECONDS
        while (found := re.search(pattern, log.read_text(errors="replace"))) is None:
            state = "ended early" if process.poll() is not None else "is not ready"
            text = log.read_text(errors="replace")[-4000:]
            assert process.poll() is None, f"{name} {state}\n{text}"
            assert time.monotonic() < end, f"{name} {state}\n{text}"
            time.sleep(0.1)
        return found.groups(), process


def _class(start, name):
    program, package = start
    return program, f"{package}{name.lower()}.{name}", *_LOOPBACK


@contextmanager
def spark_cluster(folder, environment):
    """Yield a cluster; all of its processes are killed at the end.

    Args:
        folder: an empty folder for logs and files.
        environment: the variables that all of its processes see.
    """
    with ExitStack() as stack:
        cluster = SparkCluster(folder, environment, stack)
        cluster.start()
        yield cluster


def _stop(process):
    # Python's daemons are in groups of their own, but in the session of their worker.
    end = time.monotonic() + _LIMIT_SECONDS
    while left := [pid for pid, session in _sessions().items() if session == process.pid]:
        assert time.monotonic() < end, f"these processes cannot be killed: {left}"
        for pid in left:
            kill(pid)
        process.poll()
        time.sleep(0.02)
    process.wait()


def kill(pid):
    """Kill a process, unless it has ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _sessions():
    """Return the session of each process of the system that has not ended."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        if (fields := _fields(int(path.name))) and fields[0] not in "ZX":
            found[int(path.name)] = int(fields[3])
    return found


def _fields(pid):
    """Return what `/proc` says of a process after its name: state, parent, group, session, …"""
    try:
        # A name may have spaces and brackets.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _parent(pid):
    fields = _fields(pid)
    return int(fields[1]) if fields else None
