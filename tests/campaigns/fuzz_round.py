"""A round of the fuzzing campaign: a folder with inputs, a store, and its checks."""

from __future__ import annotations

import traceback
import unicodedata
from typing import TYPE_CHECKING

from click.testing import CliRunner

import evalstore
from tests.campaigns.mutating import damaged
from warehouse.app.store import Store
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

_DAMAGED = 2 / 3
FORMATS = ("table", "csv", "json", "jsonl", "markdown")
_VIEWS = ("results", "runs", "leaderboard", "quarantine", "files")
_EXIT_CODES = {0, 1, 2}


class BugError(Exception):
    """Something that must not happen."""


class Round:
    """A folder with inputs, a store and a target folder, and the number of inputs tried.

    Attributes:
        folder: contains everything of the round.
        inputs: contains the damaged files.
        out: target of exports.
        n_inputs: number of inputs tried.
    """

    def __init__(self, folder: Path, choice: Random) -> None:
        self.folder = folder
        self.choice = choice
        self.inputs = folder / "in"
        self.out = folder / "out"
        self.store = folder / "store"
        self.n_inputs = 0
        self.inputs.mkdir()
        (folder / "canary").write_text("must not change")

    def command(self, *arguments: str | Path) -> str:
        """Run a command in this process, and return its rows.

        Raises:
            BugError: it ended in a way that a command must not.
        """
        texts = [str(argument) for argument in arguments]
        done = CliRunner(env={"EVALSTORE_DEBUG": "1"}).invoke(
            evalstore._cli, ["--store", str(self.store), *texts]
        )
        is_exit = done.exception is None or isinstance(done.exception, SystemExit)
        if not is_exit or done.exit_code not in _EXIT_CODES or "Traceback" in done.stderr:
            trace = "".join(traceback.format_exception(done.exception))
            raise BugError(f"{texts}: exit {done.exit_code}\n{done.output[-2000:]}\n{trace}")
        check_shown(done.stderr.replace("\t", " ").replace("\r", "\n"), "message")
        return done.stdout

    def put(self, name: str | Path, data: bytes) -> None:
        """Write an input, damaged with a probability of two thirds."""
        path = self.inputs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_damaged = self.choice.random() < _DAMAGED
        path.write_bytes(damaged(data, self.choice) if is_damaged else data)
        self.n_inputs += is_damaged

    def look(self) -> None:
        """Read every view in a random format, and check the output.

        Raises:
            BugError: a view fails, or its output is harmful.
        """
        store = Store(self.store, on_warning=lambda _: None)
        with store.reading() as connection:
            for file in shipped_sql():
                if file.schema in {"main", "checks"} and not file.is_function:
                    connection.execute(f"FROM {file.qualified}").fetchall()
        for view in self.choice.sample(_VIEWS, 2):
            check_shown(self.command("show", view), "table")
            form = self.choice.choice(FORMATS)
            check_shown(self.command("show", view, "--format", form), form)


def check_shown(text: str, form: str) -> None:
    """Check that output is harmless.

    Raises:
        BugError: a control character in a table or message, or a tag in Markdown.
    """
    if form in {"table", "markdown", "message"}:
        # Spaces of any width are allowed.
        shown = {char for char in text if char != "\n" and unicodedata.category(char) != "Zs"}
        if not "".join(shown).isprintable():
            raise BugError(f"{form} shows {[char for char in shown if not char.isprintable()]}")
    if form == "markdown" and ("<script" in text or "<svg" in text):
        raise BugError("markdown holds a tag of the data's own")
