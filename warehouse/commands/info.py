"""`evalstore info`: what the store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.commandline import note, open_store
from warehouse.errors import BadInput, CheckFailed, StoreDamaged
from warehouse.recovery import pending_journals

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.store import Store

_COUNTS = """
SELECT
    (SELECT count(*) FROM lake.batches) AS batches,
    (SELECT count(*) FROM files) AS files,
    (SELECT count(*) FROM runs) AS runs,
    (SELECT count(*) FROM results) AS results,
    (SELECT count(*) FROM quarantine) AS quarantined,
    (SELECT count(*) FROM checks.violations) AS violations
"""
_SUITES = "SELECT suite, count(*), sum(n_results) FROM runs GROUP BY suite ORDER BY suite"


@click.command()
@click.option("--verify", is_flag=True, help="Check the SHA-256 of every file of the lake.")
@click.pass_obj
def info(path: Path, *, verify: bool) -> None:
    """Say what the store holds, and with --verify whether it is sound.

    \b
      evalstore info
      evalstore info --verify
    """
    store = open_store(path)
    if not path.is_dir():
        raise BadInput(f"{path}: no store here; `evalstore import` makes one")
    with store.reading() as connection:
        counts = connection.execute(_COUNTS)
        names = [column[0] for column in counts.description or ()]
        values = counts.fetchone() or ()
        suites = connection.execute(_SUITES).fetchall()
    click.echo(f"store        {path}")
    for name, value in zip(names, values, strict=True):
        click.echo(f"{name:<12} {value:,}")
    for suite, n_runs, n_results in suites:
        click.echo(f"{suite:<12} {n_runs:,} runs, {n_results:,} results")
    for pending in pending_journals(path):
        name = f"{pending.run.suite} {pending.run.run_id}" if pending.run else "a run"
        click.echo(
            f"journal      {name}, {pending.n_results:,} results so far, not in the lake yet"
        )
    click.echo(f"lake         {_size(store.lake.path)}")
    click.echo(f"warehouse    {_size(store.warehouse)}")
    if verify:
        _verify(store)


def _verify(store: Store) -> None:
    damaged = 0
    names = sorted(store.lake.batch_names())
    for name in names:
        try:
            store.lake.verify(store.lake.read(name))
        except StoreDamaged as error:
            damaged += 1
            note(str(error))
    if damaged:
        raise CheckFailed(f"{damaged} of {len(names)} batches are damaged")
    click.echo(f"verified     {len(names):,} batches, every SHA-256 as written")


def _size(path: Path) -> str:
    files = [path] if path.is_file() else path.rglob("*")
    size = sum(file.stat().st_size for file in files if file.is_file())
    return f"{size / 2**20:,.1f} MiB"
