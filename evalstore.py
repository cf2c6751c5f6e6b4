"""The entry points: `evalstore.open()` for notebooks, and the command line.

Each command lives in the package that does its work and is imported only when it is called, so
that the help and small commands do not wait for libraries that they do not use.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warehouse.app.store import Store

__all__ = ["main", "open"]

_PACKAGES = ("warehouse", "ingest", "exports", "runners")
_OBJECTS_PER_COLLECTION = 50_000


def _check_not_shadowed() -> None:
    """Raise an `ImportError` if a module of the user's own shadows one of ours."""
    home = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - the help must not wait for pathlib
    for name in _PACKAGES:
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        origin = spec.origin if spec is not None else None
        ours = os.path.join(home, name, "")  # noqa: PTH118
        if origin is not None and not os.path.realpath(origin).startswith(ours):
            raise ImportError(
                f"{origin} shadows evalstore's package `{name}`; rename it, or start Python from "
                "another folder"
            )


def _is_program() -> bool:
    """Return whether Python was started for the command line, not by someone else's code."""
    name, _ = os.path.splitext(os.path.basename(sys.argv[0]))  # noqa: PTH119, PTH122
    return __name__ == "__main__" or name == "evalstore"


try:
    _check_not_shadowed()
except ImportError as shadowed:
    if not _is_program():
        raise
    click.echo(f"error: {shadowed}", err=True)
    # As `ExitCode.BAD_INPUT`, whose module may be the one that is shadowed.
    sys.exit(2)

from warehouse.app.console.cli import CommandTable, RootGroup, open_standard_streams  # noqa: E402 - checked first
from warehouse.core.formats.values import defer_pandas, share_allocator  # noqa: E402

# Name, where it is, and its line in the help: listing the commands must not import them.
_COMMANDS: CommandTable = (
    ("import", "ingest.command:import_", "Import logs, with their task and model files."),
    ("init", "runners.command:init", "Create a first suite of your own, with a README."),
    ("run", "runners.command:run", "Call models and store their answers."),
    ("judge", "runners.judging.command:judge", "Have a model judge stored answers."),
    ("rescore", "runners.rescore.command:rescore", "Judge stored answers by another scorer."),
    ("models", "runners.command:models", "List the model files, and whether each can be used."),
    ("runs", "warehouse.app.commands.runs:runs", "List the runs."),
    ("tag", "warehouse.app.commands.tag:tag", "Tag a run, such as with the release it tested."),
    ("version", "warehouse.app.commands.version:version", "Declare which tasks a set consists of."),
    ("show", "warehouse.app.commands.show:show", "Show a view, such as leaderboard or pass_rates."),
    ("sql", "warehouse.app.commands.sql:sql", "Run a SQL query."),
    ("grep", "warehouse.app.commands.grep:grep", "Search in prompts, answers and steps."),
    ("history", "warehouse.app.commands.history:history", "Show how a model did from run to run."),
    ("compare", "warehouse.app.commands.compare:compare", "Compare models on the same tasks."),
    ("judges", "warehouse.app.commands.judges:judges", "Say how good the judges are."),
    ("rank", "warehouse.app.commands.rank:rank", "Rank models by votes between their answers."),
    ("horizon", "warehouse.app.commands.horizon:horizon", "Say how long tasks models pass."),
    ("items", "warehouse.app.commands.items:items", "List the suspect items of a benchmark."),
    (
        "abilities",
        "warehouse.app.commands.abilities:abilities",
        "Say how able models are, and how difficult items.",
    ),
    ("plan", "warehouse.app.commands.plan:plan", "Plan the tasks and attempts of a comparison."),
    ("subset", "warehouse.app.commands.subset:subset", "Choose tasks that predict the full score."),
    ("gate", "warehouse.app.commands.gate:gate", "Decide whether a model keeps the rules."),
    ("plot", "warehouse.app.commands.plot:plot", "Draw a chart as SVG, PNG or HTML."),
    ("report", "exports.site.command:report", "Write a site: static pages of what the store has."),
    ("view", "exports.view.command:view", "Show the store in a browser, live."),
    ("check", "warehouse.app.commands.store.check:check", "Check data integrity."),
    ("export", "exports.command:export", "Write files in the formats that the benchmarks specify."),
    ("label", "ingest.labels:label", "Let people label answers, blind."),
    ("annotate", "ingest.annotate:annotate", "Turn poster annotations into gold ground truth."),
    ("publish", "exports.command:publish", "Write a run's report to a folder, ready to commit."),
    ("mcp", "warehouse.app.commands.mcp:mcp", "Serve the store to an agent (MCP)."),
    ("info", "warehouse.app.commands.store.info:info", "Describe the store, or verify its files."),
    ("sync", "warehouse.app.commands.store.sync:sync", "Update the warehouse from the lake."),
    (
        "compact",
        "warehouse.app.commands.store.compact:compact",
        "Merge the small batches of the lake.",
    ),
    ("forget", "warehouse.app.commands.store.forget:forget", "Remove a run permanently."),
)
# What tables, which `sync --to` wrote, cannot be used for.
_WRITING = frozenset(
    {
        *("import", "run", "judge", "rescore", "tag", "version", "label", "annotate", "compact"),
        "forget",
    }
)
# What shows figures of a named version of task sets, and says so in every output.
_OF_TASK_VERSIONS = frozenset(
    {
        *("show", "sql", "history", "compare", "items", "abilities", "subset", "gate", "plot"),
        *("report", "export"),
    }
)
_EXAMPLES = """
Examples:

\b
  evalstore import benchmark_logs/            import a folder of logs
  evalstore init my-suite                     create a suite of your own to start from
  evalstore run palindrome --model NAME       call a model and store its answers
  evalstore show leaderboard                  rank the models
  evalstore sql "from runs" --format csv      run any query, in any output format
  evalstore check                             check data integrity
  evalstore export palindrome --to out/       write the files of the specification
"""


def open(path: str | os.PathLike[str] = "store") -> Store:  # noqa: A001 - evalstore.open()
    """Open a store for queries: `evalstore.open("store").sql("from leaderboard").pl()`.

    The store is a folder, or on an object store: `evalstore.open("s3://bucket/prefix")`.
    Tables that `evalstore sync --to` wrote are opened in the same way, and only read.

    No file stays open between queries, so a notebook never blocks an import.
    """
    from warehouse.app.opening import open_store

    return open_store(_folder(os.fspath(path)))


@click.group(
    cls=RootGroup, table=_COMMANDS, epilog=_EXAMPLES, context_settings={"max_content_width": 100}
)
@click.version_option(package_name="evalstore")
@click.option(
    "--store",
    type=click.Path(file_okay=False),
    default="store",
    envvar="EVALSTORE_DIR",
    show_default=True,
    show_envvar=True,
    help="Store folder, or an address such as s3://bucket/prefix.",
)
@click.option(
    "--task-version",
    metavar="NAME",
    help="Figures without the tasks that this version leaves out; see `evalstore version`.",
)
@click.pass_context
def _cli(ctx: click.Context, store: str, task_version: str | None) -> None:
    """Every model evaluation you have ever run, in one warehouse you can query."""
    ctx.obj = _folder(store)
    if ctx.invoked_subcommand in _WRITING | {"sync"}:
        # What they write depends on all that the lake holds.
        os.environ.pop("EVALSTORE_NO_SYNC", None)
    if ctx.invoked_subcommand in _WRITING:
        from warehouse.lake.table_location import check_is_no_tables

        check_is_no_tables(ctx.obj)
    if task_version is not None:
        if ctx.invoked_subcommand not in _OF_TASK_VERSIONS:
            allowed = ", ".join(sorted(_OF_TASK_VERSIONS))
            live = "; it shows the store live: `report` writes its pages for a version"
            why = live if ctx.invoked_subcommand == "view" else ""
            raise click.UsageError(f"--task-version can be used with {allowed}{why}.")
        from warehouse.app.commands.version import choose_task_version

        choose_task_version(ctx, task_version)


def _folder(store: str) -> Path:
    """Return the folder of a store, which may be on an object store."""
    if "://" not in store:
        from pathlib import Path

        return Path(store)
    from warehouse.lake.remote.address import store_folder

    return store_folder(store)


def _collect_rarely() -> None:
    """Let Python look for cycles of objects less often, and not in what is loaded already.

    It would look at all that modules consist of again and again while they are loaded.
    """
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *gc.get_threshold()[1:])
    gc.freeze()


def _end_process(codes: Sequence[int]) -> None:
    """End the process with the last code, if there is one: the last of all exit functions.

    Python would now free all objects one by one, most of a second of them after `check`. Meanwhile
    threads of DuckDB, Arrow and gRPC still run, which can abort a command that has succeeded
    ("terminate called without an active exception").
    """
    if codes:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            return  # Python reports it
        os._exit(codes[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with a code of `warehouse.core.errors.ExitCode`."""
    codes: list[int] = []
    if _is_program():
        # They are called in reverse order.
        atexit.register(_end_process, codes)
        _collect_rarely()
    open_standard_streams()
    defer_pandas()
    share_allocator()
    try:
        _cli.main(args=arguments, prog_name="evalstore")
    except SystemExit as end:
        if isinstance(end.code, int):
            codes.append(end.code)
        raise


if __name__ == "__main__":
    main()
