"""Files that ask for labels, a table or a page, without a word of who answered.

A spreadsheet runs what begins like a formula: such cells get an apostrophe in front, which
`plain_cell` removes again. The page is one file that works without a network; the texts in it are
JSON, which its own script shows as text: none can become markup.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.errors import BadInput
from warehouse.core.text.formatting import visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.samples import LabelSample, Source
    from warehouse.core.types import Json

_TEMPLATES = Path(__file__).with_name("templates")
# Also as East Asian spreadsheets write the signs.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
# Of several versions of a task the newest, if the result does not name one.
_TEXTS = """
WITH calls AS (
    SELECT *
    FROM scores.resolved_results
    SEMI JOIN (
        SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id, unnest($results) AS result_id
    ) AS drawn USING (suite, run_id, result_id)
)

SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    coalesce(
        any_value(calls.prompt), arg_max(coalesce(tasks.question, tasks.prompt), tasks.batch), ''
    ) AS prompt,
    any_value(coalesce(calls.raw_output, calls.answer)) AS answer,
    CASE WHEN $has_reference THEN arg_max(coalesce(tasks.target, tasks.reference), tasks.batch) END
        AS reference
FROM calls
LEFT JOIN tasks
    ON calls.suite = tasks.suite
    AND calls.task_set = tasks.task_set
    AND calls.task_id = tasks.task_id
    AND (calls.task_hash IS NULL OR calls.task_hash = tasks.task_hash)
GROUP BY calls.suite, calls.run_id, calls.result_id
"""


class AnswerText(NamedTuple):
    """What a rater sees of an answer; the reference is None where none is shown."""

    id: str
    prompt: str
    answer: str
    reference: str | None


def sample_texts(source: Source, sample: LabelSample, *, has_reference: bool) -> list[AnswerText]:
    """Return the texts of a sample in its order; those that the store has no more are left out.

    Raises:
        BadInput: the store has none of them.
    """
    suites, run_ids, results, *_ = map(list, zip(*sample.answers.values(), strict=True))
    bound = {"suites": suites, "run_ids": run_ids, "results": results}
    rows = source.sql(_TEXTS, {**bound, "has_reference": has_reference}).fetchall()
    found = {row[:3]: row[3:] for row in rows}
    if not found:
        raise BadInput("no answer of the sample is in the store any more; --seed draws others")
    drawn = sample.answers.items()
    return [AnswerText(each, *found[answer[:3]]) for each, answer in drawn if answer[:3] in found]


def as_csv(texts: Sequence[AnswerText], own: RaterLabels | None) -> bytes:
    """Return a table with a row for each answer, as spreadsheets open it; see `as_page`."""
    has_reference = any(text.reference is not None for text in texts)
    reference = ["reference"] if has_reference else []
    columns = ["id", "prompt", "answer", *reference, "label", "note"]
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(columns)
    for answer in _answers(texts, own):
        table.writerow([_cell(answer[name] or "") for name in columns])
    # The mark tells a spreadsheet that this is UTF-8.
    return out.getvalue().encode("utf-8-sig", "backslashreplace")


def as_page(sample: LabelSample, texts: Sequence[AnswerText], own: RaterLabels | None) -> bytes:
    """Return a page that asks for labels.

    Args:
        sample: the sample.
        texts: its answers.
        own: labels that the rater has given already.
    """
    from markupsafe import Markup

    from warehouse.app.output.html import render

    data: Json = {
        # Where a browser keeps the labels: those of one sample and rater together.
        "sample": sample.run_id,
        "rater": own.rater if own is not None else "",
        "labels": list(sample.scale.values),
        "keys": sample.scale.keys(),
        "answers": _answers(texts, own),
    }
    style, script = ((_TEMPLATES / f"label_page.{k}").read_text("utf-8") for k in ("css", "js"))
    page = render(
        _TEMPLATES / "label_page.html",
        f"Label answers: {sample.request['criterion']}",
        style=style,
        script=script,
        criterion=sample.request["criterion"],
        scale=sample.scale.text,
        n_answers=len(texts),
        # Inside of a script, only `<` could end it or begin a comment.
        data=Markup(json.dumps(data).replace("<", "\\u003c")),  # noqa: S704 - without markup
    )
    return page.encode()


def _answers(texts: Sequence[AnswerText], own: RaterLabels | None) -> list[dict[str, str | None]]:
    answers: list[dict[str, str | None]] = []
    for text in texts:
        given = own.newest.get(text.id) if own is not None else None
        label, note, rated_at = given[:3] if given else ("", "", None)
        time = rated_at.isoformat(timespec="milliseconds") + "Z" if rated_at else ""
        answers.append({**text._asdict(), "label": label, "note": note or "", "rated_at": time})
    return answers


def _cell(text: str) -> str:
    shown = "\t".join(visible_lines(part) for part in text.split("\t"))
    return f"'{shown}" if _FORMULA.match(shown) else shown


def plain_cell(text: str) -> str:
    """Return the text of a cell, without the apostrophe that `as_csv` put in front of it."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and _FORMULA.match(text, 1) else text
