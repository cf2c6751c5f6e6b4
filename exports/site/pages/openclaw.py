"""The page of OpenClaw: which models use tools, and what of that is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.addresses import OPENCLAW, model_page, run_page
from exports.site.page import Contents
from exports.site.site import PageType, only
from exports.site.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from exports.site.tables import Address
    from warehouse.core.types import Row

_SUITE = "openclaw"
# Where there are calls there are summaries, which take a look at all results.
_CALLS = "SELECT 1 AS n FROM scores.entry_calls WHERE suite = 'openclaw' AND NOT is_replay LIMIT 1"
_TIERS = (
    "FROM tool_tiers ORDER BY run_id DESC, tier NULLS LAST, rate DESC, provider, model, settings"
)
_SUMMARIES = "FROM openclaw_summary ORDER BY run_id DESC, provider, model, thinking_level"
_TIER_COLUMNS = (
    "model", "settings", "tier_name", "routing", "is_supported", "rate", "rate_low", "rate_high",
    "run_id", "n_used", "n_counted", "tier_basis", "provider",
)  # fmt: skip
_SUMMARY_COLUMNS = (
    "model", "thinking_level", "provider", "run_id", "objective_pass_rate", "n_success", "n_ok",
    "n_total", "n_rate_limited", "n_auth_error", "n_error", "n_skipped_unavailable", "p50_ms",
    "p95_ms",
)  # fmt: skip
_TIER_HEADINGS = {
    "tier_name": "tier",
    "routing": "routing of subagents",
    "is_supported": "supported by the interval",
    "rate": "rate of tool use",
    "n_used": "used a tool",
    "n_counted": "calls that count",
    "tier_basis": "which calls count",
    "run_id": "run",
}
_SUMMARY_HEADINGS = {
    "thinking_level": "thinking level",
    "objective_pass_rate": "passed, of the judged",
    "n_success": "successful",
    "n_ok": "status ok",
    "n_total": "results",
    "n_rate_limited": "rate limited",
    "n_auth_error": "authentication errors",
    "n_error": "errors",
    "n_skipped_unavailable": "skipped as unavailable",
    "p50_ms": "median latency, ms",
    "p95_ms": "95th percentile of latency, ms",
    "run_id": "run",
}


def _load(site: Site, _: Addresses) -> Iterator[Contents]:
    tiers, summaries = site.rows(_TIERS), site.rows(_SUMMARIES)
    links = _links(site)
    yield Contents(
        path=OPENCLAW,
        template="openclaw.html",
        title="OpenClaw",
        values={
            "n_proven": sum(row["tier"] is not None and row["is_supported"] for row in tiers),
            "n_unproven": sum(row["tier"] is not None and not row["is_supported"] for row in tiers),
            "n_unknown": sum(row["tier"] is None for row in tiers),
            "recommended": [row for row in tiers if row["is_recommended"] and row["is_supported"]],
            "tiers": table(tiers, _TIER_COLUMNS, headings=_TIER_HEADINGS, links=links),
            "summaries": table(
                summaries, _SUMMARY_COLUMNS, headings=_SUMMARY_HEADINGS, links=links
            ),
        },
    )


def _links(site: Site) -> dict[str, Address]:
    def model(row: Row) -> str | None:
        return model_page(row["model"]) if site.has("model") else None

    def run(row: Row) -> str | None:
        return run_page(_SUITE, row["run_id"]) if site.has("run") else None

    return {"model": model, "run_id": run}


def _is_shown(site: Site) -> bool:
    return bool(site.rows(_CALLS))


PAGE_TYPE = PageType(
    name="openclaw",
    addresses=only(OPENCLAW),
    load=_load,
    title="OpenClaw",
    entry=OPENCLAW,
    is_shown=_is_shown,
)
