"""McNemar's test: two models on the same tasks, pass or fail."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """The p-values of a comparison, two-sided.

    Attributes:
        exact: of the exact conditional test (McNemar 1947, Psychometrika 12, 153).
        mid: mid-p, less conservative (Fagerland, Lydersen and Laake 2013, BMC Medical Research
            Methodology 13, 91).
    """

    exact: float
    mid: float


def mcnemar(n_only_a: int, n_only_b: int) -> McNemar:
    """Test whether two models pass equally often, by the tasks that only one of them passed.

    If they do, each such task is a fair coin toss. Equal to the SQL macro `mcnemar_p`.

    Args:
        n_only_a: tasks that only the first model passed.
        n_only_b: tasks that only the second model passed.
    """
    # `scipy.stats` takes a second to import, and its binomial distribution calls this function.
    from scipy.special import bdtr, gammaln

    n = n_only_a + n_only_b
    fewer = min(n_only_a, n_only_b)
    if n == 0:
        return McNemar(exact=1.0, mid=1.0)
    exact = min(1.0, 2.0 * float(bdtr(fewer, n, 0.5)))
    log_chance = gammaln(n + 1) - gammaln(fewer + 1) - gammaln(n - fewer + 1) - n * log(2)
    chance = exp(float(log_chance))
    mid = exact - chance / 2 if n_only_a == n_only_b else exact - chance
    return McNemar(exact=exact, mid=max(0.0, mid))
