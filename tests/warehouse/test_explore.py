"""The notebook `examples/explore.py`, run as a script, on the samples."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from support import ROOT

# The notebook reads a store and nothing else: whatever asks the network for something, fails.
_RUN = """
import json, os, runpy, sys
ASKS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
def refuse(event, arguments):
    if event in ASKS:
        print("the notebook asks the network:", event, arguments, file=sys.stderr, flush=True)
        os._exit(1)
sys.addaudithook(refuse)
app = runpy.run_path("examples/explore.py")["app"]
_, found = app.run()
print(json.dumps([found["leaderboard"].height, found["said"], found["samples"].height]))
"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(
    importlib.util.find_spec("marimo") is None,
    reason="marimo is not installed: `make browser` runs this test",
)
def test_the_notebook_shows_leaderboard_comparison_and_samples(examples, tmp_path):
    before = sorted(path for path in (examples.path / "lake").rglob("*"))
    ended = subprocess.run(
        [sys.executable, "-c", _RUN],
        cwd=ROOT,
        env={
            **os.environ,
            "EVALSTORE_DIR": str(examples.path),
            "PYTHONPATH": str(ROOT),
            # Neither settings of the user nor a file left among them.
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    n_models, said, n_samples = json.loads(ended.stdout.splitlines()[-1])
    [(expected,)] = examples.sql("SELECT count(*) FROM leaderboard WHERE is_main").fetchall()
    assert n_models == expected
    assert "95 % interval" in said[0]
    assert n_samples > 10
    assert sorted(path for path in (examples.path / "lake").rglob("*")) == before
