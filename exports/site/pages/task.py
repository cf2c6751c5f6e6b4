"""The pages of tasks: how hard each is, and what every model has answered over time."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from exports.site.addresses import TASKS, samples_page, task_page
from exports.site.figures import figure, start_of
from exports.site.page import Contents
from exports.site.site import PageType
from exports.site.tables import table
from exports.site.tasks import shown_tasks
from exports.site.trials import trial_table
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from exports.site.tables import Table
    from warehouse.core.types import Row

    _Key = tuple[str, str, str]  # suite, task set and ID

_ANSWERS_OF_TASK = 60
_TRIALS_OF_SYSTEM = 20
_LONG = 500  # characters of an answer; its sample has all of it
_LONG_PROMPT = 5_000
# Whether `task_difficulty` has rows: it computes them all before the first.
_ANY = "SELECT task FROM scores.task_rates WHERE n_trials > 0 LIMIT 1"
_CHOSEN = """
WITH chosen AS (
    SELECT unnest($suites) AS suite, unnest($task_sets) AS task_set, unnest($task_ids) AS task_id
)
"""
# Of a whole set: each of its tasks is compared with all others.
_FLAKY = """
FROM flaky_tasks
WHERE suite = $suite AND task_set = $task_set AND list_contains($task_ids, task_id)
ORDER BY n_judged DESC, task_hash
"""
_REFERENCES = f"""
{_CHOSEN}
SELECT
    suite, task_set, task_id,
    arg_min(reference, seq) AS reference,
    arg_min(prompt, seq) AS prompt
FROM tasks
SEMI JOIN chosen USING (suite, task_set, task_id)
GROUP BY suite, task_set, task_id
"""  # noqa: S608 - a constant
# The newest answers of each task; a run that repeats calls of another one adds none. The condition
# on the task reaches the results; the join does not.
_ANSWERS = f"""
{_CHOSEN},

asked AS (
    SELECT
        verdicts.suite, verdicts.task_set, verdicts.task_id, verdicts.run_id, verdicts.result_id,
        verdicts.run_date, verdicts.seq, verdicts.provider, verdicts.model, verdicts.settings,
        verdicts.attempt, verdicts.success, verdicts.passed
    FROM verdicts
    JOIN chosen USING (suite, task_set, task_id)
    WHERE verdicts.duplicate_of IS NULL AND NOT verdicts.is_replay
        AND verdicts.task_id IN (SELECT task_id FROM chosen)
    QUALIFY row_number() OVER (
        PARTITION BY suite, task_set, task_id
        ORDER BY verdicts.run_date DESC NULLS LAST, verdicts.run_id DESC, verdicts.seq DESC
    ) <= {_ANSWERS_OF_TASK}
)

SELECT
    asked.*,
    left(
        coalesce(nullif(results.answer, ''), results.raw_output, results.answer), {_LONG + 1}
    ) AS answer,
    results.prompt,
    results.failure_type
FROM asked
JOIN results
    ON asked.suite = results.suite
    AND asked.run_id = results.run_id
    AND asked.result_id = results.result_id
ORDER BY
    asked.suite, asked.task_set, asked.task_id, asked.model, asked.settings, asked.provider,
    asked.run_date NULLS FIRST, asked.run_id, asked.attempt, asked.seq
"""  # noqa: S608 - our own numbers
# The first trials of each system of a task, so that each has some.
_TRIALS = f"""
{_CHOSEN}
SELECT trials.*, count(*) OVER (PARTITION BY suite, task_set, task_id) AS n_trials
FROM trials
SEMI JOIN chosen USING (suite, task_set, task_id)
WHERE duplicate_of IS NULL
QUALIFY row_number() OVER (
    PARTITION BY suite, task_set, task_id, system ORDER BY run_id DESC, attempt, result_id
) <= {_TRIALS_OF_SYSTEM}
ORDER BY suite, task_set, task_id, system, run_id, attempt, result_id
"""  # noqa: S608 - our own numbers
_TRIAL_COLUMNS = (
    "system", "run_id", "attempt", "verdict", "ended", "n_steps", "minutes", "cost_usd",
    "solved_trial",
)  # fmt: skip
_KEYS = ("suites", "task_sets", "task_ids")
_COLUMNS = ("task_id", "pass_rate", "n_models")


def _addresses(site: Site) -> Addresses:
    own = {task_page(*key): key for key in map(_key, shown_tasks(site))}
    return {**own, TASKS: ()}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    if TASKS in addresses:
        yield _list(shown_tasks(site))
    tasks = [key for key in addresses.values() if key]
    if not tasks:
        return
    keys = {name: [key[at] for key in tasks] for at, name in enumerate(_KEYS)}
    versions = {_key(row): row["versions"] for row in shown_tasks(site)}
    texts, asked = (_by_task(site.rows(query, keys)) for query in (_REFERENCES, _ANSWERS))
    trials = _by_task(site.rows(_TRIALS, keys) if site.has("trial") else [])
    for suite, task_set, task_id in tasks:
        key = suite or "", task_set or "", task_id or ""
        answers = asked[key]
        text = next(iter(texts[key]), {"reference": None, "prompt": None})
        values = {
            "suite": suite,
            "task_set": task_set,
            "prompt": text["prompt"] or next((row["prompt"] for row in answers), None),
            "reference": text["reference"],
            "facts": _facts(versions[key]),
            "flaky": site.once(_flaky, suite, task_set)[key],
            "models": _models(answers),
            "limit": _ANSWERS_OF_TASK,
            "n_answers": len(answers),
            "long": _LONG,
            "long_prompt": _LONG_PROMPT,
            "sample": _sample,
            "trials": _trials(site, trials[key]),
        }
        title = f"Task {start_of(key[2])}"
        yield Contents(path=task_page(*key), template="task.html", title=title, values=values)


def _list(shown: list[Row]) -> Contents:
    sets = [
        (suite, task_set, rows[0]["n_tasks"], table(rows, _COLUMNS, links={"task_id": _address}))
        for (suite, task_set), group in groupby(shown, key=lambda r: (r["suite"], r["task_set"]))
        for rows in [list(group)]
    ]
    return Contents(path=TASKS, template="tasks.html", title="Tasks", values={"sets": sets})


def _address(row: Row) -> str:
    return task_page(row["suite"], row["task_set"], row["task_id"])


def _key(row: Row) -> _Key:
    return row["suite"], row["task_set"], row["task_id"]


def _by_task(rows: list[Row]) -> dict[_Key, list[Row]]:
    found: dict[_Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[_key(row)].append(row)
    return found


def _flaky(site: Site, suite: str | None, task_set: str | None) -> dict[_Key, list[Row]]:
    shown = [key for key in map(_key, shown_tasks(site)) if key[:2] == (suite, task_set)]
    of_set = {"suite": suite, "task_set": task_set, "task_ids": [key[2] for key in shown]}
    return _by_task(site.rows(_FLAKY, of_set))


def _trials(site: Site, rows: list[Row]) -> Table:
    return trial_table(site, rows, _TRIAL_COLUMNS, rows[0]["n_trials"] if rows else 0)


def _models(answers: list[Row]) -> list[tuple[str, str | None, list[Row]]]:
    """Return the answers of each model with its settings, in the order of time."""
    return [
        (model or "unknown", settings, list(rows))
        for (model, settings), rows in groupby(answers, key=lambda r: (r["model"], r["settings"]))
    ]


def _facts(versions: list[Row]) -> list[tuple[str, str]]:
    if not versions:
        return []
    newest = versions[0]
    discrimination = newest["discrimination"]
    found = [
        ("pass rate, mean of models", figure(newest["pass_rate"], is_rate=True)),
        ("solved by", f"{newest['n_solved']} of {counted(newest['n_models'], 'model')}"),
        ("attempts", f"{newest['n_trials']:,}"),
        (
            "discrimination, -1 to 1",
            "unknown" if discrimination is None else f"{discrimination:.2f}",
        ),
    ]
    if newest["first_solved_by"] is not None:
        found.append(("first solved by", str(newest["first_solved_by"])))
    if len(versions) > 1:
        found.append(("versions", f"{len(versions)}; the figures are of the one asked most"))
    return found


def _sample(row: Row) -> tuple[str, str]:
    """Return where the samples of a task in a run are: a page, and its fragment."""
    return samples_page(row["suite"], row["run_id"]), f"#task={quote(row['task_id'], safe='')}"


def _is_shown(site: Site) -> bool:
    return bool(site.rows(_ANY))


PAGE_TYPE = PageType(
    name="task",
    addresses=_addresses,
    load=_load,
    folder="tasks",
    title="Tasks",
    entry=TASKS,
    is_shown=_is_shown,
)
