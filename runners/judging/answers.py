"""The stored answers that are judged: those of a run, or pairs of those of two runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from runners.judging.rubric import Rubric
    from warehouse.app.store import Store
    from warehouse.lake.batch import RunKey

# Of several versions of a task, a prompt or reference counts that all of them have: of those with
# the result's hash, if it has one.
_ANSWERS = """
WITH versions AS (
    SELECT
        suite, task_set, task_id, task_hash,
        CASE WHEN count(DISTINCT coalesce(prompt, question)) = 1
            THEN min(coalesce(prompt, question)) END AS prompt,
        CASE WHEN count(DISTINCT coalesce(target, reference)) = 1
            THEN min(coalesce(target, reference)) END AS reference
    FROM tasks
    GROUP BY GROUPING SETS ((suite, task_set, task_id, task_hash), (suite, task_set, task_id))
),

calls AS (
    SELECT
        results.suite, results.run_id, results.result_id, results.task_set, results.task_id,
        results.attempt, results.model, results.is_replay,
        coalesce(results.prompt, versions.prompt) AS prompt,
        json_texts(versions.reference) AS texts,
        CASE WHEN results.success AND results.availability_status = 'ok'
            THEN coalesce(results.raw_output, results.answer) END AS answer,
        results.raw_output_truncated AS is_truncated,
        results.seq
    FROM results
    LEFT JOIN versions
        ON results.suite = versions.suite AND results.task_set = versions.task_set
        AND results.task_id = versions.task_id
        AND results.task_hash IS NOT DISTINCT FROM versions.task_hash
    WHERE results.suite = $suite AND results.run_id = $run_id
)

SELECT
    suite, run_id, result_id, task_set, task_id, attempt, model, is_replay,
    coalesce(prompt, '') AS prompt, coalesce(texts, []) AS "references", answer,
    CASE
        WHEN coalesce(trim(answer, whitespace_characters()), '') = ''
            THEN 'the call failed, or no text is stored as its answer'
        WHEN is_truncated THEN 'only the beginning of the answer is stored'
        WHEN $needs_prompt AND coalesce(prompt, '') = ''
            THEN 'the store has no prompt for the task, and the rubric needs it'
        WHEN $needs_reference AND coalesce(array_to_string(texts, ''), '') = ''
            THEN 'the store has no reference for the task, and the rubric needs it'
    END AS problem
FROM calls
ORDER BY seq, result_id
"""


class StoredAnswer(NamedTuple):
    """An answer in the store, with what is known of its task, and why it cannot be judged."""

    suite: str
    run_id: str
    result_id: str
    task_set: str
    task_id: str
    attempt: int
    model: str
    is_replay: bool
    prompt: str
    references: list[str]
    answer: str
    problem: str | None


def stored_answers(store: Store, run: RunKey, *, needs: Collection[str]) -> list[StoredAnswer]:
    """Return the results of a run; `needs` may name `prompt` and `reference`."""
    named = {f"needs_{name}": name in needs for name in ("prompt", "reference")}
    rows = store.sql(_ANSWERS, {"suite": run[0], "run_id": run[1], **named}).fetchall()
    return [StoredAnswer(*row) for row in rows]


def answers_to_judge(
    store: Store, runs: Sequence[RunKey], rubric: Rubric
) -> tuple[list[tuple[StoredAnswer, ...]], list[str]]:
    """Return what can be judged by a rubric, and what cannot, in sentences.

    Of one run these are its answers. Of two they are pairs, the first run's answer first, to the
    same attempt at the same task and prompt; of a run and itself, of any two models or settings.
    """
    problems: Counter[str] = Counter()
    usable: dict[RunKey, list[StoredAnswer]] = {}
    for run in dict.fromkeys(runs):
        answers = stored_answers(store, run, needs=rubric.placeholders)
        problems.update(answer.problem for answer in answers if answer.problem is not None)
        usable[run] = [answer for answer in answers if answer.problem is None]
    found: list[tuple[StoredAnswer, ...]] = [(answer,) for answer in usable[runs[0]]]
    if len(runs) > 1:
        found = [*_pairs(usable[runs[0]], usable[runs[1]])]
        paired = {answer[:3] for pair in found for answer in pair}
        n_alone = sum(answer[:3] not in paired for each in usable.values() for answer in each)
        problems["no other answer to the same attempt at the task and prompt"] = n_alone
    counts = ((n, why) for why, n in problems.items() if n)
    return found, [f"{n:,} answer{'s' * (n != 1)} not judged: {why}" for n, why in counts]


def sampled(
    judged: Sequence[tuple[StoredAnswer, ...]], size: int | None, seed: int
) -> Sequence[tuple[StoredAnswer, ...]]:
    """Return a simple random sample, in the same order; all without a size.

    Drawn by a hash, so that with the same seed every judge gets the same answers.
    """
    drawn = sorted(
        range(len(judged)),
        key=lambda n: content_hash("sample", seed, [answer.result_id for answer in judged[n]]),
    )
    return [judged[n] for n in sorted(drawn[:size])]


def _pairs(
    first: Sequence[StoredAnswer], second: Sequence[StoredAnswer]
) -> Iterator[tuple[StoredAnswer, StoredAnswer]]:
    by_task: dict[object, list[StoredAnswer]] = defaultdict(list)
    # Of one run, each answer is paired with those before it.
    is_same = first is second
    for answer in () if is_same else second:
        by_task[_attempt(answer)].append(answer)
    for answer in first:
        others = by_task[_attempt(answer)]
        yield from ((other, answer) if is_same else (answer, other) for other in others)
        if is_same:
            others.append(answer)


def _attempt(answer: StoredAnswer) -> tuple[object, ...]:
    return answer.task_set, answer.task_id, answer.attempt, answer.prompt
