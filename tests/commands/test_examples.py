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
    "export ledger": [
        "publish posters --run 20260405-090000-first-try --label first-try --allow-silver",
        "import benchmark/published",
    ],
    "annotate promote": [
        "annotate import benchmark/annotations --dataset tours",
        "annotate adjudicate --agreed --by Cara",
    ],
}


# Interactive; tests/ingest/test_poster_annotations.py and test_tables.py answer the questions.
ASK = {"annotate adjudicate c500adc741d0 --by Cara", "import results.csv --model example/aurora-2"}

# `tests/runners/test_run.py` and `tests/checking/test_check.py` test these.
ELSEWHERE = ("run ", "check")


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
    store = new_store(folder / "store")
    import_into(store, *(folder / name for name in ("benchmark_logs", "runs", "benchmark")))
    store.sync()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("example", examples())
def test_example_of_help_works(tours, tmp_path, monkeypatch, example):
    here = shutil.copytree(tours, tmp_path / "tours")
    monkeypatch.chdir(here)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for name, lines in BEFORE.items():
        for line in lines if example.startswith(name) else ():
            assert command("store", *shlex.split(line)).code == 0
    if example.startswith("import"):
        shutil.rmtree("store")
    ended = command("store", *shlex.split(example))
    assert ended.code == 0, ended.err
