"""Feeds damaged and hostile input to every reader and command, and looks at what comes of it.

    python -m bench.fuzz [--inputs N] [--seed S] [--kind KIND]

No traceback, no hang (60 s a round), no memory without bound, nothing written outside of the store
and the target folder, no control character on a terminal, no markup of the data's own in a page.
Every round is known by its seed and can be repeated alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import unicodedata
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from click.testing import CliRunner

import evalstore
from bench.mutating import NASTY_TEXTS, damaged
from warehouse.sqlfiles import shipped_sql
from warehouse.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
_SECONDS = 60
_DAMAGED = 2 / 3
_MOST_MEMORY_KB = 1_500_000
_FORMATS = ("table", "csv", "json", "jsonl", "markdown")
_EXIT_CODES = {0, 1, 2}


class BugError(Exception):
    """Something that must not happen."""


class Round:
    """A folder with inputs, a store and a target; counts what was tried.

    Attributes:
        folder: everything of the round.
        inputs: where damaged files are put.
        out: where exports are written.
        n_inputs: inputs tried.
    """

    def __init__(self, folder: Path, choice: Random) -> None:
        self.folder = folder
        self.choice = choice
        self.inputs = folder / "in"
        self.out = folder / "out"
        self.store = folder / "store"
        self.n_inputs = 0
        self.inputs.mkdir()
        (folder / "canary").write_text("must not change")

    def command(self, *arguments: str | Path) -> str:
        """Give a command in this process; give its rows.

        Raises:
            BugError: it ended in another way than a command may.
        """
        texts = [str(argument) for argument in arguments]
        done = CliRunner().invoke(evalstore._cli, ["--store", str(self.store), *texts])  # noqa: SLF001
        is_exit = done.exception is None or isinstance(done.exception, SystemExit)
        if not is_exit or done.exit_code not in _EXIT_CODES or "Traceback" in done.output:
            trace = "".join(traceback.format_exception(done.exception))
            raise BugError(f"{texts}: exit {done.exit_code}\n{done.output[-2000:]}\n{trace}")
        check_shown(done.stderr.replace("\t", " ").replace("\r", "\n"), "message")
        return done.stdout

    def put(self, name: str | Path, data: bytes) -> None:
        """Write an input, damaged two times in three."""
        path = self.inputs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_damaged = self.choice.random() < _DAMAGED
        path.write_bytes(damaged(data, self.choice) if is_damaged else data)
        self.n_inputs += is_damaged

    def look(self) -> None:
        """Read every view in some format, and check what is shown.

        Raises:
            BugError: a view fails, or shows what it must not.
        """
        store = Store(self.store, on_warning=lambda _: None)
        with store.reading() as connection:
            for file in shipped_sql():
                if file.schema in {"main", "checks"} and not file.is_function:
                    connection.execute(f"FROM {file.qualified}").fetchall()
        for view in self.choice.sample(
            ["results", "runs", "leaderboard", "quarantine", "files"], 2
        ):
            check_shown(self.command("show", view), "table")
            form = self.choice.choice(_FORMATS)
            check_shown(self.command("show", view, "--format", form), form)


def check_shown(text: str, form: str) -> None:
    """Check that what is shown can do no harm.

    Raises:
        BugError: a control character in a table or message, or a tag in Markdown.
    """
    if form in {"table", "markdown", "message"}:
        # Spaces of any width may stay.
        shown = {char for char in text if char != "\n" and unicodedata.category(char) != "Zs"}
        if not "".join(shown).isprintable():
            raise BugError(f"{form} shows {[char for char in shown if not char.isprintable()]}")
    if form == "markdown" and ("<script" in text or "<svg" in text):
        raise BugError("markdown holds a tag of the data's own")


def palindrome(around: Round) -> None:
    """Logs, task files and model files."""
    samples = [*(EXAMPLES / "palindrome").rglob("*.yaml"), *(EXAMPLES / "damaged").glob("*.yaml")]
    for number in range(60):
        path = around.choice.choice(samples)
        around.put(Path(path.parent.name) / f"{number}-{path.name}", path.read_bytes())
    around.command("import", around.inputs)
    around.look()
    around.command("export", "palindrome", "--to", around.out)


def openclaw(around: Round) -> None:
    """Run folders: results, configuration, inventory, summary, snapshots, and prompt files."""
    folders = sorted((EXAMPLES / "openclaw" / "runs").iterdir())
    for number in range(6):
        for path in around.choice.choice(folders).iterdir():
            around.put(Path("runs") / str(number) / path.name, path.read_bytes())
    for path in (EXAMPLES / "openclaw" / "tasks").iterdir():
        around.put(Path("tasks") / path.name, path.read_bytes())
    prompts = around.inputs / "tasks" / "house_tools.json"
    around.command("import", around.inputs, *around.choice.choice([(), ("--prompts", prompts)]))
    if around.store.is_dir():
        around.look()
        around.command("export", "openclaw", "--to", around.out)


def posters(around: Round) -> None:
    """A workspace: manifest, ground truth, annotations, predictions, judgements, published."""
    samples = EXAMPLES / "posters"
    chosen = [path for path in samples.rglob("*") if path.is_file()]
    for path in chosen:
        around.put(path.relative_to(samples), path.read_bytes())
    around.command("import", around.inputs)
    around.look()
    around.command("annotate", "import", around.inputs / "benchmark" / "annotations")
    around.command("annotate", "list", "--format", "csv")
    around.command("annotate", "adjudicate", "--agreed", "--by", "C")
    settled = around.inputs / "settled" / "5fc63edbedab.json"
    around.command("annotate", "adjudicate", "5fc63edbedab", "--by", "C", "--from", settled)
    around.command("annotate", "promote")
    run = "20260405-090000-first-try"
    around.command("export", "posters", "--run", run, "--to", around.out)
    for path in around.out.glob("*.svg"):
        if "<script" in path.read_text("utf-8"):
            raise BugError(f"{path}: script in a picture")


_PUBLISHED: list[tuple[Path, bytes]] = []


def published(around: Round) -> None:
    """Published report folders and ledgers, as we write them, damaged."""
    if not _PUBLISHED:
        _PUBLISHED.extend(_publish(around.folder / "published-sample"))
    for number in range(6):
        for name, data in _PUBLISHED:
            around.put(Path(str(number)) / name, data)
    around.command("import", around.inputs)
    if around.store.is_dir():
        around.look()
        around.command("export", "ledger", "--to", around.out)


def _publish(folder: Path) -> list[tuple[Path, bytes]]:
    store = folder / "store"
    run = "20260405-090000-first-try"
    for arguments in (
        ["import", EXAMPLES / "posters" / "benchmark"],
        ["publish", "posters", "--run", run, "--label", "x", "--to", folder / "made"],
        ["import", folder / "made" / "benchmark"],
        ["export", "ledger", "--to", folder / "made" / "benchmark"],
    ):
        texts = ["--store", str(store), *map(str, arguments)]
        CliRunner().invoke(evalstore._cli, texts)  # noqa: SLF001
    made = [path for path in (folder / "made").rglob("*") if path.is_file()]
    files = [(path.relative_to(folder / "made"), path.read_bytes()) for path in made]
    shutil.rmtree(folder)
    return files


_SUITE = b"""suite: mine
template: 'Answer: {prompt}'
tasks:
- id: a
  name: one
  prompt: what is it
  reference: it
  validator: {type: regex_fullmatch, pattern: 'it|IT'}
- id: b
  prompt: and this
  validator: {type: tool_calls}
"""


def suites(around: Round) -> None:
    """Files that a user writes for a run: suites, tasks, prompts, models, answers to replay."""
    models = sorted((EXAMPLES / "palindrome" / "models").iterdir())
    tasks = EXAMPLES / "palindrome" / "tasks" / "palindrome.yaml"
    prompts = EXAMPLES / "openclaw" / "tasks" / "house_tools.json"
    answers = b'{"task": "a", "text": "it"}\n{"task": "b", "text": "x", "delay_ms": 1}\n'
    with _inside(around.inputs):
        for _ in range(12):
            model = around.choice.choice(models)
            shutil.rmtree(around.inputs / "models", ignore_errors=True)
            around.put(Path("models") / "m.yaml", model.read_bytes())
            around.put("suite.yaml", _SUITE)
            around.put("tasks.yaml", tasks.read_bytes())
            around.put("prompts.json", prompts.read_bytes())
            around.put("answers.jsonl", answers)
            replay = ("--model", "ALL", "--provider", "replay", "--answers", "answers.jsonl")
            around.command("models", "--format", "json")
            for what in (
                ("suite.yaml",),
                ("palindrome", "--prompts", "tasks.yaml"),
                ("openclaw", "--prompts", "prompts.json"),
            ):
                around.command("run", *what, *replay, "--dry-run")
            around.command("run", "suite.yaml", *replay, "--limit", "3", "--timeout-s", "5")
    if around.store.is_dir():
        around.look()


_WORDS = (
    *("import", "run", "models", "runs", "show", "sql", "compare", "export", "annotate", "publish"),
    *("info", "sync", "compact", "palindrome", "openclaw", "posters", "ledger", "list", "promote"),
    *("--format", "--limit", "-n", "--suite", "--param", "-p", "--to", "--run", "--model", "--as"),
    *("--file", "--verify", "--rebuild", "--snapshot", "--tasks", "--since", "--with-extras"),
    *("table", "csv", "json", "jsonl", "markdown", "leaderboard", "results", "from results", "n=1"),
    *("a", "0", "-1", "1e999", "9" * 40, "2026-02-30", "--", "-", "x=y", "=", "NAME=", "1=2"),
)
_QUERIES = (
    "FROM results WHERE model = $m",
    "SELECT $m",
    "SELECT $m::INTEGER",
    "SELECT $m::TIMESTAMP, $m || 'x'",
    "SELECT [$m, $m], {'a': $m}",
    "FROM read_csv($m)",
    "ATTACH $m",
    "COPY (SELECT 1) TO 'x.csv'",
    "INSTALL httpfs",
    "SELECT * FROM 'canary'",
    "CREATE TABLE x AS SELECT 1",
    "SELECT regexp_matches('aaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '(a+)+$')",
    "SELECT repeat($m, 1000)",
    "SELECT range(1000000)",
    "PRAGMA database_list",
    "SELECT getenv('HOME')",
    ";;;",
    "SELECT '",
    "SELECT 1; SELECT 2",
    "SELECT unnest(generate_series(1, 100000))",
)


def arguments(around: Round) -> None:
    """Arguments of commands, parameters of queries, odd names of files and folders."""
    choice = around.choice
    shutil.copytree(_small_store(), around.store)
    with _inside(around.inputs):
        for _ in range(40):
            words = choice.choices((*_WORDS, *_shell_texts()), k=choice.randint(1, 5))
            around.command(*words[:1], *words[1:])
            value = choice.choice(_shell_texts())
            query = choice.choice((*_QUERIES, *_shell_texts()))
            form = choice.choice(_FORMATS)
            text = around.command("sql", query, "-p", f"m={value}", "--format", form)
            check_shown(text.replace("\t", " ") if form != "table" else text, form)
            view = choice.choice(_shell_texts())
            around.command(*choice.choice([("show", view), ("compare", view, value)]))
            around.command("forget", choice.choice(_shell_texts()), "--yes")
            around.n_inputs += 4


def _shell_texts() -> tuple[str, ...]:
    # What a shell can give has no zero byte; what is no UTF-8 arrives as lone surrogates.
    return tuple(text.replace("\0", "\udc80")[:5000] for text in NASTY_TEXTS)


_SMALL: list[Path] = []


def _small_store() -> Path:
    if not _SMALL:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-store-"))
        texts = ["--store", str(folder / "store"), "import", str(EXAMPLES / "palindrome")]
        CliRunner().invoke(evalstore._cli, texts)  # noqa: SLF001
        Store(folder / "store").sync()
        _SMALL.append(folder / "store")
    return _SMALL[0]


def links(around: Round) -> None:
    """Folders with links: out, in a circle, to devices; names that are odd."""
    choice = around.choice
    samples = [path for path in EXAMPLES.rglob("*") if path.is_file()]
    for _ in range(25):
        path = choice.choice(samples)
        around.put(path.relative_to(EXAMPLES), path.read_bytes())
    targets = (around.folder / "canary", around.inputs, Path(), Path("loop"), Path("/dev/zero"))
    folders = [path for path in around.inputs.rglob("*") if path.is_dir()]
    for number in range(20):
        place = choice.choice(folders)
        name = choice.choice(("loop", "a.yaml", "results.jsonl", "manifest.json", str(number)))
        link = place / name
        if not os.path.lexists(link):
            link.symlink_to(choice.choice(targets))
    for text in choice.sample(NASTY_TEXTS, 8):
        name = (
            text.replace("/", "_")
            .replace("\0", "")[:60]
            .encode("utf-8", "surrogateescape" if "\udc80" <= text <= "\udcff" else "replace")
        )
        if name.strip(b"."):
            (around.inputs / os.fsdecode(name)).write_bytes(choice.choice(samples).read_bytes())
    around.n_inputs += 28
    around.command("import", around.inputs)
    around.look()


KINDS: tuple[Callable[[Round], None], ...] = (
    palindrome,
    openclaw,
    posters,
    published,
    suites,
    arguments,
    links,
)


def try_round(kind: Callable[[Round], None], seed: int) -> int:
    """Do a round; give the number of its inputs.

    Raises:
        BugError: what must not happen did.
    """
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, _time_limit():
        around = Round(Path(folder), Random(f"{kind.__name__} {seed}"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            kind(around)
        except BugError:
            raise
        except Exception as error:
            raise BugError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}") from error
        _check_outside(around.folder)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if memory > max(before, _MOST_MEMORY_KB):
            raise BugError(f"{memory:,} KB of memory")
        return around.n_inputs


def _check_outside(folder: Path) -> None:
    known = {"in", "out", "store", "canary", "published-sample"}
    if (folder / "canary").read_text() != "must not change":
        raise BugError("a file outside was changed")
    strange = {path.name for path in folder.iterdir()} - known
    if strange:
        raise BugError(f"written outside: {strange}")


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _time_limit() -> Iterator[None]:
    def on_alarm(_signal: int, _frame: object) -> None:
        raise BugError(f"a round takes more than {_SECONDS} s")

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Try rounds of each kind in turn until there were enough inputs; say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=[kind.__name__ for kind in KINDS])
    asked = parser.parse_args()
    kinds = [kind for kind in KINDS if asked.kind in (None, kind.__name__)]
    tried: dict[str, int] = {}
    bugs, seed, started, cpu = 0, asked.seed, time.monotonic(), time.process_time()
    try:
        while sum(tried.values()) < asked.inputs:
            for kind in kinds:
                try:
                    n = try_round(kind, seed)
                except BugError as bug:
                    n = 1
                    bugs += 1
                    print(f"BUG --kind {kind.__name__} --seed {seed}: {bug}", flush=True)
                tried[kind.__name__] = tried.get(kind.__name__, 0) + n
            seed += 1
    except KeyboardInterrupt:
        print("stopped")
    counts = ", ".join(f"{name} {n:,}" for name, n in tried.items())
    seconds = f"{time.monotonic() - started:.0f} s, {time.process_time() - cpu:.0f} s of one core"
    print(f"{sum(tried.values()):,} inputs ({counts}); seeds {asked.seed} to {seed - 1}; {seconds}")
    print(f"{bugs} bugs")
    sys.exit(bugs > 0)


if __name__ == "__main__":
    main()
