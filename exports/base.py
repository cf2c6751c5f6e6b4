"""The shape that all exporters share, and the table of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Concatenate, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import click

    from warehouse.app.store import Store

# Name of the subcommand, where its `Exporter` is, and its line in the help: listing the
# exporters must not import them.
EXPORTERS: tuple[tuple[str, str, str], ...] = (
    (
        "palindrome",
        "exports.palindrome.log_files:EXPORTER",
        "Palindrome logs and their model files.",
    ),
    ("openclaw", "exports.openclaw.run_folder:EXPORTER", "OpenClaw run folders."),
    ("posters", "exports.posters.report_folder:EXPORTER", "The report folder of a poster run."),
    ("eee", "exports.eee.datastore:EXPORTER", "Any runs as every_eval_ever files."),
    ("inspect", "exports.inspect.log_files:EXPORTER", "Any runs as Inspect logs."),
    ("atif", "exports.atif.trajectories:EXPORTER", "Trials of agents as trajectories in ATIF."),
    ("ledger", "exports.posters.ledger:EXPORTER", "The ledgers of published poster reports."),
)
PUBLISHERS: tuple[tuple[str, str, str], ...] = (
    ("posters", "exports.posters.publication:PUBLISHER", "The report of a poster run."),
    ("delta", "exports.delta.command:PUBLISHER", "Public tables, for any engine, as Delta."),
)


@dataclass(slots=True, kw_only=True)
class Exported:
    """What an export wrote, and what the user should know about it.

    Attributes:
        paths: files and folders written, in order.
        notes: messages for the user, one per line.
        omitted: results that the format cannot represent, counted by run and reason. If there are
            any, the command ends with exit code 1.
        replays: results left out because they were replayed and their run was not named, by run.
    """

    paths: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    omitted: Counter[tuple[str, str]] = field(default_factory=Counter)
    replays: Counter[str] = field(default_factory=Counter)


# Called with the store, the target folder, and one keyword argument per option.
ExportFunction: TypeAlias = "Callable[Concatenate[Store, Path, ...], Exported]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """An export format and its subcommand.

    Attributes:
        export: writes the files; raises `BadInput` if nothing matches or a file cannot be
            written. It reads views only, and the same data give the same bytes.
        help: help text of the subcommand, ending in an example.
        options: options of the subcommand, apart from `--to`.
        target_help: help text of `--to`, the target folder.
        default_target: target folder if `--to` is not given; None makes it required.
        says_left_out: whether the files say that tasks are left out, see `BaseStore.left_out`.
    """

    export: ExportFunction
    help: str
    options: tuple[click.Option, ...] = ()
    target_help: str = "Folder to write to."
    default_target: str | None = None
    says_left_out: bool = False
