"""The steps of trials as pages show them: some in full, the others as numbers, texts cut to fit."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from warehouse.core.text.figures import counted
from warehouse.core.text.formatting import visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exports.site.site import Site
    from exports.site.trials import Key
    from warehouse.core.types import Row

MOST_SHOWN = 240  # steps of a trial that are shown if it has no more
_ENDS = 60  # steps at each end that are shown otherwise
_FAILED = 40  # failed steps in between, with their neighbours
_LONGEST = 2_000  # characters of a text
_SHORTEST = 10
_BUDGET = 110_000  # bytes of the texts of a page, escaped
_MOST_MESSAGES = 5  # of a step
_LABELS = ("name", "agent", "model")
_PARTS = ("reasoning", "arguments", "text", "error")
_TITLES = {"text": "", "reasoning": "reasoning", "arguments": "arguments", "error": "error:"}
# The keys of some trials, by the parameters of `trial_lists`.
ASKED = """
WITH asked AS (
    SELECT
        unnest($suites) AS suite, unnest($run_ids) AS run_id, unnest($result_ids) AS result_id
)
"""
FAILED = "NOT is_copied AND (error IS NOT NULL OR coalesce(exit_code <> 0, false))"
# Of relations `chosen` and `steps`: what a page shows of a step. A text can be in `messages`.
TEXTS = f"""
said AS (
    SELECT suite, run_id, result_id, seq, unnest(
        range(first_message, least(last_message, first_message + {_MOST_MESSAGES} - 1) + 1)
    ) AS message
    FROM steps
    SEMI JOIN chosen USING (suite, run_id, result_id, seq)
    WHERE text IS NULL
),

spoken AS (
    SELECT
        said.suite, said.run_id, said.result_id, said.seq,
        string_agg(messages.text, chr(10) ORDER BY said.message) AS text
    FROM said
    JOIN messages
        ON said.suite = messages.suite
        AND said.run_id = messages.run_id
        AND said.result_id = messages.result_id
        AND said.message = messages.seq
    GROUP BY said.suite, said.run_id, said.result_id, said.seq
),

shown AS (
    SELECT
        steps.* EXCLUDE (text, error),
        coalesce(steps.text, spoken.text) AS text,
        coalesce(steps.error, 'exit code ' || nullif(steps.exit_code, 0)) AS error
    FROM steps
    SEMI JOIN chosen USING (suite, run_id, result_id, seq)
    LEFT JOIN spoken USING (suite, run_id, result_id, seq)
)
"""  # noqa: S608 - our own numbers
FIELDS = """
    shown.kind, left(shown.name, 100) AS name, left(shown.agent, 100) AS agent,
    shown.trajectory, shown.is_copied, left(shown.model, 100) AS model, shown.input_tokens,
    shown.output_tokens, shown.cost_usd, date_diff('millisecond', shown.started_at, shown.ended_at)
        AS duration_ms,
""" + ", ".join(
    f"left(shown.{name}, {_LONGEST}) AS {name}, length(shown.{name}) AS {name}_length"
    for name in _PARTS
)
# Windows over few columns, for trials of a million steps; a running `count(*) FILTER` would take
# a hundred times as long as this sum.
_STEPS = f"""
{ASKED},

placed AS (
    SELECT
        suite, run_id, result_id, seq, {FAILED} AS is_failed,
        row_number() OVER of_trial AS place,
        count(*) OVER (PARTITION BY suite, run_id, result_id) AS n_steps
    FROM steps
    SEMI JOIN asked USING (suite, run_id, result_id)
    WINDOW of_trial AS (PARTITION BY suite, run_id, result_id ORDER BY seq)
),

near AS (
    SELECT
        suite, run_id, result_id, seq, place, n_steps,
        max(is_failed) OVER (around ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS is_near,
        sum((is_failed AND place > {_ENDS})::INT) OVER (around ROWS UNBOUNDED PRECEDING)
            AS n_failed
    FROM placed
    WINDOW around AS (PARTITION BY suite, run_id, result_id ORDER BY place)
),

chosen AS (
    FROM near
    WHERE
        n_steps <= {MOST_SHOWN} OR place <= {_ENDS} OR place > n_steps - {_ENDS}
        OR (is_near AND n_failed <= {_FAILED})
),

{TEXTS}

SELECT suite, run_id, result_id, chosen.seq, chosen.place, chosen.n_steps, {FIELDS}
FROM shown
JOIN chosen USING (suite, run_id, result_id, seq)
ORDER BY suite, run_id, result_id, seq
"""  # noqa: S608 - our own numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step as a page shows it.

    Attributes:
        row: its row.
        parts: its texts: title, text as it is shown, and the number of characters left out.
    """

    row: Row
    parts: list[tuple[str, str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGroup:
    """Steps in a row of one trajectory, folded if it is not the main one.

    Attributes:
        summary: what they are, if they are folded; else empty.
        steps: the steps.
        n_hidden: number of steps before them that the page leaves out.
        command: command that shows those.
    """

    summary: str = ""
    steps: list[ShownStep] = field(default_factory=list)
    n_hidden: int = 0
    command: str = ""


def step_rows(site: Site, keys: Sequence[Key]) -> list[Row]:
    """Return the steps that the pages of some trials show."""
    return site.rows(_STEPS, trial_lists(keys))


def trial_lists(keys: Sequence[Key]) -> dict[str, list[str]]:
    """Return the parameters of `ASKED`."""
    names = ("suites", "run_ids", "result_ids")
    return {name: [key[at] for key in keys] for at, name in enumerate(names)}


def step_groups(key: Key, rows: list[Row]) -> list[StepGroup]:
    """Return the steps of a trial in groups, with what is left out between them."""
    main = rows[0]["trajectory"] if all(row["trajectory"] for row in rows) else None
    groups = []
    place = seq = 0
    steps = enumerate(shown_steps(rows))
    for _, of_group in groupby(steps, key=lambda each: _group_key(each[0], each[1], main)):
        own = [step for _, step in of_group]
        first = own[0].row
        group = StepGroup(
            summary=_summary(own, main),
            steps=own,
            n_hidden=first["place"] - place - 1,
            command=_command(key, seq + 1, first["seq"] - 1),
        )
        groups.append(group)
        place, seq = own[-1].row["place"], own[-1].row["seq"]
    return groups


def _group_key(
    position: int, step: ShownStep, main: str | None
) -> tuple[str | None, bool, bool, int]:
    """Return what steps of a group share; the last entry changes where steps are left out."""
    row = step.row
    is_quiet = row["trajectory"] in (None, main) and _is_quiet(step)
    return row["trajectory"], row["is_copied"], is_quiet, row["place"] - position


def _is_quiet(step: ShownStep) -> bool:
    """Return whether a step says nothing: the start and end of spans, changes of a state."""
    return step.row["kind"] == "other" and not step.parts


def _summary(steps: list[ShownStep], main: str | None) -> str:
    """Return what the summary of folded steps says; empty if they are not folded."""
    row, number = steps[0].row, counted(len(steps), "step")
    if row["is_copied"]:
        return f"{number} repeated from an earlier context, not counted"
    if row["trajectory"] in (None, main):
        return f"{counted(len(steps), 'event')} without text" if _is_quiet(steps[0]) else ""
    n_errors = sum(step.row["error"] is not None for step in steps)
    errors = f", {counted(n_errors, 'error')}" if n_errors else ""
    return f"sub-agent {row['agent'] or row['trajectory'][:200]}: {number}{errors}"


def _command(key: Key, first: int, last: int) -> str:
    """Return the command that shows the steps from one position to another."""
    suite, run_id, result_id = (part.replace("'", "''") for part in key)
    query = (
        f"FROM steps WHERE suite = '{suite}' AND run_id = '{run_id}' "
        f"AND result_id = '{result_id}' AND seq BETWEEN {first} AND {last}"
    )
    return shlex.join(["evalstore", "sql", query])


def shown_steps(rows: Sequence[Row]) -> list[ShownStep]:
    """Return steps with their texts, cut so that those of a page are within its budget."""
    longest = _longest(rows)
    return [ShownStep(row=_labelled(row, longest), parts=_parts(row, longest)) for row in rows]


def _longest(rows: Sequence[Row]) -> int:
    """Return the number of characters at which texts are cut."""
    texts = [row[name] for row in rows for name in (*_PARTS, *_LABELS) if row[name]]
    longest = _LONGEST
    while longest > _SHORTEST and sum(_n_bytes(text[:longest]) for text in texts) > _BUDGET:
        longest //= 2
    return longest


def _n_bytes(text: str) -> int:
    return len(escape(visible_lines(text)).encode("utf-8", "replace"))


def _labelled(row: Row, longest: int) -> Row:
    return {**row, **{name: row[name][:longest] for name in _LABELS if row[name]}}


def _parts(row: Row, longest: int) -> list[tuple[str, str, int]]:
    return [
        (_TITLES[name], row[name][:longest], max(row[f"{name}_length"] - longest, 0))
        for name in _PARTS
        if row[name]
    ]
