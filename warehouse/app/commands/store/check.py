"""`evalstore check`: the data checks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.analysis.checking import PAGE
from warehouse.app.console.cli import note, open_store, report_format_option
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.files import read_input

if TYPE_CHECKING:
    from warehouse.analysis.checking.check import CheckedRelation
    from warehouse.analysis.checking.expectations import Relation


@click.command()
@click.option(
    "--expectations",
    "files",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="YAML file with expectations of your own. Repeatable.",
)
@click.option(
    "--only",
    metavar="NAME",
    multiple=True,
    help="Check only this view, table or query. Repeatable.",
)
@click.option("--no-builtin", is_flag=True, help="Check only your own expectations.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Where to write the page.  [default: {PAGE} in the store]",
)
@report_format_option
@click.pass_obj
def check(
    path: Path,
    files: tuple[Path, ...],
    only: tuple[str, ...],
    html: Path | None,
    fmt: str,
    *,
    no_builtin: bool,
) -> None:
    """Check data integrity: tables, views and figures; write a page of what failed.

    The exit code is 1 if a critical expectation is not met. Warnings are reported but do not
    affect the exit code.

    \b
      evalstore check
      evalstore check --format json
      evalstore check --only leaderboard --only lake.results
      evalstore check --expectations release.yaml --html release.html
      evalstore check --expectations release.yaml --no-builtin
    """
    from warehouse.analysis.checking.check import run_checks
    from warehouse.analysis.checking.shipped import of_lake, shipped_relations
    from warehouse.app.output.check_report import write_json, write_text
    from warehouse.lake.targets import STDOUT, own_descriptor

    if no_builtin and not files:
        raise click.UsageError("--no-builtin needs --expectations")
    own = [relation for file in files for relation in _read(file)]
    store = open_store(path)
    ours = [] if no_builtin else [*of_lake(store), *shipped_relations()]
    checked = run_checks(store, _chosen([*own, *ours], only))
    # A page on stdout would not be one with another text before it.
    is_page = html is not None and own_descriptor(html) == STDOUT
    out = (sys.stderr if is_page else sys.stdout).buffer
    (write_json if fmt == "json" else write_text)(checked, out)
    _write_page(checked, path, html)
    if n_failed := sum(result.is_failure for each in checked for result in each.results):
        raise CheckFailed(f"{n_failed} critical expectation{'s' * (n_failed > 1)} not met")


def _chosen(relations: list[Relation], names: tuple[str, ...]) -> list[Relation]:
    """Return the relations with these names, or all of them if none is named."""
    from warehouse.core.suggestions import did_you_mean

    known = {relation.name for relation in relations}
    hint = "`evalstore check` lists what is"
    for name in names:
        if name not in known:
            raise BadInput(f"nothing named {name!r} is checked; {did_you_mean(name, known, hint)}")
    return [relation for relation in relations if not names or relation.name in names]


def _read(file: Path) -> list[Relation]:
    from warehouse.analysis.checking.expectations import read_relations

    return read_relations(read_input(file), str(file))


def _write_page(checked: list[CheckedRelation], path: Path, html: Path | None) -> None:
    from warehouse.app.output.check_page import page
    from warehouse.lake.targets import write_whole

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
