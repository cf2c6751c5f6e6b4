"""The scorers of suites of one's own.

A rule is JSON: `type`, a key of `SCORERS`; `references`; and the options of the scorer. Rules are
stored with the tasks, so that verdicts can be computed again, except where a user's function or a
model decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from warehouse.core.formats.values import utf8
from warehouse.engine.scoring.columns import map_by_key
from warehouse.engine.scoring.custom.comparisons import compare_json, compare_numbers, compare_text
from warehouse.engine.scoring.custom.options import (
    any_value,
    choice_of_whitespace,
    flag,
    function_name,
    json_value,
    judge_prompt,
    mapping,
    number,
    text,
    tolerance,
)
from warehouse.engine.scoring.openclaw.validators import validate
from warehouse.engine.scoring.openclaw.verdicts import Verdict, undecided

Rule: TypeAlias = Mapping[str, object]
# The answer, the references and the options in; a verdict with its reason out.
Compare: TypeAlias = Callable[[str, Sequence[object], Rule], Verdict]
# Returns a value as rules hold it; raises `OptionError` with what is wrong.
Read: TypeAlias = Callable[[object], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A way to judge an answer.

    Attributes:
        compare: judges the answer; None if a user's function or a model does, during the run.
        reference: reads a reference.
        needs_reference: whether a task without a reference cannot be judged.
        options: the options, each with the function that reads its value.
        required: the options that must be given.
    """

    compare: Compare | None
    reference: Read = text
    needs_reference: bool = True
    options: Mapping[str, Read] = field(default_factory=dict)
    required: tuple[str, ...] = ()


def _apply_validator(answer: str, _references: Sequence[object], rule: Rule) -> Verdict:
    return validate(answer, rule.get("validator"))


SCORERS: Mapping[str, Scorer] = {
    "exact": Scorer(
        compare=compare_text, options={"ignore_case": flag, "whitespace": choice_of_whitespace}
    ),
    "number": Scorer(
        compare=compare_numbers,
        reference=number,
        options={"absolute": tolerance, "relative": tolerance},
    ),
    "json": Scorer(compare=compare_json, reference=json_value),
    "validator": Scorer(compare=_apply_validator, needs_reference=False),
    "function": Scorer(
        compare=None,
        reference=any_value,
        needs_reference=False,
        options={"function": function_name, "options": mapping},
        required=("function",),
    ),
    "judge": Scorer(
        compare=None,
        needs_reference=False,
        options={
            "model": text,
            "provider": text,
            "prompt": judge_prompt,
            "base_url": text,
            "api_key_env": text,
        },
        required=("model", "prompt"),
    ),
}


def score(answer: str, rule: Rule) -> Verdict:
    """Judge an answer by a rule; no verdict if a user's function or a model has to decide."""
    kind, references = rule.get("type"), rule.get("references", ())
    scorer = SCORERS.get(kind) if isinstance(kind, str) else None
    if scorer is None or not isinstance(references, Sequence):
        return undecided(f"unknown_scorer: {kind}")
    if scorer.compare is None:
        return undecided(None)
    try:
        return scorer.compare(answer, references, rule)
    except RecursionError:
        return undecided("nested too deeply")


def scorer_name(rule: Rule) -> str:
    """Return the name of a rule's scorer, as results record it."""
    kind = str(rule["type"])
    if kind == "validator":
        validator = rule.get("validator")
        return f"{kind} {validator.get('type', 'noop')}" if isinstance(validator, dict) else kind
    detail = rule.get("function", rule.get("model"))
    return kind if detail is None else f"{kind} {detail}"


def score_batch(
    answers: Sequence[str | None], rules_json: Sequence[str | None]
) -> list[dict[str, object] | None]:
    """Apply `score` to columns; each distinct pair is judged once.

    Returns:
        For each row `passed` and `reason`; None without an answer or a rule.
    """
    return map_by_key(_rows, rules_json, answers)


def _rows(rule_json: str | None, answers: Sequence[str]) -> Iterable[dict[str, object]]:
    rule = json.loads(rule_json) if rule_json is not None else None
    for answer in answers:
        verdict = score(answer, rule if isinstance(rule, dict) else {})
        reason = None if verdict.violation is None else utf8(verdict.violation)
        yield {"passed": verdict.objective_pass, "reason": reason}
