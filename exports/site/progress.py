"""The progress of `evalstore report`: one line on a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from warehouse.app.console.cli import note

if TYPE_CHECKING:
    from rich.progress import Progress as Line

_SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Shows on standard error how far a site is. Use it as a context manager."""

    def __init__(self) -> None:
        self._last_line = time.monotonic()
        self._line: Line | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._line = _line()
            self._line.add_task("reading the store", total=None)
            self._line.start()
        else:
            note("writing the site")
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.stop()

    def show(self, page_type: str, n_files: int) -> None:
        """Show which type of pages comes next, and how many files there are so far."""
        text = f"writing the site: {page_type} pages, {n_files:,} files so far"
        if self._line is not None:
            self._line.update(self._line.task_ids[0], description=text)
        elif (now := time.monotonic()) - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            note(text)


def _line() -> Line:
    from rich import progress  # takes 45 ms; needed on terminals only
    from rich.console import Console

    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
