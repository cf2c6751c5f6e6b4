"""The audit of items: which of them deserve a maintainer's look, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.items.answers import PRIOR
from warehouse.analysis.items.statistics import item_statistics
from warehouse.engine.scoring.bootstrap import holm

if TYPE_CHECKING:
    import numpy.typing as npt

    from warehouse.analysis.items.answers import RivalAnswers
    from warehouse.analysis.items.responses import Responses
    from warehouse.analysis.items.statistics import ItemStatistics
    from warehouse.engine.statistics.arrays import Floats

    Flags = npt.NDArray[np.bool_]

ALPHA = 0.05
MIN_SYSTEMS = 2


class Finding(StrEnum):
    """What may be wrong with an item, the worst first."""

    RATED_WRONG = "rated as wrong"
    WRONG_KEY = "wrong key suspected"
    STRONGER_FAIL = "stronger models fail"
    FLAKY = "flaky"
    DUPLICATE = "same text as another"
    DOUBTFUL_KEY = "key worth a look"
    DEAD = "nobody passes"
    SATURATED = "all pass"


@dataclass(frozen=True, slots=True)
class ItemAudit:
    """What the responses say of each item, in the order of the responses' items.

    Attributes:
        statistics: difficulty and discrimination.
        p_holm: p-value of the discrimination, adjusted for all items (Holm 1979).
        findings: by kind, the items that have it.
    """

    statistics: ItemStatistics
    p_holm: Floats
    findings: dict[Finding, Flags]


def audit_items(responses: Responses, rivals: RivalAnswers | None = None) -> ItemAudit:
    """Return what the responses say of each item, and the failed answers if they are known.

    Nothing is found at an item that fewer than two systems were asked.
    """
    found = item_statistics(responses)
    adjusted = holm([None if np.isnan(p) else float(p) for p in found.p_value])
    p_holm = np.array([np.nan if p is None else p for p in adjusted])
    n_items = len(p_holm)
    no_items = np.zeros(n_items, dtype=bool)
    is_suspected = rivals.is_suspected if rivals else no_items
    is_doubtful = rivals.probability >= PRIOR if rivals else no_items
    is_asked = found.n_systems >= MIN_SYSTEMS
    n_passed, n_attempts = (
        np.bincount(responses.item, each, n_items)
        for each in (responses.passed, responses.attempts)
    )
    findings = {
        Finding.WRONG_KEY: is_suspected,
        Finding.STRONGER_FAIL: (found.discrimination < 0) & (p_holm <= ALPHA),
        Finding.DOUBTFUL_KEY: is_doubtful & ~is_suspected,
        Finding.DEAD: is_asked & (n_passed == 0),
        Finding.SATURATED: is_asked & (n_passed == n_attempts),
    }
    return ItemAudit(found, p_holm, findings)
