"""Ask whether tests notice wrong code: change a place, run the tests of its area: `make mutants`.

A mutant is killed if a test fails or takes too long. No library does this in both languages:
mutmut 3 changes only what is in functions and has one set of tests, cosmic-ray has one test
command for all modules and changes the checkout itself, and neither knows SQL.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tools.edits import Edit, python_edits, sql_edits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
_SQL_TESTS = ("sql", "decisions", "checking")
# Where the tests of a folder of code are, below `tests/`. Of nested folders the innermost counts.
AREAS = {
    "warehouse/engine/scoring": ("scoring", "sql"),
    "warehouse/engine/statistics": ("statistics", "decisions"),
    "warehouse/engine/tables": ("warehouse", "sql", "lake"),
    "warehouse/engine": ("warehouse", "lake", "sql", "scale"),
    "warehouse/analysis/decisions": ("decisions", "commands/test_compare.py"),
    "warehouse/lake": ("lake", "journal", "warehouse", "remote"),
    "ingest/formats": ("ingest", "exports/test_round_trips.py"),
    "sql/marts": _SQL_TESTS,
    "sql/scores": _SQL_TESTS,
    "sql/functions": _SQL_TESTS,
    "runners/engine": ("runners",),
    "exports/inspect": ("exports",),
}
_EDITS = {".py": python_edits, ".sql": sql_edits}


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edit of a file: its area (of `AREAS`), its path from the root, and its source."""

    area: str
    path: str
    source: bytes
    edit: Edit

    def text(self) -> bytes:
        """Return the changed source."""
        return self.source[: self.edit.start] + self.edit.new + self.source[self.edit.end :]

    def __str__(self) -> str:
        """Return `file:line  old → new`, of the line as a whole."""
        line = self.source.count(b"\n", 0, self.edit.start)
        old, new = (text.splitlines()[line].decode().strip() for text in (self.source, self.text()))
        return f"{self.path}:{line + 1}  {old} → {new}"


def sample_mutants(root: Path, *, only: str, n: int, seed: int) -> list[Mutant]:
    """Return `n` mutants at most of the files below `root`; areas have a share by their lines.

    Args:
        root: of the checkout.
        only: how the paths of the files start.
        n: number of mutants.
        seed: the same seed and files give the same mutants.
    """
    mutants: dict[str, list[Mutant]] = defaultdict(list)
    lines: Counter[str] = Counter()
    for path in sorted({path for area in AREAS for path in (root / area).rglob("*.*")}):
        name = path.relative_to(root).as_posix()
        if path.suffix in _EDITS and name.startswith(only):
            area = max((area for area in AREAS if name.startswith(f"{area}/")), key=len)
            source = path.read_bytes()
            lines[area] += source.count(b"\n")
            edits = _EDITS[path.suffix](source)
            mutants[area] += [Mutant(area, name, source, edit) for edit in edits]
    rng = random.Random(seed)  # noqa: S311
    shares = Counter(rng.choices(list(lines), list(lines.values()), k=n) if lines else ())
    return [
        mutant
        for area, share in shares.items()
        for mutant in rng.sample(mutants[area], min(share, len(mutants[area])))
    ]


def area_tests(root: Path, area: str, path: str) -> list[str]:
    """Return the test files of an area, and those anywhere with the name of the file's folder.

    Those that probably see most of the file come first: for SQL the golden cases, then files that
    import the module or name the view, then those with the name of file or folder.
    """
    tests, source = root / "tests", Path(path)
    found = [
        file
        for place in AREAS[area]
        for file in sorted((tests / place).rglob("test_*.py")) or [tests / place]
    ]
    found += sorted(tests.rglob(f"test_*{source.parent.name}*.py"))
    module = ".".join(source.with_suffix("").parts)
    word = f"{module} import" if source.suffix == ".py" else source.stem

    def distance(file: Path) -> tuple[bool, bool, bool]:
        named = any(
            name in file.relative_to(tests).as_posix() for name in (source.stem, source.parent.name)
        )
        is_golden = source.suffix == ".sql" and file.stem == "test_golden"
        return not is_golden, word not in file.read_text("utf-8"), not named

    ordered = sorted(dict.fromkeys(found), key=distance)
    return [file.relative_to(root).as_posix() for file in ordered]


def copy_checkout(source: Path, folder: Path) -> Path:
    """Copy the files of a checkout that git does not ignore into a folder; return the new root."""
    root = folder / "copy"
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=source, capture_output=True, check=True, text=True)  # noqa: S603
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, root / name)
    # Reference data, which tests look for next to the checkout.
    (folder / "shared").symlink_to(source.parent / "shared")
    return root


def is_green(root: Path, tests: Sequence[str], *, seconds: float | None = None) -> bool:
    """Return whether all fast ones of the tests pass in this time."""
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "pytest", "-x", "-m", "not slow", "-p", "no:cacheprovider", *tests],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(root.parent)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def survivors(root: Path, mutants: Sequence[Mutant]) -> Iterator[Mutant]:
    """Yield the mutants that no test of their area kills; each is made in the tree and undone.

    Raises:
        ValueError: the tests of an area fail without a mutant.
    """
    limits: dict[str, float] = {}
    for mutant in mutants:
        tests = area_tests(root, mutant.area, mutant.path)
        if mutant.area not in limits:
            start = time.monotonic()
            if not is_green(root, tests):
                raise ValueError(f"the tests of {mutant.area} fail without a mutant")
            limits[mutant.area] = 60 + 3 * (time.monotonic() - start)
        try:
            _write(root / mutant.path, mutant.text())
            if is_green(root, tests, seconds=limits[mutant.area]):
                yield mutant
        finally:
            _write(root / mutant.path, mutant.source)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    # Compiled code is taken for that of any source of the same size and second.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def main() -> None:
    """Print the mutants that survive, and the share of those killed by area."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants")
    parser.add_argument("--n", type=int, default=300, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives others")
    parser.add_argument("--only", default="", help="how the paths of the files start")
    options = parser.parse_args()
    # Also then the tests are ended, and the copy is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with TemporaryDirectory(prefix="mutants-") as folder:
        root = copy_checkout(ROOT, Path(folder))
        mutants = sample_mutants(root, only=options.only, n=options.n, seed=options.seed)
        survived: Counter[str] = Counter()
        for mutant in survivors(root, mutants):
            survived[mutant.area] += 1
            sys.stdout.write(f"{mutant}\n")
            sys.stdout.flush()
    made = Counter(mutant.area for mutant in mutants)
    for area, n in made.items():
        killed = n - survived[area]
        sys.stdout.write(f"{killed / n:4.0%}  {killed} of {n}  {area}\n")


if __name__ == "__main__":
    main()
