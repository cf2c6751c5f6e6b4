"""The suites: how a family's tasks are asked, and what is made of the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runners.suites import custom, palindrome
from runners.suites.openclaw import suite as openclaw
from runners.suites.posters import judge
from runners.suites.posters import suite as posters
from warehouse.errors import BadInput
from warehouse.git import git_commit

if TYPE_CHECKING:
    from runners.suites.base import PreparedRun, RunSpec, Suite

FAMILIES: tuple[Suite, ...] = (
    palindrome.SUITE,
    openclaw.SUITE,
    posters.SUITE,
    posters.TRUTH,
    judge.SUITE,
    custom.SUITE,
)


def prepare(wish: RunSpec) -> PreparedRun:
    """Make the plan of a new run.

    Raises:
        BadInput: there is no such suite, or its files cannot be used.
    """
    prepared = _family_for(wish.suite).prepare(wish)
    commit = git_commit(prepared.folder)
    return replace(prepared, plan=replace(prepared.plan, git_commit=commit))


def _family_for(suite: str) -> Suite:
    if suite.endswith((".yaml", ".yml", ".json")):
        return custom.SUITE
    shipped = {family.family: family for family in FAMILIES if family is not custom.SUITE}
    if suite not in shipped:
        known = ", ".join(shipped)
        raise BadInput(f"there is no suite {suite!r}: {known}, or a YAML or JSON file of your own")
    return shipped[suite]


def family_of(name: str) -> Suite:
    """Give the family of a plan.

    Raises:
        BadInput: a newer version made the plan.
    """
    for family in FAMILIES:
        if family.family == name:
            return family
    raise BadInput(f"this version of evalstore knows no suite of the family {name!r}")
