"""The pages of runs: what was asked and how, what came out, and where the figures come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from exports.site.addresses import RUNS, model_page, run_page
from exports.site.audited import audited
from exports.site.grouping import by
from exports.site.lists import list_addresses, lists
from exports.site.page import Contents
from exports.site.paths import shared_path
from exports.site.series import is_rate_of, metric_of, points
from exports.site.site import PageType
from exports.site.tables import table
from exports.site.trials import keep_trials, trial_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.series import Point
    from exports.site.site import Site
    from warehouse.core.types import Row

_OVERVIEWS = """
WITH tags AS (
    SELECT suite, run_id, string_agg(concat(name, '=', value), ', ' ORDER BY name) AS tags
    FROM run_tags
    GROUP BY suite, run_id
)

SELECT run_overview.*, tags
FROM run_overview
LEFT JOIN tags USING (suite, run_id)
ORDER BY run_date DESC NULLS LAST, started_at DESC NULLS LAST, suite, run_id
"""
# The runs of a block.
_OF_BLOCK = """
SEMI JOIN (SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id) AS block
    USING (suite, run_id)
"""
_OWN = f"FROM site_runs {_OF_BLOCK} ORDER BY site_runs.rowid"
_RUNS = f"FROM runs {_OF_BLOCK} ORDER BY suite, run_id"
_HISTORY = f"FROM model_history {_OF_BLOCK} ORDER BY model_history.rowid"
_COSTS = f"""
SELECT
    costs.*,
    latency.n_timed, latency.p50_ms, latency.p95_ms, latency.p95_ms_low, latency.p95_ms_high,
    latency.p99_ms, latency.ttft_p50_ms
FROM costs {_OF_BLOCK}
LEFT JOIN latency
    ON costs.suite = latency.suite
    AND costs.run_id = latency.run_id
    AND costs.provider IS NOT DISTINCT FROM latency.provider
    AND costs.model IS NOT DISTINCT FROM latency.model
    AND costs.settings = latency.settings
ORDER BY costs.suite, costs.run_id, costs.provider, costs.model, costs.settings
"""  # noqa: S608 - a constant
# Four bins for each factor of ten.
_LATENCIES = f"""
SELECT suite, run_id, floor(4 * log10(greatest(latency_ms, 1)))::INTEGER AS bin, count(*) AS n
FROM results {_OF_BLOCK}
WHERE latency_ms IS NOT NULL AND success
GROUP BY suite, run_id, bin
ORDER BY suite, run_id, bin
"""  # noqa: S608 - a constant
_NO_REASON = "not recorded; the log says that the call did not succeed"
_FAILURES = f"""
SELECT * REPLACE (coalesce(failure_type, '{_NO_REASON}') AS failure_type)
FROM failures {_OF_BLOCK}
-- This reaches the results; the join does not.
WHERE list_contains($suites, suite) AND list_contains($run_ids, run_id)
ORDER BY
    suite, run_id, n DESC, model, provider, settings, availability_status, failure_type
"""  # noqa: S608 - our own text
_DIFFERENT_FIRST = """
    status = 'equal', status = 'not recomputable', source, report, model, provider, settings,
    task_set, task_group, metric, scorer, filter, perturbation, statistic, reducer,
    reducer_parameters, seq, reported_text, recomputed_text, reported_id
"""
# Of each run the first, those that differ before all others. HELM's logs have a figure of a metric
# without a perturbation, and one for each. Several files can state a figure of the same name.
_REPORTED = f"""
WITH perturbations AS (
    SELECT
        suite, run_id, reported_id,
        concat(
            any_value(json_extract_string(extra, '$.name.perturbation.name')),
            ' (' || any_value(json_extract_string(extra, '$.name.perturbation.computed_on')) || ')'
        ) AS perturbation
    FROM reported_metrics
    WHERE
        source = 'log'
        AND json_extract_string(extra, '$.name.perturbation.name') IS NOT NULL
    GROUP BY suite, run_id, reported_id
),

stated AS (
    SELECT
        suite, run_id, reported_id, min(file_sha256) AS file_sha256,
        min(min(file_sha256)) OVER of_run <> max(min(file_sha256)) OVER of_run AS has_files
    FROM reported_metrics
    WHERE run_id IS NOT NULL
    GROUP BY suite, run_id, reported_id
    WINDOW of_run AS (PARTITION BY suite, run_id)
)

SELECT
    metric_audit.*, perturbation, CASE WHEN has_files THEN left(file_sha256, 12) END AS file,
    count(*) OVER of_run AS n_figures
FROM metric_audit
{_OF_BLOCK}
LEFT JOIN perturbations USING (suite, run_id, reported_id)
LEFT JOIN stated USING (suite, run_id, reported_id)
WHERE run_id IS NOT NULL
WINDOW of_run AS (PARTITION BY suite, run_id)
QUALIFY row_number() OVER (
    PARTITION BY suite, run_id ORDER BY {_DIFFERENT_FIRST}
) <= 60
ORDER BY suite, run_id, {_DIFFERENT_FIRST}
"""  # noqa: S608 - a constant
_STATUSES = f"""
SELECT suite, run_id, status, count(*) AS n
FROM metric_audit {_OF_BLOCK}
WHERE run_id IS NOT NULL
GROUP BY suite, run_id, status
ORDER BY suite, run_id, n DESC, status
"""  # noqa: S608 - a constant
# The imported files of each run, by their hashes.
_FILES = f"""
WITH used AS (
    SELECT suite, run_id, file_sha256 FROM runs {_OF_BLOCK}
    WHERE file_sha256 IS NOT NULL
    UNION
    SELECT suite, run_id, file_sha256 FROM results {_OF_BLOCK}
    WHERE file_sha256 IS NOT NULL
    UNION
    SELECT suite, run_id, file_sha256 FROM reported_metrics {_OF_BLOCK}
    WHERE file_sha256 IS NOT NULL
)

SELECT
    used.suite, used.run_id, used.file_sha256 AS sha256, min(files.path) AS path,
    min(files.format) AS format, min(files.size_bytes) AS size_bytes
FROM used
LEFT JOIN files ON used.file_sha256 = files.sha256
GROUP BY used.suite, used.run_id, used.file_sha256
ORDER BY used.suite, used.run_id, path, used.file_sha256
"""  # noqa: S608 - a constant
_TRIALS = f"FROM site_trials {_OF_BLOCK} ORDER BY site_trials.rowid"
_TRIAL_COLUMNS = (
    "task_id", "attempt", "system", "verdict", "ended", "n_steps", "minutes", "cost_usd",
    "solved_trial",
)  # fmt: skip
_LISTED = (
    "run_id", "suite", "run_date", "models", "n_tasks", "n_results", "pass_rate", "n_unanswered",
    "n_cost_known", "total_cost_usd", "origin", "tags", "is_replay",
)  # fmt: skip
_COST_COLUMNS = (
    "model", "settings", "n_results", "n_cost_known", "total_cost_usd", "mean_cost_usd",
    "cost_per_passed_usd", "cost_per_passed_usd_low", "cost_per_passed_usd_high", "input_tokens",
    "output_tokens", "n_timed", "p50_ms", "p95_ms", "p95_ms_low", "p95_ms_high", "p99_ms",
    "ttft_p50_ms",
)  # fmt: skip
_FAILURE_COLUMNS = ("model", "settings", "availability_status", "failure_type", "n", "example")
_REPORTED_COLUMNS = (
    "status", "model", "settings", "task_set", "task_group", "metric", "scorer", "filter",
    "perturbation", "statistic", "reducer", "reducer_parameters",
    "reported_text", "recomputed_text", "n_reported", "n", "source", "report", "file", "reason",
)  # fmt: skip
_REPORTED_ONCE = (
    "model", "settings", "task_set", "task_group", "scorer", "filter", "statistic", "reducer",
    "reducer_parameters", "n_reported", "n", "source", "report", "file", "reason",
)  # fmt: skip
_REPORTED_HEADINGS = {"n": "computed of", "file": "file (SHA-256)"}
_FAILURE_HEADINGS = {"n": "calls"}
_FIGURES = 200
_LONG = 4_000  # characters of a prompt template or a configuration


def _addresses(site: Site) -> Addresses:
    site.keep(site_runs=_OVERVIEWS)
    runs = site.rows("SELECT suite, run_id FROM site_runs ORDER BY rowid")
    own = {run_page(*key): key for key in ((row["suite"], row["run_id"]) for row in runs)}
    return {**list_addresses(site, "site_runs", RUNS), **own}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    yield from lists(
        site,
        addresses,
        "Runs",
        relation="site_runs",
        first=RUNS,
        listed=lambda rows: table(
            rows, _LISTED, links={"run_id": lambda row: run_page(row["suite"], row["run_id"])}
        ),
    )
    keys = [key for key in addresses.values() if key]
    if not keys:
        return
    site.keep("costs", "latency", "model_history")
    block = {"suites": [suite for suite, _ in keys], "run_ids": [run_id for _, run_id in keys]}
    rows = site.rows(_OWN, block)
    details, files, history, costs, bins, failures = (
        by(site.rows(query, block), "suite", "run_id")
        for query in (_RUNS, _FILES, _HISTORY, _COSTS, _LATENCIES, _FAILURES)
    )
    reported, statuses = (
        by(audited(site, query, block), "suite", "run_id") for query in (_REPORTED, _STATUSES)
    )
    if site.has("trial"):
        keep_trials(site)
    trials = by(site.rows(_TRIALS, block) if site.has("trial") else [], "suite", "run_id")
    for row in rows:
        key = row["suite"], row["run_id"]
        [detail] = details[key]
        of_run = reported[key]
        values = {
            "row": row,
            "detail": detail,
            "figures": list(_figures(history[key]))[:_FIGURES],
            "n_other_figures": max(len(history[key]) - _FIGURES, 0),
            "costs": table(costs[key], _COST_COLUMNS, links={"model": _model}),
            "has_settings": any(each["settings"] for each in costs[key]),
            "latencies": _histogram(bins[key]),
            "failures": table(
                failures[key],
                _FAILURE_COLUMNS,
                headings=_FAILURE_HEADINGS,
                links={"model": _model},
            ),
            "reported": table(
                of_run,
                _REPORTED_COLUMNS,
                headings=_REPORTED_HEADINGS,
                once=_REPORTED_ONCE,
                n_rows=of_run[0]["n_figures"] if of_run else 0,
            ),
            "trials": trial_table(site, trials[key], _TRIAL_COLUMNS, len(trials[key])),
            "statuses": statuses[key],
            "files": [{**file, "path": shared_path(file["path"])} for file in files[key]],
            "texts": _texts(detail),
        }
        yield Contents(path=run_page(*key), template="run.html", title=row["run_id"], values=values)


def _model(row: Row) -> str:
    return model_page(row["model"])


def _figures(rows: list[Row]) -> Iterator[tuple[str, bool, Point]]:
    """Yield the figures of a run: the metric, whether it is a rate, and the point."""
    for row in sorted(rows, key=lambda row: row["metric"] != "passed"):
        is_rate = is_rate_of(row)
        [point] = points([row], is_rate=is_rate)
        yield metric_of(row), is_rate, point


def _histogram(rows: list[Row]) -> list[tuple[float, float, int]]:
    """Return the bars of a distribution of latencies: from and to, milliseconds, and the number."""
    if not rows:
        return []
    counts = {row["bin"]: row["n"] for row in rows}
    ends = range(min(counts), max(counts) + 1)
    return [(10 ** (at / 4), 10 ** ((at + 1) / 4), counts.get(at, 0)) for at in ends]


def _texts(row: Row) -> list[tuple[str, str, int]]:
    """Return the long texts of a run: name, start of the text, and characters left out."""
    texts = [
        ("Prompt template", row["prompt_template"]),
        ("Configuration", _indented(row["config"])),
        ("Versions", _indented(row["versions"])),
        ("Host, programs and models", _indented(row["inventory"])),
        ("Other fields", _indented(row["extra"])),
    ]
    return [
        (name, text[:_LONG], max(len(text) - _LONG, 0))
        for name, text in texts
        if text and text != "{}"
    ]


def _indented(text: str | None) -> str:
    """Return JSON in lines; a text that is not JSON as it is."""
    if text is None:
        return ""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


PAGE_TYPE = PageType(
    name="run",
    addresses=_addresses,
    load=_load,
    folder="runs",
    title="Runs",
    entry=RUNS,
    is_main=True,
)
