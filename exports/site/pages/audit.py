"""The audit: what the checks found, what could not be used, and figures that do not follow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.site.addresses import AUDIT, run_page
from exports.site.audited import audited, has_reported
from exports.site.page import Contents
from exports.site.site import PageType, only
from exports.site.tables import Table, table
from warehouse.core.text.figures import counted
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exports.site.page import Addresses
    from exports.site.site import Site
    from warehouse.core.types import Row

_SHOWN = 20
_QUARANTINE = """
SELECT path, line, byte_offset, reason, raw_bytes, sha256
FROM quarantine
ORDER BY path, line, byte_offset, reason
"""
_RULES = """
SELECT rule, count(*) AS n, count(DISTINCT path) AS n_files, min(message) AS example
FROM checks.violations
GROUP BY rule
ORDER BY n DESC, rule
"""
_STATUSES = """
SELECT status, count(*) AS n FROM metric_audit GROUP BY status ORDER BY n DESC, status
"""
_DIFFERENT = """
SELECT
    metric_audit.*,
    (
        SELECT left(min(stated.file_sha256), 12) FROM reported_metrics AS stated
        WHERE
            stated.suite = metric_audit.suite
            AND stated.run_id IS NOT DISTINCT FROM metric_audit.run_id
            AND stated.reported_id = metric_audit.reported_id
    ) AS file
FROM metric_audit
WHERE status = 'differs'
ORDER BY
    suite, run_id, source, report, model, provider, settings, task_set, task_group, metric, scorer,
    filter, statistic, reducer, reducer_parameters, seq, reported_text, recomputed_text, reported_id
"""
_NOT_RECOMPUTABLE = """
SELECT suite, source, reason, count(*) AS n, min(metric) AS example
FROM metric_audit
WHERE status = 'not recomputable'
GROUP BY suite, source, reason
ORDER BY n DESC, suite, source, reason
"""
# The order is that of all columns, because views of checks differ in theirs.
_FOUND = f"""
SELECT *, count(*) OVER () AS n_found
FROM {{check}}
ORDER BY ALL
LIMIT {_SHOWN}
"""  # noqa: S608 - our own number
_DIFFERENT_COLUMNS = (
    "suite", "run_id", "report", "model", "settings", "metric",
    "reported_text", "recomputed_text", "n_reported", "n", "task_set", "task_group", "scorer",
    "filter", "statistic", "reducer", "reducer_parameters", "source", "file", "reason",
)  # fmt: skip
_DIFFERENT_HEADINGS = {"n": "computed of", "file": "file (SHA-256)"}
_RULE_HEADINGS = {"n": "places", "example": "first message"}
_REASON_HEADINGS = {"n": "figures", "example": "first metric"}
_QUARANTINE_HEADINGS = {"path": "file", "raw_bytes": "size, bytes"}
_ROWS = 100
_REASONS = 3  # named in the sentence; all are in the table
_FIGURES = {"metric_audit", "summary_audit"}  # views of reported figures
_TONES = {"critical": "bad", "warning": "warn"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check and the rows that it found.

    Attributes:
        name: its view.
        purpose: what its rows are.
        severity: critical or warning.
        tone: class of its number of rows.
        n_rows: number of rows.
        found: the first rows.
    """

    name: str
    purpose: str
    severity: str
    tone: str
    n_rows: int
    found: Table


def _load(site: Site, _: Addresses) -> Iterator[Contents]:
    different, statuses, reasons = (
        audited(site, query) for query in (_DIFFERENT, _STATUSES, _NOT_RECOMPUTABLE)
    )
    checks = sorted(_checks(site), key=lambda each: (not each.n_rows, each.severity, each.name))
    yield Contents(
        path=AUDIT,
        template="audit.html",
        title="Audit",
        values={
            "said": figures_sentence(statuses, reasons),
            "checks": checks,
            "n_found": sum(each.n_rows > 0 for each in checks),
            "quarantine": table(site.rows(_QUARANTINE), headings=_QUARANTINE_HEADINGS, limit=_ROWS),
            "rules": table(site.rows(_RULES), headings=_RULE_HEADINGS, limit=_ROWS),
            "statuses": statuses,
            "different": table(
                different,
                _DIFFERENT_COLUMNS,
                headings=_DIFFERENT_HEADINGS,
                once=_DIFFERENT_COLUMNS,
                links={"run_id": _run},
                limit=_ROWS,
            ),
            "not_recomputable": table(reasons, headings=_REASON_HEADINGS, limit=_ROWS),
        },
    )


def figures_sentence(statuses: Sequence[Row], reasons: Sequence[Row]) -> str:
    """Return how many reported figures are right, and why others cannot be checked.

    Args:
        statuses: the number `n` of figures of each status; none if nothing is reported.
        reasons: the number `n` of those that cannot be computed again, by reason.
    """
    if not statuses:
        return ""
    by_status = Counter({row["status"]: row["n"] for row in statuses})
    why = Counter({"samples missing": by_status["samples missing"]})
    for row in reasons:
        why[row["reason"] or "no reason recorded"] += row["n"]
    named = [f"{reason} ({n:,})" for reason, n in why.most_common(_REASONS) if n]
    if n_others := sum(n > 0 for n in why.values()) - len(named):
        rest = why.total() - sum(n for _, n in why.most_common(_REASONS))
        named.append(f"{counted(n_others, 'other reason')} ({rest:,})")
    because = f": {'; '.join(named)}" if named else ""
    differing = by_status["differs"]
    return (
        f"Of {counted(by_status.total(), 'reported figure')}, {by_status['equal']:,} equal what "
        f"their samples give, {differing:,} {'differs' if differing == 1 else 'differ'}, and "
        f"{why.total():,} cannot be checked{because}."
    )


def _run(row: Row) -> str | None:
    return None if row["run_id"] is None else run_page(row["suite"], row["run_id"])


def _checks(site: Site) -> Iterator[Check]:
    for file in shipped_sql():
        if not file.severity:
            continue
        # As in `audited`: where nothing is reported, planning such a check is all that it takes.
        is_read = not _FIGURES.intersection(file.inherits) or site.once(has_reported)
        rows = site.rows(_FOUND.format(check=file.qualified)) if is_read else []
        n_rows = rows[0]["n_found"] if rows else 0
        found = [{name: row[name] for name in row if name != "n_found"} for row in rows]
        yield Check(
            name=file.qualified,
            purpose=file.purpose,
            severity=file.severity,
            tone=_TONES.get(file.severity, "") if n_rows else "good",
            n_rows=n_rows,
            found=table(found, n_rows=n_rows),
        )


PAGE_TYPE = PageType(name="audit", addresses=only(AUDIT), load=_load, title="Audit", entry=AUDIT)
