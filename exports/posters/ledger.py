"""The experiment ledgers of all published poster reports: experiments.csv and experiments.md."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from exports.base import Exported, Exporter
from exports.posters.tables import cell
from warehouse.errors import BadInput
from warehouse.lake.atomic import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exports.rows import Document
    from warehouse.store import Store

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
_SHOWN = (
    "run_id", "model", "app_quality_score", "app_core_score", "app_quality_ci95",
    "schema_strict_rate", "missing_predictions", "judged", "total_cost_usd",
)  # fmt: skip
_TEXTS = """
SELECT report, metric, text
FROM published
WHERE suite = 'posters' AND model = ''
QUALIFY row_number() OVER (PARTITION BY report, metric ORDER BY published_id) = 1
ORDER BY report, metric
"""
_LINES = """
SELECT report, text
FROM published
WHERE suite = 'posters' AND metric = 'ledger line'
QUALIFY row_number() OVER (PARTITION BY report, model ORDER BY published_id) = 1
ORDER BY report, seq
"""


def write_ledgers(store: Store, folder: Path) -> Exported:
    """Write experiments.csv and experiments.md.

    Raises:
        BadInput: the store has no published report; a file cannot be written.
    """
    rows = [row for _, row in sorted(_ledger(store), key=lambda pair: pair[0])]
    if not rows:
        raise BadInput("no published reports; import them with `evalstore import`")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    paths = [folder / "experiments.csv", folder / "experiments.md"]
    write_whole(paths[0], text.getvalue().encode())
    write_whole(paths[1], _markdown(rows).encode())
    return Exported(paths=paths)


def _ledger(store: Store) -> Iterator[tuple[str, Document]]:
    with store.reading() as connection:
        texts = connection.execute(_TEXTS).fetchall()
        lines = connection.execute(_LINES).fetchall()
    reports: dict[str, Document] = {}
    for report, name, text in texts:
        reports.setdefault(report, {})[name] = _json(text)
    for report, documents in reports.items():
        summary = documents.get("summary.json")
        for model in summary if isinstance(summary, list) else ():
            if isinstance(model, dict):
                yield report, _line(report, documents, model)
    for report, text in lines:
        if report not in reports:
            line = _mapping(_json(text))
            yield report, {name: line.get(name) for name in _COLUMNS}


def _line(report: str, documents: Document, model: Document) -> Document:
    metadata = _mapping(documents.get("run_metadata.json"))
    meta = _mapping(documents.get("meta.json"))
    line = {name: model.get(name) for name in _COLUMNS}
    for name in ("app_quality_ci95", "app_core_ci95"):
        low, high = _interval(model.get(name))
        line |= {f"{name}_low": low, f"{name}_high": high}
    return line | {
        "run_id": report,
        "label": report,  # like the original, whose code to cut off the time never applies
        "created_at": metadata.get("created_at"),
        "git_commit": metadata.get("git_commit"),
        "temperature": metadata.get("temperature"),
        "urls_sha256": metadata.get("urls_sha256"),
        "manifest_sha256": metadata.get("manifest_sha256"),
        "bootstrap_seed": _mapping(meta.get("bootstrap")).get("seed"),
        "prompt_hashes": meta.get("prompt_hashes"),
    }


def _markdown(rows: list[Document]) -> str:
    def quality(row: Document) -> float:
        value = _figure(row["app_quality_score"])
        return float("-inf") if value is None else value

    lines = [" | ".join(_SHOWN), " | ".join("---" for _ in _SHOWN)]
    lines += [
        " | ".join(_shown(row, name) for name in _SHOWN)
        for row in sorted(rows, key=quality, reverse=True)
    ]
    return "# Experiment Ledger\n\n" + "".join(f"| {line} |\n" for line in lines)


def _shown(row: Document, name: str) -> str:
    if name != "app_quality_ci95":
        # The original writes Python's None; a CSV reads it back as empty text.
        return "None" if row[name] is None or row[name] == "" else cell(row[name])
    low, high = (_figure(row[f"{name}_{end}"]) for end in ("low", "high"))
    return "" if low is None or high is None else f"{low:.2f}-{high:.2f}"


# Any program may have written a published report, so its content is checked before use.


def _json(text: str | None) -> object:
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return None


def _mapping(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _interval(value: object) -> tuple[object, object]:
    match value:
        case [low, high]:
            return low, high
    return None, None


def _figure(value: object) -> float | None:
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


EXPORTER = Exporter(
    export=write_ledgers,
    target_help="Folder for experiments.csv and experiments.md.",
    help="""
    Export the ledgers of all published poster reports: experiments.csv and experiments.md.

    \b
      evalstore export ledger --to benchmark/
    """,
)
