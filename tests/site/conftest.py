import pytest
from browser import Visit


@pytest.fixture
def visit(browser):
    """Return a function that opens a window on a folder; at the end no window may have a fault."""
    windows = []

    def opened(folder, **options):
        windows.append(Visit(browser, folder, **options))
        return windows[-1]

    yield opened
    faults = [fault for window in windows for fault in window.faults]
    for window in windows:
        window.close()
    assert faults == []
