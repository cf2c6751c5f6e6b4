"""Ask whether tests notice wrong code: change a place, run the nearest tests: `make mutants`.

A mutant is killed if a test fails or takes too long. No library does this in both languages:
mutmut 3 changes only what is in functions and has one set of tests, cosmic-ray has one test
command for all modules and changes the checkout itself, and neither knows SQL.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, cast

from tools.edits import Edit, python_edits, sql_edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[1]
_KEPT = ROOT / "build" / "mutants"
_SQL_TESTS = ("sql", "decisions", "checking")
# Where the tests of a folder of code are, below `tests/`. Of nested folders the innermost counts.
AREAS = {
    "warehouse/engine/scoring": ("scoring", "sql"),
    "warehouse/engine/statistics": ("statistics", "decisions"),
    "warehouse/engine/tables": ("warehouse", "sql", "lake"),
    "warehouse/engine": ("warehouse", "lake", "sql", "scale"),
    "warehouse/analysis/decisions": ("decisions", "commands/test_compare.py"),
    "warehouse/lake": ("lake", "journal", "warehouse", "remote"),
    "ingest/formats": ("ingest", "labelling", "exports/test_round_trips.py"),
    "sql/marts": _SQL_TESTS,
    "sql/scores": _SQL_TESTS,
    "sql/functions": (*_SQL_TESTS, "statistics"),
    "runners/engine": ("runners",),
    "exports/inspect": ("exports",),
}
# For each mutant: those that see most of it come first.
_MOST_TESTS = 200
_MOST_SECONDS = 300
_MOST_SLOW_FILES = 3
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

    @property
    def line(self) -> int:
        """Return the number of its line."""
        return self.source.count(b"\n", 0, self.edit.start) + 1

    def __str__(self) -> str:
        """Return `file:line  old → new`, of the line as a whole."""
        old, new = (
            text.splitlines()[self.line - 1].decode().strip() for text in (self.source, self.text())
        )
        return f"{self.path}:{self.line}  {old} → {new}"


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
    """Return the test files of an area, and those anywhere with the name of a folder of the file.

    Those that probably see most of the file come first: for SQL the golden cases, then files that
    import the module or name the view, then those with the name of the file or a folder.
    """
    tests, source = root / "tests", Path(path)
    found = [
        file
        for place in AREAS[area]
        for file in sorted((tests / place).rglob("test_*.py")) or [tests / place]
    ]
    names = source.relative_to(area).with_suffix("").parts
    for name in names[:-1]:
        found += sorted(tests.rglob(f"test_*{name}*.py"))
    module = ".".join(source.with_suffix("").parts)
    word = f"{module} import" if source.suffix == ".py" else source.stem

    def distance(file: Path) -> tuple[bool, bool, bool]:
        named = any(name in file.relative_to(tests).as_posix() for name in names)
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


def record_calls(root: Path, kept: Path) -> dict[str, list[str]]:
    """Return the functions that each fast test of the areas calls, as `tools.calls` notes them.

    They are kept in a file. Tests that fail without a mutant are left out.
    """
    if not kept.exists():
        places = sorted({f"tests/{place}" for places in AREAS.values() for place in places})
        first_failure(root, ["-p", "tools.calls", "-n", "2", "--maxfail", "1000", *places])
        calls: dict[str, list[str]] = {}
        for file in root.parent.glob("calls-*.json"):
            calls |= json.loads(file.read_text("utf-8"))
        kept.write_text(json.dumps(calls), "utf-8")
    return cast("dict[str, list[str]]", json.loads(kept.read_text("utf-8")))


def nearest_tests(root: Path, mutant: Mutant, calls: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the tests that may notice a mutant, those first that see most of it.

    Of Python these are the tests that call its function, or any of the file if it is in none; of
    SQL the golden cases of all views that read it, and tests that name it or call what names it.
    """
    files = area_tests(root, mutant.area, mutant.path)
    if mutant.path.endswith(".sql"):
        readers = _readers(root, mutant.path)
        golden = [test for name in readers for test in calls if test.endswith(f"-{name}]")]
        modules = [file for file in (root / "warehouse").rglob("*.py") if _names(file, readers[0])]
        named = [file for file in files if _names(root / file, readers[0])]
        by_span = _callers({file.relative_to(root).as_posix() for file in modules}, calls)
        around = []
    else:
        golden, named = [], []
        by_span = _callers({mutant.path}, calls)
        around = [span for span in by_span if mutant.line in range(span[0], span[1] + 1)]
    innermost = min(around, key=lambda span: span[1] - span[0], default=None)
    called = by_span[innermost] if innermost else set().union(*by_span.values())
    ranks = {file: rank for rank, file in enumerate(files)}
    ordered = sorted(called, key=lambda test: (ranks.get(test.split("::")[0], len(ranks)), test))
    return [*golden[:_MOST_TESTS], *named, *ordered[:_MOST_TESTS]] or files


def _callers(
    paths: Collection[str], calls: Mapping[str, Sequence[str]]
) -> dict[tuple[int, int], set[str]]:
    """Return the tests that call each function of files, by its first and last line."""
    tests: dict[tuple[int, int], set[str]] = defaultdict(set)
    for test, functions in calls.items():
        for function in functions:
            name, first, last = function.rsplit(":", 2)
            if name in paths:
                tests[int(first), int(last)].add(test)
    return tests


def _readers(root: Path, path: str) -> list[str]:
    """Return the name of a view or macro, and those of all views that read it, nearest first."""
    names = [Path(path).stem]
    for name in names:
        names += [
            file.stem
            for file in sorted((root / "sql").rglob("*.sql"))
            if file.stem not in names and _names(file, name)
        ]
    return names


def _names(file: Path, name: str) -> bool:
    return re.search(rf"\b{name}\b", file.read_text("utf-8")) is not None


def first_failure(
    root: Path, tests: Sequence[str], mark: str = "not slow", *, seconds: float | None = None
) -> str:
    """Run the tests that have a mark in this time; return the first that fails, or nothing."""
    words = ["-m", "pytest", "-x", "-m", mark, "-p", "no:cacheprovider", *tests]
    with TemporaryFile("w+") as output:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, *words],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(root.parent)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return f"not done in {seconds} seconds"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output.read(), re.MULTILINE)
    # Without a failure 5 says that no test has the mark.
    return failed[1] if failed else f"pytest exited with {code}" if code not in {0, 5} else ""


def verdicts(
    roots: Sequence[Path], mutants: Sequence[Mutant], calls: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant with the test that kills it, or nothing; one at a time in each copy.

    Of slow tests only those of the nearest files are run.
    """
    free = SimpleQueue[Path]()
    for root in roots:
        free.put(root)

    def verdict(mutant: Mutant) -> tuple[Mutant, str]:
        root = free.get()
        try:
            _write(root / mutant.path, mutant.text())
            fast = nearest_tests(root, mutant, calls)
            slow = area_tests(root, mutant.area, mutant.path)[:_MOST_SLOW_FILES]
            return mutant, (
                first_failure(root, fast, seconds=_MOST_SECONDS)
                or first_failure(root, slow, "slow", seconds=_MOST_SECONDS)
            )
        finally:
            _write(root / mutant.path, mutant.source)
            free.put(root)

    with ThreadPoolExecutor(len(roots)) as pool:
        yield from pool.map(verdict, mutants)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    # Compiled code is taken for that of any source of the same size and second.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def main() -> None:
    """Print what kills each mutant, and the share of those killed by area.

    Verdicts stay in `build/mutants`, and are not sought again: remove it after changes.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.mutants")
    parser.add_argument("--n", type=int, default=300, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives others")
    parser.add_argument("--only", default="", help="how the paths of the files start")
    options = parser.parse_args()
    # Also then the tests are ended, and the copies are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _KEPT.mkdir(parents=True, exist_ok=True)
    kept = _KEPT / "verdicts.json"
    known = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    with TemporaryDirectory(prefix="mutants-") as folder:
        roots = [copy_checkout(ROOT, Path(folder, name)) for name in ("first", "second")]
        mutants = sample_mutants(roots[0], only=options.only, n=options.n, seed=options.seed)
        left = [mutant for mutant in mutants if str(mutant) not in known]
        for mutant, test in verdicts(roots, left, record_calls(roots[0], _KEPT / "calls.json")):
            known[str(mutant)] = test
            kept.write_text(json.dumps(known, ensure_ascii=False), "utf-8")
            sys.stdout.write(f"{mutant}\n    {test or 'SURVIVES'}\n")
            sys.stdout.flush()
    for area, n in Counter(mutant.area for mutant in mutants).items():
        killed = sum(bool(known[str(mutant)]) for mutant in mutants if mutant.area == area)
        sys.stdout.write(f"{killed / n:4.0%}  {killed} of {n}  {area}\n")


if __name__ == "__main__":
    main()
