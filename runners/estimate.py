"""The estimate of a run: pending calls, expected cost and problems, before the first call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runners.models.model_files import read_model_files
from runners.plan import cells_of
from runners.providers.base import VENDORS_OWN
from runners.providers.keys import named_key
from runners.providers.pool import estimated_tokens
from runners.providers.transport.http import shown_address
from runners.providers.vendors import OWN_SERVERS, is_own_address
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from runners.models.model import Model
    from runners.run import Run


_MOST_NAMES = 3  # of models in a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate for one model.

    Attributes:
        model: the model.
        n_cells: number of its cells.
        n_pending: number of its cells without a result in the store.
        tokens: estimated input and output tokens of the pending calls.
        cost_usd: estimated cost of the pending calls in US dollars; None if the price is unknown.
        unavailable_reason: why the model cannot be called; None if it can.
    """

    model: Model
    n_cells: int
    n_pending: int
    tokens: int
    cost_usd: float | None
    unavailable_reason: str | None


def estimate(run: Run) -> list[Estimate]:
    """Return the estimate for each model of a run."""
    n_cells = len(list(cells_of(run.plan))) // len(run.plan.models)
    estimates = []
    for model in run.plan.models:
        jobs = [run.job(pending) for pending in run.pending if pending.cell.model is model]
        is_priced = run.providers.price(model) is not None
        estimates.append(
            Estimate(
                model=model,
                n_cells=n_cells,
                n_pending=len(jobs),
                tokens=sum(sum(estimated_tokens(job.request)) for job in jobs),
                cost_usd=sum(job.cost for job in jobs) if is_priced else None,
                unavailable_reason=_reason(run, model),
            )
        )
    return estimates


def addresses(run: Run) -> list[str]:
    """Return where the models are called that are not at their vendor's, and all judges.

    Said before the first call: prompts and answers leave for these addresses.
    """
    models = list({id(p.cell.model): p.cell.model for p in run.pending}.values())
    called = [("", model) for model in models]
    called += [("judge ", model) for model, _ in run.later_calls()]
    lines = []
    for role, model in called:
        address = run.providers.provider(model).address(model.name, model.base_url)
        if address is not None and (role or address != VENDORS_OWN):
            lines.append(f"{role}{model.name} is called at {shown_address(address)}{_key(model)}")
    return lines


def simultaneous(run: Run) -> str:
    """Return how many calls are made at once to the models, which share it at the same server."""
    groups: dict[object, list[Model]] = {}
    for pending in run.pending:
        model = pending.cell.model
        server = run.providers.provider(model).server(model.name, model.base_url)
        alone = id(model) if run.suite.one_model_at_a_time else None
        groups.setdefault((model.provider, server, alone), []).append(model)
    parts = []
    for models in groups.values():
        limit = run.settings.engine.concurrency or run.providers.provider(models[0]).concurrency
        names = list(dict.fromkeys(model.name for model in models))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        to = f" to {', '.join(names[:_MOST_NAMES])}{more}" if len(groups) > 1 else ""
        hint = " (more with --concurrency)" if limit == 1 < len(models) else ""
        parts.append(f"{min(limit, len(models))} at once{to}{hint}")
    order = ", one model after the other" if run.suite.one_model_at_a_time and parts[1:] else ""
    return "; ".join(parts) + order


def _key(model: Model) -> str:
    if named_key(model.api_key_env):
        return f", with the key in {model.api_key_env}"
    vendor = model.name.partition("/")[0] if "/" in model.name else "openai"
    is_known = model.base_url is None or is_own_address(vendor, model.base_url)
    return "" if is_known or vendor in OWN_SERVERS else ", without a key"


def check(run: Run) -> list[str]:
    """Look for problems before the first call and return warnings for the user.

    Raises:
        BadInput: a model is unavailable and the suite needs all models, or an option cannot be
            honoured.
    """
    run.suite.check(run.plan)
    models = list({id(p.cell.model): p.cell.model for p in run.pending}.values())
    others = [model for model, _ in run.later_calls()]
    _check_streams(run, models)
    _check_prices(run, [*models, *others])
    reasons = [(model, _reason(run, model)) for model in (*models, *others)]
    problems = [f"{m.name} ({m.provider}): {reason}" for m, reason in reasons if reason is not None]
    if problems and run.suite.needs_all_models:
        raise BadInput("no calls were made: " + "; ".join(problems))
    return problems


def _reason(run: Run, model: Model) -> str | None:
    """Return why a model cannot be called, with similar names if it has no file."""
    reason = run.providers.unavailable_reason(model)
    if reason is None or model.name not in reason:
        return reason
    near = did_you_mean(
        model.name, {file.model.name for file in read_model_files().values()} - {""}
    )
    return f"{reason}; {near}" if near and model.name not in near else reason


def _check_streams(run: Run, models: list[Model]) -> None:
    unable = [m for m in models if not run.providers.provider(m).streams]
    if run.plan.is_streamed and unable:
        names = ", ".join(f"{m.provider}:{m.name}" for m in unable)
        raise BadInput(f"--stream: the provider cannot stream responses of {names}")


def _check_prices(run: Run, models: list[Model]) -> None:
    unknown = [m.name for m in models if run.providers.price(m) is None]
    if run.settings.max_cost_usd is not None and unknown:
        raise BadInput(
            f"--max-cost-usd: the price of {', '.join(unknown)} is unknown; add it to the model "
            "file (price: input and output, US dollars per token)"
        )
