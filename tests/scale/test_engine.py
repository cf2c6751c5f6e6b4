"""Processes of this machine that compute shards."""

import subprocess
import sys

import pytest

CODE = """
from warehouse.engine.scale import engine

engine.FUNCTIONS["exec"] = exec
up = "print('up', flush=True)"
engine.LocalEngine(2).run("exec", [up, f"{up}; import time; time.sleep(600)"], None)
"""


@pytest.mark.slow
def test_workers_end_when_the_command_is_killed():
    """Also one that waits for work: they would keep their memory, and the command's output open."""
    process = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE)
    assert [process.stdout.readline() for _ in range(2)] == [b"up\n"] * 2
    process.kill()
    process.communicate(timeout=30)
