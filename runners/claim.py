"""Begins a run, or goes on with one: claimed, so that no other process runs it too."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from runners.completed import CompletedCells, find_done, suites_of
from runners.plan import plan_from_json
from runners.run import Run
from warehouse.errors import BadInput, StoreBusy
from warehouse.formats.json_text import json_text
from warehouse.formats.masking import MASK
from warehouse.journal.journal import claimed
from warehouse.journal.recovery import pending_journals
from warehouse.lake.batch import Generation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.plan import Plan
    from runners.run import Options
    from warehouse.store import Store


@contextmanager
def new_run(store: Store, plan: Plan, options: Options) -> Iterator[Run]:
    """Begin a run, under a name that no other has: the local time, to the second."""
    moment = datetime.now().astimezone()
    while True:
        run_id = moment.strftime("%Y%m%d_%H%M%S")
        moment += timedelta(seconds=1)
        with ExitStack() as stack:
            try:
                stack.enter_context(claimed(store.path, plan.suite, run_id))
            except StoreBusy:
                continue
            # A process that had the name may have been killed: then its journal has it still.
            store.recover_journals()
            if _is_pending(store, plan.suite, run_id):
                continue
            if find_done(store.lake, plan.suite, run_id) is None:
                yield Run(
                    store, run_id, plan, CompletedCells(Generation(plan.suite, run_id)), options
                )
                return


@contextmanager
def resumed_run(store: Store, run_id: str, suite: str | None, options: Options) -> Iterator[Run]:
    """Go on with a run.

    Raises:
        BadInput: there is no such run, or it was not made by our runner.
        StoreBusy: another process runs it, or what it was answered cannot be taken in.
    """
    suites = _suites(store, run_id, suite)
    if not suites:
        _check_not_beginning(store, run_id, suite)
        # It may have ended between the two.
        suites = _suites(store, run_id, suite)
    if len(suites) != 1:
        problem = "is in several suites, name one" if suites else "is not in the store"
        raise BadInput(f"run {run_id} {problem}: `evalstore runs` lists them")
    with claimed(store.path, suites[0], run_id):
        store.recover_journals()
        if _is_pending(store, suites[0], run_id):
            raise StoreBusy(
                f"run {run_id} has answers that are not in the lake yet: nothing asked, so that "
                "none is asked again"
            )
        done = find_done(store.lake, suites[0], run_id)
        if done is None or done.plan is None:
            raise BadInput(f"run {run_id} was imported: there is no plan of it to go on with")
        yield Run(store, run_id, _reachable(plan_from_json(done.plan), options), done, options)


def _reachable(plan: Plan, options: Options) -> Plan:
    """Give a plan with addresses that can be used: what was secret in them was not kept."""
    models = [replace(m, base_url=options.base_url or m.base_url) for m in plan.models]
    for model in models:
        if MASK in (model.base_url or ""):
            raise BadInput(
                f"the address of {model.name} was kept without what is secret in it: give it "
                "again with --base-url"
            )
        if MASK in json_text(model.parameters):
            raise BadInput(
                f"the headers of {model.name} were kept without what is secret in them: the run "
                "cannot go on; begin another one"
            )
    return replace(plan, models=tuple(models))


def _is_pending(store: Store, suite: str, run_id: str) -> bool:
    """Tell whether answers of a run that nobody runs any more are still in a journal."""
    runs = [pending.run for pending in pending_journals(store.path)]
    return any(run is not None and run.run == (suite, run_id) for run in runs)


def _suites(store: Store, run_id: str, suite: str | None) -> list[str]:
    store.recover_journals()
    return [name for name in suites_of(store.lake, run_id) if suite in (None, name)]


def _check_not_beginning(store: Store, run_id: str, suite: str | None) -> None:
    """Say so where a run that the lake does not have yet is at work."""
    for pending in pending_journals(store.path):
        if pending.run is not None and pending.run.run_id == run_id:
            with claimed(store.path, suite or pending.run.suite, run_id):
                pass
