import pytest
from browser import Visit, launched, missing


@pytest.fixture(scope="session")
def _browser():
    if missing():
        pytest.skip(missing())
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(_browser):
    """Return a function that opens a window on a folder; at the end no window may have a fault."""
    windows = []

    def opened(folder, **options):
        windows.append(Visit(_browser, folder, **options))
        return windows[-1]

    yield opened
    faults = [fault for window in windows for fault in window.faults]
    for window in windows:
        window.close()
    assert faults == []
