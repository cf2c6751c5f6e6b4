"""What the commands share: opening the store, the formats of rows, notes on stderr."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from warehouse.store import Store

FORMATS = ("table", "csv", "json", "jsonl", "parquet", "markdown", "html")


def say(text: object) -> None:
    """Tell a person something on stdout; what is quoted in it does nothing to a terminal."""
    from warehouse.output.formatting import visible_lines

    click.echo(visible_lines(str(text)))


def note(text: str) -> None:
    """Tell a person something beside the results, on stderr, as harmlessly.

    Where nobody can read it any more, the work goes on all the same.
    """
    from warehouse.output.formatting import visible_lines
    from warehouse.output.terminal import silence

    try:
        click.echo(visible_lines(text), err=True)
    except OSError:
        silence(sys.stderr)


format_option = click.option(
    "--format",
    "fmt",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How rows are written.",
)

report_format_option = click.option(
    "--format",
    "fmt",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="A report for people, or for machines.",
)


def open_store(path: Path) -> Store:
    """Open the store of the command line; its warnings go to stderr, each of them once."""
    from warehouse.store import Store

    return Store(path, on_warning=cache(lambda text: note(f"warning: {text}")))


def print_rows(
    path: Path, query: str, fmt: str, parameters: Mapping[str, Any] | None = None
) -> None:
    """Print the rows of a query on stdout, as they come.

    Raises:
        BadInput: the query cannot be run; the message marks the place.
    """
    from warehouse.output.writers import write_query
    from warehouse.store import query_errors

    with open_store(path).reading(query) as connection, query_errors():
        write_query(
            connection, query, fmt, sys.stdout.buffer, note=note, parameters=dict(parameters or {})
        )
