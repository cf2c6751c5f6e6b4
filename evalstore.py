"""The front door: `evalstore.open()` for notebooks, and the command line.

Each command lives with the folder that does its work, and is loaded when it is called: the
help and the small commands must not wait for libraries that they do not use.
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

# Name, where it is, and its line in the help: reading them must not import the commands.
_COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("import", "ingest.command:import_", "Bring in the logs that you have."),
    ("run", "runners.command:run", "Call models and keep what they answer."),
    ("models", "runners.command:models", "List the model files, and what is missing to use each."),
    ("runs", "warehouse.commands.runs:runs", "List the runs."),
    ("show", "warehouse.commands.show:show", "Show a view: leaderboard, pass_rates, …"),
    ("sql", "warehouse.commands.sql:sql", "Run a query over everything."),
    ("compare", "warehouse.commands.compare:compare", "Compare two models on the same tasks."),
    ("check", "warehouse.commands.check:check", "Check that everything in the store holds."),
    ("export", "exports.command:export", "Write the specification's files out again."),
    ("annotate", "ingest.annotate:annotate", "Make gold ground truth of posters."),
    ("publish", "exports.command:publish", "Write a commit-ready folder of a run."),
    ("info", "warehouse.commands.info:info", "Say what the store holds, and whether it is sound."),
    ("sync", "warehouse.commands.sync:sync", "Bring the warehouse up to date with the lake."),
    ("compact", "warehouse.commands.compact:compact", "Merge the lake's small batches."),
    ("forget", "warehouse.commands.forget:forget", "Remove a run for good."),
)
_PACKAGES = ("warehouse", "ingest", "exports", "runners")

_EXAMPLES = """
Examples:

\b
  evalstore import benchmark_logs/            bring in a folder of logs
  evalstore run palindrome --model NAME       call a model, keep what it answers
  evalstore show leaderboard                  which model is best
  evalstore sql "from runs" --format csv      any query, any format
  evalstore check                             does everything hold, and add up
  evalstore export palindrome --to out/       the specification's files
"""


def open(path: str | os.PathLike[str] = "store") -> Store:  # noqa: A001 - evalstore.open()
    """Open a store for queries: `evalstore.open("store").sql("from leaderboard").pl()`.

    Nothing is held open between queries, so that a notebook never blocks an import.

    Raises:
        ImportError: a module of the user's own hides one of ours.
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
    """The commands, loaded when they are called."""

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
    help="Folder of the store.",
)
@click.pass_context
def _cli(ctx: click.Context, store: Path) -> None:
    """Every model evaluation you have ever run, in one warehouse that you can query."""
    ctx.obj = store


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a check failed, 2 misuse or bad input."""
    _open_standard_streams()
    _cli.main(args=arguments, prog_name="evalstore")


def _open_standard_streams() -> None:
    """Open what the shell has closed (`>&-`): the next file of the store would take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)


def _check_not_hidden() -> None:
    """Say so where a module of the user's own stands in the way of one of ours."""
    home = Path(__file__).resolve().parent
    for name in _PACKAGES:
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is not None and not Path(origin).resolve().is_relative_to(home / name):
            raise ImportError(
                f"{origin} hides evalstore's own package `{name}`: rename it, or start Python "
                "from another folder"
            )


if __name__ == "__main__":
    main()
