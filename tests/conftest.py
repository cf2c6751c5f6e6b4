import os
import shutil
import subprocess
import sys
from collections import Counter
from zlib import crc32

import pytest
from browser import launched, missing
from hypothesis import HealthCheck, settings
from support import (
    EXAMPLES,
    ROOT,
    as_unprivileged,
    command,
    import_into,
    new_store,
)

# The same examples in each run, on a machine of any speed; those of `--hypothesis-profile random`
# differ.
settings.register_profile(
    "random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True, database=None)
settings.load_profile("fixed")


def pytest_configure():
    # Otherwise an evalstore installed from another folder would be tested.
    import evalstore

    assert evalstore.__file__ == str(ROOT / "evalstore.py")


def pytest_addoption(parser):
    parser.addoption("--campaigns", action="store_true", help="run all campaigns, not a tenth")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Count campaigns among the slow tests; run a tenth of them, another for each commit.

    Tests in a browser are marked by their fixture.
    """
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker("browser")
    campaigns = [item for item in items if item.get_closest_marker("campaign")]
    for item in campaigns:
        item.add_marker("slow")
    if config.getoption("--campaigns") or any("::" in argument for argument in config.args):
        return
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    left_out = {item for item in campaigns if crc32(git.stdout + item.nodeid.encode()) % 10}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter):
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, n in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {n}: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="session")
def browser():
    """Return a headless browser: one, because Playwright runs only once in a process."""
    if missing():
        pytest.skip(missing())
    with launched() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory):
    """Use a cache folder of the session, shared by its workers, instead of the user's."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("EVALSTORE_DEBUG", "1")  # a crash shows where it was
        yield


@pytest.fixture
def store(tmp_path):
    """Return an empty store that already has a warehouse."""
    return new_store(tmp_path / "store")


@pytest.fixture(scope="session")
def shared_examples(tmp_path_factory):
    """Return a store with the examples, synced, for tests that only read it."""
    store = new_store(tmp_path_factory.mktemp("examples") / "store")
    import_into(store, EXAMPLES)
    store.sync()
    return store


@pytest.fixture
def examples(shared_examples, tmp_path):
    """Return a new store with the examples, synced."""
    shutil.copytree(shared_examples.path, tmp_path / "examples-store")
    return new_store(tmp_path / "examples-store")


@pytest.fixture
def cli(store):
    """Return a function that runs a command on the empty store: `cli("import", path)`."""
    return lambda *arguments: command(store.path, *arguments)


@pytest.fixture(scope="session")
def unprivileged():
    """Return a `preexec_fn` that makes a child process respect permissions, even under root."""
    try:
        subprocess.run([sys.executable, "-c", ""], preexec_fn=as_unprivileged, check=True)
    except (subprocess.SubprocessError, OSError):
        pytest.skip("root cannot give up its right to read and write everything here")
    return as_unprivileged
