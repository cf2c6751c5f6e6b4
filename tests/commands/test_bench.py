"""The benchmarks: each module can be imported."""

from importlib import import_module
from pkgutil import walk_packages

import pytest

import bench

MODULES = [module.name for module in walk_packages(bench.__path__, "bench.")]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_module_can_be_imported(name):
    import_module(name)
