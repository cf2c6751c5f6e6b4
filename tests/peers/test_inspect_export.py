"""Our exports of any suite, opened by Inspect itself: the same samples, scores and figures."""

import json
import socket
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from helm_cases import write_run
from inspect_cases import IDS, figures, header, sample, write_eval
from peers import PEERS
from support import NO_REFERENCE, command, import_into, new_store

pytestmark = pytest.mark.slow

READ = Path(__file__).parent / "samples_of_inspect.py"
OURS = """
    SELECT run_id, task_id, attempt, coalesce(any_value(raw_output), ''),
        any_value(coalesce(results.input_tokens, 0) + coalesce(results.output_tokens, 0)),
        round(any_value(results.duration_seconds), 6),
        NOT any_value(coalesce(success, true)),
        list({name: scores.scorer, value: scores.value}) FILTER (scores.scorer = scores.metric)
    FROM results
    LEFT JOIN result_scores AS scores USING (suite, run_id, result_id)
    GROUP BY ALL
"""


def export(store, folder):
    done = command(store.path, "export", "inspect", "--to", folder)
    assert done.code == 0, done.err
    return sorted(folder.glob("*.eval"))


@contextmanager
def viewer(program, folder):
    """Serve a folder by `inspect view` on a free port of loopback, and yield its address."""
    # Another program may take the port before `inspect view` does.
    started = (started_viewer(program, folder) for _ in range(5))
    process, address = next(filter(None, started), (None, None))
    assert process, "`inspect view` did not start"
    try:
        yield address
    finally:
        process.terminate()
        process.communicate()


def started_viewer(program, folder):
    """Return the process of a viewer and its address; None if it did not start."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = ["view", "start", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [program, *arguments, "--log-dir", folder], stdout=subprocess.PIPE, text=True
    )
    if any("Running on" in line for line in process.stdout):
        return process, f"http://127.0.0.1:{port}/api"
    process.communicate()
    return None


def fetch(address):
    with urllib.request.urlopen(address, timeout=300) as reply:
        return json.load(reply)


LOGS = ("bfcl", "eee", "helm", "inspect", "lm-eval", "openai-evals", "promptfoo")


@pytest.fixture(params=["other suites", "shared samples", "small", "just written", *LOGS])
def exported(request, examples, store, tmp_path):
    """Return a folder of exported logs: of our own suites, of Inspect's logs as tests make them."""
    if request.param == "small":
        samples = [sample(name, epoch, events=[]) for epoch in (1, 2) for name in IDS]
        head = {**header(epochs=2), "results": figures()}
        import_into(store, write_eval(tmp_path / "log.eval", head, samples))
    elif request.param == "shared samples":
        for n in (1, 2):
            import_into(store, write_run(tmp_path / f"run{n}", name=f"trivia:seed={n}"))
    elif request.param in LOGS:
        if not PEERS.is_dir():
            pytest.skip(NO_REFERENCE)
        import_into(store, PEERS / request.param)
    elif request.param == "just written":
        import_into(store, request.getfixturevalue("inspect_logs"))
    source = examples if request.param == "other suites" else store
    assert export(source, tmp_path / "out")
    return tmp_path / "out"


def test_samples_df_is_equal_to_our_view(exported, inspect, tmp_path):
    lines = inspect("python", "-W", "ignore", READ, exported).splitlines()
    # Inspect prints empty lines of its own.
    theirs = {tuple(key): values for *key, values in map(json.loads, filter(str.strip, lines))}
    again = new_store(tmp_path / "again")
    import_into(again, exported)
    ours = {
        tuple(key): {score["name"]: score["value"] for score in scores or ()}
        for *key, scores in again.sql(OURS).fetchall()
    }
    assert ours == theirs
    assert ours


def test_inspect_dumps_and_serves_the_logs(exported, inspect, inspect_program):
    path, *_ = exported.glob("*.eval")
    dumped = json.loads(inspect("inspect", "log", "dump", path))
    with viewer(inspect_program("inspect"), exported) as address:
        files = fetch(f"{address}/log-files")["files"]
        assert {file["name"].rpartition("/")[2] for file in files} == {
            path.name for path in exported.iterdir()
        }
        served = fetch(f"{address}/logs/{quote(path.as_uri(), safe='')}")
    assert served["samples"]
    assert served == dumped
