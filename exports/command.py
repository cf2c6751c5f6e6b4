"""`evalstore export` and `evalstore publish`, built from the table of exporters."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exports.base import EXPORTERS, PUBLISHERS, Exporter
from warehouse.cli import note, open_store, say
from warehouse.errors import CheckFailed

if TYPE_CHECKING:
    from exports.base import Exported


class _ExporterGroup(click.Group):
    """Subcommands made from a table of exporters, each loaded when it is called."""

    def __init__(self, *, table: tuple[tuple[str, str, str], ...], **settings: Any) -> None:  # noqa: ANN401 - as click has it
        super().__init__(**settings)
        self._table = table

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [name for name, _, _ in self._table]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        for name, place, _ in self._table:
            if name == cmd_name:
                module, _, attribute = place.partition(":")
                return _subcommand(name, getattr(importlib.import_module(module), attribute))
        return None

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, _, text in self._table])


@click.group(cls=_ExporterGroup, table=EXPORTERS)
def export() -> None:
    """Write files in the formats that the benchmarks specify.

    \b
      evalstore export palindrome --to out/
      evalstore export openclaw --run 20260303_140000 --to out/
      evalstore export posters --run 20260405-090000-first-try --to report/
      evalstore export ledger --to benchmark/
    """


@click.group(cls=_ExporterGroup, table=PUBLISHERS)
def publish() -> None:
    """Write a folder for a run that is ready to commit.

    \b
      evalstore publish posters --run 20260405-090000-first-try --label first-try
    """


def _subcommand(name: str, exporter: Exporter) -> click.Command:
    @click.pass_obj
    def run(store: Path, /, folder: Path, **options: object) -> None:
        _report(exporter.export(open_store(store), folder, **options))

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


def _report(exported: Exported) -> None:
    """Print what was written, and what was not.

    Raises:
        CheckFailed: results were left out.
    """
    for text in exported.notes:
        note(text)
    for path in exported.paths:
        say(path)
    for (run_id, reason), count in exported.omitted.items():
        note(f"{run_id}: {count:,} results not exported: {reason}")
    if exported.omitted:
        raise CheckFailed(
            f"{exported.omitted.total():,} results were left out because the format cannot "
            "represent them"
        )
