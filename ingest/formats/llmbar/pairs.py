"""Pairs of answers, a label that says which is better, and a judge's rounds of verdicts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import Elements
from ingest.formats.common.fields import Fields, list_of, text_of
from ingest.formats.common.judged import JudgedRows, judged_reading, rater_config
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.judged import Outcome, Side
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import Json, JsonObject, PreferenceRow

SUITE = "llmbar"
_ROOTS = ("LLMBar", "Processed", "CaseStudy")
_EVALUATORS = "evaluators"
_MODELS = ("output_1", "output_2")
_SCORES = ("score_1", "score_2")
# Labels are numbers, verdicts texts; both name the stored answer, in either order.
_OUTCOMES: dict[str, Outcome] = {"1": "a", "2": "b", "tie": "tie"}
_ORDERS: dict[str, Side] = {"swap = False": "a", "swap = True": "b"}
_OF_A_JUDGE = {"result.json", "statistics.json"}
_SCORE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*$")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Pairs, and who judged them.

    Attributes:
        task_set: the set of pairs, as in LLMBar/Natural.
        judge: the judge's model; None for pairs without one.
        method: how it was asked.
        unnamed: what stands for a judge without a name: labels where there is none.
    """

    task_set: str
    judge: str | None = None
    method: str | None = None
    unnamed: str = "labels"

    @property
    def run_id(self) -> str:
        """The run."""
        return f"{self.task_set} {self.rater or self.unnamed}"

    @property
    def rater(self) -> str | None:
        """The judge with its method."""
        return f"{self.judge} {self.method}" if self.judge else None


def evaluation_at(path: Path) -> Evaluation:
    """Return what the path of a file says: `SET/evaluators/JUDGE/METHOD/result.json`."""
    folders = [utf8(name) for name in path.absolute().parts[1:-1]]
    if _EVALUATORS in folders[-3:-2]:
        return Evaluation(_task_set(folders[:-3]), folders[-2], folders[-1])
    unnamed = "judge" if path.name in _OF_A_JUDGE else "labels"
    return Evaluation(_task_set(folders), unnamed=unnamed)


def _task_set(folders: list[str]) -> str:
    roots = [at for at, name in enumerate(folders) if name in _ROOTS]
    return "/".join(folders[roots[-1] if roots else -1 :])


def read_pairs(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read pairs with a judge's verdicts, or with their labels only."""
    evaluation = evaluation_at(path)
    run = (SUITE, evaluation.run_id)
    blocks = partial(_blocks, path, evaluation, redact=context.options.redact)
    yield judged_reading("LLMBar pairs", run, (path,), blocks, {"task_set": evaluation.task_set})


def _blocks(path: Path, evaluation: Evaluation, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, evaluation.run_id)
    pairs = _Pairs(evaluation, JudgedRows(SUITE, evaluation.task_set, rows))
    yield from rows.add_elements(Elements(path, is_masked=redact), "pair", pairs.add)
    yield from rows.rest()


class _Pairs:
    """Adds the rows of pairs to those of a run."""

    def __init__(self, evaluation: Evaluation, judged: JudgedRows) -> None:
        self._judged = judged
        self._rater = evaluation.rater
        self._config = rater_config(model=evaluation.judge, prompt=evaluation.method)

    def add(self, record: JsonObject, seq: int) -> str:
        """Add the rows of a pair; return why it cannot be used."""
        fields, task_id = Fields(record), str(seq - 1)
        question, label = fields.text("input"), fields.value("label")
        rounds = list_of(fields.value("results"))
        texts = [fields.text(name) for name in _MODELS]
        if question is None or None in texts:
            return "has no `input`, `output_1` or `output_2`"
        if not all(isinstance(each, dict) for each in rounds):
            return "a round in `results` is not a JSON object"
        self._judged.add_task(task_id, question)
        pair = self._judged.add_pair(task_id, task_id, _MODELS, texts, seq)
        outcome = _outcome(label)
        extra = fields.extra(label=None if outcome else label)
        self._judged.add_vote({**pair, "rater_kind": "gold", "outcome": outcome, "extra": extra})
        if rounds:
            self._add_rounds(rounds, pair)
        return ""

    def _add_rounds(self, rounds: list[JsonObject], pair: PreferenceRow) -> None:
        """Add what the last round says, which counts; what earlier ones say is in `extra`."""
        last = Fields(rounds[-1])
        said = {name: last.value(name) for name in (*_ORDERS, *_SCORES) if name in rounds[-1]}
        for name, value in said.items():
            earlier = [each[name] for each in rounds[:-1] if name in each]
            more: JsonObject = {"round": last.left() or None, "rounds": earlier or None}
            if name in _ORDERS:
                self._add_vote(Fields(value), _ORDERS[name], pair, more)
            else:
                self._add_rating(value, _SCORES.index(name), pair, more)

    def _add_vote(
        self, verdict: Fields, first_shown: Side, pair: PreferenceRow, more: JsonObject
    ) -> None:
        winner, completion = verdict.value("winner"), verdict.value("completion")
        outcome, (text, stop) = _outcome(winner), _completion(completion)
        extra = verdict.extra(winner=None if outcome else winner, stop=stop, **more)
        self._judged.add_vote(
            {
                **pair,
                "rater": self._rater,
                "rater_kind": "judge",
                "rater_config": self._config,
                "first_shown": first_shown,
                "outcome": outcome,
                "raw_output": text,
                "extra": extra,
            }
        )

    def _add_rating(self, completion: Json, at: int, pair: PreferenceRow, more: JsonObject) -> None:
        text, stop = _completion(completion)
        score = _SCORE.match(text or "")
        self._judged.add_rating(
            {
                "task_id": pair["task_id"],
                "model": _MODELS[at],
                "result_id": (pair["result_a"], pair["result_b"])[at],
                "rater": self._rater,
                "rater_kind": "judge",
                "rater_config": self._config,
                "value": float(score[1]) if score else None,
                "raw_output": text,
                "seq": pair["seq"],
                "extra": Fields({}).extra(stop=stop, **more),
            }
        )


def _completion(value: Json) -> tuple[str | None, Json]:
    """Return the text of a reply, and why it ended; no text and all of an unknown form."""
    parts = list_of(value)
    text = text_of(parts[0]) if parts else None
    return (None, value) if text is None else (text, parts[1:] or None)


def _outcome(winner: Json) -> Outcome | None:
    return None if isinstance(winner, bool) else _OUTCOMES.get(str(winner))
