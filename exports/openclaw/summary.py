"""The summary.json and summary.md of an OpenClaw run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.rows import Document, json_value
from exports.run_rows import OF_RUNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from warehouse.core.types import Row

_TIER = (
    *("provider", "model", "settings", "tier", "tier_name", "rate", "rate_low", "rate_high"),
    *("n_counted", "routing", "tier_basis", "recorded_rate", "recorded_tier"),
)
# The queries of a summary, for `rows_by_run`.
GROUPS = f"""
SELECT *
FROM (SELECT 'openclaw' AS suite, * FROM scores.all_openclaw_summary) AS figures
{OF_RUNS}
ORDER BY run_id, provider, model, coalesce(thinking_level, 'None'), thinking_level NULLS FIRST
"""  # noqa: S608 - only names of our own
TIERS = f"""
SELECT suite, run_id, {", ".join(_TIER)}
FROM scores.all_tool_tiers
{OF_RUNS}
ORDER BY run_id, tier, rate DESC, provider, model, settings
"""  # noqa: S608 - only names of our own

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


def summary_document(run: Row, groups: Iterable[Row], tiers: Iterable[Row]) -> Document:
    """Return the content of summary.json: the fields of the specification and our own.

    `generated_at` is the end of the run's last call, so that the same data give the same bytes.

    Args:
        run: the run.
        groups: its rows of the query `GROUPS`.
        tiers: its rows of the query `TIERS`.
    """
    return {
        "generated_at": _iso(run["ended_at"] or run["started_at"]),
        "run_dir": f"runs/{run['run_id']}",
        "run_wall_clock_ms": run["wall_clock_ms"],
        "models": list(map(_group, groups)),
        "tool_use_tiers": [{name: tier[name] for name in _TIER} for tier in tiers],
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
