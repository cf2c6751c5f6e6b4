"""The table of suites, loaded on first use."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.git import git_commit
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.suites.base import PreparedRun, RunSpec, Suite

# Name, and the module whose `SUITE` it is.
SUITES = {
    "palindrome": "runners.suites.palindrome",
    "openclaw": "runners.suites.openclaw.suite",
    "posters": "runners.suites.posters.predictions",
    "posters-truth": "runners.suites.posters.truth",
    "posters-judge": "runners.suites.posters.judge",
}
_SUFFIXES = (".yaml", ".yml", ".json")
_CUSTOM = "runners.suites.custom.suite"
# By the family that plans record; `evalstore run` does not name them.
_OTHERS = {
    "own": _CUSTOM,
    "judged-answers": "runners.judging.suite",
    "judged-pairs": "runners.judging.suite:PAIRS",
}


def suite_named(name: str) -> Suite:
    """Return a suite by the name that a user gives: one of `SUITES`, or the path of a file.

    Raises:
        BadInput: there is no such suite.
    """
    if name.endswith(_SUFFIXES):
        if not Path(name).exists():
            near = did_you_mean(name, map(str, _files_near(Path(name))))
            raise BadInput(f"{name}: no such file" + (f"; {near}" if near else ""))
        return _load(_CUSTOM)
    if name not in SUITES:
        known = f"use {', '.join(SUITES)}, or your own YAML or JSON file"
        raise BadInput(f"unknown suite {name!r}: {did_you_mean(name, SUITES, known)}")
    return _load(SUITES[name])


def suite_of(family: str) -> Suite:
    """Return the suite that made a plan.

    Raises:
        BadInput: a newer version made the plan.
    """
    modules = SUITES | _OTHERS
    if family not in modules:
        raise BadInput(f"this version of evalstore has no suite {family!r}")
    return _load(modules[family])


def prepare(suite: Suite, spec: RunSpec) -> PreparedRun:
    """Make the plan of a new run.

    Raises:
        BadInput: the suite's files cannot be used.
    """
    prepared = suite.prepare(spec)
    commit = git_commit(prepared.folder)
    return replace(prepared, plan=replace(prepared.plan, git_commit=commit))


def _files_near(path: Path) -> Iterator[Path]:
    """Yield the files of a path's folder that can be suites."""
    for suffix in _SUFFIXES:
        yield from path.parent.glob(f"*{suffix}")


def _load(place: str) -> Suite:
    module, _, name = place.partition(":")
    suite: Suite = getattr(import_module(module), name or "SUITE")
    return suite
