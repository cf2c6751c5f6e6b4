"""The re-score of stored answers: a third verdict next to the recorded and the computed one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.masking import Mask, secrets_of_environment
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import RESCORES
from warehouse.engine.scoring.openclaw.verdicts import undecided
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runners.rescore.scorer import FileScorer
    from warehouse.app.store import Store
    from warehouse.core.types import RescoreRow
    from warehouse.engine.scoring.custom.scorers import Rule
    from warehouse.engine.scoring.openclaw.verdicts import Verdict
    from warehouse.lake.batch import RunKey

_ROWS_AT_ONCE = 1_000
# Some logs do not hold the prompt: then it is that of the task in the run's task set. The same ID
# in another set may be another task.
_ANSWERS = """
WITH versions AS (
    SELECT suite, task_id, task_hash, min(prompt) AS prompt
    FROM lake.tasks
    GROUP BY suite, task_id, task_hash
    HAVING count(DISTINCT prompt) = 1
)

SELECT
    answers.run_id, answers.result_id, answers.task_id,
    coalesce(answers.prompt, of_set.prompt, versions.prompt) AS prompt,
    coalesce(answers.raw_output, answers.answer) AS answer,
    coalesce(answers.raw_output_truncated, false) AS is_truncated,
    known.result_id IS NOT NULL AS is_known
FROM results AS answers
LEFT JOIN lake.rescores AS known
    ON known.scorer = $scorer AND known.version = $version AND answers.suite = known.suite
    AND answers.run_id = known.run_id AND answers.result_id = known.result_id
LEFT JOIN scores.openclaw_run_tasks AS of_set
    ON answers.suite = of_set.suite AND answers.run_id = of_set.run_id
    AND answers.task_id = of_set.task_id
    AND answers.task_name IS NOT DISTINCT FROM of_set.task_name
    AND answers.task_hash IS NOT DISTINCT FROM of_set.task_hash
LEFT JOIN versions
    ON answers.suite = versions.suite AND answers.task_id = versions.task_id
    AND answers.task_hash = versions.task_hash
WHERE answers.suite = $suite
    AND ($runs IS NULL OR list_contains($runs, answers.run_id))
    AND answers.availability_status = 'ok' AND answers.success
    AND coalesce(answers.raw_output, answers.answer) IS NOT NULL
ORDER BY answers.run_id, answers.seq, answers.result_id
"""


@dataclass(slots=True)
class RescoreReport:
    """What a re-score did, in numbers of answers.

    Attributes:
        n_new: judged now.
        n_known: judged before by the same version.
        n_undecided: of the new ones, those without a verdict.
        n_other_prompt: not judged, because the file has another prompt for the task.
        n_unknown_prompt: not judged, because neither the log nor a task set has the prompt.
        n_other_task: not judged, because the file has no rule for the task.
    """

    n_new: int = 0
    n_known: int = 0
    n_undecided: int = 0
    n_other_prompt: int = 0
    n_unknown_prompt: int = 0
    n_other_task: int = 0


class _Answer(NamedTuple):
    run_id: str
    result_id: str
    task_id: str
    prompt: str | None
    text: str
    is_truncated: bool
    is_known: bool


def rescore(store: Store, scorer: FileScorer, runs: Sequence[RunKey] | None) -> RescoreReport:
    """Judge the stored answers of a suite by a scorer, and add the verdicts to the lake.

    What the same version has judged before is left out, so that the same call again adds nothing.

    Args:
        store: the store.
        scorer: the scorer.
        runs: the only runs to judge; None for all.

    Raises:
        StoreReadOnly: the store cannot be written.
    """
    report = RescoreReport()
    parameters = {
        "scorer": scorer.name,
        "version": scorer.version,
        "suite": scorer.suite,
        "runs": None if runs is None else [run_id for _, run_id in runs],
    }
    # `forget` waits until the verdicts are in the lake, and so removes them too.
    with shared_lake_lock(store.path), store.lake.write("rescore") as writer:
        with store.sql(_ANSWERS, parameters).cursor() as cursor:
            while batch := cursor.fetchmany(_ROWS_AT_ONCE):
                wanted = list(_wanted(map(_Answer._make, batch), scorer, report))
                writer.add(RESCORES, _rows(wanted, scorer, report))
        if not writer.is_empty:
            writer.commit()
    return report


def _wanted(
    answers: Iterable[_Answer], scorer: FileScorer, report: RescoreReport
) -> Iterator[_Answer]:
    for answer in answers:
        if answer.task_id not in scorer.task_ids:
            report.n_other_task += 1
        elif answer.prompt is None:
            report.n_unknown_prompt += 1
        elif (answer.task_id, answer.prompt) not in scorer.rules:
            report.n_other_prompt += 1
        elif answer.is_known:
            report.n_known += 1
        else:
            report.n_new += 1
            yield answer


def _rows(
    answers: Sequence[_Answer], scorer: FileScorer, report: RescoreReport
) -> list[RescoreRow]:
    now = datetime.now(UTC)
    rules = [scorer.rules[answer.task_id, answer.prompt or ""] for answer in answers]
    verdicts = [_verdict(answer, scorer, rule) for answer, rule in zip(answers, rules, strict=True)]
    report.n_undecided += sum(verdict.objective_pass is None for verdict in verdicts)
    # A user's function may quote anything.
    reasons = Mask(secrets_of_environment()).texts([utf8(v.violation or "") for v in verdicts])
    return [
        {
            "content_id": content_hash(
                "rescore",
                scorer.suite,
                answer.run_id,
                answer.result_id,
                scorer.name,
                scorer.version,
            ),
            "suite": scorer.suite,
            "run_id": answer.run_id,
            "result_id": answer.result_id,
            "scorer": scorer.name,
            "version": scorer.version,
            "rule": json_text(rule),
            "passed": verdict.objective_pass,
            "reason": reason or None,
            "rescored_at": now,
        }
        for answer, rule, verdict, reason in zip(answers, rules, verdicts, reasons, strict=True)
    ]


def _verdict(answer: _Answer, scorer: FileScorer, rule: Rule) -> Verdict:
    if answer.is_truncated:
        return undecided("only the beginning of the answer is stored")
    return scorer.judge(rule, answer.text)
