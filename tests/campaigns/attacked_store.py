"""A store under attack, the files that users write, and every command on them.

The commands run in this process. Each attack starts from a copy of the same store.
"""

from __future__ import annotations

import json
import os
import shutil
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

import evalstore
from tests.support import EXAMPLES, log, task, write_log
from warehouse.lake.locks import open_locked

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESULTS = "SELECT run_id, task_id, answer FROM results ORDER BY ALL"
_SAID_MISSING = ("warning:", "error:")
_SUITE = {"suite": "mine", "tasks": [{"id": "a", "prompt": "one"}, {"id": "b", "prompt": "two"}]}
_EXPECTATIONS = (
    "- view: runs\n  expectations:\n  - expect_table_row_count_to_be_between: {min_value: 1}\n"
)


class AttackedStore:
    """A store with imported and own runs, one of them in a journal of a killed process.

    Attributes:
        folder: contains everything.
        store: the store's folder.
        inputs: contains the files that users write.
    """

    query = "sql", _RESULTS, "--format", "jsonl"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store"
        self.inputs = folder / "in"
        self._original = folder / "original"
        self._make()
        self._results = self.run(*self.query)[1]
        self.restore()

    def commands(self) -> Iterator[tuple[str | Path, ...]]:
        """Yield the arguments of every command."""
        new, own, answers, rules = (
            self.inputs / name
            for name in ("logs", "suite.json", "answers.jsonl", "expectations.yaml")
        )
        replay = ("--model", "m", "--provider", "replay", "--answers", answers)
        yield self.query
        yield ("info",)
        yield "info", "--verify"
        yield "import", new
        yield ("sync",)
        yield "sync", "--rebuild"
        yield "sync", "--snapshot", self.folder / "out" / "copy.duckdb"
        yield ("compact",)
        yield "forget", self._gone, "--yes"
        yield "check", "--only", "runs", "--expectations", rules
        yield "run", own, *replay
        yield "run", "--resume", self._left
        yield "export", "palindrome", "--to", self.folder / "out"

    def run(self, *arguments: str | Path) -> tuple[int, str, str, str]:
        """Run a command; return its exit code, output, messages, and what is wrong if anything."""
        texts = ["--store", str(self.store), *map(str, arguments)]
        done = CliRunner(env={"EVALSTORE_DEBUG": "1"}).invoke(evalstore._cli, texts)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            bug = "".join(traceback.format_exception(done.exception))
        else:
            is_usual = done.exit_code in {0, 1, 2} and "crash" not in done.stderr
            bug = "" if is_usual else f"exit {done.exit_code}"
        return done.exit_code, done.stdout, done.stderr, bug

    def hidden_loss(self, arguments: tuple[str | Path, ...], code: int, out: str, err: str) -> str:
        """Return what is wrong if a query shows less than there is and does not say so."""
        is_silent = not any(said in err.lower() for said in _SAID_MISSING)
        if arguments == self.query and out != self._results and is_silent:
            return f"exit {code}: other rows, without a word"
        return ""

    def lasting_loss(self, arguments: tuple[str | Path, ...]) -> str:
        """Return what is wrong with the store after a command, once the attack has ended."""
        if arguments[0] in {"forget", "import", "run"}:
            _, out, err, bug = self.run("sql", "SELECT count(*) AS n FROM runs", "--format", "csv")
            return bug or ("" if "error" not in err else f"afterwards: {out}{err}")
        _, out, err, bug = self.run(*self.query)
        return bug or ("" if out == self._results else f"afterwards the rows differ: {err}")

    def restore(self) -> None:
        """Start again from the original store and files."""
        for folder in (self.store, self.inputs, self.folder / "out"):
            for top, folders, _ in os.walk(folder):
                for name in folders:
                    (Path(top) / name).chmod(0o755)
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.store, self.inputs):
            shutil.copytree(self._original / folder.name, folder)
        (self.folder / "out").mkdir()

    def original(self, path: Path) -> bytes:
        """Return the bytes that a file had at the start."""
        return (self._original / path.relative_to(self.folder)).read_bytes()

    def _make(self) -> None:
        self.inputs.mkdir()
        logs = self.inputs / "logs"
        write_log(logs / "new.yaml", log(tasks=[task(9)], date="2026-05-01"))
        (logs / "models").mkdir()
        shutil.copy(EXAMPLES / "models" / "example-aurora-2.yaml", logs / "models")
        (self.inputs / "suite.json").write_text(json.dumps(_SUITE))
        (self.inputs / "answers.jsonl").write_text('{"task": "a", "text": "x"}\n')
        (self.inputs / "expectations.yaml").write_text(_EXPECTATIONS)
        answers = self.inputs / "answers.jsonl"
        replay = ("--model", "m", "--provider", "replay", "--answers", answers)
        first = write_log(self.folder / "first.yaml", log(tasks=[task(1), task(2)]))
        own = self.inputs / "suite.json"
        self.run("import", first)
        self._gone, self._left = (_run_id(self.run("run", own, *replay)[2]) for _ in range(2))
        self.run("sync")
        run = {"journal": 1, "suite": "mine", "run_id": self._left, "generation": "root"}
        entry = {"table": "results", "row": {"content_id": "left", "task_id": "b", "seq": 7}}
        with open_locked(self.store / "journals" / "01HZX3J9KQ8V6W2Y4N5T7R1M0P.jsonl") as file:
            for line in ({**run, "parent": None}, entry):
                file.write(json.dumps(line).encode() + b"\n")
        for folder in (self.store, self.inputs):
            shutil.copytree(folder, self._original / folder.name)


def _run_id(messages: str) -> str:
    return messages.partition("run ")[2].partition(":")[0]
