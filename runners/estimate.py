"""What a run would ask, what that may cost, and what is missing: known before the first call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runners.plan import cells_of
from runners.providers.pool import estimated_tokens
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from runners.model_files import Model
    from runners.run import Run


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be asked of a model.

    Attributes:
        model: which one.
        cells: all of its cells.
        done: those that the store has.
        tokens: of the calls to come, prompts and answers, roughly.
        cost_usd: of the calls to come, roughly; None where the price is unknown.
        missing: what is missing to call it.
    """

    model: Model
    cells: int
    done: int
    tokens: int
    cost_usd: float | None
    missing: str | None


def estimate(run: Run) -> list[Estimate]:
    """Say what is to be asked of each model of a run."""
    n_cells = len(list(cells_of(run.plan))) // len(run.plan.models)
    estimates = []
    for model in run.plan.models:
        jobs = [run.job(wanted) for wanted in run.wanted if wanted.cell.model is model]
        is_priced = run.callers.price(model) is not None
        estimates.append(
            Estimate(
                model,
                n_cells,
                n_cells - len(jobs),
                sum(sum(estimated_tokens(job.request)) for job in jobs),
                sum(job.cost for job in jobs) if is_priced else None,
                run.callers.unavailable_reason(model),
            )
        )
    return estimates


def check(run: Run) -> list[str]:
    """Find what is missing before the first call; give what a person should know.

    Raises:
        BadInput: something is missing, and the suite wants all models; or a choice of the user's
            cannot be kept.
    """
    models = list({id(w.cell.model): w.cell.model for w in run.wanted}.values())
    _check_streams(run, models)
    _check_prices(run, models)
    found = [(model, run.callers.unavailable_reason(model)) for model in models]
    missing = [f"{m.name} ({m.provider}): {what}" for m, what in found if what is not None]
    if missing and run.family.needs_all:
        raise BadInput("nothing was asked: " + "; ".join(missing))
    return missing


def _check_streams(run: Run, models: list[Model]) -> None:
    silent = [m for m in models if not run.callers.provider(m).streams]
    if run.plan.is_streamed and silent:
        names = ", ".join(f"{m.provider}:{m.name}" for m in silent)
        raise BadInput(f"--stream: these do not stream: {names}")


def _check_prices(run: Run, models: list[Model]) -> None:
    unknown = [m.name for m in models if run.callers.price(m) is None]
    if run.options.max_cost_usd is not None and unknown:
        raise BadInput(
            f"--max-cost-usd: the price of {', '.join(unknown)} is not known; say it in the "
            "model file (price: input and output, US dollars per token)"
        )
