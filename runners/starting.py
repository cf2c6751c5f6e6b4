"""Begins a run, or goes on with one: claimed, so that no other process runs it too."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from runners.done import Done, find_done, suites_of
from runners.plan import plan_from_json
from runners.running import Run
from warehouse.batch import Generation
from warehouse.errors import BadInput, EvalstoreError, StoreBusy
from warehouse.journal import claimed
from warehouse.recovery import pending_journals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.plan import Plan
    from runners.running import Options
    from warehouse.store import Store


@contextmanager
def new_run(store: Store, plan: Plan, options: Options) -> Iterator[Run]:
    """Begin a run, under a name that no other has: the local time, to the second."""
    store.absorb()
    moment = datetime.now().astimezone()
    while True:
        run_id = moment.strftime("%Y%m%d_%H%M%S")
        moment += timedelta(seconds=1)
        with ExitStack() as stack:
            try:
                stack.enter_context(claimed(store.path, plan.suite, run_id))
            except StoreBusy:
                continue
            if find_done(store.lake, plan.suite, run_id) is None:
                yield Run(store, run_id, plan, Done(Generation(plan.suite, run_id)), options)
                return


@contextmanager
def resumed_run(store: Store, run_id: str, suite: str | None, options: Options) -> Iterator[Run]:
    """Go on with a run.

    Raises:
        BadInput: there is no such run, or it was not made by our runner.
        StoreBusy: another process runs it.
    """
    store.absorb()
    suites = [name for name in suites_of(store.lake, run_id) if suite in (None, name)]
    if len(suites) != 1:
        problem = "is in several suites, name one" if suites else "is not in the store"
        raise _not_there(store, run_id, suite, problem)
    with claimed(store.path, suites[0], run_id):
        store.absorb()
        done = find_done(store.lake, suites[0], run_id)
        if done is None or done.plan is None:
            raise BadInput(f"run {run_id} was imported: there is no plan of it to go on with")
        yield Run(store, run_id, plan_from_json(done.plan), done, options)


def _not_there(store: Store, run_id: str, suite: str | None, problem: str) -> EvalstoreError:
    for pending in pending_journals(store.path):
        if pending.run is not None and pending.run.run_id == run_id:
            with claimed(store.path, suite or pending.run.suite, run_id):
                break
    return BadInput(f"run {run_id} {problem}: `evalstore runs` lists them")
