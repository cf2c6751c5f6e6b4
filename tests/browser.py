"""Pages in a real browser: what they ask for, what they complain about, what axe-core finds."""

import importlib.util
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_SEVERE = frozenset({"serious", "critical"})
ANY_IMPACT = _SEVERE | {"moderate", "minor"}
_AXE = "axe_playwright_python"


def chromium():
    """Return the path of a browser; None where none is on the PATH."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def missing():
    """Return why pages cannot be opened here; None where they can."""
    if chromium() is None:
        return "no Chromium on the PATH: `make browser` installs it"
    if not all(map(importlib.util.find_spec, ("playwright", _AXE))):
        return "Playwright is not installed: `make browser` runs these tests"
    return None


needs_browser = pytest.mark.skipif(missing() is not None, reason=str(missing()))


@contextmanager
def launched():
    """Yield a headless browser."""
    from playwright.sync_api import sync_playwright

    # Root has no sandbox of its own to give to a browser.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium(), args=flags)
        yield running
        running.close()


class Visit:
    """A window of a browser that opens files of one folder.

    Attributes:
        page: Playwright's page.
        faults: errors in the console, dialogs, downloads, and requests outside the folder.
    """

    def __init__(self, browser, folder, *, width=1280, scheme="light"):
        self.folder = Path(folder).resolve()
        size = {"width": width, "height": 900}
        self._context = browser.new_context(viewport=size, color_scheme=scheme)
        self._context.set_default_timeout(120_000)
        self.faults = []
        self.page = self._context.new_page()
        self._context.on("request", self._on_request)
        self._context.on("page", lambda page: self.faults.append(f"a window: {page.url}"))
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.faults.append(f"an error: {error}"))
        self.page.on("dialog", self._on_dialog)
        self.page.on("download", lambda one: self.faults.append(f"a download: {one.url}"))

    def open(self, name="index.html"):
        """Open a file of the folder, which may have a fragment (`#…`); return the page."""
        path, _, fragment = name.partition("#")
        url = (self.folder / path).as_uri() + (f"#{fragment}" if fragment else "")
        # Going from a fragment to another one of the same page would not load it again.
        self.page.goto("about:blank")
        self.page.goto(url)
        return self.page

    def unfold(self):
        """Open all that can be unfolded."""
        self.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")

    def severe(self, impacts=_SEVERE):
        """Return what axe-core finds on the page of some impacts, with elements."""
        source = Path(importlib.util.find_spec(_AXE).origin).with_name("axe.min.js")
        self.page.evaluate(source.read_text("utf-8"))
        # It would fetch the style sheets, which the policy of pages forbids.
        found = self.page.evaluate("axe.run({preload: false})")
        return [
            f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for rule in found["violations"]
            if rule["impact"] in impacts
            for node in rule["nodes"]
        ]

    def overflow(self):
        """Return by how many pixels the page is wider than the window."""
        widths = "[document.documentElement.scrollWidth, window.innerWidth]"
        content, window = self.page.evaluate(widths)
        return max(0, content - window)

    def close(self):
        """Close the window."""
        self._context.close()

    def _on_request(self, request):
        if request.url.startswith(("data:", "blob:", "about:")):
            return
        if not request.url.startswith(f"{self.folder.as_uri()}/"):
            self.faults.append(f"a request: {request.url}")

    def _on_console(self, message):
        if message.type in {"error", "warning"}:
            self.faults.append(f"the console: {message.text}")

    def _on_dialog(self, dialog):
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()
