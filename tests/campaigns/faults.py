"""A campaign that kills commands or fills the disk at random moments, and checks what is left.

    python -m tests.campaigns.faults [--faults N] [--seed S]

After each fault, every batch matches its checksums, every run is complete or absent, finished work
is present, forgotten runs are not, and the warehouse agrees once it is brought up to date.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from exports.palindrome.log_files import Selection, export_palindrome
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from tests.campaigns.killing import forked
from warehouse.app.store import Store
from warehouse.core.errors import EvalstoreError
from warehouse.core.schemas import RESULTS
from warehouse.lake.compaction import merge_small, rows_of
from warehouse.lake.forgetting import forget

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.campaigns.killing import CommandResult

_N_RESULTS = 4
_SUITE = "palindrome"


@dataclass
class Campaign:
    """A store under attack.

    Attributes:
        folder: contains the store and the logs.
        choice: decides what happens.
        present: runs that must be in the store.
        gone: runs that must not be in the store.
        open: runs that may be in the store or not: their import or forget was interrupted.
        ended: number of commands by how they ended.
    """

    folder: Path
    choice: Random
    present: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    ended: Counter[str] = field(default_factory=Counter)

    @property
    def store(self) -> Store:
        """The store, newly opened."""
        return Store(self.folder / "store", on_warning=lambda _: None)

    def strike(self, number: int) -> None:
        """Run a command, interrupt it somewhere, and check what is left."""
        name = self.choice.choice(
            ("import", "import", "sync", "rebuild", "compact", "forget", "export")
        )
        if not self.present and name in {"forget", "export"}:
            name = "import"
        work, run = self._work(name, number)
        ended = self._cut_off(work)
        is_done = not ended.is_killed and not ended.error
        if ended.error and "EvalstoreError" not in ended.error:
            raise AssertionError(f"{name}: {ended.error}")
        self.ended[
            f"{name} {'done' if is_done else 'killed' if ended.is_killed else 'refused'}"
        ] += 1
        if run is not None:
            for runs in (self.present, self.gone, self.open):
                runs.discard(run)
            aim = self.gone if name == "forget" else self.present
            (aim if is_done else self.open).add(run)
        self.check(thoroughly=number % 10 == 0)

    def _work(self, name: str, number: int) -> tuple[Callable[[], object], str | None]:
        store = self.store
        if name == "forget":
            run = self.choice.choice(sorted(self.present))
            return _with_expected_errors(lambda: forget(store.lake, (_SUITE, run))), run
        if name == "export":
            out = self.folder / "out"
            return _with_expected_errors(lambda: export_palindrome(store, out, Selection())), None
        if name in {"sync", "rebuild"}:
            return _with_expected_errors(lambda: store.sync(rebuild=name == "rebuild")), None
        if name == "compact":
            return _with_expected_errors(lambda: merge_small(store.lake)), None
        path, run = _log(self.folder / "logs", number)
        return _with_expected_errors(lambda: import_paths(store.lake, [path], ImportOptions())), run

    def _cut_off(self, work: Callable[[], object]) -> CommandResult:
        how = self.choice.choice(("operation", "operation", "bytes", "full", "time", "not"))
        size = int(10 ** self.choice.uniform(0, 7))
        match how:
            case "operation":
                return forked(work, at_operation=self.choice.randint(1, 60))
            case "bytes":
                return forked(work, at_bytes=size)
            case "full":
                return forked(work, full_at_bytes=size)
            case "time":
                return forked(work, after_seconds=10 ** self.choice.uniform(-2.5, 0.3))
        return forked(work)

    def check(self, *, thoroughly: bool) -> None:
        """Check the lake, and from time to time the warehouse as well.

        Raises:
            AssertionError: something is lost, incomplete, or restored.
        """
        lake = self.store.lake
        found: Counter[str] = Counter()
        for folder in lake.folders():
            lake.verify(folder)
            if "results" in folder.files:
                found.update(rows_of(lake, folder, RESULTS)["run_id"].to_pylist())
        _compare(found, self)
        if thoroughly:
            rows = self.store.sql("SELECT run_id, n_results FROM runs").fetchall()
            _compare(Counter(dict(rows)), self)
            if dict(rows) != dict(found):
                raise AssertionError("lake and warehouse differ")


def _compare(found: Counter[str], campaign: Campaign) -> None:
    halves = {run: n for run, n in found.items() if n != _N_RESULTS}
    lost = campaign.present - found.keys()
    back = campaign.gone & found.keys()
    if halves or lost or back:
        raise AssertionError(f"half there {halves}, lost {lost}, there again {back}")


def _with_expected_errors(work: Callable[[], object]) -> Callable[[], object]:
    """Return work that may fail, but only with the errors that commands report."""

    def attempt() -> object:
        try:
            return work()
        except EvalstoreError as error:
            raise RuntimeError(f"EvalstoreError: {error}") from None

    return attempt


def _log(folder: Path, number: int) -> tuple[Path, str]:
    folder.mkdir(exist_ok=True)
    day = f"2026-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"
    model = f"models/m{number}.yaml"
    tasks = [
        {
            "timestamp": f"{day}T10:00:{at:02}Z",
            "prompt": f"task {at}",
            "answer": f"answer {number} {at}",
            "is_correct": True,
            "duration_seconds": 1.5,
        }
        for at in range(_N_RESULTS)
    ]
    document = {"date": day, "model": model, "prompt_template": "{prompt}", "tasks": tasks}
    path = folder / f"{number}.yaml"
    path.write_text(json.dumps(document))
    return path, f"{day}/{model}"


def main() -> None:
    """Run the campaign, and print how the commands ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    campaign, started = Campaign(folder, Random(asked.seed)), time.monotonic()
    try:
        # The parent imports everything, so that its children need not.
        path, run = _log(folder / "logs", 0)
        import_paths(campaign.store.lake, [path], ImportOptions())
        campaign.present.add(run)
        campaign.store.sync()
        for number in range(1, asked.faults + 1):
            try:
                campaign.strike(number)
            except AssertionError as error:
                sys.exit(f"fault {number} of seed {asked.seed}: {error}")
        campaign.check(thoroughly=True)
    finally:
        shutil.rmtree(folder)
    counts = ", ".join(f"{name} {n}" for name, n in sorted(campaign.ended.items()))
    print(f"{asked.faults} faults, seed {asked.seed}, {time.monotonic() - started:.0f} s: {counts}")
    print(f"{len(campaign.present)} runs present, {len(campaign.gone)} forgotten; nothing was lost")


if __name__ == "__main__":
    main()
