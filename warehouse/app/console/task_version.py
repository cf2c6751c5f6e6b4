"""`--task-version`: the command reads the figures of a named version of task sets, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from warehouse.app.store import Store

# What `--task-version` chose, in the context of the command line.
TASK_VERSION = "evalstore.task_version"


def store_of_version() -> Store | None:
    """Return the store without the tasks that `--task-version` leaves out; None without it."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(TASK_VERSION)


def left_out_tasks() -> str:
    """Return the sentence on what `--task-version` leaves out; empty without it."""
    chosen = store_of_version()
    return "" if chosen is None else chosen.left_out
