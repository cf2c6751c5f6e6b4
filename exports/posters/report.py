"""The report of a poster run: summary, comparisons, meta, texts and chart, from views."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.posters.chart import Point, draw_svg
from exports.posters.tables import comparisons_markdown, ground_truth, summary_markdown
from exports.rows import Document, fetch_rows, json_object, json_value
from warehouse.errors import BadInput
from warehouse.scoring.posters.matching import CORE_EVENT_WEIGHTS, EVENT_WEIGHTS
from warehouse.scoring.posters.parts import MISSING_FIELD_PENALTY, QUALITY_WEIGHTS, TOP_WEIGHTS
from warehouse.scoring.statistics.bootstrap import ALPHA, RESAMPLES, SEED

if TYPE_CHECKING:
    import duckdb

    from warehouse.store import Store
    from warehouse.types import Row

# The columns of summary.json: the original's in its order, then ours.
_SUMMARY = (
    "model", "posters", "missing_predictions", "judged", "app_quality_score", "app_quality_ci95",
    "app_quality_std", "app_core_score", "app_core_ci95", "app_core_std", "avg_score",
    "schema_ok_rate", "schema_valid_rate", "schema_strict_rate", "json_parse_rate",
    "avg_top_level_score", "avg_event_match_score", "avg_core_event_match_score",
    "avg_event_count_score", "avg_location_score", "avg_venue_score", "avg_missing_field_rate",
    "avg_event_diff", "avg_date_f1", "prediction_cost_usd", "judge_cost_usd",
    "ground_truth_cost_usd", "total_cost_usd",
    "label", "gold_posters", "schema_exact_rate", "avg_missing_of_gold_rate",
)  # fmt: skip
_PART = (
    "posters", "app_quality_score", "app_quality_ci95", "app_core_score", "app_core_ci95",
)  # fmt: skip
_TEXT_NAMES = ("final_report.md", "notes.md")

_REPORT = "FROM poster_report WHERE run_id = $run"
_PAIRS = "FROM poster_comparisons WHERE run_id = $run AND part = 'all'"
_EXCLUSIONS = """
SELECT task_id AS id, reason FROM poster_exclusions WHERE run_id = $run AND is_excluded
"""
_NOTES = """
SELECT model, task_id AS id, reason AS note
FROM poster_scores
WHERE run_id = $run AND reason IS NOT NULL
"""
_DEVIATIONS = """
SELECT model, temperature, seed, deviation
FROM poster_settings
WHERE run_id = $run AND deviation IS NOT NULL
"""
_TEXTS = """
SELECT parse_filename(name) AS name, content
FROM artifacts
WHERE suite = 'posters' AND run_id = $run AND kind IN ('report', 'notes')
ORDER BY batch, artifacts.name
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A poster run's report.

    Attributes:
        run_id: id of the run.
        run: its row of view `poster_runs`.
        summary: content of summary.json, a row per model.
        comparisons: content of comparisons.json, a row per pair of models.
        meta: content of meta.json.
        texts: final_report.md and notes.md by name, if the run has them.
    """

    run_id: str
    run: Row
    summary: list[Document]
    comparisons: list[Document]
    meta: Document
    texts: dict[str, bytes]

    @property
    def points(self) -> list[Point]:
        """The points of the chart: the models that have a score."""
        return [
            Point(
                model=row["model"],
                cost=row["total_cost_usd"],
                quality=row["app_quality_score"],
                low=row["app_quality_ci95"][0],
                high=row["app_quality_ci95"][1],
            )
            for row in self.summary
            if row["app_quality_ci95"] is not None
        ]

    @property
    def subtitle(self) -> str:
        """The subtitle of the chart: ground truth, number of posters, intervals."""
        n_posters = self.meta["ground_truth_available"]
        return f"{ground_truth(self.meta['label'])}, {n_posters} posters, 95 % intervals"

    def files(self) -> dict[str, bytes]:
        """Return the files of the report folder, by name."""
        return {
            "summary.json": json_bytes(self.summary),
            "summary.md": summary_markdown(self.meta, self.summary).encode(),
            "comparisons.json": json_bytes(self.comparisons),
            "comparisons.md": comparisons_markdown(self.meta, self.comparisons).encode(),
            "meta.json": json_bytes(self.meta),
            "scatter.svg": draw_svg(self.points, self.subtitle),
            **self.texts,
        }


def gather(store: Store, run_id: str) -> Report:
    """Return the report of a run.

    Raises:
        BadInput: there is no such poster run.
    """
    with store.reading() as connection:
        run = {"run": run_id}
        runs = fetch_rows(connection, "FROM poster_runs WHERE run_id = $run", run)
        if not runs:
            known = connection.execute("SELECT run_id FROM poster_runs").fetchall()
            names = ", ".join(name for (name,) in known) or "none"
            raise BadInput(f"no poster run {run_id!r}; the store has: {names}")
        summary = _summary(fetch_rows(connection, _REPORT, run))
        comparisons = _comparisons(fetch_rows(connection, _PAIRS, run))
        meta = _meta(connection, runs[0])
        texts = fetch_rows(connection, _TEXTS, run)
    return Report(
        run_id=run_id,
        run=runs[0],
        summary=summary,
        comparisons=comparisons,
        meta=meta,
        texts={text["name"]: text["content"] for text in texts if text["name"] in _TEXT_NAMES},
    )


def json_bytes(value: object) -> bytes:
    """Return a value as JSON text, laid out like all files of the benchmark."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _summary(report: list[Row]) -> list[Document]:
    rows = [{**row, **_intervals(row)} for row in report]
    parts: dict[str, Document] = {}
    for row in rows:
        if row["part"] != "all":
            figures = {name: row[name] for name in _PART}
            parts.setdefault(row["model"], {})[row["part"]] = figures
    return [
        {name: row[name] for name in _SUMMARY}
        | ({"parts": parts[row["model"]]} if row["model"] in parts else {})
        for row in rows
        if row["part"] == "all"
    ]


def _intervals(row: Row) -> Document:
    ends = {name: (row[f"{name}_low"], row[f"{name}_high"]) for name in ("app_quality", "app_core")}
    return {
        f"{name}_ci95": None if low is None else [low, high] for name, (low, high) in ends.items()
    }


def _comparisons(pairs: list[Row]) -> list[Document]:
    core = {
        (row["model_a"], row["model_b"]): _figures(row)
        for row in pairs
        if row["metric"] == "app_core"
    }
    return [
        {"model_a": row["model_a"], "model_b": row["model_b"]}
        | _figures(row)
        | {"app_core": core[row["model_a"], row["model_b"]]}
        for row in pairs
        if row["metric"] == "app_quality"
    ]


def _figures(row: Row) -> Document:
    return {
        "diff_mean": row["diff_mean"],
        "ci95": [row["low"], row["high"]],
        "p_value": row["p_value"],
        "significant": row["is_significant"],
        "paired_ci95": [round(row["paired_low"], 3), round(row["paired_high"], 3)],
        "paired_p_value": round(row["paired_p_value"], 4),
        "holm_p_value": round(row["holm_p_value"], 4),
    }


def _meta(connection: duckdb.DuckDBPyConnection, run: Row) -> Document:
    hashes = json_object(run["dataset_hashes"])
    run_id = {"run": run["run_id"]}
    deviations = fetch_rows(connection, _DEVIATIONS, run_id)
    counts = ("posters_manifest_ok", "ground_truth_available", "missing_ground_truth")
    return {
        "generated_at": run["generated_at"],
        **{name: run[name] for name in counts},
        "temperature": run["temperature"],
        "seed_values": json_value(run["seed_values"]),
        "bootstrap": {"samples": RESAMPLES, "seed": SEED, "alpha": ALPHA},
        "weights": {
            "top_level": TOP_WEIGHTS,
            "event": EVENT_WEIGHTS,
            "core_event": CORE_EVENT_WEIGHTS,
            "quality": QUALITY_WEIGHTS,
            "missing_field_penalty": MISSING_FIELD_PENALTY,
        },
        "prompt_hashes": hashes.pop("prompts", {}),
        "label": run["label"],
        "label_basis": run["label_basis"],
        "gold_posters": run["gold_posters"],
        **hashes,
        **({"deviations": deviations} if deviations else {}),
        "exclusions": fetch_rows(connection, _EXCLUSIONS, run_id),
        "quality_notes": fetch_rows(connection, _NOTES, run_id),
    }
