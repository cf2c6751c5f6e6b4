"""The benchmarks: each module can be imported."""

import subprocess
import sys

import pytest
from support import ROOT

IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages
bench = import_module("bench")
names = [module.name for module in walk_packages(bench.__path__, "bench.")]
for name in names:
    import_module(name)
assert len(names) > 30
"""


@pytest.mark.slow
def test_each_module_can_be_imported():
    words = [sys.executable, "-c", IMPORT_ALL]
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
