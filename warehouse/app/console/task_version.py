"""`--task-version`: the command reads the figures of a named version of task sets, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from warehouse.app.store import Store

# What `--task-version` chose, in the context of the command line.
TASK_VERSION = "evalstore.task_version"


class ChosenVersion(NamedTuple):
    """A copy of the store without the tasks that the version leaves out, and what it says of it."""

    store: Store
    sentence: str


def chosen_task_version() -> ChosenVersion | None:
    """Return the version that the command line chooses; None without `--task-version`."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(TASK_VERSION)


def left_out_tasks() -> str:
    """Return the sentence on what `--task-version` leaves out; empty without it."""
    chosen = chosen_task_version()
    return "" if chosen is None else chosen.sentence
