import shutil
import subprocess
import sys
from collections import Counter

import pytest
from support import EXAMPLES, ROOT, as_anybody, bring_in, command, new_store


def pytest_configure():
    # An installed evalstore of another folder would otherwise be what is tested.
    import evalstore

    assert evalstore.__file__ == str(ROOT / "evalstore.py")


def pytest_terminal_summary(terminalreporter):
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, n in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {n}: {reason.removeprefix('Skipped: ')}")


@pytest.fixture
def store(tmp_path):
    """An empty store, whose warehouse is there already."""
    return new_store(tmp_path / "store")


@pytest.fixture(scope="session")
def _examples(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("examples") / "store")
    bring_in(store, EXAMPLES)
    store.sync()
    return store


@pytest.fixture
def examples(_examples, tmp_path):
    """A store of its own with the examples in it, synced."""
    shutil.copytree(_examples.path, tmp_path / "examples-store")
    return new_store(tmp_path / "examples-store")


@pytest.fixture
def cli(store):
    """Runs a command over the empty store: `cli("import", path)`."""
    return lambda *arguments: command(store.path, *arguments)


@pytest.fixture(scope="session")
def anybody():
    """A `preexec_fn` that makes a child process heed permissions, whoever runs the tests."""
    try:
        subprocess.run([sys.executable, "-c", ""], preexec_fn=as_anybody, check=True)
    except (subprocess.SubprocessError, OSError):
        pytest.skip("root cannot give up its right to read and write everything here")
    return as_anybody
