"""A pytest plugin: tests that use the fixture `evalstore_run` are results in a store.

Until a test uses the fixture, nothing of evalstore is imported.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warehouse.app.recording.recording import Recording
    from warehouse.app.recording.rows import Logged

__all__ = ["LoggedTest"]

_OPTIONS = {
    "store": "Store folder (default: EVALSTORE_DIR, or `store` in the root folder).",
    "suite": "Name of the suite (default: name of the root folder).",
    "model": "Name of the model.",
}
_MARKER = "evalstore(model=..., suite=...): the model and suite of a test with `evalstore_run`"
# Of a test, whether it passed; of a session, the id of its run.
_VERDICT = pytest.StashKey[bool | None]()
_RUN_ID = pytest.StashKey[str]()
_IN_WORKER = "evalstore_run_id"


class LoggedTest:
    """What a test logs: the fixture `evalstore_run`.

    Attributes:
        task_id: ID of the test, by default that of its results.
    """

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self._logged: list[tuple[Logged, bool]] = []

    def log(self, *, task_id: str | None = None, attempt: int | None = None, **fields: Any) -> None:  # noqa: ANN401
        """Log a result; it is stored when the test ends, with its outcome as the verdict.

        Args:
            task_id: ID of the task; by default, that of the test.
            attempt: which repetition of the task this is; by default, the results of a task count
                from 1 in each session.
            fields: as of `Recording.log`; `passed` replaces the outcome of the test.

        Raises:
            BadInput: a value cannot be stored.
        """
        from warehouse.app.recording.rows import Logged, check

        logged = Logged(task_id=task_id or self.task_id, attempt=attempt or 1, **fields)
        check(logged)
        self._logged.append((logged, attempt is not None))

    def store_in(self, recording: Recording, verdict: bool | None, seen: Counter[str]) -> None:  # noqa: FBT001
        """Store what was logged.

        Args:
            recording: the run.
            verdict: whether the test passed.
            seen: how often each task was logged without an attempt in the run.
        """
        for logged, has_attempt in self._logged:
            attempt = logged.attempt
            if not has_attempt:
                seen[logged.task_id] += 1
                attempt = seen[logged.task_id]
            passed = logged.passed
            if passed is None and logged.failure is None:
                passed = verdict
            recording.add(replace(logged, attempt=attempt, passed=passed))


class _Recordings:
    """The recordings of this process, each for a suite and a model."""

    def __init__(self, config: pytest.Config, stack: ExitStack) -> None:
        self._config = config
        self._stack = stack
        self._of: dict[tuple[str, str], tuple[Recording, Counter[str]]] = {}

    def of(self, node: pytest.Item) -> tuple[Recording, Counter[str]]:
        """Return the recording of a test, and how often its tasks were logged."""
        marker = node.get_closest_marker("evalstore")
        own: dict[str, Any] = dict(marker.kwargs) if marker else {}
        if marker and (marker.args or own.keys() - {"model", "suite"}):
            raise pytest.UsageError(f"{node.nodeid}: the marker is {_MARKER.partition(':')[0]}")
        suite = own.get("suite") or self._option("suite") or self._config.rootpath.name
        model = own.get("model") or self._option("model")
        if not model:
            raise pytest.UsageError(
                f"{node.nodeid} uses evalstore_run, but no model is named: add "
                "`evalstore_model = NAME` to the configuration of pytest, pass --evalstore-model, "
                'or mark the test with @pytest.mark.evalstore(model="NAME")'
            )
        if (suite, model) not in self._of:
            self._of[suite, model] = self._stack.enter_context(self._begin(suite, model)), Counter()
        return self._of[suite, model]

    def _begin(self, suite: str, model: str) -> Recording:
        import evalstore

        store = evalstore.open(self._store())
        return store.record(suite=suite, model=model, run_id=_run_id(self._config))

    def _store(self) -> Path:
        given: str | None = self._config.getoption("evalstore_store")
        if given:
            return self._config.invocation_params.dir / given
        ours: str = self._config.getini("evalstore_store") or os.environ.get(
            "EVALSTORE_DIR", "store"
        )
        return self._config.rootpath / ours

    def _option(self, name: str) -> str:
        given = self._config.getoption(f"evalstore_{name}") or self._config.getini(
            f"evalstore_{name}"
        )
        return str(given or "")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the settings of the same names."""
    group = parser.getgroup("evalstore", "results in a store")
    for name, meaning in _OPTIONS.items():
        group.addoption(f"--evalstore-{name}", metavar=name.upper(), help=meaning)
        parser.addini(f"evalstore_{name}", meaning, default="")
    group.addoption(
        "--evalstore-run", metavar="ID", help="Go on with this run (default: a new one)."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - of pytest-xdist, which has no types
    """Give each process of pytest-xdist the same run."""
    node.workerinput[_IN_WORKER] = _run_id(node.config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Note whether a test passed: a skipped one neither did nor did not."""
    if call.when == "call":
        is_skipped = call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception)
        item.stash[_VERDICT] = None if is_skipped else call.excinfo is None


@pytest.fixture(scope="session")
def _evalstore_recordings(pytestconfig: pytest.Config) -> Iterator[_Recordings]:
    with ExitStack() as stack:
        yield _Recordings(pytestconfig, stack)


@pytest.fixture
def evalstore_run(
    request: pytest.FixtureRequest, _evalstore_recordings: _Recordings
) -> Iterator[LoggedTest]:
    """Log results of the test: `evalstore_run.log(prompt=…, output=…)`."""
    from warehouse.core.errors import EvalstoreError

    node: pytest.Item = request.node
    node.stash[_VERDICT] = None
    test = LoggedTest(node.nodeid)
    try:
        recording, seen = _evalstore_recordings.of(node)
    except (EvalstoreError, pytest.UsageError) as error:
        pytest.fail(str(error), pytrace=False)
    yield test
    try:
        test.store_in(recording, node.stash[_VERDICT], seen)
    except EvalstoreError as error:
        pytest.fail(str(error), pytrace=False)


def _run_id(config: pytest.Config) -> str:
    """Return the id of the session's run: as given, or the local time and a random part."""
    if hasattr(config, "workerinput") and _IN_WORKER in config.workerinput:
        return str(config.workerinput[_IN_WORKER])
    if _RUN_ID not in config.stash:
        from datetime import datetime
        from secrets import token_hex

        new = f"{datetime.now().astimezone():%Y%m%d_%H%M%S}_{token_hex(4)}"
        config.stash[_RUN_ID] = config.getoption("evalstore_run") or new
    return config.stash[_RUN_ID]
