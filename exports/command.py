"""`evalstore export` and `evalstore publish`, built from the table of exporters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from exports.base import EXPORTERS, PUBLISHERS, Exporter
from warehouse.app.console.cli import LazyGroup, note, open_store, say
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from exports.base import Exported
    from warehouse.app.store import Store

_REPLAYED = "result not exported: its answer", "results not exported: their answers"


class _ExporterGroup(LazyGroup):
    """Subcommands made from a table of exporters."""

    def load(self, name: str, target: Exporter, /) -> click.Command:
        """Return the subcommand of an exporter."""
        return _subcommand(name, target)


@click.group(cls=_ExporterGroup, table=EXPORTERS)
def export() -> None:
    """Write files in the formats that the benchmarks specify.

    \b
      evalstore export palindrome --to out/
      evalstore export openclaw --run 20260303_140000 --to out/
      evalstore export posters --run 20260405-090000-first-try --to report/
      evalstore export ledger --to benchmark/
      evalstore export eee --suite palindrome --to out/
      evalstore export inspect --run 20260303_140000 --to logs/
      evalstore export atif --to trajectories/
    """


@click.group(cls=_ExporterGroup, table=PUBLISHERS)
def publish() -> None:
    """Write a folder for a run that is ready to commit.

    \b
      evalstore publish posters --run 20260405-090000-first-try --label first-try --allow-silver
    """


def _subcommand(name: str, exporter: Exporter) -> click.Command:
    @click.pass_obj
    def run(store: Path, /, folder: Path, **options: object) -> None:
        opened = open_store(store)
        if opened.left_out and not exporter.says_left_out:
            raise BadInput(
                f"--task-version: files of {name} do not say that tasks are left out, so that "
                "their figures would pass for those of all; `export eee` says it"
            )
        exported = exporter.export(opened, folder, **options)
        if _is_replay(opened, name, options.get("run")):
            exported.notes.append(
                f"run {options['run']} is a rehearsal: its answers came from a file (provider "
                "replay) and not from a model"
            )
        _report(exported)

    target = click.Option(
        ["--to", "folder"],
        required=exporter.default_target is None,
        show_default=True,
        type=click.Path(file_okay=False, path_type=Path),
        help=exporter.target_help,
    )
    if exporter.default_target is not None:
        target.default = exporter.default_target
    return click.Command(name, callback=run, params=[target, *exporter.options], help=exporter.help)


def _is_replay(store: Store, suite: str, run_id: object) -> bool:
    query = "FROM runs WHERE suite = $suite AND run_id = $run AND is_replay"
    return run_id is not None and bool(store.sql(query, {"suite": suite, "run": run_id}).fetchall())


def _report(exported: Exported) -> None:
    """Print what was written, and what was not.

    Raises:
        CheckFailed: results were left out.
    """
    for text in exported.notes:
        note(text)
    for path in exported.paths:
        say(path)
    for run_id, count in exported.replays.items():
        note(
            f"{run_id}: {counted(count, *_REPLAYED)} came from a file (provider replay); name the "
            "run with --run to export it"
        )
    for (run_id, reason), count in exported.omitted.items():
        note(f"{run_id}: {counted(count, 'result')} not exported: {reason}")
    if exported.omitted:
        left_out = counted(exported.omitted.total(), "result was", "results were")
        raise CheckFailed(f"{left_out} left out, for the reasons above")
