"""What runs the tasks of a sync into tables: processes of this machine, or a cluster."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.core.errors import EvalstoreError
from warehouse.engine.scale import shard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warehouse.lake.lake import Lake
    from warehouse.lake.table_location import TableLocation

FUNCTIONS = {
    function.__name__: function for function in (shard.compute_shard, shard.compute_duplicates)
}


class Engine(Protocol):
    """Runs tasks anywhere, in any order; a task may be tried several times."""

    def lake_text(self, lake: Lake) -> str:
        """Return the folder or address by which workers reach the lake."""

    def run(
        self, function: str, tasks: Sequence[Mapping[str, Any]], place: TableLocation
    ) -> list[dict[str, Any]]:
        """Run a function of `FUNCTIONS` for each task; return the replies in order."""


class LocalEngine:
    """Runs tasks in processes of this machine.

    Args:
        n_processes: how many at a time; by default, one per processor.
    """

    def __init__(self, n_processes: int | None = None) -> None:
        self._n_processes = n_processes or os.cpu_count() or 1

    def lake_text(self, lake: Lake) -> str:
        """Return the folder of the lake, or of its cache."""
        return str(lake.store_path.resolve())

    def run(
        self,
        function: str,
        tasks: Sequence[Mapping[str, Any]],
        place: TableLocation,  # noqa: ARG002 - for engines on other machines
    ) -> list[dict[str, Any]]:
        """Run the tasks; a single one in this process.

        Raises:
            EvalstoreError: a task failed, or a process ended unexpectedly.
        """
        n_processes = min(self._n_processes, len(tasks))
        if n_processes <= 1:
            return [FUNCTIONS[function](task) for task in tasks]
        with ProcessPoolExecutor(
            n_processes,
            mp_context=get_context("spawn"),
            initializer=_prepare_worker,
        ) as pool:
            try:
                return list(pool.map(FUNCTIONS[function], tasks))
            except BrokenProcessPool as error:
                raise EvalstoreError(
                    "a process that computed a shard ended unexpectedly (was it out of memory?); "
                    "nothing was changed: run the command again"
                ) from error
            finally:
                pool.shutdown(cancel_futures=True)


def _prepare_worker() -> None:
    # Ctrl-C ends the workers without a traceback each.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A pool's worker would wait for tasks forever after the command was killed.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
