"""How many plans by a pilot are large enough: `python -m bench.simulations.plans`.

Of 1,000 pilots each: the share of plans with at least 75 % power for a true difference, by the
pilot's own figures (`n_tasks`) and by their upper bound (`n_tasks_safe`). Pass or fail, each task
once; the power is that of the exact score test.
"""

from __future__ import annotations

import numpy as np

from warehouse.statistics.sample_size import tasks_needed_of_verdicts, upper_variance

_SEED = 23
_PILOTS = 1000
_ENOUGH = 0.75
_CASES = ((0.05, 0.03), (0.1, 0.05), (0.3, 0.1))
_TASKS = (20, 50, 100, 200, 500)


def main() -> None:
    """Print the table of docs/gates.md."""
    random = np.random.default_rng(_SEED)
    print("| tasks of the pilot | share that differs | difference | by the pilot | to be safe |")
    print("| --- | --- | --- | --- | --- |")
    for n_pilot in _TASKS:
        for share, difference in _CASES:
            enough = tasks_needed_of_verdicts(share, difference, power=_ENOUGH)
            hits = np.zeros(2)
            counts = np.bincount(random.binomial(n_pilot, share, _PILOTS))
            for n_differing, n_pilots in enumerate(counts.tolist()):
                estimate = n_differing / n_pilot
                safe = upper_variance(estimate, n_pilot, scale=1.0, is_verdict=True)
                plans = [tasks_needed_of_verdicts(s, difference) for s in (estimate, safe)]
                hits += n_pilots * (np.array(plans) >= enough)
            by_pilot, to_be_safe = 100 * hits / _PILOTS
            print(
                f"| {n_pilot} | {100 * share:g} % | {100 * difference:g} points "
                f"| {by_pilot:.0f} % | {to_be_safe:.0f} % |"
            )


if __name__ == "__main__":
    main()
