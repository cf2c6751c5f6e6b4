"""Samples of lm-evaluation-harness, read while earlier ones are written: errors and early ends."""

import json
import signal
import subprocess
import sys
from threading import enumerate as enumerate_threads

import pytest
from lm_eval_cases import TIME, generated, lines, sample
from support import ROOT, digests, import_into, new_store

from ingest.formats.common.lines import LineBlock
from ingest.formats.lm_eval import samples
from ingest.formats.lm_eval.layout import RunFiles

SAMPLES = f"samples_capitals_{TIME}.jsonl"
N_SAMPLES = 600


def small_blocks(monkeypatch):
    """Make blocks and streams small, so that a small file has many of them."""
    monkeypatch.setattr(samples, "_BLOCK_BYTES", 3000)
    monkeypatch.setattr(samples, "_STREAM_BYTES", 50_000)
    monkeypatch.setattr("ingest.formats.lm_eval.sample_lines._STEPS", (16,))


def plain_lines():
    return [json.dumps(generated(n, ["a"])) for n in range(N_SAMPLES)]


def write(folder, texts):
    folder.mkdir(exist_ok=True)
    path = folder / SAMPLES
    path.write_text("\n".join(texts))
    return path


def blocks_of(path):
    return samples.blocks(RunFiles("r", samples={"capitals": path}), mask=False)


def quarantined(store):
    found = store.sql("SELECT path, line, reason FROM quarantine ORDER BY line").fetchall()
    return [(path.rpartition("/")[2], line, reason.split(" (")[0]) for path, line, reason in found]


@pytest.mark.slow
@pytest.mark.parametrize("is_early", [True, False])
def test_lines_that_cannot_be_used_amid_a_stream(store, tmp_path, monkeypatch, is_early):
    small_blocks(monkeypatch)
    monkeypatch.setattr("warehouse.engine.connection.RETURNS_FIRST_ROWS_EARLY", is_early)
    texts = plain_lines()
    texts[100], texts[300], texts[400] = "{broken", "[1]", texts[400].replace("a", "\0")
    texts[-1] = texts[-1][:-9]
    write(tmp_path / "run", texts)
    summary = import_into(store, tmp_path / "run")
    assert (summary.n_results, summary.n_quarantined) == (N_SAMPLES - 4, 4)
    found = quarantined(store)
    assert [(name, line) for name, line, _ in found] == [
        (SAMPLES, line) for line in (101, 301, 401, N_SAMPLES)
    ]
    assert found[1][2] == "not a JSON object"
    assert all(reason.startswith("not JSON") for _, _, reason in (found[0], *found[2:]))
    missing = store.sql(
        f"SELECT DISTINCT seq FROM range(1, {N_SAMPLES + 1}) AS r(seq) "
        "ANTI JOIN results USING (seq) ORDER BY seq"
    ).fetchall()
    assert missing == [(101,), (301,), (401,), (N_SAMPLES,)]


@pytest.mark.slow
def test_a_line_that_is_too_long_amid_a_stream(store, tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    monkeypatch.setattr("ingest.formats.common.lines._LONGEST_LINE_BYTES", 10_000)
    texts = plain_lines()
    texts[100] = json.dumps(generated(100, ["long " * 4000]))
    write(tmp_path / "run", texts)
    summary = import_into(store, tmp_path / "run")
    assert (summary.n_results, summary.n_quarantined) == (N_SAMPLES - 1, 1)
    assert quarantined(store) == [(SAMPLES, 101, "a line of more than 10,000 bytes")]


def test_an_error_of_the_disk_amid_a_stream(tmp_path, monkeypatch):
    def cut_off(*_):
        yield LineBlock(lines([generated(1, ["a"]), sample(2)]).encode(), 1, 0)
        raise OSError(5, "input/output error")

    monkeypatch.setattr(samples, "sample_blocks", cut_off)
    read = blocks_of(tmp_path / SAMPLES)
    assert len(next(read).rows["results"]) == 2
    with pytest.raises(OSError, match="input/output error"):
        next(read)


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_threads_end_when_a_stream_is_abandoned(tmp_path, monkeypatch, n_blocks):
    small_blocks(monkeypatch)
    read = []

    def counted(*arguments):
        for block in whole(*arguments):
            read.append(block)
            yield block

    whole = samples.sample_blocks
    monkeypatch.setattr(samples, "sample_blocks", counted)
    before = set(enumerate_threads())
    found = blocks_of(write(tmp_path, plain_lines()))
    for _ in range(n_blocks):
        next(found)
    with pytest.raises(KeyboardInterrupt):
        found.throw(KeyboardInterrupt)
    assert not set(enumerate_threads()) - before
    # Only what was needed for these blocks and the next was read.
    assert len(read) < len(list(whole(tmp_path / SAMPLES, 3000)))


ABANDON = """
import sys
from pathlib import Path
from ingest.formats.lm_eval import samples
from ingest.formats.lm_eval.layout import RunFiles
samples._BLOCK_BYTES = 2**16
run = RunFiles("r", samples={"capitals": Path(sys.argv[1])})
for n in range(20):
    blocks = samples.blocks(run, mask=False)
    assert len(next(blocks).rows["results"])
    blocks.close()
"""


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.campaign
def test_a_process_ends_after_streams_that_were_abandoned(tmp_path):
    long = [json.dumps(generated(n, ["text " * 200])) for n in range(2000)]
    done = python(ABANDON, str(write(tmp_path, long)))
    assert (done.returncode, done.stderr) == (0, "")


# The signal comes while the 30th block is searched in another thread.
INTERRUPT = """
import itertools, os, signal, sys
import evalstore
# A shell may have started this process with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from ingest.formats.lm_eval import sample_lines, samples
samples._BLOCK_BYTES, sample_lines._STEPS = 3000, (16,)
searched, numbers = samples._Reader._searched, itertools.count(1)
def interrupted(*arguments):
    if next(numbers) == 30:
        os.kill(os.getpid(), int(sys.argv[3]))
    return searched(*arguments)
samples._Reader._searched = interrupted
evalstore.main(["--store", sys.argv[1], "import", sys.argv[2]])
"""


@pytest.mark.campaign
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_was_ended_half_way_is_repeated(tmp_path, kind):
    write(tmp_path / "run", plain_lines())
    ended, whole = new_store(tmp_path / "ended"), new_store(tmp_path / "whole")
    done = python(INTERRUPT, str(ended.path), str(tmp_path / "run"), str(int(kind)))
    assert done.returncode == (130 if kind is signal.SIGINT else -kind)
    assert "Traceback" not in done.stderr
    assert not list(ended.path.glob("lake/*/batch.json"))
    for store in (ended, whole):
        assert import_into(store, tmp_path / "run").n_results == N_SAMPLES
    assert digests(ended) == digests(whole)
