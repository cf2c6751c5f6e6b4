"""`evalstore show`: a view by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from warehouse.cli import format_option, print_rows
from warehouse.errors import BadInput
from warehouse.sql_files import SqlFile, shipped_sql

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("view", required=False)
@click.option("--limit", "-n", type=click.IntRange(min=0), help="Show only the first N rows.")
@format_option
@click.pass_obj
def show(store: Path, view: str | None, limit: int | None, fmt: str) -> None:
    """Show a VIEW; without VIEW, list all views with their purpose.

    \b
      evalstore show
      evalstore show leaderboard
      evalstore show checks.unresolved_models --format csv
    """
    views = {_shown_name(file): file for file in shipped_sql() if _is_shown(file)}
    if view is None:
        _list_views(views)
        return
    if view not in views:
        near = get_close_matches(view, views, n=1)
        hint = f"did you mean {near[0]}?" if near else "`evalstore show` lists them"
        raise BadInput(f"there is no view {view!r}; {hint}")
    query = f"FROM {views[view].qualified}"  # a name of ours
    print_rows(store, query if limit is None else f"{query} LIMIT {limit}", fmt)


def _is_shown(file: SqlFile) -> bool:
    return file.schema in {"main", "checks"} and not file.is_function


def _shown_name(file: SqlFile) -> str:
    return file.name if file.schema == "main" else file.qualified


def _list_views(views: dict[str, SqlFile]) -> None:
    width = max(map(len, views))
    for name, file in views.items():
        click.echo(f"{name:<{width}}  {file.purpose}")
