"""What all commands share: the store, output formats, notes on stderr, errors."""

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
    """Print text on stdout, without the control characters it may quote."""
    from warehouse.output.formatting import visible_lines

    click.echo(visible_lines(str(text)))


def note(text: str) -> None:
    """Print a note on stderr, without the control characters it may quote.

    A closed stderr does not stop the command.
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
    help="Output format.",
)

report_format_option = click.option(
    "--format",
    "fmt",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="Output format.",
)


def open_store(path: Path) -> Store:
    """Open the store of the command line; each of its warnings is printed once, on stderr."""
    from warehouse.store import Store

    return Store(path, on_warning=cache(lambda text: note(f"warning: {text}")))


def print_rows(
    path: Path, query: str, fmt: str, parameters: Mapping[str, Any] | None = None
) -> None:
    """Print the rows of a query on stdout as they arrive.

    Raises:
        BadInput: the query cannot be run; the message marks the position of the error.
    """
    from warehouse.output.writers import write_query
    from warehouse.store import query_errors

    with open_store(path).reading(query) as connection, query_errors():
        write_query(
            connection, query, fmt, sys.stdout.buffer, note=note, parameters=dict(parameters or {})
        )
