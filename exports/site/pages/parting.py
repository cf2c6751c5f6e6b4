"""The pages that put a failed trial next to a solved one, from the first step that differs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from exports.site.addresses import parting_page, task_page
from exports.site.figures import start_of
from exports.site.grouping import by, parts
from exports.site.page import Contents
from exports.site.site import PageType
from exports.site.steps import FIELDS, TEXTS, shown_steps
from exports.site.tasks import task_keys
from exports.site.trials import how_it_ended, keep_partings, parting_pages, trial_key, trial_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from exports.site.steps import ShownStep
    from warehouse.core.types import Row

_AT_ONCE = 10  # pages: their texts are in memory
_SHARED = 20  # calls that both trials made, the last ones
_AFTER = 40  # steps of each trial from where they part
# Both trials of each page, as its sides: their last shared calls, and the steps that follow. By
# aggregates: windows take minutes for trials of a million steps.
_STEPS = f"""
WITH sides AS (
    FROM site_partings
    SELECT rowid AS pair, 'failed' AS side, suite, run_id, result_id, seq AS next_call
    WHERE list_contains($pairs, rowid)
    UNION ALL
    FROM site_partings
    SELECT rowid, 'solved', suite, solved_run_id, solved_result_id, solved_seq
    WHERE list_contains($pairs, rowid)
),

parted AS (
    SELECT
        sides.*,
        coalesce(max(steps.seq) FILTER (
            steps.kind = 'tool' AND (next_call IS NULL OR steps.seq < next_call)
        ), 0) AS last_shared
    FROM steps
    JOIN sides USING (suite, run_id, result_id)
    WHERE NOT steps.is_copied
    GROUP BY ALL
),

listed AS (
    SELECT
        parted.*,
        max(steps.seq, {_SHARED}) FILTER (
            side = 'failed' AND steps.kind = 'tool' AND steps.seq <= last_shared
        ) AS calls,
        min(steps.seq, {_AFTER}) FILTER (steps.seq > last_shared) AS following,
        count(*) FILTER (steps.seq > last_shared) AS n_steps
    FROM steps
    JOIN parted USING (suite, run_id, result_id)
    WHERE NOT steps.is_copied
    GROUP BY ALL
),

chosen AS (
    SELECT *, true AS is_shared, unnest(calls) AS seq FROM listed
    UNION ALL
    SELECT *, false, unnest(following) FROM listed
),

{TEXTS}

SELECT chosen.pair, chosen.side, chosen.is_shared, chosen.seq, chosen.n_steps, {FIELDS}
FROM shown
JOIN chosen USING (suite, run_id, result_id, seq)
ORDER BY pair, side, seq
"""  # noqa: S608 - our own numbers
_PAIRS = """
SELECT
    pairs.rowid AS pair, pairs.*, trials.end_reason, trials.recorded_end, trials.passed
FROM site_partings AS pairs
JOIN site_trials AS trials USING (suite, run_id, result_id)
ORDER BY pairs.rowid
"""


def _addresses(site: Site) -> Addresses:
    return {path: key for key, path in parting_pages(site).items()}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    keep_partings(site)
    wanted = [row for row in site.rows(_PAIRS) if parting_page(*trial_key(row)) in addresses]
    for block in parts(wanted, _AT_ONCE):
        pairs = {"pairs": [row["pair"] for row in block]}
        steps = by(site.rows(_STEPS, pairs), "pair")
        for row in block:
            yield _contents(site, row, steps[row["pair"],])


def _contents(site: Site, row: Row, rows: list[Row]) -> Contents:
    steps: defaultdict[tuple[bool, str], list[ShownStep]] = defaultdict(list)
    for step in shown_steps(rows):
        steps[step.row["is_shared"], step.row["side"]].append(step)
    solved = {"suite": row["suite"], "run_id": row["solved_run_id"]}
    solved |= {"result_id": row["solved_result_id"], "system": row["solved_system"]}
    sides = [
        ("failed", row, trial_pages(site).get(trial_key(row)), steps[False, "failed"]),
        ("passed", solved, trial_pages(site).get(trial_key(solved)), steps[False, "solved"]),
    ]
    task = row["suite"], row["task_set"], row["task_id"]
    values = {
        "row": row,
        "task": task_page(*task) if task in task_keys(site) else None,
        "shared": steps[True, "failed"],
        "sides": sides,
        "ended": how_it_ended(row),
    }
    title = f"Where trials of task {start_of(row['task_id'])} part"
    path = parting_page(*trial_key(row))
    return Contents(path=path, template="parting.html", title=title, values=values)


def _is_shown(site: Site) -> bool:
    keep_partings(site)
    return bool(site.rows("FROM site_partings LIMIT 1"))


PAGE_TYPE = PageType(
    name="parting", addresses=_addresses, load=_load, folder="partings", is_shown=_is_shown
)
