"""A poster run's report as one page for a browser: the chart, the tables, what they rest on."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from exports.posters.chart import draw_svg
from exports.posters.tables import PAIRED, PAIRS, SUMMARY, ground_truth
from warehouse.app.output.html import render
from warehouse.core.text.formatting import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exports.posters.report import Report
    from exports.rows import Document

_TEMPLATE = Path(__file__).with_name("page.html")
# The chart has the cost of predictions, the original's table only the total.
_SUMMARY = {**SUMMARY, "Prediction cost (USD)": "prediction_cost_usd"}
_TEXT = {"model", "model_a", "model_b", "part", "significant"}
_METHOD = (
    "temperature", "seed_values", "bootstrap", "weights", "prompt_hashes", "urls_file",
    "urls_sha256", "manifest_file", "manifest_sha256",
)  # fmt: skip


class _Table(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    numeric: Sequence[bool]


def report_page(report: Report) -> bytes:
    """Return the page; the same report gives the same bytes."""
    meta, is_single = report.meta, report.meta["ground_truth_available"] == 1
    pairs = [] if is_single else report.comparisons
    page = render(
        _TEMPLATE,
        f"Poster report: {report.run_id}",
        basis=_basis(report),
        chart=b64encode(draw_svg(report.points, report.subtitle)).decode() if report.points else "",
        summary=_table(_SUMMARY, _best_first(report, is_single=is_single)),
        parts=_parts(report.summary),
        is_single=is_single,
        pairs=_table(PAIRS, pairs),
        paired_quality=_table(PAIRED, pairs),
        paired_core=_table(PAIRED, [{**row, **row["app_core"]} for row in pairs]),
        listings=(
            ("Not by the protocol", _listing(("model", "deviation"), meta.get("deviations", []))),
            ("Posters not scored", _listing(("id", "reason"), meta["exclusions"])),
            ("Notes on predictions", _listing(("model", "id", "note"), meta["quality_notes"])),
        ),
        method=[(name, _plain(meta[name])) for name in _METHOD if name in meta],
    )
    return page.encode()


def _basis(report: Report) -> list[tuple[str, object]]:
    meta = report.meta
    return [
        ("Ground truth", ground_truth(meta["label"])),
        ("Gold posters", meta["gold_posters"]),
        ("Silver posters", meta["silver_posters"]),
        ("Posters with ground truth", meta["ground_truth_available"]),
        ("Posters without", meta["missing_ground_truth"]),
        ("Generated", meta["generated_at"]),
    ]


def _best_first(report: Report, *, is_single: bool) -> list[Document]:
    """Sort models by app quality, without what the original's fields claim to know.

    A single poster has no interval, and a cost that is not known is not 0.
    """

    def rank(row: Document) -> tuple[float, str]:
        score = row["app_quality_score"]
        return (1.0 if score is None else -score, row["model"])

    hidden: Document = {"app_quality_ci95": None} if is_single else {}
    unknown = {point.model for point in report.points if point.cost is None}
    return [
        {**row, **hidden} | ({"prediction_cost_usd": "unknown"} if row["model"] in unknown else {})
        for row in sorted(report.summary, key=rank)
    ]


def _parts(summary: Iterable[Document]) -> _Table:
    """Return gold and silver separately, where the ground truth has both."""
    rows = [
        {**figures, "model": row["model"], "part": part}
        for row in summary
        for part, figures in row.get("parts", {}).items()
    ]
    columns = {name: SUMMARY[name] for name in ("Model", "Posters", "App quality", "App 95% CI")}
    return _table({"Part": "part"} | columns, rows)


def _table(columns: dict[str, str], rows: Iterable[Document]) -> _Table:
    cells = [[_plain(row[key]) for key in columns.values()] for row in rows]
    return _Table(list(columns), cells, [key not in _TEXT for key in columns.values()])


def _listing(columns: Sequence[str], rows: Iterable[Document]) -> _Table:
    cells = [[row[column] for column in columns] for row in rows]
    return _Table(columns, cells, [False] * len(columns))


def _plain(value: object) -> object:
    """Return an interval with a dash and a truth value as a word; other values as they are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004 - an interval's ends
        return f"{value[0]} – {value[1]}"
    return as_json(value) if isinstance(value, (dict, list)) else value
