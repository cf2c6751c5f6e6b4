"""The report of a poster run: summary, comparisons, meta, texts and chart, from views."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.posters.chart import Point, draw_svg
from exports.posters.tables import comparisons_markdown, ground_truth, summary_markdown
from exports.rows import Document, fetch_rows, json_object, json_value, unknown_run
from warehouse.engine.scoring.posters.settings import scoring_settings

if TYPE_CHECKING:
    import duckdb

    from warehouse.app.store import Store
    from warehouse.core.types import Row

# The columns of summary.json: the original's in its order, then ours.
_SUMMARY = (
    "model", "posters", "missing_predictions", "judged", "app_quality_score", "app_quality_ci95",
    "app_quality_std", "app_core_score", "app_core_ci95", "app_core_std", "avg_score",
    "schema_ok_rate", "schema_valid_rate", "schema_strict_rate", "json_parse_rate",
    "avg_top_level_score", "avg_event_match_score", "avg_core_event_match_score",
    "avg_event_count_score", "avg_location_score", "avg_venue_score", "avg_missing_field_rate",
    "avg_event_diff", "avg_date_f1", "prediction_cost_usd", "judge_cost_usd",
    "ground_truth_cost_usd", "total_cost_usd",
    "label", "gold_posters", "silver_posters", "schema_exact_rate", "avg_missing_of_gold_rate",
)  # fmt: skip
_PART = (
    "posters", "app_quality_score", "app_quality_ci95", "app_core_score", "app_core_ci95",
)  # fmt: skip
_TEXT_NAMES = ("final_report.md", "notes.md")

# The original sorts models by name.
_REPORT = "FROM scores.all_poster_report WHERE run_id = $run ORDER BY model"
_PARTS = "FROM scores.poster_figures WHERE run_id = $run AND part <> 'all' ORDER BY model, part"
_PAIRS = "FROM scores.all_poster_comparisons WHERE run_id = $run AND part = 'all'"
_EXCLUSIONS = """
SELECT task_id AS id, reason FROM poster_exclusions WHERE run_id = $run AND is_excluded
"""
_NOTES = """
SELECT model, task_id AS id, reason AS note
FROM scores.poster_prediction_scores
WHERE run_id = $run AND reason IS NOT NULL
ORDER BY model, seq, task_id
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
        points: the points of the chart: the models that have a score.
        texts: final_report.md and notes.md by name, if the run has them.
    """

    run_id: str
    run: Row
    summary: list[Document]
    comparisons: list[Document]
    meta: Document
    points: list[Point]
    texts: dict[str, bytes]

    @property
    def subtitle(self) -> str:
        """The subtitle of the chart: ground truth, number of posters, intervals."""
        n_posters = self.meta["ground_truth_available"]
        basis = (
            "1 poster, no intervals" if n_posters == 1 else f"{n_posters} posters, 95 % intervals"
        )
        return f"{ground_truth(self.meta['label'])}, {basis}"

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
            raise unknown_run(connection, "posters", run_id)
        report = fetch_rows(connection, _REPORT, run)
        summary = _summary(report, fetch_rows(connection, _PARTS, run))
        comparisons = _comparisons(fetch_rows(connection, _PAIRS, run))
        meta = _meta(connection, runs[0])
        texts = fetch_rows(connection, _TEXTS, run)
    return Report(
        run_id=run_id,
        run=runs[0],
        summary=summary,
        comparisons=comparisons,
        meta=meta,
        points=[_point(row) for row in report if row["app_quality_score"] is not None],
        texts={text["name"]: text["content"] for text in texts if text["name"] in _TEXT_NAMES},
    )


def _point(row: Row) -> Point:
    return Point(
        model=row["model"],
        cost=None if row["n_cost_unknown"] else row["prediction_cost_usd"],
        quality=row["app_quality_score"],
        low=row["app_quality_low"],
        high=row["app_quality_high"],
        is_on_front=bool(row["is_on_pareto_front"]),
    )


def json_bytes(value: object) -> bytes:
    """Return a value as JSON text, laid out like all files of the benchmark."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _summary(report: list[Row], parts: list[Row]) -> list[Document]:
    by_model: dict[str, Document] = {}
    for row in parts:
        figures = {**row, **_intervals(row)}
        by_model.setdefault(row["model"], {})[row["part"]] = {name: figures[name] for name in _PART}
    rows = [{**row, **_original_intervals(row)} for row in report]
    return [
        {name: row[name] for name in _SUMMARY}
        | ({"parts": by_model[row["model"]]} if row["model"] in by_model else {})
        for row in rows
    ]


def _intervals(row: Row) -> Document:
    ends = {name: [row[f"{name}_low"], row[f"{name}_high"]] for name in ("app_quality", "app_core")}
    return {f"{name}_ci95": None if found[0] is None else found for name, found in ends.items()}


def _original_intervals(row: Row) -> Document:
    """Return the intervals as the original has them: without width for a single poster."""
    if row["posters"] != 1:
        return _intervals(row)
    return {f"{name}_ci95": [row[f"{name}_score"]] * 2 for name in ("app_quality", "app_core")}


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
    """Return the figures of a comparison: the original's, then the paired ones."""
    return _original_figures(row) | {
        "paired_ci95": None
        if row["paired_low"] is None
        else [row["paired_low"], row["paired_high"]],
        "paired_p_value": row["paired_p_value"],
        "holm_p_value": row["holm_p_value"],
    }


def _original_figures(row: Row) -> Document:
    if row["n_posters"] == 1:
        # Every resample of a single poster is the same, which the original calls significant.
        ends, p_value, is_significant = [row["diff_mean"]] * 2, 0.0, row["mean_difference"] != 0
    else:
        ends, p_value = [row["low"], row["high"]], row["p_value"]
        is_significant = row["is_significant"]
    return {
        "diff_mean": row["diff_mean"],
        "ci95": ends,
        "p_value": p_value,
        "significant": is_significant,
    }


def _meta(connection: duckdb.DuckDBPyConnection, run: Row) -> Document:
    hashes = json_object(run["dataset_hashes"])
    run_id = {"run": run["run_id"]}
    deviations = fetch_rows(connection, _DEVIATIONS, run_id)
    settings = scoring_settings()
    # A run that records none was scored by us only; older ones lack the weights of core events.
    recorded = {name: {**used, **json_object(run[name])} for name, used in settings.items()}
    other = {name: used for name, used in settings.items() if recorded[name] != used}
    counts = ("posters_manifest_ok", "ground_truth_available", "missing_ground_truth")
    return {
        "generated_at": run["generated_at"],
        **{name: run[name] for name in counts},
        "temperature": run["temperature"],
        "seed_values": json_value(run["seed_values"]),
        **recorded,
        "prompt_hashes": hashes.pop("prompts", {}),
        "label": run["label"],
        "label_basis": run["label_basis"],
        "gold_posters": run["gold_posters"],
        "silver_posters": run["silver_posters"],
        **hashes,
        **({"scored_with": other} if other else {}),
        **({"deviations": deviations} if deviations else {}),
        "exclusions": fetch_rows(connection, _EXCLUSIONS, run_id),
        "quality_notes": fetch_rows(connection, _NOTES, run_id),
    }
