"""Files that ask for labels: the texts of a sample as CSV, without a word of who answered.

A spreadsheet runs what begins like a formula: such texts get an apostrophe in front, which
`plain_cell` removes again.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.text.formatting import visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.samples import LabelSample
    from warehouse.engine.base_store import BaseStore

ANSWER_ID = re.compile(r"label-[0-9a-f]{16}")
# Also as East Asian spreadsheets write the signs.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_TEXTS = """
WITH drawn AS (
    SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id, unnest($result_ids) AS result_id
),

calls AS (
    SELECT calls.*
    FROM scores.resolved_results AS calls
    SEMI JOIN drawn USING (suite, run_id, result_id)
),

-- Of several versions of a task the newest, if the result does not name one.
known AS (
    SELECT
        calls.suite,
        calls.run_id,
        calls.result_id,
        arg_max(coalesce(tasks.question, tasks.prompt), tasks.batch) AS prompt,
        arg_max(coalesce(tasks.target, tasks.reference), tasks.batch) AS reference
    FROM calls
    JOIN tasks
        ON calls.suite = tasks.suite
        AND calls.task_set = tasks.task_set
        AND calls.task_id = tasks.task_id
        AND (calls.task_hash IS NULL OR calls.task_hash = tasks.task_hash)
    GROUP BY calls.suite, calls.run_id, calls.result_id
),

asked AS (
    SELECT suite, run_id, result_id, string_agg(text, chr(10) || chr(10) ORDER BY seq) AS prompt
    FROM messages
    SEMI JOIN drawn USING (suite, run_id, result_id)
    WHERE role IN ('system', 'user')
    GROUP BY suite, run_id, result_id
)

SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    coalesce(calls.prompt, asked.prompt, known.prompt, '') AS prompt,
    coalesce(calls.raw_output, calls.answer, '') AS answer,
    known.reference
FROM calls
LEFT JOIN known USING (suite, run_id, result_id)
LEFT JOIN asked USING (suite, run_id, result_id)
"""


class AnswerText(NamedTuple):
    """What a rater sees of an answer; the reference is None where none is known."""

    id: str
    prompt: str
    answer: str
    reference: str | None


def sample_texts(store: BaseStore, sample: LabelSample) -> list[AnswerText]:
    """Return the texts of a sample in its order; those that the store has no more are left out."""
    suites, run_ids, result_ids, *_ = zip(*sample.answers.values(), strict=True)
    bound = {"suites": list(suites), "run_ids": list(run_ids), "result_ids": list(result_ids)}
    found = {tuple(row[:3]): row[3:] for row in store.sql(_TEXTS, bound).fetchall()}
    return [
        AnswerText(answer_id, *found[answer[:3]])
        for answer_id, answer in sample.answers.items()
        if answer[:3] in found
    ]


def as_csv(texts: Sequence[AnswerText], own: RaterLabels | None, *, has_reference: bool) -> bytes:
    """Return a table with a row for each answer, as spreadsheets open it.

    Args:
        texts: the answers.
        own: labels that the rater has given already.
        has_reference: whether raters see the right answer.
    """
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    reference = ["reference"] if has_reference else []
    table.writerow(["id", "prompt", "answer", *reference, "label", "note"])
    for text in texts:
        given = own.newest.get(text.id) if own is not None else None
        shown = [text.prompt, text.answer, *([text.reference or ""] if has_reference else [])]
        said = [given.label, given.note or ""] if given else ["", ""]
        table.writerow([text.id, *map(_cell, [*shown, *said])])
    # The mark tells a spreadsheet that this is UTF-8.
    return out.getvalue().encode("utf-8-sig", "backslashreplace")


def _cell(text: str) -> str:
    shown = "\t".join(visible_lines(part) for part in text.split("\t"))
    return f"'{shown}" if _FORMULA.match(shown) else shown


def plain_cell(text: str) -> str:
    """Return the text of a cell, without the apostrophe that `as_csv` put in front of it."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text, 1) else text
