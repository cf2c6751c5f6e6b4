"""What all commands share: the store, output formats, standard streams, the error boundary."""

from __future__ import annotations

import errno
import importlib
import math
import os
import re
import sys
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from warehouse.app.console.task_version import left_out_tasks, store_of_version
from warehouse.core.errors import BadInput, EvalstoreError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from warehouse.app.output.terminal import Layout
    from warehouse.app.store import Store

# Name of a command, where it is (`module:attribute`), and its line in the help.
CommandTable = tuple[tuple[str, str, str], ...]

_NO_BREAK = "\xa0"

_COMMAND = "evalstore.command"
# What click itself turns into messages and exit codes.
_ENDS = (click.ClickException, click.exceptions.Exit, click.Abort, EOFError)
# What DuckDB makes of Ctrl-C during a query.
_INTERRUPTED = "Query interrupted"

FORMATS = ("table", "csv", "json", "jsonl", "parquet", "markdown", "html")


def say(text: object) -> None:
    """Print text on stdout, without the control characters it may quote."""
    from warehouse.core.text.formatting import visible_lines

    click.echo(visible_lines(str(text)))


def say_wrapped(text: str) -> None:
    """Print a paragraph on stdout, in lines of the terminal's width if it is one."""
    say(_wrapped(text, sys.stdout))


def _wrapped(text: str, stream: TextIO) -> str:
    """Return a paragraph in lines of the terminal's width, if the stream is one."""
    if not stream.isatty():
        return text
    # Imported here: the help must not wait for them.
    import shutil
    from textwrap import fill

    joined = re.sub(" (?=[%=<])", _NO_BREAK, text)
    # Names of models and options have hyphens; they stay whole, to be copied.
    lines = fill(joined, shutil.get_terminal_size().columns, break_on_hyphens=False)
    return lines.replace(_NO_BREAK, " ")


def say_paged(text: str) -> None:
    """Print text of ours on stdout, through a pager if a terminal is too small for it."""
    from warehouse.app.output.terminal import quiet_pipe, write_paged

    with quiet_pipe(sys.stdout.buffer):
        write_paged([text.encode()], sys.stdout.buffer)


def note(text: str) -> None:
    """Print a note on stderr, without the control characters it may quote.

    A closed stderr does not stop the command.
    """
    from warehouse.app.output.terminal import silence
    from warehouse.core.text.formatting import visible_lines

    try:
        click.echo(visible_lines(text), err=True)
    except OSError:
        silence(sys.stderr)


def note_wrapped(text: str) -> None:
    """Print a note of one paragraph on stderr, in lines of the terminal's width if it is one."""
    note(_wrapped(text, sys.stderr))


class TableOptions(NamedTuple):
    """Values of the options of commands that print rows.

    Attributes:
        fmt: output format.
        columns: columns to print, in order; empty for all of them.
        is_wide: whether a terminal shows every column in full.
        is_paged: whether a table that is larger than the screen goes through a pager.
        hint: what a note about hidden columns recommends.
    """

    fmt: str = "table"
    columns: tuple[str, ...] = ()
    is_wide: bool = False
    is_paged: bool = False
    hint: str = "--wide shows all, --columns A,B chooses"

    def layout(self, answer: tuple[str, ...] = (), blocks: tuple[str, ...] = ()) -> Layout:
        """Return how a table with these columns that answer, and in headings, is shown."""
        from warehouse.app.output.terminal import Layout

        return Layout(
            answer=answer,
            blocks=blocks,
            columns=self.columns,
            is_wide=self.is_wide,
            is_paged=self.is_paged,
            options=self.hint,
            left_out=left_out_tasks(),
        )


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--format`, `--columns` and `--wide` to a command, which takes them as `output`."""

    @click.option(
        "--format",
        "fmt",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="Output format.",
    )
    @click.option(
        "--columns",
        metavar="A,B",
        default="",
        help="Print only these columns, in this order.",
    )
    @click.option("--wide", is_flag=True, help="Show every column in full on a terminal.")
    @wraps(command)
    def wrapped(*args: object, fmt: str, columns: str, wide: bool, **kwargs: object) -> None:
        names = tuple(name.strip() for name in columns.split(",") if name.strip())
        output = TableOptions(fmt=fmt, columns=names, is_wide=wide, is_paged=True)
        command(*args, output=output, **kwargs)

    return wrapped


report_format_option = click.option(
    "--format",
    "fmt",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="Output format.",
)

max_memory_option = click.option(
    "--max-memory-mb",
    type=click.IntRange(min=100),
    default=2_000,
    show_default=True,
    help="Memory of a query; sorts, groups and joins that need more use temporary files.",
)


def open_store(path: Path) -> Store:
    """Open the store of the command line; each of its warnings is printed once, on stderr.

    A command opens a folder once, and its readers list an object store once. With
    `--task-version` it is a copy without the tasks that the version leaves out.
    """
    if (chosen := store_of_version()) is not None:
        return chosen
    from warehouse.app.opening import open_store as open_any

    context = click.get_current_context(silent=True)
    stores: dict[Path, Store] = {} if context is None else context.meta.setdefault(__name__, {})
    if path not in stores:
        warn = cache(lambda text: note(f"warning: {text}"))
        stores[path] = open_any(path, on_warning=warn, on_rebuild=note)
        stores[path].fresh_seconds = math.inf
    return stores[path]


def check_suite(path: Path, suite: str | None) -> None:
    """Check the value of an option `--suite`.

    Raises:
        BadInput: the store has no runs of the suite; the message names those it has.
    """
    if suite is None:
        return
    from warehouse.core.suggestions import did_you_mean

    query = "SELECT DISTINCT suite FROM lake.runs ORDER BY suite"
    suites = [name for (name,) in open_store(path).sql(query).fetchall()]
    if suite not in suites:
        known = f"its suites are: {', '.join(suites)}" if suites else "it has no runs at all"
        hint = did_you_mean(suite, suites, known)
        raise BadInput(f"the store has no runs of suite {suite!r}; {hint}")


def print_rows(
    path: Path,
    query: str,
    output: TableOptions,
    parameters: Mapping[str, object] | None = None,
    *,
    answer: tuple[str, ...] = (),
    blocks: tuple[str, ...] = (),
    is_users: bool = False,
) -> None:
    """Print the rows of a query on stdout as they arrive.

    Args:
        path: the store.
        query: the query.
        output: the options of the command.
        parameters: values of the query's parameters.
        answer: the columns that answer, for a terminal.
        blocks: the columns that a terminal shows as headings.
        is_users: whether the user wrote the query, so that messages may quote it.

    Raises:
        BadInput: the query cannot be run; the message marks the position in a user's query.
    """
    from warehouse.app.output.writers import write_query
    from warehouse.engine.query import query_errors

    with open_store(path).reading(query) as connection, query_errors(is_users=is_users):
        write_query(
            connection,
            query,
            output.fmt,
            sys.stdout.buffer,
            note=note_wrapped,
            parameters=dict(parameters or {}),
            layout=output.layout(answer, blocks),
        )


def print_values(
    columns: Sequence[str], rows: Iterable[Sequence[object]], fmt: str, layout: Layout
) -> None:
    """Print rows made in Python on stdout.

    Raises:
        BadInput: a column that the layout chooses is unknown, or Parquet would go to a terminal.
    """
    from warehouse.app.output.writers import write_rows

    write_rows(columns, rows, fmt, sys.stdout.buffer, note=note_wrapped, layout=layout)


class HelpfulGroup(click.Group):
    """Commands that name the similar ones when a name is not known."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name.

        Raises:
            click.UsageError: there is no such command; the message names the similar ones.
        """
        is_name = bool(args) and not args[0].startswith("-") and not ctx.resilient_parsing
        if is_name and self.get_command(ctx, args[0]) is None:
            from warehouse.core.suggestions import did_you_mean

            hint = did_you_mean(args[0], self.list_commands(ctx), "--help lists the commands")
            ctx.fail(f"there is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


class _Utf8Text(click.types.StringParamType):
    """Text without lone surrogates, which is what other bytes in arguments become."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Check an argument; names of files may have any bytes, and another type."""
        text: str = super().convert(value, param, ctx)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail("not UTF-8 text", param, ctx)
        return text


def _require_utf8(command: click.Command) -> None:
    """Let all texts among the parameters of a command, and of its subcommands, be UTF-8."""
    for parameter in command.params:
        if type(parameter.type) is click.types.StringParamType:
            parameter.type = _Utf8Text()
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        _require_utf8(subcommand)


class LazyGroup(HelpfulGroup):
    """Commands of a table, each imported only when it is called."""

    def __init__(self, *, table: CommandTable, **settings: Any) -> None:  # noqa: ANN401 - as click has it
        super().__init__(**settings)
        self._table = table

    def load(self, _name: str, target: Any, /) -> click.Command:  # noqa: ANN401 - any attribute
        """Return the command for an attribute that the table names; by default, it is one."""
        command: click.Command = target
        return command

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return [name for name, _, _ in self._table]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None for an unknown name."""
        for name, place, _ in self._table:
            if name == cmd_name:
                module, _, attribute = place.partition(":")
                command = self.load(name, getattr(importlib.import_module(module), attribute))
                _require_utf8(command)
                return command
        return None

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help lines of the table, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, _, text in self._table])


class RootGroup(LazyGroup):
    """The command line itself: the only place where errors become messages and exit codes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; without any, show the help, which is a success."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        """Parse the arguments."""
        command = " ".join(self._without_values(args))
        with _crashes_reported(command), _harmless_usage_errors(), _full_disk_reported():
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[_COMMAND] = command
        return context

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            command = ctx.meta[_COMMAND]
            with _crashes_reported(command), _harmless_usage_errors(), _full_disk_reported():
                return super().invoke(ctx)
        except EvalstoreError as error:
            note(f"error: {error}")
            ctx.exit(error.exit_code)
        except (KeyboardInterrupt, click.Abort) as end:
            # click makes an `Abort` of Ctrl-C at a question, and also of the answer "no".
            if isinstance(end, click.Abort) and not isinstance(end.__context__, KeyboardInterrupt):
                raise
            note("\ninterrupted")
            ctx.exit(ExitCode.INTERRUPTED)

    def _without_values(self, arguments: Iterable[str]) -> Iterator[str]:
        """Yield the names of the command and of the given options, with `…` for each value."""
        names = {name for name, _, _ in self._table}
        for argument in arguments:
            if argument.startswith("--"):
                yield argument.partition("=")[0]
            elif argument.startswith("-"):
                yield argument[:2]
            else:
                yield argument if argument in names else "…"


def open_standard_streams() -> None:
    """Open streams that the shell has closed (`>&-`); the next file would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It stays open; the help does not wait for pathlib.
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)


@contextmanager
def _crashes_reported(command: str) -> Iterator[None]:
    """Turn an unexpected error into a message, and a report for whoever is to fix it.

    For an error of the operating system that names a file, the message says it all.
    """
    try:
        yield
    except (EvalstoreError, *_ENDS):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise
        if isinstance(error, RuntimeError) and str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        from warehouse.app.console.crash import report_text, summary, write_report

        text = report_text(error, command)
        if os.environ.get("EVALSTORE_DEBUG", "") not in {"", "0"}:
            note(text)
        if isinstance(error, OSError) and error.filename is not None:
            note(f"error: {error.filename}: {error.strerror}")
            raise click.exceptions.Exit(ExitCode.BAD_INPUT) from error
        note(f"error: evalstore failed unexpectedly ({summary(error)})")
        try:
            note(f"crash report: {write_report(text)} (EVALSTORE_DEBUG=1 shows it here)")
        except OSError as unwritable:
            note(f"no crash report was written: {unwritable} (EVALSTORE_DEBUG=1 shows it here)")
        raise click.exceptions.Exit(ExitCode.BUG) from error


@contextmanager
def _harmless_usage_errors() -> Iterator[None]:
    """Remove the control characters of arguments that click's errors repeat."""
    try:
        yield
    except click.ClickException as error:
        from warehouse.core.text.formatting import visible_lines

        message = error.format_message()
        shown = visible_lines(message)
        if shown == message:
            raise
        raise click.UsageError(shown, getattr(error, "ctx", None)) from error


@contextmanager
def _full_disk_reported() -> Iterator[None]:
    """Report that standard output goes to a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        from warehouse.app.output.terminal import silence

        silence(sys.stdout)
        note(f"error: output truncated: {error.strerror}")
        raise click.exceptions.Exit(ExitCode.BAD_INPUT) from error
