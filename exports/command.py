"""`evalstore export`: files out of the warehouse, as each family's specification has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.cli import note, open_store, say
from warehouse.errors import CheckFailed

if TYPE_CHECKING:
    from datetime import datetime


@click.group()
def export() -> None:
    """Write the specification's files out again.

    \b
      evalstore export palindrome --to out/
      evalstore export openclaw --run 20260303_140000 --to out/
      evalstore export posters --run 20260405-090000-first-try --to report/
      evalstore export ledger --to benchmark/
    """


@click.group()
def publish() -> None:
    """Write a commit-ready folder of a run.

    \b
      evalstore publish posters --run 20260405-090000-first-try --label first-try
    """


@export.command()
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for benchmark_logs/ and models/.",
)
@click.option("--run", metavar="ID", help="Only this run.")
@click.option("--model", metavar="NAME", help="Only this model, by its name or recorded path.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only from this date on.")
@click.option(
    "--with-extras", is_flag=True, help="Also write the fields that the specification lacks."
)
@click.pass_obj
def palindrome(
    path: Path,
    folder: Path,
    run: str | None,
    model: str | None,
    since: datetime | None,
    *,
    with_extras: bool,
) -> None:
    """Export palindrome logs, and the model files that they name.

    Every rule of the specification holds for every file. Results that it has no place for
    are left out and named, and the exit code is 1.

    \b
      evalstore export palindrome --to out/
      evalstore export palindrome --to out/ --model example/aurora-2 --since 2026-01-01
    """
    from exports.palindrome import Selection, export_palindrome

    first_day = since.strftime("%Y-%m-%d") if since is not None else None
    selection = Selection(run, model, first_day, with_extras)
    exported = export_palindrome(open_store(path), folder, selection)
    for text in exported.notes:
        note(text)
    if exported.left_out:
        fields = ", ".join(f"{name} {n:,}" for name, n in sorted(exported.left_out.items()))
        note(
            f"left out {exported.left_out.total():,} fields that the specification does not have "
            f"({fields}); `--with-extras` writes them"
        )
    for file in exported.paths:
        say(file)
    for (run_id, reason), count in exported.obstacles.items():
        note(f"{run_id}: {count} results not exported, {reason}")
    if exported.obstacles:
        raise CheckFailed(
            f"{exported.obstacles.total()} results do not fit the specification and were left out"
        )


_run_option = click.option("--run", required=True, metavar="ID", help="The poster run.")
_folder_option = click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the files.",
)


@export.command()
@_folder_option
@click.option("--run", metavar="ID", help="Only this run.")
@click.pass_obj
def openclaw(path: Path, folder: Path, run: str | None) -> None:
    """Export OpenClaw run folders: runs/<run_id>/ with results, summary and snapshots.

    \b
      evalstore export openclaw --to out/
      evalstore export openclaw --run 20260303_140000 --to out/
    """
    from exports.openclaw.run_folder import export_openclaw

    exported = export_openclaw(open_store(path), folder, run)
    for text in exported.notes:
        note(text)
    for file in exported.paths:
        say(file)


@export.command()
@_run_option
@_folder_option
@click.option("--png", "with_png", is_flag=True, help="Draw the chart as scatter.png too.")
@click.option("--html", "with_page", is_flag=True, help="Write report.html too, all of it in one.")
@click.pass_obj
def posters(path: Path, run: str, folder: Path, *, with_png: bool, with_page: bool) -> None:
    """Export the report folder of a poster run: summary, comparisons, meta, chart.

    \b
      evalstore export posters --run 20260405-090000-first-try --to report/
      evalstore export posters --run 20260405-090000-first-try --to report/ --html
    """
    from exports.posters.publish import write_report
    from exports.posters.report import gather

    report = gather(open_store(path), run)
    for file in write_report(report, folder, with_png=with_png, with_page=with_page):
        say(file)


@export.command()
@_folder_option
@click.pass_obj
def ledger(path: Path, folder: Path) -> None:
    """Export the ledgers of all published poster reports: experiments.csv and experiments.md.

    \b
      evalstore export ledger --to benchmark/
    """
    from exports.posters.ledger import write_ledgers

    for file in write_ledgers(open_store(path), folder):
        say(file)


@publish.command(name="posters")
@_run_option
@click.option("--label", required=True, help="Name of the run for people, part of the folder's.")
@click.option(
    "--to",
    "root",
    default=".",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The project's folder; benchmark/published/ is made in it.",
)
@click.option("--note", help="Text for notes.md.")
@click.pass_obj
def publish_posters(path: Path, run: str, label: str, root: Path, note: str | None) -> None:
    """Publish a poster run as benchmark/published/<UTC>-<label>-<gold or silver>/.

    It is refused where one of the seven files is missing, or an image would be included.

    \b
      evalstore publish posters --run 20260405-090000-first-try --label first-try
    """
    from exports.posters import publish
    from exports.posters.report import gather

    say(publish.publish(gather(open_store(path), run), root, label, note=note))
