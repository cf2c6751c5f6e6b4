"""The summary.json and summary.md of an OpenClaw run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.rows import Document, fetch_rows, json_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import duckdb

    from warehouse.core.types import Row

_GROUPS = """
SELECT *
FROM scores.all_openclaw_summary
WHERE run_id = $run
ORDER BY provider, model, coalesce(thinking_level, 'None'), thinking_level NULLS FIRST
"""
_TIERS = """
SELECT provider, model, settings, tier, tier_name, rate, rate_low, rate_high, n_counted,
    routing, tier_basis, recorded_rate, recorded_tier
FROM scores.all_tool_tiers
WHERE run_id = $run
ORDER BY tier, rate DESC, provider, model, settings
"""

_COUNTS = (
    "provider",
    "model",
    "thinking_level",
    "n_total",
    "n_ok",
    "n_success",
    "n_skipped_unavailable",
    "n_rate_limited",
    "n_auth_error",
    "n_error",
    "success_rate_ok",
    "objective_pass_rate",
    "wall_clock_ms",
    "tool_use_rate",
    "tool_tier",
    "tier_basis",
    "recorded_rate",
    "recorded_tier",
)
_HEADER = (
    "| Provider | Model | Model size | Thinking | n(total) | n(ok) | n(err) | n(rate) | "
    "success% (ok) | obj pass% | wall ms | p50 ms | p95 ms | p99 ms | RAM used (before→after) | "
    "Disk used% (before→after) | Ollama store (before→after) |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---|\n"
)
_TIER_HEADER = (
    "| Provider | Model | Settings | Tier | Basis | Tool use | 95 % interval | n | Routing | "
    "Recorded |\n"
    "|---|---|---|---|---|---:|---:|---:|---|---|\n"
)


def summary_document(connection: duckdb.DuckDBPyConnection, run: Row) -> Document:
    """Return the content of summary.json: the fields of the specification and our own.

    `generated_at` is the end of the run's last call, so that the same data give the same bytes.
    """
    parameters = {"run": run["run_id"]}
    groups = [_group(row) for row in fetch_rows(connection, _GROUPS, parameters)]
    return {
        "generated_at": _iso(run["ended_at"] or run["started_at"]),
        "run_dir": f"runs/{run['run_id']}",
        "run_wall_clock_ms": run["wall_clock_ms"],
        "models": groups,
        "tool_use_tiers": fetch_rows(connection, _TIERS, parameters),
    }


def summary_table(summary: Document, inventory: object, run_id: str) -> str:
    """Return the text of summary.md: the table of the original harness, then the tool-use tiers."""
    known = inventory if isinstance(inventory, dict) else {}
    wall_clock = summary["run_wall_clock_ms"]
    lines = [
        "# OpenClaw LLM Bench Summary\n\n",
        f"Run: `{run_id}`\n\n",
        f"Run wall-clock (ms): {wall_clock or ''}\n",
    ]
    if known.get("ollama_store_du"):
        lines.append(f"Ollama store (du -sh ~/.ollama): {known['ollama_store_du']}\n")
    lines += ["\n", _HEADER]
    sizes = _model_sizes(known)
    lines += [_table_row(_cells(group, sizes)) for group in summary["models"]]
    return "".join(lines) + _tier_table(summary["tool_use_tiers"])


def _group(row: Row) -> Document:
    return {name: row[name] for name in _COUNTS} | {
        "latency_ms": {name: row[f"{name}_ms"] for name in ("p50", "p95", "p99", "mean")},
        "resources_before": json_value(row["resources_before"]),
        "resources_after": json_value(row["resources_after"]),
    }


def _cells(group: Document, sizes: Mapping[str, str]) -> Sequence[object]:
    latency = group["latency_ms"]
    before, after = group["resources_before"], group["resources_after"]
    return (
        # As the original writes what a line lacks.
        str(group["provider"]),
        str(group["model"]),
        sizes.get(group["model"], ""),
        group["thinking_level"] or "",
        group["n_total"],
        group["n_ok"],
        group["n_error"],
        group["n_rate_limited"],
        _percent(group["success_rate_ok"]),
        _percent(group["objective_pass_rate"]),
        _whole(group["wall_clock_ms"]),
        *(_whole(latency[name]) for name in ("p50", "p95", "p99")),
        _change(before, after, "mem_used"),
        _change(_part(before, "disk_root"), _part(after, "disk_root"), "use_pct"),
        _change(before, after, "ollama_store_du"),
    )


def _tier_table(tiers: Sequence[Row]) -> str:
    if not tiers:
        return ""
    lines = [
        "\n## Tool use\n\n",
        "Only tier 1 is recommended for subagent routing with full tool access.\n\n",
        _TIER_HEADER,
    ]
    for tier in tiers:
        is_known = tier["tier"] is not None
        interval = f"{_percent(tier['rate_low'])}–{_percent(tier['rate_high'])}"
        recorded = f"{_percent(tier['recorded_rate'])} (tier {tier['recorded_tier']})"
        lines.append(
            _table_row(
                (
                    tier["provider"],
                    tier["model"],
                    tier["settings"],
                    tier["tier_name"] or "unknown",
                    tier["tier_basis"],
                    _percent(tier["rate"]),
                    interval if is_known else "",
                    tier["n_counted"],
                    tier["routing"],
                    "" if is_known else recorded,
                )
            )
        )
    return "".join(lines)


def _table_row(cells: Sequence[object]) -> str:
    texts = ("" if cell is None else str(cell) for cell in cells)
    return f"| {' | '.join(texts)} |\n"


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{rate * 100:.1f}%"


def _change(before: object, after: object, name: str) -> str:
    values = (_part(before, name), _part(after, name))
    return "" if not any(values) else f"{values[0]}->{values[1]}"


def _part(document: object, name: str) -> object:
    return document.get(name) if isinstance(document, dict) else None


def _model_sizes(inventory: Document) -> dict[str, str]:
    models = inventory.get("ollama_models")
    named = [m for m in models if isinstance(m, dict)] if isinstance(models, list) else []
    return {str(m.get("name")): str(m.get("size") or "") for m in reversed(named)}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="microseconds") + "+00:00"
