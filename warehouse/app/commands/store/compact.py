"""`evalstore compact`: the merge of small batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import note, open_store
from warehouse.core.text.figures import counted
from warehouse.engine.base_store import check_is_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.pass_obj
def compact(path: Path) -> None:
    """Merge the small batches of the lake into larger ones, which are faster to read.

    Figures, runs and files stay the same. `evalstore sync` says when there are many small
    batches.

    \b
      evalstore compact
    """
    from warehouse.lake.compaction import merge_small

    store = open_store(path)
    check_is_store(path)
    store.recover_journals()
    merged = merge_small(store.lake)
    note(f"{counted(merged.n_before, 'batch', 'batches')} before, {merged.n_after:,} now")
