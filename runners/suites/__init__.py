"""The suites: how a family's tasks are asked, and what is made of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.suites import openclaw, own, palindrome
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from runners.suites.suite import Prepared, Suite, Wish

FAMILIES: tuple[Suite, ...] = (palindrome.SUITE, openclaw.SUITE, own.SUITE)


def prepare(wish: Wish) -> Prepared:
    """Make the plan of a new run.

    Raises:
        BadInput: there is no such suite, or its files cannot be used.
    """
    for family in FAMILIES:
        if family.family == wish.suite:
            return family.prepare(wish)
    if wish.suite.endswith((".yaml", ".yml", ".json")):
        return own.SUITE.prepare(wish)
    known = ", ".join(family.family for family in FAMILIES if family.family != own.FAMILY)
    raise BadInput(f"there is no suite {wish.suite!r}: {known}, or a YAML or JSON file of your own")


def family_of(name: str) -> Suite:
    """Give the family of a plan.

    Raises:
        BadInput: a newer version made the plan.
    """
    for family in FAMILIES:
        if family.family == name:
            return family
    raise BadInput(f"this version of evalstore knows no suite of the family {name!r}")
