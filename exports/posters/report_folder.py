"""The report folder of a poster run, optionally with the chart as PNG and an HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click import Option

from exports.base import Exported, Exporter
from exports.posters.report import Report, gather
from warehouse.app.console.completion import run_completer
from warehouse.lake.targets import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.app.store import Store


def write_report(
    report: Report, folder: Path, *, with_png: bool = False, with_page: bool = False
) -> list[Path]:
    """Write the report folder and return its files, in order.

    Raises:
        BadInput: a file cannot be written.
    """
    files = report.files()
    if with_page:
        from exports.posters.page import report_page

        files["report.html"] = report_page(report)
    if with_png:
        from exports.posters.chart import draw_png

        files["scatter.png"] = draw_png(report.points, report.subtitle)
    for name, data in files.items():
        write_whole(folder / name, data)
    return [folder / name for name in files]


def _export(store: Store, folder: Path, *, run: str, with_png: bool, with_page: bool) -> Exported:
    report = gather(store, run)
    return Exported(paths=write_report(report, folder, with_png=with_png, with_page=with_page))


EXPORTER = Exporter(
    export=_export,
    options=(
        Option(
            ["--run"],
            shell_complete=run_completer("posters"),
            required=True,
            metavar="ID",
            help="Poster run to export.",
        ),
        Option(["--png", "with_png"], is_flag=True, help="Also draw the chart as scatter.png."),
        Option(
            ["--html", "with_page"],
            is_flag=True,
            help="Also write report.html, a self-contained page.",
        ),
    ),
    help="""
    Export the report folder of a poster run: summary, comparisons, meta and chart.

    \b
      evalstore export posters --run 20260405-090000-first-try --to report/
      evalstore export posters --run 20260405-090000-first-try --to report/ --html
    """,
)
