"""Tests with an S3 server on loopback."""

import importlib.util
import urllib.request

import pytest

MOTO_TESTS = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("moto", "flask", "obstore"))),
        reason="moto is not installed: `make s3` runs these tests",
    ),
]


def request(address, method):
    with urllib.request.urlopen(urllib.request.Request(address, method=method)):
        pass
