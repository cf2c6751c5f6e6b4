"""Judgements of MT-Bench: single grades as ratings, both orders of a pair as two votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ingest.formats.common.fields import (
    Fields,
    finite_number,
    list_of,
    object_of,
    text_of,
    unix_moment,
)
from ingest.formats.common.judged import rater_config
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.formats.common.judged import JudgedRows, Outcome, Side, Status
    from ingest.formats.common.judged_files import JudgedRuns
    from warehouse.core.types import JsonObject, PreferenceRow, RaterColumns, RatingRow

SUITE = "mt_bench"

_LANGUAGES = ("en", "ko")
_JUDGEMENTS = "judgments"
_REFERENCE_FOLDER = "single_grade_ref"
_WITH_REFERENCE = {"single_grade": False, _REFERENCE_FOLDER: True, "pairwise": None}
_MATH = "-math-"  # FastChat's prompts that show a reference have it in their names.
_NOT_PARSED, _LOWEST, _HIGHEST = -1, 1.0, 10.0
_ERROR = "error"
_SIDES = ((1, "a"), (2, "b"))
_ANSWERS = "assistant"
_PAIR_DIGITS = 16


class _Grade(NamedTuple):
    """The keys of a grade, and the turn that it is of; None where a key says it."""

    score: str
    judgment: str
    turn: int | None


class _Order(NamedTuple):
    """The keys of a vote in one order, the answer shown first, and what a winner means."""

    winner: str
    judgment: str
    first_shown: Side | None
    outcomes: dict[str, Outcome]


_GRADES = (_Grade("score_turn1", "judgment_turn1", 1), _Grade("score_turn2", "judgment_turn2", 2))
_GRADE = (_Grade("score", "judgment", None),)
_MODELS: dict[str, Outcome] = {"model_1": "a", "model_2": "b", "tie": "tie"}
# Of the judge's two letters, A is the answer shown first.
_LETTERS = (
    _Order("winner_ab", "judgment_ab", "a", {"A": "a", "B": "b", "tie": "tie"}),
    _Order("winner_ba", "judgment_ba", "b", {"A": "b", "B": "a", "tie": "tie"}),
)
_GAMES = (
    _Order("g1_winner", "g1_judgment", "a", _MODELS),
    _Order("g2_winner", "g2_judgment", "b", _MODELS),
)
_PEOPLE = (
    _Order(
        "winner",
        "judgment",
        None,
        {"model_a": "a", "model_b": "b", "tie": "tie", "tie (bothbad)": "both_bad"},
    ),
)


def task_set_of(path: Path) -> str:
    """Return the task set of a file: the benchmark, in the language that a folder names."""
    folders = path.parts[-2::-1]
    above = folders.index(_JUDGEMENTS) + 1 if _JUDGEMENTS in folders else 0
    folder = next(iter(folders[above:]), "")
    return f"{SUITE}/{folder}" if folder in _LANGUAGES else SUITE


def add_judgement(record: JsonObject, position: int, runs: JudgedRuns) -> str | None:
    """Add the rows of a record of either dialect; return why it cannot be used, if so."""
    fields = Fields(record)
    number, judge = fields.integer("question_id"), _judge(fields, runs.path)
    if number is None or not judge.get("rater"):
        return "has no question_id, or no judge"
    task_set = task_set_of(runs.path)
    run = "human" if judge["rater_kind"] == "human" else judge["rater"]
    rows = runs.of("/".join([*task_set.split("/")[1:], str(run)]), task_set)
    moment = unix_moment(fields.value("tstamp"))
    common: RaterColumns = {**judge, "task_id": str(number), "rated_at": moment}
    if "winner_ab" in record:
        return _add_votes(fields, position, common, _LETTERS, rows)
    common["turn"] = fields.integer("turn")
    if "g1_winner" in record:
        return _add_votes(fields, position, common, _GAMES, rows)
    if "winner" in record:
        return _add_votes(fields, position, common, _PEOPLE, rows)
    grades = _GRADES if "score_turn1" in record else _GRADE
    if runs.path.parent.name == _REFERENCE_FOLDER and not fields.peek("judgment_turn1"):
        # With a reference only the second turn is judged.
        fields.value("score_turn1")
        fields.value("judgment_turn1")
        grades = _GRADES[1:]
    return _add_ratings(fields, position, common, grades, rows)


def _judge(fields: Fields, path: Path) -> RaterColumns:
    """Return who judged: a judge by its id, or by its name and prompt; or a person."""
    judge_id, judge = fields.text("judge_id"), fields.value("judge")
    if judge_id is None and isinstance(judge, str):
        return {"rater": utf8(judge), "rater_kind": "human"}
    names = [text_of(name) for name in (*list_of(judge), None, None)]
    name, prompt = judge_id or names[0], names[1]
    with_reference = None if prompt is None else _MATH in prompt
    if judge_id is not None:
        prompt = path.parent.name if path.parent.name in _WITH_REFERENCE else None
        with_reference = _WITH_REFERENCE.get(path.parent.name)
    config = rater_config(model=name, prompt=prompt, with_reference=with_reference)
    return {"rater": name, "rater_kind": "judge", "rater_config": config}


def _add_ratings(
    fields: Fields,
    position: int,
    common: RaterColumns,
    grades: tuple[_Grade, ...],
    rows: JudgedRows,
) -> str | None:
    model = fields.text("model_id") or fields.text("model")
    if model is None:
        return "has no model"
    found: list[RatingRow] = []
    for keys in grades:
        value, judgment = _score(fields, keys.score), fields.text(keys.judgment)
        rating: RatingRow = {
            "seq": position,
            "model": model,
            "value": value,
            "scale_low": _LOWEST,
            "scale_high": _HIGHEST,
            "status": _status(value, judgment or fields.peek(keys.score)),
            "raw_output": judgment,
        }
        found.append({**common, **rating, "turn": keys.turn or common.get("turn")})
    extra = fields.extra()
    for each in found:
        rows.add_rating({**each, "extra": extra})
    return None


def _score(fields: Fields, name: str) -> float | None:
    """Take a score; -1 means that none was read from the reply, any other value is kept."""
    score = finite_number(fields.peek(name))
    is_score = score is not None and _LOWEST <= score <= _HIGHEST
    if is_score or score == _NOT_PARSED:
        fields.value(name)
    return score if is_score else None


def _status(found: object, reply: object) -> Status:
    return "ok" if found is not None else "unparsed" if reply else "error"


def _add_votes(
    fields: Fields,
    position: int,
    common: RaterColumns,
    orders: tuple[_Order, ...],
    rows: JudgedRows,
) -> str | None:
    """Add a vote for each order of presentation; what both come to is derived and stays aside."""
    models = [fields.text(f"model_{letter}") or fields.text(f"model_{n}") for n, letter in _SIDES]
    model_a, model_b = models
    task_id = str(common["task_id"])
    if model_a is None or model_b is None:
        return "has no two models"
    answers = [_answer(fields, f"conversation_{letter}") for _, letter in _SIDES]
    votes: list[PreferenceRow] = []
    for order in orders:
        outcome = order.outcomes.get(str(fields.peek(order.winner)))
        if outcome is not None or fields.peek(order.winner) == _ERROR:
            fields.value(order.winner)
        judgment = fields.text(order.judgment)
        vote: PreferenceRow = {
            "seq": position,
            "pair_id": content_hash("pair", task_id, *sorted((model_a, model_b)))[:_PAIR_DIGITS],
            "model_a": model_a,
            "model_b": model_b,
            "result_a": rows.add_answer(task_id, model_a, answers[0]),
            "result_b": rows.add_answer(task_id, model_b, answers[1]),
            "first_shown": order.first_shown,
            "outcome": outcome,
            "status": _status(outcome, judgment or fields.peek(order.winner)),
            "raw_output": judgment,
        }
        votes.append({**common, **vote})
    extra = fields.extra()
    for each in votes:
        rows.add_vote({**each, "extra": extra})
    return None


def _answer(fields: Fields, name: str) -> str | None:
    """Take what a model said in a conversation, all turns together; the rest are the questions."""
    messages = map(object_of, list_of(fields.peek(name)))
    texts = [text_of(each.get("content")) for each in messages if each.get("role") == _ANSWERS]
    if not texts or None in texts:
        return None
    fields.value(name)
    return "\n\n".join(filter(None, texts))
