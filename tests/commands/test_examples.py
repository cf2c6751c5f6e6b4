"""The examples shown by `--help` work, word for word, on the samples."""

import io
import re
import shlex
import shutil

import pytest
from support import BROKEN_SAMPLE, ROOT, command, import_into, new_store

from tools.generate_docs import DOCS

SAMPLES = ROOT / "examples"
# Commands that must precede an example: annotate, then adjudicate, then promote.
BEFORE = {
    "annotate adjudicate": ["annotate import benchmark/annotations --dataset tours"],
    "annotate list": ["annotate import benchmark/annotations --dataset tours"],
    "tag 2026-03-04/models/example-usva-3.yaml --remove": [
        "tag 2026-03-04/models/example-usva-3.yaml baseline=yes"
    ],
    "version palindrome": ["version palindrome 2026-03-04/models/example-usva-3.yaml"],
    "export ledger": [
        "publish posters --run 20260405-090000-first-try --label first-try --allow-silver",
        "import benchmark/published",
    ],
    "label import": ["label export palindrome --sample 20 --to labels.csv"],
    "annotate promote": [
        "annotate import benchmark/annotations --dataset tours",
        "annotate adjudicate --agreed --by Cara",
    ],
}


# Interactive; tests/ingest/test_poster_annotations.py, test_tables.py, and test_terminal.py of
# labelling answer the questions.
ASK = {
    "annotate adjudicate c500adc741d0 --by Cara",
    "import results.csv --model example/aurora-2",
    "label palindrome --sample 20 --rater Anna",
}

# Tests of their own run these; `plan` needs more tasks than the samples have.
ELSEWHERE = ("run ", "judge ", "check", "plan ", "--store ")

# A gate's exit code is its answer; some samples have no verdict to export, and none has trials.
CODES = {
    "gate ": {0, 1, 3},
    "export eee --to": {1},
    "export atif": {2},
    "rank": {2},
    # the samples have no such runs, or too few models
    "horizon": {2},
    "subset ": {2},
}

RULES = """
candidate: example/aurora-2
baseline: example/kaamos-mini
rules:
  - {metric: passed, max_drop: 0.02}
"""


def examples():
    """Return each example once, without its description."""
    page = (DOCS / "commands.md").read_text("utf-8")
    lines = re.findall(r"^    evalstore (.*)$", page, re.MULTILINE)
    bare = {re.sub(r" {3,}.*", "", line) for line in lines}
    return sorted(line for line in bare - ASK if not line.startswith(ELSEWHERE))


@pytest.fixture(scope="module")
def tours(tmp_path_factory):
    """Return a project folder with all samples, and a store of them."""
    folder = tmp_path_factory.mktemp("project") / "tours"
    for family in ("palindrome", "openclaw", "posters"):
        shutil.copytree(SAMPLES / family, folder, dirs_exist_ok=True)
    (folder / "benchmark_logs" / BROKEN_SAMPLE).unlink()
    (folder / "report.sql").write_text("FROM leaderboard")
    (folder / "rules.yaml").write_text(RULES)
    (folder / "lenient.yaml").write_text("scorer: {type: exact, ignore_case: true}\n")
    store = new_store(folder / "store")
    import_into(store, *(folder / name for name in ("benchmark_logs", "runs", "benchmark")))
    store.sync()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("example", examples())
def test_example_of_help_works(tours, tmp_path, monkeypatch, example):
    here = shutil.copytree(tours, tmp_path / "tours")
    shutil.copytree(tours / "store", tmp_path / "baseline-store")
    monkeypatch.chdir(here)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    if example.startswith("view"):  # which would serve until Ctrl-C
        monkeypatch.setattr("webbrowser.open", lambda _: None)
        monkeypatch.setattr("exports.view.server.serve", lambda _, listening: listening.close())
    for name, lines in BEFORE.items():
        for line in lines if example.startswith(name) else ():
            assert command("store", *shlex.split(line)).code == 0
    if example.startswith("import"):
        shutil.rmtree("store")
    ended = command("store", *shlex.split(example))
    (codes,) = [v for start, v in CODES.items() if example.startswith(start)] or [{0}]
    assert ended.code in codes, ended.err
