"""`evalstore report`: a site of static pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import note, open_store, say
from warehouse.app.console.completion import complete_model, complete_run, complete_suite
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from datetime import datetime

_NAMED = 5


@click.command()
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to: new, empty, or with an earlier site.",
)
@click.option("--suite", shell_complete=complete_suite, help="Only runs of this suite.")
@click.option("--run", shell_complete=complete_run, metavar="ID", help="Only this run.")
@click.option("--model", shell_complete=complete_model, help="Only runs that called this model.")
@click.option(
    "--as-of",
    "until",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Only runs up to this day, such as 2026-01-31; runs without a date are left out.",
)
@click.option(
    "--samples",
    type=click.Choice(("all", "failed", "none")),
    default="all",
    show_default=True,
    help="Samples that get pages.",
)
@click.option(
    "--title", metavar="TEXT", help="Title of the site.  [default: name of the store's folder]"
)
@click.pass_obj
def report(
    path: Path,
    *,
    folder: Path,
    title: str | None,
    suite: str | None,
    run: str | None,
    model: str | None,
    until: datetime | None,
    samples: str,
) -> None:
    """Write a site: static pages of what the store has.

    The pages need no server and load nothing from elsewhere: open index.html in a browser, or put
    the folder on any web server. In a folder with a site from before, only what has changed is
    written, and pages that no longer exist are removed. docs/reports.md describes the pages.

    With some of the runs only, all figures are those of these runs, as if the store had no others:
    a leaderboard as of a day has the latest runs of that day.

    \b
      evalstore report --to site/
      evalstore report --to site/ --suite palindrome --as-of 2026-01-31
      evalstore report --to site/ --samples failed
    """
    # Imported here: the help must not wait for them.
    from exports.site.addresses import OVERVIEW
    from exports.site.progress import Progress
    from exports.site.report import write_site
    from warehouse.app.filtered_warehouse import excerpt

    day = None if until is None else until.date()
    store = open_store(path)
    with (
        Progress() as progress,
        excerpt(store, suite=suite, run=run, model=model, until=day) as chosen,
    ):
        name = title or path.absolute().name
        written = write_site(chosen, folder, samples=samples, name=name, on_page=progress.show)
    for name in written.kept[:_NAMED]:
        note(f"{folder / name}: no longer part of the site, but kept, because it was changed")
    if len(written.kept) > _NAMED:
        more = counted(len(written.kept) - _NAMED, "more file that was", "more files that were")
        note(f"and {more} changed")
    size_mb = written.n_bytes / 1e6
    note(
        f"{counted(written.n_files, 'file')} ({size_mb:,.1f} MB): {written.n_written:,} written, "
        f"{written.n_files - written.n_written:,} unchanged, {written.n_removed:,} removed"
    )
    say(folder / OVERVIEW)
