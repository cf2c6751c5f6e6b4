"""Rubrics: what a judge is told, by which criteria it judges, and the scale of each.

name: helpfulness
version: 1
instructions: 'How helpful is the answer? {prompt} {answer}'
criteria:
- {name: helpful, scale: {low: 1, high: 10}}
- {name: tone, scale: [rude, neutral, kind]}
- {name: correct, scale: pass/fail}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from runners.suites.custom.document import SuiteFile, read_suite_file
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

REASON = "reason"  # what the judge says about all criteria
JSON, BRACKETS = "json", "brackets"
PLACEHOLDER = re.compile(r"\{(prompt|answer|reference|answer_a|answer_b)\}")
_PASS_FAIL = "pass/fail"  # noqa: S105 - a scale
_PAIR = ("a", "b", "tie", "both_bad")
_NAME = re.compile(r"\w[\w .-]{0,99}")
_LARGEST = 1e12
_KINDS = f"{{low: 1, high: 10}}, a list of labels, the worst first, or {_PASS_FAIL}"


@dataclass(frozen=True, slots=True)
class Criterion:
    """What answers are judged by.

    Attributes:
        name: its name.
        low: lowest value of its scale; None for labels.
        high: highest value of its scale; None for labels.
        words: what each word stands for, by the word in lower case: a label, or 1 for pass and 0
            for fail; empty for numbers.
    """

    name: str
    low: float | None = None
    high: float | None = None
    words: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A rubric.

    Attributes:
        name: its name.
        version: its version, as its author counts them.
        instructions: what the judge is told, with placeholders.
        criteria: what is judged.
        reply: `json`, an object by criterion, or `brackets`, the rating in double brackets.
        document: content of its file.
    """

    name: str
    version: str
    instructions: str
    criteria: tuple[Criterion, ...]
    reply: str
    document: Mapping[str, object]

    @property
    def placeholders(self) -> list[str]:
        """The names of the texts that the instructions ask for, in their order."""
        return PLACEHOLDER.findall(self.instructions)

    @property
    def is_pairwise(self) -> bool:
        """Whether it is about two answers to the same task."""
        return "answer_a" in self.placeholders

    @property
    def hash(self) -> str:
        """Hash of all that it says."""
        return content_hash("rubric", self.document)


def read_rubric(path: Path) -> tuple[Rubric, list[str]]:
    """Read a rubric from a YAML or JSON file; return warnings of what has no effect in it, too.

    Raises:
        BadInput: it has mistakes; the message has the line and field of each.
    """
    file = read_suite_file(path)
    rubric = _rubric(file)
    file.raise_problems()
    return rubric, file.warnings


def rubric_of(document: dict[str, object]) -> Rubric:
    """Return the rubric of a file's content that was read before."""
    return _rubric(SuiteFile(Path(), document, {}))


def _rubric(file: SuiteFile) -> Rubric:
    content = file.content
    file.check_keys("", content, ("name", "version", "instructions", "criteria", "reply"))
    version = content.get("version")
    if isinstance(version, bool) or not isinstance(version, str | int | float) or version == "":
        file.report("version", "must be a number or text, such as 1")
    instructions = _instructions(file)
    rubric = Rubric(
        name=_name(file, "name", content),
        version=str(version),
        instructions=instructions,
        criteria=tuple(_criteria(file, is_pairwise="{answer_a}" in instructions)),
        reply=str(content.get("reply", JSON)),
        document=content,
    )
    if rubric.reply not in {JSON, BRACKETS}:
        file.report("reply", f"must be {JSON} or {BRACKETS}")
    elif rubric.reply == BRACKETS and len(rubric.criteria) > 1:
        file.report("reply", f"{BRACKETS} hold one rating: use {JSON} for several criteria")
    return rubric


def _name(file: SuiteFile, place: str, item: Mapping[str, object]) -> str:
    name = item.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name) and name != REASON:
        return name
    file.report(place, f"must be a name of letters, digits, spaces and _ . -, and not {REASON!r}")
    return ""


def _instructions(file: SuiteFile) -> str:
    content = file.content.get("instructions")
    text = content if isinstance(content, str) else ""
    answers = [name for name in PLACEHOLDER.findall(text) if name.startswith("answer")]
    if set(answers) != {"answer"} and answers != ["answer_a", "answer_b"]:
        file.report(
            "instructions",
            "must be text with {answer} in it, or with {answer_a} and then {answer_b}, once each: "
            "the judge sees them in this order",
        )
    return text


def _criteria(file: SuiteFile, *, is_pairwise: bool) -> list[Criterion]:
    items = file.content.get("criteria")
    if not isinstance(items, list) or not items:
        file.report("criteria", "must be a list of criteria, each with a name and a scale")
        return []
    criteria: dict[str, Criterion] = {}
    for number, item in enumerate(items):
        place = f"criteria[{number}]"
        if not isinstance(item, dict):
            file.report(place, "must be a mapping with a name and a scale")
            continue
        file.check_keys(place, item, ("name", "scale"))
        name = _name(file, f"{place}.name", item)
        if name in criteria:
            file.report(f"{place}.name", f"the name {name!r} is used twice")
        scale = item.get("scale", [*_PAIR[:3]] if is_pairwise else None)
        criteria[name] = _criterion(file, f"{place}.scale", name, scale)
        if is_pairwise and not {"a", "b"} <= {*criteria[name].words} <= {*_PAIR}:
            file.report(f"{place}.scale", f"of pairs, must be a list of {', '.join(_PAIR)}")
    return [*criteria.values()]


def _criterion(file: SuiteFile, place: str, name: str, scale: object) -> Criterion:
    if scale == _PASS_FAIL:
        return Criterion(name, 0.0, 1.0, {"pass": 1.0, "fail": 0.0})
    if isinstance(scale, list):
        words = {text.strip().casefold(): text.strip() for text in scale if isinstance(text, str)}
        words.pop("", None)
        if len(words) < max(len(scale), 2):
            file.report(place, "must be two or more labels that differ, as text (quote numbers)")
        return Criterion(name, words=words)
    ends = scale if isinstance(scale, dict) else {}
    file.check_keys(place, ends, ("low", "high"))
    low, high = _number(ends.get("low")), _number(ends.get("high"))
    if low is None or high is None or low >= high:
        file.report(place, f"must be {_KINDS}")
    return Criterion(name, low, high)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _LARGEST else None
