"""Gathers a poster run's report from the warehouse: summary, comparisons, meta, texts, chart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exports.posters.chart import Point, draw_svg
from exports.posters.tables import comparisons_markdown, ground_truth, summary_markdown
from warehouse.errors import BadInput
from warehouse.scoring.posters.matching import CORE_EVENT_WEIGHTS, EVENT_WEIGHTS
from warehouse.scoring.posters.parts import MISSING_FIELD_PENALTY, QUALITY_WEIGHTS, TOP_WEIGHTS
from warehouse.scoring.statistics.bootstrap import ALPHA, RESAMPLES, SEED

if TYPE_CHECKING:
    import duckdb

    from warehouse.store import Store

Row = dict[str, Any]

# The columns of summary.json, in the original's order; ours come after them.
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
_TEXTS = ("final_report.md", "notes.md")


@dataclass(frozen=True, slots=True)
class Report:
    """A poster run's report.

    Attributes:
        run_id: of the run.
        run: the row of view `poster_runs`.
        summary, comparisons, meta: the contents of the files of those names.
        texts: final_report.md and notes.md, where the run has them.
    """

    run_id: str
    run: Row
    summary: list[Row]
    comparisons: list[Row]
    meta: Row
    texts: dict[str, bytes]

    @property
    def points(self) -> list[Point]:
        """The models that have a score, for the chart."""
        return [
            Point(row["model"], row["total_cost_usd"], row["app_quality_score"], *interval)
            for row in self.summary
            if (interval := row["app_quality_ci95"]) is not None
        ]

    @property
    def subtitle(self) -> str:
        """What the chart rests on."""
        n_posters = self.meta["ground_truth_available"]
        return f"{ground_truth(self.meta['label'])}, {n_posters} posters, 95 % intervals"

    def files(self) -> dict[str, bytes]:
        """Write the files of the report folder, by name."""
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
    """Gather the report of a run.

    Raises:
        BadInput: there is no such poster run.
    """
    with store.reading() as connection:
        runs = _rows(connection, "FROM poster_runs WHERE run_id = $run", run_id)
        if not runs:
            known = connection.execute("SELECT run_id FROM poster_runs").fetchall()
            names = ", ".join(name for (name,) in known) or "none"
            raise BadInput(f"there is no poster run {run_id!r}; the store has: {names}")
        report = _rows(connection, "FROM poster_report WHERE run_id = $run", run_id)
        pairs = _rows(
            connection, "FROM poster_comparisons WHERE run_id = $run AND part = 'all'", run_id
        )
        meta = _meta(connection, runs[0], run_id)
        texts = _texts(connection, run_id)
    return Report(run_id, runs[0], _summary(report), _comparisons(pairs), meta, texts)


def json_bytes(value: object) -> bytes:
    """Write JSON as all files of the benchmark are written."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _rows(connection: duckdb.DuckDBPyConnection, query: str, run_id: str) -> list[Row]:
    cursor = connection.execute(query, {"run": run_id})
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _summary(report: list[Row]) -> list[Row]:
    for row in report:
        for name in ("app_quality", "app_core"):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            row[f"{name}_ci95"] = None if low is None else [low, high]
    parts: dict[str, Row] = {}
    for row in report:
        if row["part"] != "all":
            figures = {name: row[name] for name in _PART}
            parts.setdefault(row["model"], {})[row["part"]] = figures
    return [
        {name: row[name] for name in _SUMMARY}
        | ({"parts": parts[row["model"]]} if row["model"] in parts else {})
        for row in report
        if row["part"] == "all"
    ]


def _comparisons(pairs: list[Row]) -> list[Row]:
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


def _figures(row: Row) -> Row:
    return {
        "diff_mean": row["diff_mean"],
        "ci95": [row["low"], row["high"]],
        "p_value": row["p_value"],
        "significant": row["is_significant"],
        "paired_ci95": [round(row["paired_low"], 3), round(row["paired_high"], 3)],
        "paired_p_value": round(row["paired_p_value"], 4),
        "holm_p_value": round(row["holm_p_value"], 4),
    }


def _meta(connection: duckdb.DuckDBPyConnection, run: Row, run_id: str) -> Row:
    hashes: Row = json.loads(run["dataset_hashes"] or "{}")
    exclusions = _rows(
        connection,
        "SELECT task_id AS id, reason FROM poster_exclusions WHERE run_id = $run AND is_excluded",
        run_id,
    )
    notes = _rows(
        connection,
        "SELECT model, task_id AS id, reason AS note FROM poster_scores "
        "WHERE run_id = $run AND reason IS NOT NULL",
        run_id,
    )
    deviations = _rows(
        connection,
        "SELECT model, temperature, seed, deviation FROM poster_settings "
        "WHERE run_id = $run AND deviation IS NOT NULL",
        run_id,
    )
    counts = ("posters_manifest_ok", "ground_truth_available", "missing_ground_truth")
    return {
        "generated_at": run["generated_at"],
        **{name: run[name] for name in counts},
        "temperature": run["temperature"],
        "seed_values": json.loads(run["seed_values"]),
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
        "exclusions": exclusions,
        "quality_notes": notes,
    }


def _texts(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, bytes]:
    rows = connection.execute(
        "SELECT parse_filename(name), content FROM lake.artifacts "
        "WHERE suite = 'posters' AND run_id = ? AND kind IN ('report', 'notes') "
        "ORDER BY batch, name",
        [run_id],
    ).fetchall()
    return {name: content for name, content in rows if name in _TEXTS}
