"""A poster run's report as one page for a browser: the chart, the tables, what they rest on."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from exports.posters.chart import draw_svg
from exports.posters.tables import PAIRED, PAIRS, SUMMARY, ground_truth
from warehouse.output import html
from warehouse.output.formatting import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exports.posters.report import Report

Row = dict[str, Any]
_TEXT = {"model", "model_a", "model_b"}


def report_page(report: Report) -> bytes:
    """Write the page; the same report gives the same bytes."""
    title = f"Poster report: {report.run_id}"
    parts = [
        html.head(title),
        f"<h1>{html.text(title)}</h1>\n",
        html.facts(_basis(report)),
        _chart(report),
        "<h2>Models</h2>\n",
        _table(SUMMARY, report.summary),
        _parts(report.summary),
        "<h2>Is one better than another?</h2>\n",
        "<p>Difference of app quality, bootstrapped as the benchmark defines it.</p>\n",
        _table(PAIRS, report.comparisons),
        "<p>Paired by poster, p-values adjusted for all pairs (Holm): app quality.</p>\n",
        _table(PAIRED, report.comparisons),
        "<p>The same for app core.</p>\n",
        _table(PAIRED, ({**row, **row["app_core"]} for row in report.comparisons)),
        _list("Not by the protocol", ("model", "deviation"), report.meta.get("deviations", [])),
        _list("Posters not scored", ("id", "reason"), report.meta["exclusions"]),
        _list("Notes on predictions", ("model", "id", "note"), report.meta["quality_notes"]),
        "<h2>How it was computed</h2>\n",
        html.facts((name, _plain(report.meta[name])) for name in _METHOD if name in report.meta),
        html.TAIL,
    ]
    return "".join(parts).encode()


_METHOD = (
    "temperature", "seed_values", "bootstrap", "weights", "prompt_hashes", "urls_file",
    "urls_sha256", "manifest_file", "manifest_sha256",
)  # fmt: skip


def _basis(report: Report) -> Iterable[tuple[str, object]]:
    meta = report.meta
    yield "Ground truth", ground_truth(meta["label"])
    yield "Posters that are gold", meta["gold_posters"]
    yield "Posters with ground truth", meta["ground_truth_available"]
    yield "Posters without", meta["missing_ground_truth"]
    yield "Generated", meta["generated_at"]


def _chart(report: Report) -> str:
    """Show the chart as an image: nothing inside of it can act on the page."""
    if not report.points:
        return "<p>No model has a score.</p>\n"
    data = b64encode(draw_svg(report.points, report.subtitle)).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<div class="wide"><img alt="App quality against cost" src="{source}"></div>\n'


def _parts(summary: Iterable[Row]) -> str:
    """Give gold and silver by themselves, where the ground truth is mixed."""
    rows = [
        {**figures, "model": row["model"], "part": part}
        for row in summary
        for part, figures in row.get("parts", {}).items()
    ]
    columns = {name: SUMMARY[name] for name in ("Model", "Posters", "App quality", "App 95% CI")}
    return _table({"Part": "part"} | columns, rows) if rows else ""


def _table(columns: dict[str, str], rows: Iterable[Row]) -> str:
    numeric = [key not in _TEXT | {"part", "significant"} for key in columns.values()]
    cells = ([_plain(row[key]) for key in columns.values()] for row in rows)
    return html.table(list(columns), cells, numeric)


def _list(title: str, columns: tuple[str, ...], rows: list[Row]) -> str:
    if not rows:
        return ""
    table = html.table(columns, ([row[c] for c in columns] for row in rows), [False] * len(columns))
    return f"<h2>{html.text(title)}: {len(rows)}</h2>\n{table}"


def _plain(value: object) -> object:
    """Write an interval with its dash and a truth as a word; the rest as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004 - an interval's ends
        return f"{value[0]} – {value[1]}"
    return as_json(value) if isinstance(value, (dict, list)) else value
