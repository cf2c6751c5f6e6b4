"""The page of terminal screens in `docs/`: commands over the examples, at three widths."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import evalstore
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTHS = (80, 100, 160)
COMMANDS = (
    "show leaderboard",
    "runs",
    "compare example/aurora-2 example/kaamos-mini",
    "history example/aurora-2",
    "show",
)
_EXAMPLES = Path(__file__).parents[1] / "examples"
_FAMILIES = ("palindrome", "openclaw", "posters")
_TEXT = """
What a terminal of 80, 100 and 160 columns shows of the [examples](../examples/README.md), with its
notes. Columns that answer come first, names are folded in the middle, and a note says what is left
out. Pipes and files get every row and column.
"""


class _Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def screens() -> list[str]:
    """Return the parts of the page."""
    parts = [_TEXT]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        import_paths(store.lake, [_EXAMPLES / family for family in _FAMILIES], ImportOptions())
        store.sync()
        for command in COMMANDS:
            parts.append(f"## `evalstore {command}`")
            for width in WIDTHS:
                shown = shown_on_terminal(store.path, command.split(), width)
                parts.append(f"### {command}, {width} columns\n\n```text\n{shown}```")
    return parts


def shown_on_terminal(store: Path, arguments: list[str], width: int) -> str:
    """Return what a command shows on a terminal, with its notes."""
    screen = _Terminal()
    notes = _Terminal()
    out, err = (
        io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
        for stream in (screen, notes)
    )
    # No pager: it would wait for a key.
    with (
        _environment(COLUMNS=str(width), CI="1"),
        redirect_stdout(out),
        redirect_stderr(err),
        suppress(SystemExit),
    ):
        evalstore.main(["--store", str(store), *arguments])
    return (screen.getvalue() + notes.getvalue()).decode()


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
