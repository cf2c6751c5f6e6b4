"""What evaluations of a trace say: whether each is a pass, and the verdict of the trial."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.fields import finite_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest.formats.otel.spans import Evaluation

_PASS = {"pass", "passed", "success", "successful", "correct", "true", "yes", "solved", "resolved"}
_FAIL = {"fail", "failed", "failure", "incorrect", "wrong", "false", "no", "unsolved", "unresolved"}
_OF_TASK = re.compile(
    r"(task|goal)[ _.-]?(success|completion|completed|resolved|passed)", re.IGNORECASE
)
_OF_SUCCESS = re.compile(r"success|pass|correct|resolved|solved", re.IGNORECASE)
_DATA_TYPE = "data_type"


def passed(evaluation: Evaluation) -> bool | None:
    """Return whether an evaluation is a pass; None if it does not say.

    A label of a pass or a failure says so; without a label a score of 1 or 0 does, of what is
    named a success.
    """
    fields = evaluation.fields
    label = fields.get("gen_ai.evaluation.score.label")
    if isinstance(label, bool):
        return label
    if isinstance(label, str) and label:
        word = label.strip().lower()
        return True if word in _PASS else False if word in _FAIL else None
    value = finite_number(fields.get("gen_ai.evaluation.score.value"))
    is_verdict = _OF_SUCCESS.search(evaluation.name) or _OF_TASK.search(evaluation.name)
    if value not in (0, 1) or not (is_verdict or fields.get(_DATA_TYPE) == "BOOLEAN"):
        return None
    return value == 1


def verdict(evaluations: Iterable[Evaluation]) -> bool | None:
    """Return the verdict of a trial; None where nothing says, or where verdicts differ.

    Evaluations of the task's success come before those of anything else.
    """
    known = [(each, passed(each)) for each in evaluations]
    of_task = {found for each, found in known if found is not None and _OF_TASK.search(each.name)}
    found = of_task or {each for _, each in known if each is not None}
    return found.pop() if len(found) == 1 else None
