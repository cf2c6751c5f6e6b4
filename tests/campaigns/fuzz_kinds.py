"""The kinds of input that `tests.campaigns.fuzz` damages, a function for each."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

import evalstore
from tests.campaigns.fuzz_logs import helm_runs, inspect_logs, lm_eval_runs, other_tools
from tests.campaigns.fuzz_network import addresses, replies
from tests.campaigns.fuzz_pages import expectations, labels
from tests.campaigns.fuzz_round import FORMATS, BugError, Round, check_shown
from tests.campaigns.fuzz_trials import TRIALS, trials
from tests.campaigns.mutating import NASTY_TEXTS
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def palindrome(around: Round) -> None:
    """Import logs, task files and model files."""
    samples = [*(EXAMPLES / "palindrome").rglob("*.yaml"), *(EXAMPLES / "damaged").glob("*.yaml")]
    for number in range(60):
        path = around.choice.choice(samples)
        around.put(Path(path.parent.name) / f"{number}-{path.name}", path.read_bytes())
    around.command("import", around.inputs)
    around.look()
    around.command("export", "palindrome", "--to", around.out)


def openclaw(around: Round) -> None:
    """Import run folders: results, config, inventory, summary, snapshots, and prompt files."""
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
    """Import a workspace: manifest, ground truth, annotations, predictions, judgements, reports."""
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
    """Import published report folders and ledgers, as we write them but damaged."""
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
    run = ("--run", "20260405-090000-first-try", "--label", "x", "--allow-silver")
    for arguments in (
        ["import", EXAMPLES / "posters" / "benchmark"],
        ["publish", "posters", *run, "--to", folder / "made"],
        ["import", folder / "made" / "benchmark"],
        ["export", "ledger", "--to", folder / "made" / "benchmark"],
    ):
        texts = ["--store", str(store), *map(str, arguments)]
        CliRunner().invoke(evalstore._cli, texts)
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
    """Run with files that users write: suites, tasks, prompts, models, answers to replay."""
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
            limits = ("--limit", "3", "--timeout-s", "5")
            around.command("run", "suite.yaml", *replay, *limits)
            around.command("run", "openclaw", "--prompts", "prompts.json", *replay, *limits)
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
    """Use odd arguments of commands, parameters of queries, and names of files and folders."""
    choice = around.choice
    shutil.copytree(_small_store(), around.store)
    with _inside(around.inputs):
        for _ in range(40):
            words = choice.choices((*_WORDS, *_shell_texts()), k=choice.randint(1, 5))
            around.command(*words[:1], *words[1:])
            value = choice.choice(_shell_texts())
            query = choice.choice((*_QUERIES, *_shell_texts()))
            form = choice.choice(FORMATS)
            text = around.command("sql", query, "-p", f"m={value}", "--format", form)
            check_shown(text.replace("\t", " ") if form != "table" else text, form)
            view = choice.choice(_shell_texts())
            around.command(*choice.choice([("show", view), ("compare", view, value)]))
            around.command("forget", choice.choice(_shell_texts()), "--yes")
            around.n_inputs += 4


def _shell_texts() -> tuple[str, ...]:
    # Arguments cannot contain a zero byte; bytes that are not UTF-8 arrive as lone surrogates.
    return tuple(text.replace("\0", "\udc80")[:5000] for text in NASTY_TEXTS)


_SMALL: list[Path] = []


def _small_store() -> Path:
    if not _SMALL:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-store-"))
        texts = ["--store", str(folder / "store"), "import", str(EXAMPLES / "palindrome")]
        CliRunner().invoke(evalstore._cli, texts)
        Store(folder / "store").sync()
        _SMALL.append(folder / "store")
    return _SMALL[0]


def links(around: Round) -> None:
    """Import folders with odd names and with links: out of the folder, circular, to devices."""
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


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


KINDS: tuple[Callable[[Round], None], ...] = (
    palindrome,
    openclaw,
    posters,
    published,
    inspect_logs,
    lm_eval_runs,
    helm_runs,
    other_tools,
    suites,
    arguments,
    links,
    expectations,
    labels,
    replies,
    addresses,
    *([trials] if TRIALS.is_dir() else []),
)
