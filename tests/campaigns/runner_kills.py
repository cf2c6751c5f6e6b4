"""A campaign that kills a run at random moments and resumes it: is each cell called exactly once?

    python -m tests.campaigns.runner_kills [--kills 50] [--calls 300] [--seed 23]

A server on loopback records the calls. After each kill, calls whose results are in the store must
not be repeated; only calls in progress at the kill may be lost. `tests/runners/test_run.py` runs a
small one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 4
_RESPONSE_SECONDS = 0.01
_START_SECONDS = 0.5


@dataclass
class Campaign:
    """The figures of a campaign.

    Attributes:
        n_cells: cells of the run.
        n_kills: times that its process was killed.
        n_idle_kills: kills before the first call or after the last.
        calls: prompts that the server received, in order.
        repeated: prompts received although the store had their results.
        lost: for each kill, the number of calls received whose results are not in the store.
        n_results: rows of the run at the end.
        n_successes: cells with a successful result at the end.
    """

    n_cells: int
    n_kills: int
    n_idle_kills: int = 0
    calls: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    n_results: int = 0
    n_successes: int = 0

    @property
    def is_right(self) -> bool:
        """Whether each cell has exactly one result, and no completed call was repeated."""
        is_complete = self.n_results == self.n_successes == self.n_cells
        return is_complete and not self.repeated and max(self.lost, default=0) <= CONCURRENCY


def run_and_kill(folder: Path, *, calls: int, kills: int, seed: int) -> Campaign:
    """Run a suite with this many calls in a folder, killed and resumed, and return the figures."""
    campaign, chance = Campaign(calls, kills), random.Random(seed)
    tasks = [{"id": f"t{n}", "prompt": f"question {n}", "reference": "yes"} for n in range(calls)]
    (folder / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    store = Store(folder / "store")
    with _serving(campaign.calls) as base:
        where = ["--provider", "ollama_openai", "--base-url", base]
        first = ["run", "mine.json", "--model", "m", *where]
        for _ in range(kills):
            known = _completed(store)
            before = len(campaign.calls)
            process = _start(folder, _arguments(store, first))
            _wait(process, campaign.calls, before + chance.randint(0, 2 * calls // kills), chance)
            process.send_signal(signal.SIGKILL)
            process.wait()
            new = campaign.calls[before:]
            campaign.n_idle_kills += not new
            campaign.repeated += [prompt for prompt in new if prompt in known]
            campaign.lost.append(len(set(new) - _completed(store)))
        known = _completed(store)
        before = len(campaign.calls)
        _start(folder, _arguments(store, first)).wait()
        campaign.repeated += [prompt for prompt in campaign.calls[before:] if prompt in known]
    query = "SELECT count(*), count(DISTINCT task_id) FILTER (success) FROM results"
    campaign.n_results, campaign.n_successes = store.sql(query).fetchall()[0]
    return campaign


def _arguments(store: Store, first: list[str]) -> list[str]:
    runs = store.sql("SELECT run_id FROM runs").fetchall() if store.path.is_dir() else []
    return ["run", "--resume", runs[0][0]] if runs else first


def _completed(store: Store) -> set[str]:
    rows = store.sql("SELECT prompt FROM results WHERE success") if store.path.is_dir() else None
    return {prompt for (prompt,) in rows.fetchall()} if rows else set()


def _start(folder: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "evalstore", *arguments, "--concurrency", str(CONCURRENCY)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait(
    process: subprocess.Popen[bytes], calls: list[str], goal: int, chance: random.Random
) -> None:
    """Wait for this many calls and a random moment, or for a random moment of the start."""
    start = len(calls)
    while start < goal and len(calls) < goal and process.poll() is None:
        time.sleep(0.001)
    time.sleep(chance.random() * (_RESPONSE_SECONDS if goal > start else _START_SECONDS))


@contextmanager
def _serving(calls: list[str]) -> Iterator[str]:
    """Run a server of chat completions that records its prompts, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            calls.append(json.loads(self.rfile.read(length))["messages"][-1]["content"])
            time.sleep(_RESPONSE_SECONDS)
            body = json.dumps(_REPLY).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_arguments: Any) -> None:
            """Ignore errors: clients are killed on purpose."""

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


_REPLY = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}


def main() -> None:
    """Run the campaign given on the command line and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=23)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = run_and_kill(Path(folder), calls=given.calls, kills=given.kills, seed=given.seed)
    print(
        f"{campaign.n_kills} kills over {campaign.n_cells} cells, {campaign.n_idle_kills} of them "
        f"without a call; {len(campaign.calls)} calls received, {sum(campaign.lost)} of them lost "
        f"in progress (at most {max(campaign.lost)} per kill); completed calls repeated: "
        f"{len(campaign.repeated)}; at the end {campaign.n_results} results of "
        f"{campaign.n_successes} cells"
    )
    sys.exit(0 if campaign.is_right else 1)


if __name__ == "__main__":
    main()
