"""`evalstore sql`: SQL queries."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from warehouse.app.console.cli import (
    TableOptions,
    max_memory_option,
    print_rows,
    table_options,
)
from warehouse.core.errors import BadInput, OutOfMemory
from warehouse.core.files import problem, read_regular

_LONGEST_QUERY = 16 * 2**20  # bytes


@click.command()
@click.argument("query", required=False)
@click.option(
    "--file",
    "-f",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read the query from a file.",
)
@click.option(
    "--param",
    "-p",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Bind a value to $NAME: a number, true, false, null, or text. Repeatable.",
)
@max_memory_option
@table_options
@click.pass_obj
def sql(
    store: Path,
    *,
    query: str | None,
    path: Path | None,
    parameters: tuple[str, ...],
    max_memory_mb: int,
    output: TableOptions,
) -> None:
    """Run a QUERY from the argument, from --file or from standard input.

    The query can read everything in the store and change nothing. Rows are printed as they
    arrive.

    \b
      evalstore sql "from leaderboard"
      evalstore sql 'from results where model = $m' -p m=example/aurora-2
      evalstore sql --file report.sql --format markdown
      echo "from runs" | evalstore sql --format csv | head
    """
    # Imported here: the help must not wait for DuckDB.
    from warehouse.engine.connection import memory_limit

    bound = dict(map(_parameter, parameters))
    try:
        with memory_limit(max_memory_mb, covers_process=True):
            print_rows(store, _text(query, path), output, bound, is_users=True)
    except OutOfMemory as error:
        raise OutOfMemory(f"{error}, or raise --max-memory-mb (now {max_memory_mb})") from error


def _text(query: str | None, path: Path | None) -> str:
    if query is not None and path is not None:
        raise click.UsageError("give the query as an argument or with --file, not both")
    if path is not None:
        try:
            return read_regular(path, max_bytes=_LONGEST_QUERY).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: cannot be read as UTF-8 text ({problem(error)})") from error
    if query is not None:
        return query
    if sys.stdin.isatty():
        raise click.UsageError("no query: give it as an argument, with --file or on stdin")
    data = sys.stdin.buffer.read(_LONGEST_QUERY + 1)
    if len(data) > _LONGEST_QUERY:
        raise BadInput(f"the query on stdin is longer than {_LONGEST_QUERY:,} bytes")
    return data.decode("utf-8", "replace")


def _parameter(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--param")
    try:
        bound = json.loads(value)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return name, value
    return name, bound if isinstance(bound, int | float | None) else value
