"""The experiment ledgers of all published poster reports: experiments.csv and experiments.md."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from exports.base import Exported, Exporter
from exports.posters.tables import cell
from exports.rows import fetch_rows, json_object
from warehouse.core.errors import BadInput
from warehouse.lake.targets import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from exports.rows import Document
    from warehouse.app.store import Store
    from warehouse.core.types import Row

_COLUMNS = (
    "run_id", "label", "created_at", "git_commit", "temperature", "model", "posters",
    "missing_predictions", "judged", "app_quality_score", "app_quality_ci95",
    "app_quality_ci95_low", "app_quality_ci95_high", "app_core_score", "app_core_ci95",
    "app_core_ci95_low", "app_core_ci95_high", "schema_strict_rate", "schema_valid_rate",
    "json_parse_rate", "avg_top_level_score", "avg_event_match_score",
    "avg_core_event_match_score", "avg_event_count_score", "avg_location_score",
    "avg_venue_score", "avg_missing_field_rate", "avg_date_f1", "prediction_cost_usd",
    "judge_cost_usd", "ground_truth_cost_usd", "total_cost_usd", "urls_sha256",
    "manifest_sha256", "bootstrap_seed", "prompt_hashes",
)  # fmt: skip
# Ours, after the columns of the original.
_LABELS = {
    "ground_truth": "label",
    "gold_posters": "gold_posters",
    "silver_posters": "silver_posters",
}
_SHOWN = (
    "run_id", "model", "app_quality_score", "app_core_score", "app_quality_ci95",
    "schema_strict_rate", "missing_predictions", "judged", "total_cost_usd", "ground_truth",
)  # fmt: skip
_LEDGER = "FROM experiment_ledger ORDER BY report, seq"


def write_ledgers(store: Store, folder: Path) -> Exported:
    """Write experiments.csv and experiments.md.

    Raises:
        BadInput: the store has no published report; a file cannot be written.
    """
    with store.reading() as connection:
        rows = fetch_rows(connection, _LEDGER, {})
    if not rows:
        raise BadInput("no published reports; import them with `evalstore import`")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, (*_COLUMNS, *_LABELS))
    writer.writeheader()
    writer.writerows(map(_line, rows))
    paths = [folder / "experiments.csv", folder / "experiments.md"]
    write_whole(paths[0], text.getvalue().encode())
    write_whole(paths[1], _markdown(rows).encode())
    return Exported(paths=paths)


def _line(row: Row) -> Document:
    """Return a line of the ledger: the values as recorded, then the label."""
    try:
        record = json_object(row["record"])
    except (ValueError, RecursionError):  # any program may have written it, nested to any depth
        record = {**row, "run_id": row["report"], "label": row["report"]}
    return {name: record.get(name) for name in _COLUMNS} | {
        name: row[column] for name, column in _LABELS.items()
    }


def _markdown(rows: list[Row]) -> str:
    def quality(row: Row) -> float:
        score: float | None = row["app_quality_score"]
        return float("-inf") if score is None else score

    lines = [" | ".join(_SHOWN), " | ".join("---" for _ in _SHOWN)]
    for row in sorted(rows, key=quality, reverse=True):
        shown = {name: _shown(value) for name, value in _line(row).items()}
        shown |= {"app_quality_ci95": _interval(row), "ground_truth": row["label"] or "unknown"}
        lines.append(" | ".join(shown[name] for name in _SHOWN))
    return "# Experiment Ledger\n\n" + "".join(f"| {line} |\n" for line in lines)


def _interval(row: Row) -> str:
    low, high = row["app_quality_low"], row["app_quality_high"]
    return "" if low is None or high is None else f"{low:.2f}-{high:.2f}"


def _shown(value: object) -> str:
    # The original writes Python's None; a CSV reads it back as empty text.
    return "None" if value is None or value == "" else cell(value)


EXPORTER = Exporter(
    export=write_ledgers,
    target_help="Folder for experiments.csv and experiments.md.",
    help="""
    Export the ledgers of all published poster reports: experiments.csv and experiments.md.

    \b
      evalstore export ledger --to benchmark/
    """,
)
