"""Judging of stored answers as a suite: each call of a judge is a cell of a run of ratings."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypedDict, cast

from runners.judging.answers import answers_to_judge, sampled
from runners.judging.exchange import JudgeReading, judge_prompt, read_judge_reply
from runners.judging.rubric import rubric_of
from runners.plan import Plan, Task
from runners.providers.base import UNPARSED_REPLY, Reply
from runners.suites.base import PreparedRun, RunSpec, Suite
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.lake.journal.journal import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runners.engine.engine import CallOutcome
    from runners.judging.answers import StoredAnswer
    from runners.judging.rubric import Criterion, Rubric
    from runners.models.model import Model
    from runners.plan import Cell
    from runners.providers.base import Request
    from warehouse.app.store import Store
    from warehouse.core.types import PreferenceRow, RatingRow, ResultRow, Row, RunRow
    from warehouse.lake.batch import RunKey

_REPLAY = "replay"
_OTHERS = {"a": "b", "b": "a"}
_RATINGS_SUMMARY = """
WITH counted AS (
    SELECT
        suite, run_id, task_set, rater, rater_config, criterion, model,
        count(*) FILTER (status = 'ok') AS n_rated,
        count(*) FILTER (status = 'unparsed') AS n_unparsed,
        count(*) FILTER (status = 'error') AS n_failed,
        CASE WHEN count(label) > 0 THEN CAST(histogram(label) AS VARCHAR) END AS labels
    FROM ratings
    WHERE suite = $suite AND run_id = $run_id AND is_current
    GROUP BY ALL
)

SELECT
    model, criterion, n_rated, round(mean, 4) AS mean, round(mean_low, 4) AS mean_low,
    round(mean_high, 4) AS mean_high, labels, n_unparsed, n_failed, n_tasks, rater AS judge,
    task_set
FROM counted
LEFT JOIN rating_means USING (suite, run_id, task_set, rater, rater_config, criterion, model)
ORDER BY criterion, judge, task_set, mean DESC NULLS LAST, model
"""
_PAIRS_SUMMARY = """
SELECT
    model, opponent, criterion, n_pairs, round(win_rate, 4) AS win_rate,
    round(win_rate_low, 4) AS win_rate_low, round(win_rate_high, 4) AS win_rate_high, n_wins,
    n_losses, n_ties, n_inconsistent, n_without_vote, n_tasks, rater AS judge, task_set
FROM win_rates
WHERE suite = $suite AND run_id = $run_id
ORDER BY criterion, judge, task_set, win_rate DESC NULLS LAST, model, opponent
"""


class _Options(TypedDict):
    """The options of a plan; `about` has what each task is about, by its ID."""

    rubric: dict[str, object]
    about: dict[str, Row]
    runs: Sequence[RunKey]
    n_judged: int
    n_items: int
    seed: int


class JudgedAnswers(Suite):
    """Rates single answers by the criteria of a rubric."""

    family = "judged-answers"
    summary = _RATINGS_SUMMARY
    answer = ("model", "criterion", "n_rated", "mean", "mean_low", "mean_high", "labels",
              "n_unparsed", "n_failed")  # fmt: skip
    view = "ratings"

    def prepare(self, _spec: RunSpec, /) -> PreparedRun:
        """Refuse: `plan_judging` makes the plan."""
        raise BadInput("stored answers are judged by `evalstore judge`")

    def request(self, _plan: Plan, cell: Cell, /) -> Request:
        """Return the call: the prompt is complete."""
        task = cell.task
        return cell.model.request(task.prompt, task_id=task.task_id, attempt=cell.attempt)

    def columns(self, plan: Plan, _cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Return what was read; a reply of which nothing could be read is a failure."""
        if not isinstance(outcome.result, Reply):
            return {}
        reading = read_judge_reply(_rubric(plan), utf8(outcome.result.text))
        if reading.values:
            return {"parsed_output": json_text(reading.values)}
        return {"success": False, "failure_type": UNPARSED_REPLY, "violation": reading.problem}

    def entries(
        self, plan: Plan, cell: Cell, outcome: CallOutcome, result: ResultRow, /
    ) -> Iterator[Entry]:
        """Return the ratings, or the votes, one for each criterion."""
        about = _options(plan)["about"][cell.task.task_id]
        return _judgement_entries(_rubric(plan), about, cell, outcome, result)

    def run_columns(self, plan: Plan, _run_id: str, _timeout_seconds: float, /) -> RunRow:
        """Return the rubric, the judged runs, and how many of their answers or pairs were drawn."""
        kept = {name: value for name, value in plan.options.items() if name != "about"}
        return {"config": json_text({**kept, "rubric_hash": _rubric(plan).hash})}


class JudgedPairs(JudgedAnswers):
    """Compares the answers of two runs to the same tasks, in both orders."""

    family = "judged-pairs"
    summary = _PAIRS_SUMMARY
    answer = ("model", "opponent", "criterion", "n_pairs", "win_rate", "win_rate_low",
              "win_rate_high", "n_inconsistent", "n_without_vote")  # fmt: skip
    view = "preferences"


SUITE = JudgedAnswers()
PAIRS = JudgedPairs()


def plan_judging(
    store: Store,
    runs: Sequence[RunKey],
    rubric: Rubric,
    models: Sequence[Model],
    *,
    sample: int | None,
    seed: int,
) -> tuple[Plan, list[str]]:
    """Find the answers, draw a sample, and write the judges' prompts.

    Args:
        store: the store.
        runs: the run whose answers are rated, or the two whose answers are compared.
        rubric: the rubric.
        models: the judges.
        sample: number of answers, or pairs, to draw; None for all.
        seed: of the sample.

    Returns:
        The plan, and what cannot be judged, in sentences.

    Raises:
        BadInput: nothing can be judged, or a judge is replayed and the answers are not.
    """
    found, warnings = answers_to_judge(store, runs, rubric)
    if not found:
        which = " and ".join(dict.fromkeys(run_id for _, run_id in runs))
        raise BadInput("\n".join([*warnings, f"nothing to judge in run {which}"]))
    is_rehearsal = all(answer.is_replay for judged in found for answer in judged)
    for model in models:
        if model.provider == _REPLAY and not is_rehearsal:
            raise BadInput(
                f"the judge {model.name} is replayed, but the answers are not: only answers of "
                "`replay` can be judged by it, as a rehearsal"
            )
    drawn = sampled(found, sample, seed)
    about, tasks = _tasks(rubric, drawn, len(drawn) / len(found))
    options: _Options = {
        "rubric": {**rubric.document},
        "about": about,
        "runs": runs,
        "n_judged": len(drawn),
        "n_items": len(found),
        "seed": seed,
    }
    plan = Plan(
        suite=RATINGS_SUITE,
        family=(PAIRS if rubric.is_pairwise else SUITE).family,
        run_date=datetime.now().astimezone().strftime("%Y-%m-%d"),
        task_set=rubric.name,
        models=tuple(models),
        tasks=tasks,
        template=rubric.instructions,
        options=options,
    )
    return plan, warnings


def _options(plan: Plan) -> _Options:
    return cast("_Options", plan.options)


def _rubric(plan: Plan) -> Rubric:
    return rubric_of(_options(plan)["rubric"])


def _tasks(
    rubric: Rubric, drawn: Sequence[tuple[StoredAnswer, ...]], probability: float
) -> tuple[dict[str, Row], tuple[Task, ...]]:
    """Return the tasks of a judge, each answer or each pair in both orders, and what they show."""
    about: dict[str, Row] = {}
    tasks: list[Task] = []
    for judged in drawn:
        for is_turned in (False, True)[: len(judged)]:
            shown = judged[::-1] if is_turned else judged
            task_id = " ".join([str(len(tasks) + 1), shown[0].task_id, *(a.model for a in shown)])
            names = ("answer_a", "answer_b") if len(shown) > 1 else ("answer",)
            texts = {"prompt": shown[0].prompt, "reference": "\n".join(shown[0].references)}
            texts |= zip(names, (answer.answer for answer in shown), strict=True)
            prompt = judge_prompt(rubric, texts)
            tasks.append(Task(task_id, prompt, task_hash=content_hash("judgement", prompt)))
            if len(judged) > 1:
                about[task_id] = _shown_pair(*judged, is_turned=is_turned)
            else:
                about[task_id] = _rated_answer(judged[0], probability)
    return about, tuple(tasks)


def _rated_answer(answer: StoredAnswer, probability: float) -> RatingRow:
    """Return what all ratings of an answer share: as plans store it, without its text."""
    return {
        "task_set": answer.task_set,
        "task_id": answer.task_id,
        "model": answer.model,
        "rated_suite": answer.suite,
        "rated_run_id": answer.run_id,
        "result_id": answer.result_id,
        "sampling_probability": probability,
    }


def _shown_pair(a: StoredAnswer, b: StoredAnswer, *, is_turned: bool) -> PreferenceRow:
    """Return what all votes share on two answers in one order: as plans store it."""
    return {
        "task_set": a.task_set,
        "task_id": a.task_id,
        "pair_id": content_hash("pair", a.run_id, a.result_id, b.run_id, b.result_id),
        "model_a": a.model,
        "model_b": b.model,
        "result_a": a.result_id,
        "result_b": b.result_id,
        "suite_a": a.suite,
        "suite_b": b.suite,
        "run_id_a": a.run_id,
        "run_id_b": b.run_id,
        "first_shown": "b" if is_turned else "a",
    }


def _judgement_entries(
    rubric: Rubric, about: Row, cell: Cell, outcome: CallOutcome, result: ResultRow
) -> Iterator[Entry]:
    """Yield a row for each criterion; `about` is what the plan stores of the task."""
    reply = outcome.result
    reading = JudgeReading(problem=None if isinstance(reply, Reply) else reply.failure_type)
    if isinstance(reply, Reply):
        reading = read_judge_reply(rubric, utf8(reply.text))
    shared: Row = {
        **about,
        "rater": cell.model.name,
        "rater_kind": "judge",
        "rater_config": _rater_config(rubric, cell),
        "reason": None if reading.reason is None else utf8(reading.reason),
        "raw_output": utf8(reply.text) if isinstance(reply, Reply) else None,
        "rated_at": outcome.ended_at,
        "seq": result["seq"],
        "extra": json_text({"call": result["content_id"], "problem": reading.problem}),
    }
    # Of the call: sums over its criteria must not count it more than once.
    costs: Row = {
        "cost_usd": reply.cost_usd,
        "duration_ms": outcome.e2e_ms,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
    }
    without = "unparsed" if isinstance(reply, Reply) else "error"
    is_vote = "first_shown" in about
    for criterion in rubric.criteria:
        value = reading.values.get(criterion.name)
        row: Row = {
            **shared,
            **(costs if criterion is rubric.criteria[0] else {}),
            **(_vote(about, value) if is_vote else _rating(criterion, value)),
            "criterion": criterion.name,
            "status": without if value is None else "ok",
            "content_id": content_hash("judgement", result["content_id"], criterion.name),
        }
        yield Entry("preferences" if is_vote else "ratings", row)


def _rating(criterion: Criterion, value: float | str | None) -> RatingRow:
    labels = [word for word in criterion.words.values() if isinstance(word, str)]
    return {
        "value": value if isinstance(value, float) else None,
        "label": value if isinstance(value, str) else None,
        "scale_low": criterion.low,
        "scale_high": criterion.high,
        "scale_labels": labels or None,
    }


def _vote(about: Row, value: float | str | None) -> PreferenceRow:
    """Return the outcome; the judge names answers by their places, a for the first."""
    place = value if isinstance(value, str) else None
    is_turned = about["first_shown"] == "b"
    return {"outcome": _OTHERS.get(place or "", place) if is_turned else place}


def _rater_config(rubric: Rubric, cell: Cell) -> str:
    """Return what makes another judge: its model and settings, the rubric, the reference."""
    config: dict[str, object] = {
        "model": cell.model.name,
        "prompt": rubric.hash,
        "rubric": f"{rubric.name} {rubric.version}",
        "with_reference": "reference" in rubric.placeholders,
    }
    return canonical_json(config | ({"settings": s} if (s := cell.model.parameters) else {}))
