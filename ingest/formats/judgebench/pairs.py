"""Pairs of answers of one model, a label that says which is right, and a judge's verdicts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.fields import Fields, finite_number, list_of, object_of, text_of
from ingest.formats.common.judged import JudgedRows, judged_reading, rater_config, side_of
from ingest.formats.common.records import json_lines
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.judged import Outcome, Side
    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import Json, JsonObject, PreferenceRow, RatingRow

SUITE = "judgebench"
_TASK_SET = "JudgeBench"
_OUTCOMES: dict[Json, Outcome] = {"A>B": "a", "B>A": "b", "A=B": "tie"}
# The answer that is shown first in each judgement; the tool makes no third.
_ORDERS: tuple[Side, ...] = ("a", "b")
_REWARD, _LABELS, _UNNAMED = "reward_model", "labels", "judge"


def read_pairs(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read pairs of answers: those of a judge, or without one their labels only."""
    redact = context.options.redact
    try:
        names = _run_names(path, redact=redact)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    run = (SUITE, " ".join(filter(None, names)) or path.stem)
    blocks = partial(_blocks, path, run[1], names, redact=redact)
    yield judged_reading("JudgeBench pairs", run, (path,), blocks, {"task_set": _TASK_SET})


def _run_names(path: Path, *, redact: bool) -> tuple[str | None, ...]:
    """Return the judge's method and model, `labels` without one, and the model that answered.

    A judge of which neither is recorded is the `judge`.

    A judgement that failed names no model: that of the first other one counts.

    Raises:
        OSError: the file cannot be read.
    """
    first: JsonObject = {}
    for block in json_lines(path, redact=redact):
        for record in block.records:
            pair = object_of(record.value)
            first = first or pair
            models = filter(None, map(_judge_model, list_of(pair.get("judgments"))))
            model = next(models, None)
            if model is not None:
                return _judge_name(pair), model, text_of(pair.get("response_model"))
            if "judge_name" not in first:
                break
    return _judge_name(first), None, text_of(first.get("response_model"))


def _judge_name(pair: JsonObject) -> str:
    return text_of(pair.get("judge_name")) or (_UNNAMED if "judgments" in pair else _LABELS)


def _judge_model(judgment: Json) -> str | None:
    return text_of(object_of(object_of(judgment).get("judgment")).get("judge_model"))


def _blocks(
    path: Path, run_id: str, names: tuple[str | None, ...], *, redact: bool
) -> Iterator[Block]:
    rows = RowCollector(path, run_id)
    pairs = _Pairs(names, JudgedRows(SUITE, _TASK_SET, rows))
    yield from rows.add_lines(json_lines(path, redact=redact), pairs.add)
    yield from rows.rest()


class _Pairs:
    """Adds the rows of pairs to those of a run."""

    def __init__(self, names: tuple[str | None, ...], judged: JudgedRows) -> None:
        self._judge_name, self._judge_model, self._response_model = names
        self._judged = judged

    def add(self, record: LineRecord) -> None:
        """Add the rows of the pair in a line."""
        problem = self._problem(record.value)
        if problem:
            self._judged.rows.rejects.append(record.rejected(problem))
            return
        fields = Fields(record.value)
        pair_id, model = fields.text("pair_id") or "", fields.text("response_model") or ""
        fields.value("judge_name")
        about = {name: fields.value(name) for name in ("source", "original_id")}
        question, label = fields.text("question"), fields.value("label")
        self._judged.add_task(pair_id, question, extra=json_text(about))
        texts = [fields.text(name) for name in ("response_A", "response_B")]
        pair = self._judged.add_pair(pair_id, pair_id, (model, model), texts, record.line)
        judgments = list_of(fields.value("judgments"))
        unknown = fields.left() or None
        if label is not None:
            outcome = _OUTCOMES.get(label) if isinstance(label, str) else None
            extra = fields.extra(label=None if outcome else label)
            self._judged.add_vote(
                {**pair, "rater_kind": "gold", "outcome": outcome, "extra": extra}
            )
        for first_shown, judgment in zip(_ORDERS, judgments, strict=False):
            self._add_judgment(judgment, first_shown, pair, unknown)

    def _problem(self, pair: Json) -> str:
        """Return why a value is no pair of this run; "" if it is."""
        if not isinstance(pair, dict):
            return "not a JSON object"
        for name in ("pair_id", "response_model"):
            if not isinstance(pair.get(name), str):
                return f"has no `{name}`"
        names = (_judge_name(pair), text_of(pair["response_model"]))
        if names != (self._judge_name, self._response_model):
            return "belongs to another judge or model than the first pair"
        judgments = pair.get("judgments")
        if not isinstance(judgments, list | None) or len(judgments or ()) > len(_ORDERS):
            return "`judgments` is not a list of one for each order"
        if not all(isinstance(each, dict | None) for each in judgments or ()):
            return "a judgement is not a JSON object"
        return ""

    def _add_judgment(
        self, record: Json, first_shown: Side, pair: PreferenceRow, unknown: Json
    ) -> None:
        judgment = Fields(record)
        made, decision = judgment.inside("judgment"), judgment.value("decision")
        model = made.text("judge_model") or self._judge_model
        raw_output = made.text("response")
        scores = [finite_number(score) for score in list_of(made.peek("scores"))]
        if len(scores) != len(_ORDERS) or None in scores:
            scores = []  # stay in `extra`
        else:
            made.value("scores")
        method = None if self._judge_name == _UNNAMED else self._judge_name
        rater: RatingRow = {
            "rater": " ".join(filter(None, (method, model))) or _UNNAMED,
            "rater_kind": "reward" if self._judge_name == _REWARD else "judge",
            "rater_config": rater_config(model=model, prompt=method),
        }
        position = _OUTCOMES.get(decision) if isinstance(decision, str) else None
        vote: PreferenceRow = {
            **pair,
            "rater": rater["rater"],
            "rater_kind": rater["rater_kind"],
            "rater_config": rater["rater_config"],
            "first_shown": first_shown,
            "outcome": side_of(position, first_shown),
            "raw_output": raw_output,
            "extra": judgment.extra(decision=None if position else decision, pair=unknown),
        }
        # A call that failed leaves null in place of the whole judgement.
        self._judged.add_vote(vote if record is not None else {**vote, "status": "error"})
        results = (pair["result_a"], pair["result_b"])
        # A reward model's scores are in the order shown; those of the second order are the same.
        for result, score in zip(
            results if first_shown == "a" else results[::-1], scores, strict=False
        ):
            self._judged.add_rating(
                {
                    **rater,
                    "task_id": pair["task_id"],
                    "model": pair["model_a"],
                    "result_id": result,
                    "value": score,
                    "seq": pair["seq"],
                }
            )
