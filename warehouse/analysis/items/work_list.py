"""The work list of a suite: its items, the most suspect first, with evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.analysis.decisions.sentences import p_text
from warehouse.analysis.items.answers import load_answers, read_answers, rival_answers
from warehouse.analysis.items.audit import ALPHA, MIN_SYSTEMS, Finding, audit_items
from warehouse.analysis.items.responses import load_responses, responses_of_set
from warehouse.analysis.items.statistics import MIN_TESTED, cronbach_alpha
from warehouse.core.errors import BadInput
from warehouse.core.text.figures import counted, number, percent, whole_percent
from warehouse.core.text.formatting import visible
from warehouse.engine.query import rows_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from warehouse.analysis.items.answers import RivalAnswers
    from warehouse.analysis.items.audit import ItemAudit
    from warehouse.analysis.items.responses import Responses
    from warehouse.core.types import Row

_NAMED = 3  # notes of raters, or tasks, in a sentence
_LONGEST = 60  # characters of an answer, a key or names in a sentence
_TASK_SETS = """
SELECT task_set, count(DISTINCT system) AS n_systems
FROM loaded_responses
WHERE n_attempts > 0
GROUP BY task_set
ORDER BY task_set
"""
# Of each item the tasks that ask it, which are several only if the set has it twice; what is
# expected; how inconsistent systems are; other tasks of the set with the same text and choices; and
# who says that it is wrong.
_TASKS = r"""
WITH asked AS (
    SELECT DISTINCT position, item, task_id
    FROM loaded_responses
    JOIN response_items USING (item)
    WHERE task_set = $task_set
),

texts AS (
    SELECT
        task_id,
        regexp_replace(lower(item_text(coalesce(question, prompt))), '\s+', ' ', 'g') AS question,
        list_sort(item_texts(lower(choices))) AS choices,
        image_sha256,
        coalesce(target, reference) AS expected
    FROM tasks
    SEMI JOIN scores.newest_tasks AS newest
        ON tasks.suite = newest.suite
        AND tasks.task_set = newest.task_set
        AND tasks.task_id = newest.task_id
        AND coalesce(tasks.task_hash = newest.task_hash, true)
    WHERE suite = $suite AND task_set = $task_set
),

alike AS (
    SELECT list_sort(list(DISTINCT task_id)) AS task_ids
    FROM texts
    WHERE question IS NOT NULL OR image_sha256 IS NOT NULL
    GROUP BY question, choices, image_sha256
    HAVING count(DISTINCT task_id) > 1
),

flaky AS (
    SELECT
        task_id, min(p_holm) AS flaky_p_holm, sum(n_flaky) AS n_flaky,
        sum(expected_flaky) AS expected_flaky
    FROM flaky_tasks
    WHERE suite = $suite AND task_set = $task_set
    GROUP BY task_id
),

-- What was said of an earlier text of a task may have been put right.
wrong AS (
    SELECT task_id, max(n_raters_wrong) AS n_raters_wrong, max(n_raters) AS n_raters,
        flatten(list(notes)) AS notes
    FROM wrong_tasks
    LEFT JOIN scores.newest_tasks AS newest USING (suite, task_set, task_id)
    WHERE suite = $suite AND task_set = $task_set
        AND coalesce(wrong_tasks.task_hash = newest.task_hash, true)
    GROUP BY task_id
)

SELECT
    asked.item,
    min(asked.task_id) AS task_id,
    min(texts.expected) AS expected,
    min(flaky.flaky_p_holm) AS flaky_p_holm,
    CAST(max(flaky.n_flaky) AS BIGINT) AS n_flaky,
    max(flaky.expected_flaky) AS expected_flaky,
    -- The item is called by its first task, and its other tasks may have the same text.
    list_filter(
        arg_min(alike.task_ids, asked.task_id), lambda other: other <> min(asked.task_id)
    ) AS duplicates,
    max(wrong.n_raters_wrong) AS n_raters_wrong,
    max(wrong.n_raters) AS n_raters,
    arg_min(wrong.notes, asked.task_id) AS notes
FROM asked
LEFT JOIN wrong ON asked.task_id = wrong.task_id
LEFT JOIN (
    SELECT task_id, min(expected) AS expected FROM texts GROUP BY task_id
) AS texts ON asked.task_id = texts.task_id
LEFT JOIN flaky ON asked.task_id = flaky.task_id
LEFT JOIN (
    SELECT unnest(task_ids) AS task_id, task_ids FROM alike
) AS alike ON asked.task_id = alike.task_id
GROUP BY asked.item
ORDER BY min(asked.position)
"""
# Of the runs on the board whose verdicts count.
_UNANSWERED = """
SELECT coalesce(sum(n_unanswered), 0), sum(n_results)
FROM scores.board_runs
WHERE suite = $suite AND task_set = $task_set AND pass_rate IS NOT NULL
"""
COLUMNS = (
    "findings", "suite", "task_set", "task_id", "pass_rate", "pass_rate_low", "pass_rate_high",
    "n_systems", "discrimination", "discrimination_low", "discrimination_high", "p_holm",
    "wrong_key_probability", "rival_answer", "n_agreeing", "expected", "rate_of_agreeing",
    "rate_of_passing", "n_flaky", "expected_flaky", "flaky_p_holm", "duplicates", "n_raters_wrong",
    "n_raters", "notes", "item",
)  # fmt: skip


class ItemKey(NamedTuple):
    """The items of a suite's task set."""

    suite: str
    task_set: str


@dataclass(frozen=True, slots=True)
class WorkList:
    """The items of a task set.

    Attributes:
        key: the task set.
        responses: what systems passed.
        alpha: Cronbach's alpha; None where it is not known, or of fewer than 8 systems.
        has_answers: whether it is known what systems answered where they did not pass.
        n_unanswered: calls without an answer, which did not pass.
        n_calls: all calls.
        rows: a row of `COLUMNS` for each item, the worst first.
    """

    key: ItemKey
    responses: Responses
    alpha: float | None
    has_answers: bool
    n_unanswered: int
    n_calls: int
    rows: Sequence[Row]

    def count(self, finding: Finding) -> int:
        """Return how many items have a finding."""
        return sum(finding in row["findings"] for row in self.rows)

    def only(self, finding: Finding) -> list[str]:
        """Return the tasks of which nothing else was found."""
        return [str(row["task_id"]) for row in self.rows if row["findings"] == [finding]]


def work_lists(
    connection: duckdb.DuckDBPyConnection, suite: str, task_set: str | None = None
) -> list[WorkList]:
    """Return the items of each task set of a suite that two systems or more were asked.

    Raises:
        BadInput: there is no such suite or task set, or each has one system only.
    """
    load_responses(connection, suite, task_set=task_set)
    sets = connection.execute(_TASK_SETS).fetchall()
    kept = [name for name, n_systems in sets if n_systems >= MIN_SYSTEMS]
    if not kept:
        [*_, (name, _)] = sets
        raise BadInput(
            f"{suite}, {name}: only one system was asked; what items are worth shows from two on, "
            f"and which of them are suspect from {MIN_TESTED} on"
        )
    load_answers(connection, suite, task_set)
    return [_work_list(connection, ItemKey(suite, name)) for name in kept]


def _work_list(connection: duckdb.DuckDBPyConnection, key: ItemKey) -> WorkList:
    responses = responses_of_set(connection, key.task_set)
    answers = read_answers(connection, responses, key.task_set)
    rivals = rival_answers(responses, answers)
    audit = audit_items(responses, rivals)
    columns = _figures(audit, rivals)
    columns["rival_answer"] = [
        None if at < 0 else answers.texts[at] for at in rivals.answer.tolist()
    ]
    tasks = rows_by_name(connection.execute(_TASKS, key._asdict()))
    rows = []
    for item, task in enumerate(tasks):
        row = {**key._asdict(), **task, **{name: values[item] for name, values in columns.items()}}
        row["findings"] = _findings(audit, item, row)
        rows.append({name: row[name] for name in COLUMNS})
    [(n_unanswered, n_calls)] = connection.execute(_UNANSWERED, key._asdict()).fetchall()
    is_tested = responses.shape[0] >= MIN_TESTED  # of few systems, alpha can be anything
    return WorkList(
        key=key,
        responses=responses,
        alpha=cronbach_alpha(responses) if is_tested else None,
        has_answers=bool(answers.texts),
        n_unanswered=n_unanswered,
        n_calls=n_calls,
        rows=sorted(rows, key=_severity),
    )


def _figures(audit: ItemAudit, rivals: RivalAnswers) -> dict[str, list[object]]:
    """Return the columns of figures, None where one is not known."""
    columns = {**audit.statistics._asdict(), "p_holm": audit.p_holm}
    columns["wrong_key_probability"] = rivals.probability
    for name in ("n_agreeing", "rate_of_agreeing", "rate_of_passing"):
        columns[name] = np.where(rivals.answer < 0, np.nan, getattr(rivals, name))
    return {
        name: [None if np.isnan(value) else value for value in values.tolist()]
        for name, values in columns.items()
    }


def _findings(audit: ItemAudit, item: int, row: Row) -> list[Finding]:
    """Return the findings of an item, the worst first."""
    p_flaky = row["flaky_p_holm"]
    of_tasks = {
        Finding.RATED_WRONG: row["n_raters_wrong"] is not None,
        Finding.FLAKY: p_flaky is not None and p_flaky <= ALPHA
        and row["n_flaky"] > row["expected_flaky"],
        Finding.DUPLICATE: bool(row["duplicates"]),
    }  # fmt: skip
    return [
        finding
        for finding in Finding
        if (of_tasks[finding] if finding in of_tasks else audit.findings[finding][item])
    ]


def _severity(row: Row) -> tuple[object, ...]:
    """Return what sorts the rows: the worst finding, then what most speaks for it."""
    worst = list(Finding).index(row["findings"][0]) if row["findings"] else len(Finding)
    return (
        worst,
        -(row["wrong_key_probability"] or 0),
        row["discrimination"] if row["discrimination"] is not None else 1,
        row["task_id"],
    )


def figures(row: Row) -> str:
    """Return the pass rate and the discrimination of an item, with their intervals."""
    if row["pass_rate"] is None:
        return "No pass rate: only adaptive runs asked it."
    low, high = (percent(row[f"pass_rate_{end}"]).removesuffix(" %") for end in ("low", "high"))
    rate = f"Pass rate {percent(row['pass_rate'])} [{low}, {high}]"
    if row["discrimination"] is None:
        return f"{rate}."
    return f"{rate}, discrimination {_discrimination_text(row)}."


def evidence(row: Row) -> Iterator[str]:
    """Yield sentences on the findings of an item, with what they rest on."""
    findings, n = row["findings"], row["n_systems"]
    if Finding.RATED_WRONG in findings:
        notes = ", ".join(_quoted(note) for note in (row["notes"] or ())[:_NAMED])
        said = f"Rated as wrong by {row['n_raters_wrong']} of {row['n_raters']} raters"
        yield f"{said}: {notes}." if notes else f"{said}."
    if row["rival_answer"] is not None and (
        Finding.WRONG_KEY in findings or Finding.DOUBTFUL_KEY in findings
    ):
        yield (
            f"{number(row['n_agreeing'])} of {n} systems answer {_quoted(row['rival_answer'])}"
            f"{_expected_text(row['expected'])}; probability of a wrong key "
            f"{percent(row['wrong_key_probability'])}."
        )
        yield from _strength_sentences(row)
    if Finding.STRONGER_FAIL in findings:
        yield (
            "Systems that pass more of the other items pass this one less: correlation "
            f"{_discrimination_text(row)}, p {p_text(row['p_holm'])} (Holm)."
        )
    if Finding.FLAKY in findings:
        yield (
            f"{row['n_flaky']} systems both passed and failed it, by chance "
            f"{row['expected_flaky']:.1f}, p {p_text(row['flaky_p_holm'])} (Holm)."
        )
    if Finding.DUPLICATE in findings:
        named, more = row["duplicates"][:_NAMED], len(row["duplicates"][_NAMED:])
        others = f" and {more} more" if more else ""
        yield f"It has the text and choices of {', '.join(map(_cut, named))}{others}."
    if Finding.DEAD in findings:
        yield f"None of {n} systems passes it."
    if Finding.SATURATED in findings:
        yield f"All of {n} systems pass it always."


def _strength_sentences(row: Row) -> Iterator[str]:
    """Yield how strong the systems are that agree, and those that pass."""
    agreeing, passing = row["rate_of_agreeing"], row["rate_of_passing"]
    if agreeing is not None:
        others = "" if passing is None else f", those that pass this one {percent(passing)}"
        yield f"Those that agree pass {percent(agreeing)} of the other items{others}."


def _expected_text(key: str | None) -> str:
    return "" if key is None else f", expected is {_quoted(key)}"


def _discrimination_text(row: Row) -> str:
    if row["discrimination_low"] is None:
        return f"{row['discrimination']:.2f}"
    ends = f"[{row['discrimination_low']:.2f}, {row['discrimination_high']:.2f}]"
    return f"{row['discrimination']:.2f} {ends}"


def _quoted(text: str) -> str:
    return f'"{_cut(text)}"'


def _cut(text: str) -> str:
    """Return a text on one line, without what could mislead on a screen, and not too long."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def summary(items: WorkList) -> str:
    """Return a sentence on the task set: its size, what was left out, how its items agree."""
    n_systems, n_items = items.responses.shape
    parts = [f"{n_systems} systems, {n_items:,} item{'s' * (n_items != 1)}"]
    if items.alpha is not None:
        parts.append(f"Cronbach's alpha {items.alpha:.2f}")
    filled = len(items.responses.item) / (n_systems * n_items)
    if filled < 1:
        parts.append(f"a system was asked {whole_percent(filled)} of them on average")
    if n_adaptive := len(set(items.responses.system[items.responses.is_adaptive].tolist())):
        runs = f"{n_adaptive} adaptive run{'s' * (n_adaptive != 1)}"
        parts.append(f"the answers of {runs} are in no pass rate and no discrimination")
    if n_unjudged := items.responses.n_unjudged:
        left = "attempt is" if n_unjudged == 1 else "attempts are"
        parts.append(f"{n_unjudged:,} unjudged {left} left out")
    if items.n_unanswered:
        calls = counted(items.n_calls, "call")
        parts.append(f"no answer to {items.n_unanswered:,} of {calls}: not passed")
    if n_systems < MIN_TESTED:
        parts.append(
            f"with fewer than {MIN_TESTED} systems, discrimination is not tested and no key is "
            "suspected"
        )
    elif not items.has_answers:
        parts.append("what failed answers say is not known, so that no key can be suspected")
    return "; ".join(parts)
