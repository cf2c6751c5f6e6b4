"""Time horizons of the models of a suite whose tasks have `human_minutes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.figures import number
from warehouse.engine.statistics.arrays import MIN_CLUSTERS, cluster_indices
from warehouse.engine.statistics.horizons import fit_horizons, resample_runs, run_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.horizons import Fits

Weights: TypeAlias = Literal["invsqrt", "equal", "recorded"]

COLUMNS = (
    *("model", "p50_minutes", "p50_low", "p50_high", "p80_minutes", "p80_low", "p80_high"),
    *("pass_rate", "n_tasks", "n_families", "n_results", "n_unjudged", "published_p50_minutes"),
    *("slope", "intercept", "remark"),
)
ANSWER = ("model", "p50_minutes", "p50_low", "p50_high", "p80_minutes", "n_tasks", "remark")
_HORIZONS = {"p50_minutes": 0.5, "p80_minutes": 0.8}
_RESULTS = """
WITH published AS (
    SELECT model, any_value(value) AS p50_minutes
    FROM reported_metrics
    WHERE suite = $suite AND metric IN ('p50', 'p50_horizon_length')
    GROUP BY model
    HAVING count(DISTINCT value) = 1
)

SELECT
    timed.model,
    list(family ORDER BY run_id, result_id),
    list(task ORDER BY run_id, result_id),
    list(human_minutes ORDER BY run_id, result_id),
    list(CAST(outcome AS DOUBLE) ORDER BY run_id, result_id),
    list(recorded_weight ORDER BY run_id, result_id),
    any_value(coalesce(by_system.p50_minutes, by_model.p50_minutes)),
    list_sort(list(DISTINCT run_id))
FROM scores.timed_results AS timed
LEFT JOIN published AS by_system ON timed.model = by_system.model
LEFT JOIN published AS by_model ON timed.recorded_model = by_model.model
WHERE suite = $suite AND coalesce(run_id = $run, true) AND NOT is_human
GROUP BY timed.model
ORDER BY timed.model
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonOptions:
    """How horizons are fitted.

    Attributes:
        weights: `equal`: all tasks weigh the same; `invsqrt`: those of a family by the square root
            of their number; `recorded`: as the log says in `equal_task_weight`, not normalised.
        regularisation: of the slope, above 0; other weights than `recorded` sum to 1.
        n_draws: draws of the bootstrap.
        seed: of the draws of each model.
    """

    weights: Weights = "invsqrt"
    regularisation: float = 1e-5
    n_draws: int = 1000
    seed: int = 1


class _Model(NamedTuple):
    """The results of a model, as `_RESULTS` has them: each list has a value for each result."""

    name: str
    families: Sequence[str]
    tasks: Sequence[str]
    minutes: Sequence[float]
    passed: Sequence[float | None]
    weights: Sequence[float | None]
    published: float | None
    runs: Sequence[str]


def horizons(
    connection: duckdb.DuckDBPyConnection, suite: str, run: str | None, options: HorizonOptions
) -> list[tuple[object, ...]]:
    """Return a row of `COLUMNS` for each model, the longest horizon first; people are none.

    Args:
        connection: the warehouse.
        suite: the suite.
        run: its only run that counts; None for all.
        options: how to fit.

    Raises:
        BadInput: there is no such run, no task has `human_minutes`, or the log records no weights.
    """
    models = connection.execute(_RESULTS, {"suite": suite, "run": run}).fetchall()
    if not models:
        if run is not None:
            _check_run(connection, suite, run)
        where = f"suite {suite!r}" if run is None else f"run {run!r} of suite {suite!r}"
        raise BadInput(
            f"no result of {where} is of a task with `human_minutes`; docs/horizons.md says where "
            "they are looked for"
        )
    rows = [_horizon_row(_Model(*model), options) for model in models]
    rows.sort(key=lambda row: -float(str(row.get("p50_minutes") or 0)))
    rows.sort(key=lambda row: row.get("p50_minutes") is None)
    return [tuple(row.get(name) for name in COLUMNS) for row in rows]


def _check_run(connection: duckdb.DuckDBPyConnection, suite: str, run: str) -> None:
    query = "SELECT run_id FROM runs WHERE suite = $suite"
    names = [name for (name,) in connection.execute(query, {"suite": suite}).fetchall()]
    if run not in names:
        hint = did_you_mean(run, names, "`evalstore runs` lists the runs")
        raise BadInput(f"--run: {suite} has no run {run!r}; {hint}")


def _horizon_row(model: _Model, options: HorizonOptions) -> dict[str, object]:
    judged = [at for at, each in enumerate(model.passed) if each is not None]
    row: dict[str, object] = {
        "model": model.name,
        "n_results": len(judged),
        "n_unjudged": len(model.passed) - len(judged),
        "published_p50_minutes": model.published,
    }
    if not judged:
        return {**row, "remark": "no result has a verdict"}
    families = cluster_indices([model.families[at] for at in judged])
    tasks = cluster_indices([model.tasks[at] for at in judged])
    x, y = (np.array([each[at] for at in judged], float) for each in (model.minutes, model.passed))
    if options.weights == "recorded":
        weights = np.array([model.weights[at] for at in judged], dtype=np.float64)
        if not (weights > 0).all():
            raise BadInput(f"--weights recorded: `{model.name}` has results without a weight")
    else:
        weights = run_weights(families, tasks, by_family=options.weights == "invsqrt")
    row |= {"n_tasks": int(tasks.max()) + 1, "n_families": int(families.max()) + 1}
    row["pass_rate"] = float(y.mean())
    fit = fit_horizons(x, y, weights[np.newaxis], options.regularisation)
    row |= {"slope": _finite(fit.slopes[0]), "intercept": _finite(fit.intercepts[0])}
    row |= {name: _finite(fit.minutes(share)[0]) for name, share in _HORIZONS.items()}
    remarks = [_missing_reason(fit, x)]
    if families.max() + 1 < MIN_CLUSTERS:
        remarks.append(f"no interval below {MIN_CLUSTERS} families of tasks")
    elif not remarks[0]:
        rng = np.random.default_rng(options.seed)
        counts = resample_runs(families, tasks, options.n_draws, rng)
        drawn = fit_horizons(x, y, weights * counts, options.regularisation)
        for name, share in _HORIZONS.items():
            row |= _draws_interval(name.removesuffix("_minutes"), drawn.minutes(share))
        if row["p50_low"] is None or row["p50_high"] is None:
            remarks.append("an end is unknown: too many draws have no horizon")
    remarks.append(_extrapolated(row, x) if not remarks[0] else "")
    if len(model.runs) > 1:
        remarks.append(f"{len(model.runs)} runs count together: {', '.join(model.runs)}")
    return {**row, "remark": "; ".join(filter(None, remarks)) or None}


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _draws_interval(name: str, draws: Floats) -> dict[str, float | None]:
    """Return both ends; a draw that is NaN could lie anywhere, so that it counts beyond both."""
    low, high = (
        np.quantile(np.nan_to_num(draws, nan=beyond, posinf=np.inf), end, method="inverted_cdf")
        for end, beyond in ((0.025, -np.inf), (0.975, np.inf))
    )
    return {f"{name}_low": _finite(low), f"{name}_high": _finite(high)}


def _missing_reason(fit: Fits, minutes: Floats) -> str:
    """Return why there is no horizon that was fitted; "" if there is one."""
    intercept, slope = fit.intercepts[0], fit.slopes[0]
    if np.isinf(intercept):
        longest = f"passed every result: beyond {number(minutes.max())} minutes"
        return longest if intercept > 0 else "passed no result: 0 by convention"
    if minutes.min() == minutes.max():
        return "no horizon: all its tasks take equally long"
    if np.isnan(slope):
        return "no horizon: the fit did not converge"
    return "" if slope < 0 else "no horizon: longer tasks are not passed less often"


def _extrapolated(row: dict[str, object], minutes: Floats) -> str:
    """Return which figures lie outside of the lengths of the tasks; "" if none does."""
    ends = float(minutes.min()), float(minutes.max())
    beyond = [
        name.removesuffix("_minutes")
        for name, value in row.items()
        if name.startswith(("p50", "p80"))
        and isinstance(value, float)
        and not ends[0] <= value <= ends[1]
    ]
    lengths = " to ".join(map(number, ends))
    return f"{', '.join(beyond)} extrapolated: its tasks take {lengths} minutes" if beyond else ""
