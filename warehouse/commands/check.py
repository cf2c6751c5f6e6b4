"""`evalstore check`: the data checks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.checking import PAGE
from warehouse.cli import note, open_store, report_format_option
from warehouse.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from warehouse.checking.check import CheckedRelation
    from warehouse.checking.expectations import Relation


@click.command()
@click.option(
    "--expectations",
    "files",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="YAML file with expectations of your own. Repeatable.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Where to write the page.  [default: {PAGE} in the store]",
)
@report_format_option
@click.pass_obj
def check(path: Path, files: tuple[Path, ...], html: Path | None, fmt: str) -> None:
    """Check data integrity: tables, views and figures; write a page of what failed.

    The exit code is 1 if a critical expectation is not met. Warnings are reported but do not
    affect the exit code.

    \b
      evalstore check
      evalstore check --format json
      evalstore check --expectations release.yaml --html release.html
    """
    from warehouse.checking.check import run_checks
    from warehouse.checking.report import write_json, write_text
    from warehouse.checking.shipped import all_loaded, shipped_relations

    own = [relation for file in files for relation in _read(file)]
    store = open_store(path)
    ours = [all_loaded(store), *shipped_relations()]
    checked = run_checks(store, [*own, *ours])
    (write_json if fmt == "json" else write_text)(checked, sys.stdout.buffer)
    _write_page(checked, path, html)
    if n_failed := sum(result.is_failure for each in checked for result in each.results):
        raise CheckFailed(f"{n_failed} critical expectation{'s' * (n_failed > 1)} not met")


def _read(file: Path) -> list[Relation]:
    from warehouse.checking.expectations import read_relations

    try:
        return read_relations(file.read_bytes(), str(file))
    except OSError as error:
        raise BadInput(f"{file}: cannot be read ({error.strerror})") from error


def _write_page(checked: list[CheckedRelation], path: Path, html: Path | None) -> None:
    from warehouse.checking.page import page
    from warehouse.lake.atomic import write_whole

    target = html or path / PAGE
    try:
        write_whole(target, page(checked).encode())
    except BadInput as error:
        # A read-only store can still be checked; only a page that was asked for is an error.
        if html is not None:
            raise
        note(f"no page was written: {error}")
    else:
        note(f"page: {target}")
