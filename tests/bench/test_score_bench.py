import subprocess
import sys

import pytest
from support import ROOT


@pytest.mark.parametrize("name", ["posters", "validators"])
def test_quick_bench_finds_results_equal_to_plain_python(name):
    # It stops with a message where any result differs in the last bit.
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert " × (at least " in done.stdout
