"""The picture of the README: a page of the site of the samples, as a browser shows it.

`make picture` runs it in the environment of `make browser`, which has Playwright.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from exports.site.report import write_site
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store

_ROOT = Path(__file__).parents[1]
_TARGET = _ROOT / "docs" / "images" / "site.png"
_FAMILIES = ("palindrome", "openclaw")
_SIZE = {"width": 880, "height": 600}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        samples = [_ROOT / "examples" / family for family in _FAMILIES]
        import_paths(store.lake, samples, ImportOptions())
        write_site(store, Path(folder) / "site")
        _TARGET.parent.mkdir(parents=True, exist_ok=True)
        _photograph(Path(folder) / "site" / "index.html", _TARGET)
    sys.stderr.write(f"{_TARGET}: {_TARGET.stat().st_size:,} bytes\n")


def _photograph(page: Path, target: Path) -> None:
    from playwright.sync_api import sync_playwright

    executable = next(filter(None, map(shutil.which, _BROWSERS)), None)
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=flags)
        window = browser.new_page(viewport=_SIZE, color_scheme="light")
        window.goto(page.as_uri())
        window.screenshot(path=str(target))
        browser.close()


if __name__ == "__main__":
    main()
