"""A run on a small file system that fills up: no completed call is lost."""

import json
import os
import random
import re
import subprocess

import pytest
from serving import chat, http, serving
from support import command, new_store

N_TASKS = 60
LETTERS = 60_000


@pytest.fixture
def small(tmp_path):
    """Return a file system of a few megabytes, which only root can create."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "none", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("a small file system cannot be made here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder, leave):
    """Fill the file system up to this many bytes."""
    found = os.statvfs(folder)
    (folder / "filler").write_bytes(bytes(found.f_bavail * found.f_frsize - leave))


@pytest.mark.campaign
def test_a_run_stopped_by_a_full_disk_can_be_resumed(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = [{"id": f"t{n}", "prompt": f"question {n}"} for n in range(N_TASKS)]
    (tmp_path / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    store = new_store(small / "store")
    # Random letters, so that neither journal, batch nor warehouse can compress them.
    text = "".join(random.Random(23).choices("abcdefghijklmnopqrstuvwxyz", k=LETTERS))
    with serving(http(200, chat(text))) as server:
        where = ("--provider", "ollama_openai", "--base-url", server.base, "--concurrency", 4)
        fill(small, leave=3_000_000)
        ended = command(store.path, "run", "mine.json", "--model", "m", *where)
        assert ended.code != 0
        assert "Traceback" not in ended.err
        assert "full" in ended.err, ended.err
        n_calls = len(server.requests)
        assert 4 < n_calls < N_TASKS
        (small / "filler").unlink()
        run_id = re.search(r"^run (\S+):", ended.err, re.MULTILINE)[1]
        assert store.sql("SELECT count(*) FROM results WHERE success").fetchall() == [(n_calls,)]
        ended = command(store.path, "run", "--resume", run_id)
        assert ended.code == 0, ended.err
    assert len(server.requests) == N_TASKS
    query = "SELECT count(*), count(DISTINCT task_id), min(length(raw_output)) FROM results"
    assert store.sql(query).fetchall() == [(N_TASKS, N_TASKS, LETTERS)]
