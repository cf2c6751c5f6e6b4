"""The notebook `examples/explore.py`, run as a script, on the samples."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from support import ROOT

_RUN = """
import json, runpy
app = runpy.run_path("examples/explore.py")["app"]
_, found = app.run()
print(json.dumps([found["leaderboard"].height, found["said"], found["samples"].height]))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("marimo") is None, reason="marimo is not installed (extra `explore`)"
)
def test_the_notebook_shows_leaderboard_comparison_and_samples(examples):
    before = sorted(path for path in (examples.path / "lake").rglob("*"))
    ended = subprocess.run(
        [sys.executable, "-c", _RUN],
        cwd=ROOT,
        env={**os.environ, "EVALSTORE_DIR": str(examples.path), "PYTHONPATH": str(ROOT)},
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
