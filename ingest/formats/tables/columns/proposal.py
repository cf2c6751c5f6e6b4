"""Guesses which column of a table is what, and describes it for the user to confirm."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ingest.formats.tables.columns.column_map import ColumnMap
from ingest.formats.tables.columns.roles import (
    BOOLEAN,
    INTEGER,
    LIST,
    LONG_ROLES,
    NUMBER,
    ROLES,
    TIME,
    may_be_metric,
    plain_name,
    unit_of_latency,
)
from ingest.formats.tables.values import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ingest.formats.tables.columns.column_map import TableSpec
    from ingest.formats.tables.columns.facts import ColumnFacts
    from ingest.formats.tables.columns.roles import Role

_KINDS = {
    BOOLEAN: "a boolean",
    INTEGER: "an integer",
    LIST: "a JSON list",
    NUMBER: "a number",
    TIME: "a time",
}
_FIRST_WIDTH, _COLUMN_WIDTH = 14, 24
_WIDEST = 100


def guess(facts: Sequence[ColumnFacts], constants: Collection[str]) -> ColumnMap:
    """Guess which column is what, by usual names and by what the columns hold.

    A column of numbers without a role is a score. One whose values do not suit its name never gets
    the role: `correct` with 0, 1 and 2 is a score, not a verdict.

    Args:
        facts: what the columns hold.
        constants: roles that the user has given a constant for.
    """
    by_name = {plain_name(each.name): each for each in reversed(facts)}
    found: dict[str, ColumnFacts] = {}
    for role in ROLES:
        taken = {each.name for each in found.values()}
        free = {n: each for n, each in by_name.items() if each.name not in taken}
        names = [name for name in _names(role, found) if name in free and _suits(role, free[name])]
        if names and role.name not in constants:
            found[role.name] = free[names[0]]
    if not found.keys() >= LONG_ROLES:
        for name in LONG_ROLES:
            found.pop(name, None)
    taken = {each.name for each in found.values()}
    is_long = "metric" in found
    scores = [e.name for e in facts if e.name not in taken and not is_long and _is_score(e)]
    attempt, latency = found.get("attempt"), found.get("latency")
    return ColumnMap(
        columns={name: each.name for name, each in found.items()},
        scores=tuple(scores),
        latency_unit=unit_of_latency(latency.name) if latency is not None else None,
        first_attempt=0 if attempt is not None and attempt.low == 0 else 1,
    )


def describe(spec: TableSpec, facts: Sequence[ColumnFacts]) -> list[str]:
    """Return lines that say what each column becomes, with three of its values."""
    by_name = {each.name: each for each in facts}
    columns = spec.map.columns
    lines = [_line("suite", spec.suite, "(for all rows)")]
    for role in ROLES:
        if role.name in columns:
            each = by_name[columns[role.name]]
            lines.append(_line(role.name, each.name, _shown(role.name, each, spec)))
        elif (value := _constant(role.name, spec)) is not None:
            lines.append(_line(role.name, value, "(for all rows)"))
    lines += [
        _line("score", name, _shown("score", by_name[name], spec)) for name in spec.map.scores
    ]
    others = [each for each in facts if each.name not in spec.map.used]
    unsuitable = [each for each in others if each.n and _wanted_kind(each)]
    for each in unsuitable:
        shown = ", ".join(map(_quoted, each.samples))
        lines.append(_line("extra", each.name, f"not always {_wanted_kind(each)}: {shown}"))
    rest = [each.name for each in others if each not in unsuitable]
    if rest:
        lines.append(_line("extra", ", ".join(rest), ""))
    return lines


def _wanted_kind(facts: ColumnFacts) -> str | None:
    """Return what a column would have to hold for the role that its name suggests."""
    name = plain_name(facts.name)
    role = next((role for role in ROLES if name in role.names), None)
    return _KINDS.get(role.kind) if role is not None and not _suits(role, facts) else None


def _names(role: Role, found: Collection[str]) -> Iterator[str]:
    for name in role.names:
        # Next to an output, `answer` is what was read from it, or else the right one.
        if role.name == "answer" and name == "answer" and "target" not in found:
            continue
        yield name


def _suits(role: Role, facts: ColumnFacts) -> bool:
    return {
        BOOLEAN: facts.is_boolean,
        INTEGER: facts.is_integer,
        LIST: facts.is_list,
        NUMBER: facts.is_number,
        TIME: facts.is_time,
    }.get(role.kind, True)


def _is_score(facts: ColumnFacts) -> bool:
    return facts.n > 0 and may_be_metric(facts.name) and (facts.is_number or facts.is_boolean)


def _constant(role: str, spec: TableSpec) -> str | None:
    return {"run": spec.run, "model": spec.model, "task_set": spec.task_set}.get(role)


def _shown(role: str, facts: ColumnFacts, spec: TableSpec) -> str:
    """Return sample values, and what they are taken for where that is a guess."""
    samples = facts.samples
    if role == "passed":
        return ", ".join(f"{_quoted(s)} = {'pass' if _is_true(s) else 'fail'}" for s in samples)
    if role in {"score", "value"}:
        return ", ".join(map(_score_text, samples))
    text = ", ".join(_quoted(sample) for sample in samples)
    if role == "latency":
        text += f" {spec.map.latency_unit}"
    if role == "attempt" and spec.map.first_attempt == 0:
        text += " (0 is the first attempt)"
    if role == "cost":
        text += " US dollars"
    return text


def _score_text(sample: str) -> str:
    text = sample.strip()
    if text.endswith("%"):
        return f"{text} = {float(text.removesuffix('%')) / 100:g}"
    word = text.casefold()
    if word[:1].isalpha() and word in (*TRUE, *FALSE):
        return f"{text} = {int(word in TRUE)}"
    return text


def _is_true(sample: str) -> bool:
    return sample.strip().casefold() in TRUE


def _quoted(sample: str) -> str:
    return sample if len(sample) < 24 else f"{sample[:20]}…"  # noqa: PLR2004 - of a screen


def _line(what: str, column: str, shown: str) -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST) - 1
    name = (
        column if len(column) <= _COLUMN_WIDTH or not shown else f"{column[: _COLUMN_WIDTH - 1]}…"
    )
    text = " ".join(f"  {what:<{_FIRST_WIDTH}}{name:<{_COLUMN_WIDTH}}  {shown}".splitlines())
    return (text if len(text) <= width or not shown else f"{text[: width - 1]}…").rstrip()
