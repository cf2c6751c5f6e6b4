"""Record which tests call which functions: a plugin of pytest, for `tools.mutants`.

Lines would say little more, and noting them takes a package, and several times as long as a test.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from inspect import CO_OPTIMIZED
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import CodeType, FrameType

# By identity: the hash of code takes time.
_called: dict[int, CodeType] = {}
_fixtures: dict[object, dict[int, CodeType]] = {}
_tests: dict[str, dict[int, CodeType]] = {}


def _note(frame: FrameType, *_: object) -> None:
    _called[id(frame.f_code)] = frame.f_code


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Note what a fixture calls: it is set up once for many tests."""
    global _called  # noqa: PLW0603
    outer, _called = _called, {}
    try:
        return (yield)
    finally:
        _fixtures[fixturedef] = _called
        _called = outer | _called


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Function) -> Generator[None, object, object]:
    """Note what a test and its fixtures call, if it passes."""
    n_failed = item.session.testsfailed
    _called.clear()
    threading.settrace(_note)
    sys.settrace(_note)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        if item.session.testsfailed == n_failed:
            _tests[item.nodeid] = dict(_called)
            for fixtures in item._fixtureinfo.name2fixturedefs.values():  # noqa: SLF001
                for fixture in fixtures:
                    _tests[item.nodeid] |= _fixtures.get(fixture, {})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write next to the root the functions of each test as `path:first line:last line`."""
    root = f"{session.config.rootpath}{os.sep}"
    spans = {test: sorted(_spans(codes, root)) for test, codes in _tests.items()}
    file = session.config.rootpath.parent / f"calls-{os.getpid()}.json"
    file.write_text(json.dumps(spans), "utf-8")


def _spans(codes: dict[int, CodeType], root: str) -> set[str]:
    return {
        f"{code.co_filename.removeprefix(root)}:{code.co_firstlineno}:"
        f"{max(line or 0 for *_, line in code.co_lines())}"
        for code in codes.values()
        # Bodies of modules and classes run when they are imported.
        if code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(root)
    }
