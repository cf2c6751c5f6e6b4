"""Kill -9 at random moments of a run, resumed each time: is each cell answered exactly once?

    python -m tests.campaigns.runner_kills [--kills 50] [--calls 300] [--seed 23]

A server on loopback logs what is asked. After each kill, what the store has must not be asked
again; only calls under way at the kill may have been lost. `tests/runners/test_run.py` runs a
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

from warehouse.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 4
_ANSWER_SECONDS = 0.01
_USUAL_START_SECONDS = 0.5


@dataclass
class Campaign:
    """What came of the kills.

    Attributes:
        calls: cells of the run.
        kills: times that its process was killed.
        before_the_run: kills before anything was asked, or after all was done.
        asked: prompts that the server was asked, in order.
        asked_again: prompts that were asked although the store had their answer.
        lost: for each kill, calls that were under way: asked, and not in the store.
        results: rows of the run at the end.
        answered: cells that have an answer at the end.
    """

    calls: int
    kills: int
    before_the_run: int = 0
    asked: list[str] = field(default_factory=list)
    asked_again: list[str] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    results: int = 0
    answered: int = 0

    @property
    def is_right(self) -> bool:
        """Whether each cell was answered exactly once, and no answered one asked again."""
        is_whole = self.results == self.answered == self.calls
        return is_whole and not self.asked_again and max(self.lost, default=0) <= CONCURRENCY


def run_and_kill(folder: Path, calls: int, kills: int, seed: int) -> Campaign:
    """Run a suite of so many calls in a folder, killed so often, and look at what is left."""
    campaign, chance = Campaign(calls, kills), random.Random(seed)
    tasks = [{"id": f"t{n}", "prompt": f"question {n}", "reference": "yes"} for n in range(calls)]
    (folder / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    store = Store(folder / "store")
    with _serving(campaign.asked) as base:
        where = ["--provider", "ollama_openai", "--base-url", base]
        first = ["run", "mine.json", "--model", "m", *where]
        for _ in range(kills):
            known = _answered(store)
            before = len(campaign.asked)
            process = _start(folder, _arguments(store, first))
            _wait(process, campaign.asked, before + chance.randint(0, 2 * calls // kills), chance)
            process.send_signal(signal.SIGKILL)
            process.wait()
            new = campaign.asked[before:]
            campaign.before_the_run += not new
            campaign.asked_again += [prompt for prompt in new if prompt in known]
            campaign.lost.append(len(set(new) - _answered(store)))
        known = _answered(store)
        before = len(campaign.asked)
        _start(folder, _arguments(store, first)).wait()
        campaign.asked_again += [prompt for prompt in campaign.asked[before:] if prompt in known]
    query = "SELECT count(*), count(DISTINCT task_id) FILTER (success) FROM results"
    campaign.results, campaign.answered = store.sql(query).fetchall()[0]
    return campaign


def _arguments(store: Store, first: list[str]) -> list[str]:
    runs = store.sql("SELECT run_id FROM runs").fetchall() if store.path.is_dir() else []
    return ["run", "--resume", runs[0][0]] if runs else first


def _answered(store: Store) -> set[str]:
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
    process: subprocess.Popen[bytes], asked: list[str], goal: int, chance: random.Random
) -> None:
    """Wait for so many calls and a moment; where none is wanted, for a moment of the start."""
    start = len(asked)
    while start < goal and len(asked) < goal and process.poll() is None:
        time.sleep(0.001)
    time.sleep(chance.random() * (_ANSWER_SECONDS if goal > start else _USUAL_START_SECONDS))


@contextmanager
def _serving(asked: list[str]) -> Iterator[str]:
    """Give the address of a server that answers chat completions, and logs what it is asked."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            asked.append(json.loads(self.rfile.read(length))["messages"][-1]["content"])
            time.sleep(_ANSWER_SECONDS)
            body = json.dumps(_REPLY).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_arguments: Any) -> None:
            """A killed client is what this is about."""

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


_REPLY = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}


def main() -> None:
    """Run the campaign that the command line asks for, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=23)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = run_and_kill(Path(folder), given.calls, given.kills, given.seed)
    print(
        f"{campaign.kills} kills over {campaign.calls} calls, {campaign.before_the_run} of them "
        f"while nothing was asked; {len(campaign.asked)} calls asked, "
        f"{sum(campaign.lost)} of them lost under way (at most {max(campaign.lost)} a kill); "
        f"answered calls asked again: {len(campaign.asked_again)}; "
        f"at the end {campaign.results} results of {campaign.answered} cells"
    )
    sys.exit(0 if campaign.is_right else 1)


if __name__ == "__main__":
    main()
