"""The entry points: `evalstore.open()` for notebooks, and the command line.

Each command lives in the package that does its work and is imported only when it is called, so
that the help and small commands do not wait for libraries that they do not use.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warehouse.store import Store

__all__ = ["main", "open"]

# Name, where it is, and its line in the help: listing the commands must not import them.
_COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("import", "ingest.command:import_", "Import logs, with their task and model files."),
    ("run", "runners.command:run", "Call models and store their answers."),
    ("models", "runners.command:models", "List the model files, and whether each can be used."),
    ("runs", "warehouse.commands.runs:runs", "List the runs."),
    ("show", "warehouse.commands.show:show", "Show a view, such as leaderboard or pass_rates."),
    ("sql", "warehouse.commands.sql:sql", "Run a SQL query."),
    ("compare", "warehouse.commands.compare:compare", "Compare two models on the same tasks."),
    ("check", "warehouse.commands.check:check", "Check data integrity."),
    ("export", "exports.command:export", "Write files in the formats that the benchmarks specify."),
    ("annotate", "ingest.annotate:annotate", "Turn poster annotations into gold ground truth."),
    ("publish", "exports.command:publish", "Write a run's report to a folder, ready to commit."),
    ("info", "warehouse.commands.info:info", "Describe the store, or verify its files."),
    ("sync", "warehouse.commands.sync:sync", "Update the warehouse from the lake."),
    ("compact", "warehouse.commands.compact:compact", "Merge the small batches of the lake."),
    ("forget", "warehouse.commands.forget:forget", "Remove a run permanently."),
)
_PACKAGES = ("warehouse", "ingest", "exports", "runners")

_EXAMPLES = """
Examples:

\b
  evalstore import benchmark_logs/            import a folder of logs
  evalstore run palindrome --model NAME       call a model and store its answers
  evalstore show leaderboard                  rank the models
  evalstore sql "from runs" --format csv      run any query, in any output format
  evalstore check                             check data integrity
  evalstore export palindrome --to out/       write the files of the specification
"""


def open(path: str | os.PathLike[str] = "store") -> Store:  # noqa: A001 - evalstore.open()
    """Open a store for queries: `evalstore.open("store").sql("from leaderboard").pl()`.

    No file stays open between queries, so a notebook never blocks an import.

    Raises:
        ImportError: a module of the user's own shadows one of ours.
    """
    _check_not_hidden()
    from warehouse.store import Store

    return Store(Path(path))


@contextmanager
def _visible_messages() -> Iterator[None]:
    """Let click repeat no argument in a way that a terminal would act on."""
    try:
        yield
    except click.ClickException as error:
        from warehouse.output.formatting import visible_lines

        said = error.format_message()
        shown = visible_lines(said)
        if shown == said:
            raise
        raise click.UsageError(shown, getattr(error, "ctx", None)) from error


@contextmanager
def _room_for_output() -> Iterator[None]:
    """Say so where standard output goes to a disk that is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        from warehouse.output.terminal import silence

        silence(sys.stdout)
        click.echo(f"error: not all could be written: {error.strerror}", err=True)
        raise click.exceptions.Exit(2) from error


class _Commands(click.Group):
    """The commands, each imported when it is called."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [name for name, _, _ in _COMMANDS]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        for name, place, _ in _COMMANDS:
            if name == cmd_name:
                _check_not_hidden()
                module, _, attribute = place.partition(":")
                command: click.Command = getattr(importlib.import_module(module), attribute)
                return command
        return None

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, _, text in _COMMANDS])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:  # noqa: ANN401
        with _visible_messages(), _room_for_output():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        from warehouse.errors import EvalstoreError

        try:
            with _visible_messages(), _room_for_output():
                return super().invoke(ctx)
        except EvalstoreError as error:
            from warehouse.output.formatting import visible_lines

            click.echo(f"error: {visible_lines(str(error))}", err=True)
            ctx.exit(error.exit_code)


@click.group(cls=_Commands, epilog=_EXAMPLES, context_settings={"max_content_width": 100})
@click.version_option(package_name="evalstore")
@click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    default="store",
    envvar="EVALSTORE_DIR",
    show_default=True,
    show_envvar=True,
    help="Store folder.",
)
@click.pass_context
def _cli(ctx: click.Context, store: Path) -> None:
    """Every model evaluation you have ever run, in one warehouse you can query."""
    ctx.obj = store


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 success, 1 a check failed, 2 misuse or bad input."""
    _open_standard_streams()
    _cli.main(args=arguments, prog_name="evalstore")


def _open_standard_streams() -> None:
    """Open what the shell has closed (`>&-`): the next file of the store would take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)


def _check_not_hidden() -> None:
    """Raise an `ImportError` if a module of the user's own shadows one of ours."""
    home = Path(__file__).resolve().parent
    for name in _PACKAGES:
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is not None and not Path(origin).resolve().is_relative_to(home / name):
            raise ImportError(
                f"{origin} shadows evalstore's package `{name}`; rename it, or start Python from "
                "another folder"
            )


if __name__ == "__main__":
    main()
