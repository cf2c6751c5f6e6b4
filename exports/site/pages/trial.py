"""The pages of trials: what was tested, how it ended, and its steps along time and in order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from exports.site.addresses import TRIALS, samples_page, task_page, trial_page
from exports.site.figures import cost, count, duration, start_of
from exports.site.grouping import by, parts
from exports.site.lists import list_addresses, lists
from exports.site.page import Contents
from exports.site.samples.fields import text_start
from exports.site.site import PageType
from exports.site.steps import ASKED, step_groups, step_rows, trial_lists
from exports.site.tables import table
from exports.site.tasks import task_keys
from exports.site.timeline import timelines
from exports.site.trials import (
    how_it_ended,
    keep_trials,
    parting_pages,
    trial_key,
    trial_pages,
    trial_table,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from exports.site.tables import Table
    from exports.site.timeline import Timeline
    from warehouse.core.types import Row

_AT_ONCE = 40  # trials: their texts are in memory
_MOST_CHECKS = 40
_LONG = 200  # characters
_SHORT = 100  # characters of a check's texts
_OWN = f"{ASKED} FROM site_trials SEMI JOIN asked USING (suite, run_id, result_id)"
_CHECKS = f"""
{ASKED}
SELECT
    suite, run_id, result_id, {text_start("metric", _SHORT)} AS metric, check_class,
    CASE WHEN passed THEN 'passed' WHEN NOT passed THEN 'failed' ELSE 'unknown' END AS verdict,
    value, CASE WHEN counts THEN 'yes' WHEN NOT counts THEN 'no' ELSE 'unknown' END AS counts,
    {text_start("scorer", _SHORT)} AS scorer,
    {text_start("explanation", _SHORT)} AS explanation,
    count(*) OVER of_trial AS n_checks
FROM result_scores
SEMI JOIN asked USING (suite, run_id, result_id)
WHERE check_class IS NOT NULL
WINDOW of_trial AS (PARTITION BY suite, run_id, result_id)
QUALIFY row_number() OVER (
    PARTITION BY suite, run_id, result_id
    ORDER BY passed NULLS LAST, position, result_scores.metric, score_id
) <= {_MOST_CHECKS}
ORDER BY
    suite, run_id, result_id, passed NULLS LAST, position, result_scores.metric, score_id
"""  # noqa: S608 - our own numbers
_CHECK_COLUMNS = ("verdict", "metric", "check_class", "value", "counts", "scorer", "explanation")
_LISTED = (
    "task_id", "suite", "run_id", "system", "verdict", "ended", "n_steps", "n_tool_calls",
    "n_tool_errors", "minutes", "cost_usd",
)  # fmt: skip
_SCOPES = {
    "own": "of the agent itself",
    "tree": "sub-agents included",
    "chain": "continued trajectories included",
}


def _addresses(site: Site) -> Addresses:
    keep_trials(site)
    pages = trial_pages(site)
    return {**list_addresses(site, "site_trials", TRIALS), **{pages[key]: key for key in pages}}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    yield from lists(
        site,
        addresses,
        "Trials",
        relation="site_trials",
        first=TRIALS,
        listed=lambda rows: trial_table(site, rows, _LISTED, len(rows)),
    )
    keys = [key for key, path in trial_pages(site).items() if path in addresses]
    for block in parts(keys, _AT_ONCE):
        lists_of_keys = trial_lists(block)
        names = ("suite", "run_id", "result_id")
        own, checks = (by(site.rows(query, lists_of_keys), *names) for query in (_OWN, _CHECKS))
        steps, lines = by(step_rows(site, block), *names), timelines(site, block)
        for key in block:
            [row] = own[key]
            yield _contents(site, row, steps[key], lines.get(key), checks[key])


def _contents(
    site: Site, row: Row, steps: list[Row], timeline: Timeline | None, checks: list[Row]
) -> Contents:
    key = trial_key(row)
    task = row["suite"], row["task_set"], row["task_id"]
    values = {
        "row": row,
        "facts": _facts(row),
        "task": task_page(*task) if task in task_keys(site) else None,
        "sample": samples_page(*key[:2]),
        "fragment": f"#task={quote(row['task_id'], safe='')}" if row["task_id"] else "",
        "parting": parting_pages(site).get(key),
        "timeline": timeline,
        "checks": _checks(checks),
        "groups": step_groups(key, steps) if steps else [],
    }
    title = f"Trial of {'task ' + start_of(row['task_id']) if row['task_id'] else 'no named task'}"
    return Contents(path=trial_page(*key), template="trial.html", title=title, values=values)


def _facts(row: Row) -> list[tuple[str, str, str]]:
    """Return what is known of a trial: name, value, and the tone of the value."""
    tone = {True: "good", False: "bad", None: "pale"}[row["passed"]]
    scope = _SCOPES.get(row["token_scope"], "of which calls is not recorded")
    tokens = " · ".join(
        f"{count(row[f'{name}_tokens'])} {word}"
        for name, word in (("input", "in"), ("cached", "cached"), ("output", "out"))
        if name != "cached" or row["cached_tokens"] is not None
    )
    has_tokens = (row["input_tokens"], row["output_tokens"]) != (None, None)
    pairs = [
        ("verdict", verdict(row)),
        ("how it ended", how_it_ended(row)),
        ("system", row["system"]),
        ("agent", _joined(row["agent"], row["agent_version"])),
        ("harness", _joined(row["harness"], row["harness_version"])),
        ("models", _models(row)),
        ("steps", count(row["n_steps"])),
        ("tool calls", count(row["n_tool_calls"])),
        ("of which failed", count(row["n_tool_errors"])),
        ("time", duration(row["duration_ms"])),
        ("cost", cost(row["cost_usd"], None, None)),
        ("tokens", f"{tokens} ({scope})" if has_tokens else ""),
    ]
    return [
        (name, (value or "unknown")[:_LONG], tone if name == "verdict" else "")
        for name, value in pairs
    ]


def _joined(name: str | None, version: str | None) -> str:
    return " ".join(filter(None, (name, version)))


def _models(row: Row) -> str:
    """Return the models of a trial by role; the agent's own where no others are recorded."""
    try:
        models = json.loads(row["models"] or "{}")
    except (ValueError, RecursionError):
        return str(row["models"])
    if not isinstance(models, dict) or not models:
        return row["model"] or ""
    return ", ".join(f"{role}: {model}" for role, model in models.items())


def _checks(rows: list[Row]) -> Table:
    n_checks = rows[0]["n_checks"] if rows else 0
    return table(rows, _CHECK_COLUMNS, headings={"metric": "check"}, n_rows=n_checks)


def _is_shown(site: Site) -> bool:
    keep_trials(site)
    return bool(site.rows("FROM site_trials LIMIT 1"))


PAGE_TYPE = PageType(
    name="trial",
    addresses=_addresses,
    load=_load,
    folder="trials",
    title="Trials",
    entry=TRIALS,
    is_shown=_is_shown,
)
