"""The claim on a run: begins or resumes one, so that no other process runs it as well."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from runners.completed import CompletedCells, find_completed, run_ids, suites_of
from runners.models.addresses import moved, without_address
from runners.plan import cells_of, plan_from_json, plan_to_json
from runners.run import Run
from runners.suites.registry import suite_of
from warehouse.core.errors import BadInput, StoreBusy
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.masking import MASK
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.batch import Generation
from warehouse.lake.journal.recovery import pending_journals
from warehouse.lake.journal.run_lock import run_lock, shard_lock
from warehouse.lake.locks import abandoned_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runners.plan import Plan
    from runners.run import RunSettings
    from runners.shard import Shard
    from warehouse.app.store import Store


@contextmanager
def new_run(store: Store, plan: Plan, settings: RunSettings) -> Iterator[Run]:
    """Begin a run under an unused ID: the local time, to the second."""
    moment = datetime.now().astimezone()
    while True:
        run_id = moment.strftime("%Y%m%d_%H%M%S")
        moment += timedelta(seconds=1)
        with ExitStack() as stack:
            try:
                stack.enter_context(run_lock(store.path, plan.suite, run_id))
            except StoreBusy:
                continue
            # A process with this ID may have been killed: then a journal still has its results.
            store.recover_journals()
            if _is_pending(store, plan.suite, run_id):
                continue
            if find_completed(store.lake, plan.suite, run_id) is None:
                nothing = CompletedCells(Generation(plan.suite, run_id))
                yield Run(store, plan, nothing, settings)
                return


@contextmanager
def named_run(store: Store, plan: Plan, run_id: str, settings: RunSettings) -> Iterator[Run]:
    """Begin a run under a given ID; with a shard, begin or continue that part of it.

    Raises:
        BadInput: the run exists; with a shard, it has another plan.
        StoreBusy: another process is running it, or its journal could not be recovered.
    """
    with _claim(store, plan.suite, run_id, settings.shard):
        completed = find_completed(store.lake, plan.suite, run_id)
        if completed is None:
            yield Run(store, plan, CompletedCells(Generation(plan.suite, run_id)), settings)
            return
        if settings.shard is None or completed.plan is None:
            raise BadInput(
                f"run {run_id} is in the store already: continue it with "
                f"`evalstore run --resume {run_id}`"
            )
        _check_plans(run_id, [*completed.plans, plan_to_json(plan)])
        begun = plan_from_json(completed.plan)
        yield Run(store, replace(plan, run_date=begun.run_date), completed, settings)


def check_shards(store: Store, run: Run) -> None:
    """Check that all shards of a run that are in the store have the same plan.

    Raises:
        BadInput: they differ.
    """
    completed = find_completed(store.lake, run.plan.suite, run.run_id)
    if completed is not None:
        _check_plans(run.run_id, completed.plans)


@contextmanager
def resumed_run(
    store: Store, run_id: str, suite: str | None, settings: RunSettings
) -> Iterator[Run]:
    """Resume a run.

    Raises:
        BadInput: there is no such run, or it was imported.
        StoreBusy: another process is running it, or its journal could not be recovered.
    """
    suites = _suites(store, run_id, suite)
    if not suites:
        _check_not_beginning(store, run_id, suite)
        # The run may have ended between the two calls.
        suites = _suites(store, run_id, suite)
    if not suites:
        hint = did_you_mean(run_id, run_ids(store.lake, suite), "`evalstore runs` lists all runs")
        raise BadInput(f"run {run_id} is not in the store: {hint}")
    if len(suites) > 1:
        raise BadInput(f"run {run_id} is in several suites, name one: {', '.join(suites)}")
    with _claim(store, suites[0], run_id, settings.shard):
        completed = find_completed(store.lake, suites[0], run_id)
        if completed is None or completed.plan is None:
            raise BadInput(f"run {run_id} was imported or recorded: it has no plan to resume")
        plan = _reachable(plan_from_json(completed.plan), settings)
        yield Run(store, plan, completed, settings)


@contextmanager
def _claim(store: Store, suite: str, run_id: str, shard: Shard | None) -> Iterator[None]:
    """Hold the lock of a run, or of a shard of it, with all its results in the lake."""
    if shard is None:
        lock = run_lock(store.path, suite, run_id)
    else:
        lock = shard_lock(store.path, suite, run_id, str(shard))
    with lock:
        store.recover_journals()
        if _may_be_pending(store, suite, run_id, has_writers=shard is not None):
            raise StoreBusy(
                f"run {run_id}: its journal could not be recovered; no calls were made, to avoid "
                "paying twice"
            )
        yield


def _check_plans(run_id: str, plans: Iterable[str]) -> None:
    """Raise `BadInput` if plans of a run differ in more than the day and the commit."""
    first, *others = map(_comparable, plans)
    for other in others:
        names = [name for name in first | other if first.get(name) != other.get(name)]
        if names:
            raise BadInput(
                f"run {run_id}: its shards have different plans ({', '.join(names)} differ); run "
                "them all with the same options, files and version, or give another --run-id"
            )


def _comparable(text: str) -> dict[str, object]:
    """Return what the shards of a run have in common: not the address of the server, nor keys."""
    plan = asdict(plan_from_json(text))
    plan["models"] = [without_address(model) for model in plan["models"]]
    for model in plan["models"]:
        model["parameters"].pop("extra_headers", None)
    for task in plan["tasks"]:
        task["scorer"] = without_address(task["scorer"]) if task["scorer"] else None
    judges = plan["options"].pop("judges", {}).values()
    plan["options"]["judges"] = [without_address(judge) for judge in judges]
    return {name: plan[name] for name in plan.keys() - {"run_date", "git_commit"}}


def _reachable(plan: Plan, settings: RunSettings) -> Plan:
    """Return a plan with usable addresses: secrets in them were not stored.

    Raises:
        BadInput: an address or a header lacks its secret.
    """
    suite = suite_of(plan.family)
    plan = suite.moved(plan, settings.base_url, settings.judge_base_url)
    models = tuple(moved(model, settings.base_url) for model in plan.models)
    plan = replace(plan, models=models)
    calls = (call for cell in cells_of(plan) for call in suite.later_calls(plan, cell))
    others = {(model.name, model.base_url): model for model, _ in calls}
    for option, called in (("--base-url", models), ("--judge-base-url", others.values())):
        for model in called:
            if MASK in (model.base_url or ""):
                raise BadInput(
                    f"the address of {model.name} was stored without its secret: give it again "
                    f"with {option}"
                )
            if MASK in json_text(model.parameters):
                raise BadInput(
                    f"the headers of {model.name} were stored without their secrets: the run "
                    "cannot be resumed; start a new one"
                )
    return plan


def _is_pending(store: Store, suite: str, run_id: str) -> bool:
    """Return whether a journal that no process writes still has results of a run."""
    runs = [pending.run for pending in pending_journals(store.path)]
    return any(run is not None and run.run == (suite, run_id) for run in runs)


def _may_be_pending(store: Store, suite: str, run_id: str, *, has_writers: bool) -> bool:
    """Return whether `_is_pending`, or a journal cannot be read, so that it may have results.

    With `has_writers`, journals that other processes are writing do not count: they are those of
    other shards.
    """
    for pending in pending_journals(store.path):
        if pending.problem is not None:
            return True
        if pending.run is None or pending.run.run != (suite, run_id):
            continue
        with abandoned_file(pending.path) as file:
            if file is not None or not has_writers:
                return True
    return False


def _suites(store: Store, run_id: str, suite: str | None) -> list[str]:
    store.recover_journals()
    return [name for name in suites_of(store.lake, run_id) if suite in (None, name)]


def _check_not_beginning(store: Store, run_id: str, suite: str | None) -> None:
    """Raise `StoreBusy` if a process is running a run that the lake does not have yet."""
    for pending in pending_journals(store.path):
        if pending.run is not None and pending.run.run_id == run_id:
            with run_lock(store.path, suite or pending.run.suite, run_id):
                pass
