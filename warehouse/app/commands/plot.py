"""`evalstore plot`: charts."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.app.console.cli import check_suite, note, open_store
from warehouse.app.console.completion import complete_suite

_NAMES = ("leaderboard", "history", "costs", "latency", "difficulty", "heatmap", "judges")
_FORMATS = (".svg", ".png", ".html")


@click.command()
@click.argument("name", type=click.Choice(_NAMES), metavar="NAME")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write: .svg, .png or .html.",
)
@click.option("--suite", shell_complete=complete_suite, help="Only this suite.")
@click.option("--task-set", help="Only this task set.")
@click.option("--metric", help="This metric; default: the main metric of each task set.")
@click.pass_obj
def plot(
    path: Path,
    name: str,
    *,
    target: Path,
    suite: str | None,
    task_set: str | None,
    metric: str | None,
) -> None:
    """Draw the chart NAME, with a panel for each task set.

    NAME is leaderboard, history, costs, latency, difficulty, heatmap or judges; docs/charts.md
    shows and explains them. SVG and HTML follow the reader's light or dark theme; a PNG is light.
    Notes say what a chart leaves out.

    \b
      evalstore plot leaderboard --to leaderboard.svg
      evalstore plot history --suite palindrome --to history.html
    """
    kind = target.suffix.lower()
    if kind not in _FORMATS:
        raise click.BadParameter(
            f"{target.name!r} does not end with .svg, .png or .html", param_hint="--to"
        )
    check_suite(path, suite)
    # Imported here: they take a second.
    from warehouse.analysis.charts.registry import draw_chart
    from warehouse.analysis.charts.svg import as_png, as_svg
    from warehouse.app.output.chart_page import as_page
    from warehouse.lake.targets import write_whole

    drawing = draw_chart(open_store(path), name, suite=suite, task_set=task_set, metric=metric)
    for text in drawing.notes:
        note(text)
    if kind == ".png":
        write_whole(target, as_png(drawing))
    else:
        text = as_page(drawing) if kind == ".html" else as_svg(drawing)
        write_whole(target, text.encode())
