"""`evalstore check`: whether what the store holds is as it should be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.checking import PAGE
from warehouse.cli import note, open_store, report_format_option
from warehouse.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from warehouse.checking.check import Checked
    from warehouse.checking.expectations import Batch


@click.command()
@click.option(
    "--expectations",
    "files",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Expectations of your own: a YAML file; may be given several times.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Where the page goes.  [default: {PAGE} in the store]",
)
@report_format_option
@click.pass_obj
def check(path: Path, files: tuple[Path, ...], html: Path | None, fmt: str) -> None:
    """Check tables, views and figures, and write a page that shows what does not hold.

    The exit code is 1 where something critical does not hold. Warnings are rows that somebody
    should look at: they are told and leave the exit code alone.

    \b
      evalstore check
      evalstore check --format json
      evalstore check --expectations release.yaml --html release.html
    """
    from warehouse.checking.check import run_checks
    from warehouse.checking.report import write_json, write_text
    from warehouse.checking.shipped import all_loaded, shipped_batches

    own = [batch for file in files for batch in _read(file)]
    store = open_store(path)
    ours = [all_loaded(store), *shipped_batches()]
    checked = run_checks(store, [*own, *ours])
    (write_json if fmt == "json" else write_text)(checked, sys.stdout.buffer)
    _write_page(checked, path, html)
    if n_failed := sum(outcome.is_failure for each in checked for outcome in each.outcomes):
        raise CheckFailed(f"{n_failed} critical expectation{'s' * (n_failed > 1)} not met")


def _read(file: Path) -> list[Batch]:
    from warehouse.checking.expectations import read_batches

    try:
        return read_batches(file.read_bytes(), str(file))
    except OSError as error:
        raise BadInput(f"{file}: cannot be read ({error.strerror})") from error


def _write_page(checked: list[Checked], path: Path, html: Path | None) -> None:
    from warehouse.checking.page import page
    from warehouse.lake.atomic import write_whole

    target = html or path / PAGE
    try:
        write_whole(target, page(checked).encode())
    except BadInput as error:
        # Nobody asked for it by name, and a store that cannot be written can still be checked.
        if html is not None:
            raise
        note(f"no page: {error}")
    else:
        note(f"page: {target}")
