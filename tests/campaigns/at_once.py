"""A campaign of many commands on one store at once, each paused at random moments.

    python -m tests.campaigns.at_once [--commands N] [--rounds N] [--seed S]

Every command does its work or says who is in its way; each import and run is in the store, what was
forgotten is not, no call was made twice, and the store is sound.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.serving import chat, http, serving
from tests.support import SECRET, command, log, new_store, suite, task, write_log
from warehouse.core.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

_SECONDS = 600  # a command that takes longer is considered to hang
_OPERATIONS = {
    "fcntl.flock", "open", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.scandir",
}  # fmt: skip
_N_TASKS = 4
_READING = (
    *("info", "info --verify", "runs", "sql FROM|leaderboard", "show results", "show tasks"),
    *("check --only runs", "sql FROM|checks.violations --format csv", "models"),
)
_WRITING = ("compact", "sync", "sync --rebuild")


def pause_randomly(seed: int) -> None:
    """Let this process pause at random before it accesses a file or a lock.

    A race of a few microseconds would otherwise show only once in years, on a busy machine.
    """
    chance = random.Random(seed)

    def stop(event: str, _arguments: object) -> None:
        if event in _OPERATIONS and chance.random() < 0.1:
            time.sleep(chance.random() / 20)

    sys.addaudithook(stop)


def run_concurrently(*works: Callable[[], object], seed: int = 0) -> None:
    """Call functions in forked children at the same time.

    Raises:
        AssertionError: one of them failed.
    """
    children = []
    for work in works:
        with warnings.catch_warnings():
            # Python 3.12 warns if there are other threads; the child uses none of their locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            signal.alarm(_SECONDS)
            pause_randomly(seed + len(children))
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - reported by the exit code
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
                os._exit(1)
            os._exit(0)
        children.append(child)
    endings = [os.waitpid(child, 0)[1] for child in children]
    if any(endings):
        raise AssertionError(f"children ended with {Counter(endings)}")


class Round:
    """A store and the commands that use it at once.

    Attributes:
        ended: number of commands by name and exit code.
    """

    def __init__(self, folder: Path, choice: random.Random, n_commands: int) -> None:
        self.ended: Counter[str] = Counter()
        self._folder = folder
        self._choice = choice
        self._n_commands = n_commands
        self._present: set[str] = set()
        self._asked: set[str] = set()

    def run(self) -> None:
        """Prepare a store, run the commands, and check what is left.

        Raises:
            AssertionError: a command failed, or something is lost, repeated or damaged.
        """
        answers = [http(400, "{}")]
        with serving(lambda _request: answers) as server:
            where = ("--provider", "ollama_openai", "--base-url", server.base)
            self._ask = ("run", suite(self._folder, _N_TASKS), *where)
            resumed, gone = self._prepare()
            server.requests.clear()
            answers[:] = [0.02, http(200, chat("yes"))]
            commands = self._commands(resumed, gone)
            works = [self._work(n, given) for n, given in enumerate(commands)]
            run_concurrently(*works, seed=self._choice.randrange(10**6))
        calls = Counter(
            (request["body"]["model"], request["body"]["messages"][-1]["content"])
            for request in server.requests
        )
        refused = self._endings(commands)
        self._check(calls, {run for run in gone if run not in refused})

    def _prepare(self) -> tuple[str, list[str]]:
        """Fill the store; return a run to resume, and runs to forget."""
        store = self._folder / "store"
        for n in range(4):
            path = self._folder / "logs" / f"{n}.yaml"
            command(store, "import", write_log(path, log([n], date=f"2026-04-0{n + 1}")))
        gone = [f"gone-{n}" for n in range(3)]
        for n, run in enumerate(gone):
            path = self._folder / "logs" / f"{run}.yaml"
            secret = log(tasks=[task(9, answer=f"{SECRET} {run}")], date=f"2026-05-0{n + 1}")
            command(store, "import", "--as", run, write_log(path, secret))
        command(store, *self._ask, "--model", "resumed")
        self._asked.add("resumed")
        runs = new_store(store).sql("SELECT run_id, suite FROM runs").fetchall()
        (resumed,) = [run for run, name in runs if name == "mine"]
        self._present = {run for run, _ in runs} - set(gone) - {resumed}
        return resumed, gone

    def _commands(self, resumed: str, gone: list[str]) -> list[tuple[Any, ...]]:
        """Return the arguments of the commands, in random order."""
        choice = self._choice
        commands: list[tuple[Any, ...]] = [("forget", run, "--yes") for run in gone]
        commands += [("run", "--resume", resumed, "--retry-failed")] * 2
        while len(commands) < self._n_commands:
            n = len(commands)
            kind = choice.choice(("import", "run", "write", "export", "snapshot", "read", "read"))
            if kind == "import":
                day = f"2026-{6 + n // 28:02}-{1 + n % 28:02}"
                self._present.add(f"{day}/models/kokeilu-1.yaml")
                new = write_log(self._folder / "logs" / f"{n}-new.yaml", log([n], date=day))
                commands.append(("import", new))
            elif kind == "run":
                self._asked.add(f"m{n}")
                commands.append((*self._ask, "--model", f"m{n}"))
            elif kind == "export":
                commands.append(("export", "palindrome", "--to", self._folder / "out" / str(n)))
            elif kind == "snapshot":
                commands.append(("sync", "--snapshot", self._folder / f"{n}.duckdb"))
            else:
                lines = _WRITING if kind == "write" else _READING
                words = choice.choice(lines).split()
                commands.append(tuple(word.replace("|", " ") for word in words))
        choice.shuffle(commands)
        return commands

    def _work(self, number: int, arguments: tuple[Any, ...]) -> Callable[[], None]:
        def work() -> None:
            ended = command(self._folder / "store", *arguments)
            said = json.dumps([ended.code, ended.err])
            (self._folder / f"ended-{number}.json").write_text(said)

        return work

    def _endings(self, commands: list[tuple[Any, ...]]) -> set[str]:
        """Check how the commands ended; return the runs that were not forgotten.

        Raises:
            AssertionError: one failed, and not because another was in its way.
        """
        refused = set()
        for number, given in enumerate(commands):
            code, err = json.loads((self._folder / f"ended-{number}.json").read_text())
            self.ended[f"{given[0]} {code}"] += 1
            if code == 0:
                continue
            is_busy = "is being run by" in err or "being read" in err or "holds" in err
            if code != ExitCode.BUSY or not is_busy or "Traceback" in err:
                raise AssertionError(f"{given}: exit {code}: {err}")
            if given[0] == "forget":
                refused.add(given[1])
        return refused

    def _check(self, calls: Counter[tuple[str, str]], gone: set[str]) -> None:
        verified = command(self._folder / "store", "info", "--verify")
        assert verified.code == 0, verified.err
        store = new_store(self._folder / "store")
        rows = store.sql("SELECT run_id, suite, n_results FROM runs").fetchall()
        found = {run for run, name, _ in rows if name != "mine"}
        assert self._present <= found, f"lost: {self._present - found}"
        assert not gone & found, f"there again: {gone & found}"
        text = [f"{SECRET} {run}".encode() for run in gone]
        for path in (path for path in store.path.rglob("*") if path.is_file()):
            data = path.read_bytes()
            assert not any(each in data for each in text), f"{path}: has a forgotten text"
        query = "SELECT model, count(*), count(DISTINCT task_id) FILTER (success) FROM results "
        own = store.sql(f"{query} WHERE suite = 'mine' GROUP BY ALL").fetchall()
        assert {tuple(row) for row in own} == {(name, _N_TASKS, _N_TASKS) for name in self._asked}
        assert set(calls.values()) == {1}, f"asked twice: {calls.most_common(3)}"
        assert len(calls) == len(self._asked) * _N_TASKS


def main() -> None:
    """Run the rounds, and print how the commands ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    ended: Counter[str] = Counter()
    for seed in range(asked.seed, asked.seed + asked.rounds):
        folder = Path(tempfile.mkdtemp(prefix="at-once-"))
        around = Round(folder, random.Random(seed), asked.commands)
        try:
            around.run()
        except AssertionError as error:
            sys.exit(f"round of seed {seed}: {error}")
        finally:
            shutil.rmtree(folder)
        ended += around.ended
    counts = ", ".join(f"{name}: {n}" for name, n in sorted(ended.items()))
    last = asked.seed + asked.rounds - 1
    print(f"{asked.rounds} rounds of {asked.commands} commands, seeds {asked.seed} to {last}")
    print(f"by exit code: {counts}; nothing was lost or asked twice")


if __name__ == "__main__":
    main()
