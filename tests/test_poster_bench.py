import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_quick_bench_finds_results_equal_to_plain_python() -> None:
    # It stops with a message where any score differs in the last bit.
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "posters.py", "--quick"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" x\n") == 2
