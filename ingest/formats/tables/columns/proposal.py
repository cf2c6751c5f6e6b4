"""Guesses which column of a table is what, and describes it for the user to confirm."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import polars as pl

from ingest.formats.tables import values
from ingest.formats.tables.columns.column_map import ColumnMap
from ingest.formats.tables.columns.roles import (
    BOOLEAN,
    BY_NAME,
    DURATION,
    INTEGER,
    LEFT,
    LIST,
    LONG_ROLES,
    NEEDED_OF_VOTES,
    NUMBER,
    OF_VOTES,
    ROLES,
    TIME,
    VOTE_ROLES,
    may_be_metric,
    may_be_model,
    plain_name,
    unit_of_latency,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ingest.formats.tables.columns.column_map import TableSpec
    from ingest.formats.tables.columns.facts import ColumnFacts
    from ingest.formats.tables.columns.roles import Role

_KINDS = {
    BOOLEAN: "a boolean",
    DURATION: "with a unit",
    INTEGER: "an integer",
    LIST: "a JSON list",
    NUMBER: "a number",
    TIME: "a time",
}
_FIRST_WIDTH, _COLUMN_WIDTH = 14, 24
_WIDEST = 100


def model_columns(
    facts: Sequence[ColumnFacts], columns: ColumnMap, *, is_wide: bool
) -> list[ColumnFacts]:
    """Return the columns that are one for each model.

    Args:
        facts: what the columns hold.
        columns: which column is what, otherwise.
        is_wide: whether the table is known to be such a one. Then they are, besides those named
            like models, all that could hold scores; without any, all without a role.
    """
    taken = columns.columns.values()
    free = [e for e in facts if e.name not in taken and e.n and may_be_metric(e.name)]
    named = [each for each in free if may_be_model(each.name)]
    if is_wide:
        return [e for e in free if e in named or e.is_number or e.is_boolean] or free
    return named if len(named) > 1 else []


def guess(
    facts: Sequence[ColumnFacts], constants: Collection[str], models: Sequence[ColumnFacts] = ()
) -> ColumnMap:
    """Guess which column is what, by usual names and by what the columns hold.

    A column of numbers without a role is a score. One whose values do not suit its name never gets
    the role: `correct` with 0, 1 and 2 is a score, not a verdict.

    Args:
        facts: what the columns hold.
        constants: roles that the user has given a constant for.
        models: columns that are one for each model.
    """
    by_name = {plain_name(each.name): each for each in reversed(facts) if each not in models}
    found = _assigned(ROLES, by_name, constants)
    is_votes = _assigned(VOTE_ROLES, by_name, ()).keys() >= NEEDED_OF_VOTES
    if is_votes and not models and "model" not in {*found, *constants}:
        return _guess_votes(by_name, constants)
    if models and found.keys().isdisjoint({"task", "question", "prompt"}):
        # The first column of such a table names its rows.
        rest = [e for e in facts if e.n and e not in models and e not in found.values()]
        found |= {"task": rest[0]} if rest else {}
    cells = _cells(models)
    if cells == "score" and "metric" in found and "value" not in found:
        cells = "value"
    elif not found.keys() >= LONG_ROLES:
        for name in LONG_ROLES:
            found.pop(name, None)
    taken = {each.name for each in found.values()}
    has_scores = "metric" not in found and not models
    scores = [e.name for e in facts if e.name not in taken and has_scores and _is_score(e)]
    attempt, latency = found.get("attempt"), found.get("latency")
    return ColumnMap(
        columns={name: each.name for name, each in found.items()},
        scores=tuple(scores),
        latency_unit=unit_of_latency(latency.name) if latency is not None else None,
        first_attempt=0 if attempt is not None and attempt.low == 0 else 1,
        models=tuple(each.name for each in models),
        cells=cells,
    )


def _assigned(
    roles: Iterable[Role], by_name: Mapping[str, ColumnFacts], constants: Collection[str]
) -> dict[str, ColumnFacts]:
    """Return the column of each role that has one, by usual names, the first roles first."""
    found: dict[str, ColumnFacts] = {}
    for role in roles:
        taken = {each.name for each in found.values()}
        free = {n: each for n, each in by_name.items() if each.name not in taken}
        names = [name for name in _names(role, found) if name in free and _suits(role, free[name])]
        if names and role.name not in constants:
            found[role.name] = free[names[0]]
    return found


def _guess_votes(by_name: Mapping[str, ColumnFacts], constants: Collection[str]) -> ColumnMap:
    """Guess which column is what in a table of votes."""
    others = (role for role in ROLES if role.name in OF_VOTES)
    found = _assigned((*VOTE_ROLES, *others), by_name, constants)
    if "task" not in found and "prompt" in found and found["prompt"].is_integer:
        found["task"] = found.pop("prompt")  # the prompt's number
    is_left = "first" not in found and plain_name(found["model_a"].name) in LEFT
    names = {name: each.name for name, each in found.items()}
    return ColumnMap(columns=names, shown_first="a" if is_left else None)


def _cells(models: Sequence[ColumnFacts]) -> str | None:
    """Return what the cells of models' columns are."""
    if not models:
        return None
    if all(each.is_boolean for each in models):
        return "passed"
    if all(each.is_number or each.is_boolean for each in models):
        return "score"
    return "latency" if all(each.is_duration for each in models) else "output"


def describe(spec: TableSpec, facts: Sequence[ColumnFacts]) -> list[str]:
    """Return lines that say what each column becomes, with three of its values."""
    by_name = {each.name: each for each in facts}
    columns = spec.map.columns
    lines = [_line("suite", spec.suite, "(for all rows)")]
    for role in (*VOTE_ROLES, *ROLES):
        if role.name in columns:
            each = by_name[columns[role.name]]
            lines.append(_line(role.name, each.name, _shown(role.name, each, spec)))
        elif (value := _constant(role.name, spec)) is not None:
            lines.append(_line(role.name, value, "(for all rows)"))
    cells = spec.map.cells or ""
    lines += [
        _line("model", name, f"{cells}: {_shown(cells, by_name[name], spec)}")
        for name in spec.map.models
    ]
    lines += [
        _line("score", name, _shown("score", by_name[name], spec)) for name in spec.map.scores
    ]
    others = [each for each in facts if each.name not in spec.map.used]
    reasons: dict[str, list[str]] = {}
    for each in others:
        reasons.setdefault(_why_extra(each, spec), []).append(each.name)
    for reason, names in reasons.items():
        joined = ", ".join(names)
        is_long = len(joined) > _COLUMN_WIDTH
        line = (f"{joined}: {reason}", "") if is_long else (joined, reason)
        lines.append(_line("extra", *line))
    return lines


def _why_extra(facts: ColumnFacts, spec: TableSpec) -> str:
    """Return why a column has no role."""
    role = _usual_role(facts)
    shown = ", ".join(map(_quoted, facts.samples))
    if not facts.n or (facts.needs_commas and not spec.map.decimal_comma):
        return f"decimal commas? --decimal-comma: {shown}" if facts.n else "no values"
    if role is not None and not _suits(role, facts):
        if role.kind in {NUMBER, INTEGER} and facts.no_numbers:
            shown = ", ".join(map(_quoted, facts.no_numbers))
        return f"not always {_KINDS[role.kind]}: {shown}"
    if role is not None and (taken := spec.map.columns.get(role.name, _constant(role.name, spec))):
        return f"{role.name} is {taken}"
    if not (facts.is_number or facts.is_boolean):
        return "text, and not a usual name"
    is_left = spec.map.models and may_be_metric(facts.name)
    why = "not named like a model; see --wide" if is_left else "a setting, not a score"
    return "not of one metric" if "metric" in spec.map.columns else why


def _usual_role(facts: ColumnFacts) -> Role | None:
    """Return the role that a column's name suggests."""
    return next((role for role in ROLES if plain_name(facts.name) in role.names), None)


def _names(role: Role, found: Collection[str]) -> Iterator[str]:
    for name in role.names:
        # Next to an output, `answer` is what was read from it, or else the right one.
        if role.name == "answer" and name == "answer" and "target" not in found:
            continue
        yield name


def _suits(role: Role, facts: ColumnFacts) -> bool:
    return {
        BOOLEAN: facts.is_boolean,
        DURATION: facts.is_duration,
        INTEGER: facts.is_integer,
        LIST: facts.is_list,
        NUMBER: facts.is_number,
        TIME: facts.is_time,
    }.get(role.kind, True)


def _is_score(facts: ColumnFacts) -> bool:
    return facts.n > 0 and may_be_metric(facts.name) and (facts.is_number or facts.is_boolean)


def _constant(role: str, spec: TableSpec) -> str | None:
    first = f"model_{spec.map.shown_first}" if spec.map.shown_first else None
    given = {"run": spec.run, "model": spec.model, "task_set": spec.task_set, "first": first}
    return given.get(role)


def _shown(role: str, facts: ColumnFacts, spec: TableSpec) -> str:
    """Return sample values, and what they are taken for where that is a guess."""
    samples = facts.samples
    if role == "passed":
        flags, _ = values.boolean(pl.Series(samples))
        verdicts = zip(samples, flags, strict=True)
        return ", ".join(f"{_quoted(s)} = {'pass' if flag else 'fail'}" for s, flag in verdicts)
    if role == "winner":
        outcomes = ((sample, values.WINNERS.get(sample.lower())) for sample in samples)
        return ", ".join(f"{_quoted(s)} = {outcome or 'a model?'}" for s, outcome in outcomes)
    kind = NUMBER if role == "score" else BY_NAME[role].kind
    if kind in {NUMBER, INTEGER, DURATION}:
        samples = [_as_read(sample, role, spec) for sample in samples]
    text = ", ".join(_quoted(sample) for sample in samples)
    if role == "attempt" and spec.map.first_attempt == 0:
        text += " (0 is the first attempt)"
    if role == "cost":
        text += " US dollars"
    return text


def _as_read(sample: str, role: str, spec: TableSpec) -> str:
    """Return a sample with the number that it is taken for, where that looks different."""
    series = pl.Series([sample.strip()])
    if spec.map.decimal_comma:
        series = values.decimal_points(series)
    if role == "latency":
        read, unit = values.duration(series, spec.map.latency_unit)[0], " s"
    else:
        read, unit = values.score(series)[0], ""
    plain = pl.Series([sample]).cast(pl.Float64, strict=False)
    if read[0] is None or plain[0] == read[0]:
        return f"{sample.strip()}{unit}"
    return f"{sample.strip()} = {read[0]:g}{unit}"


def _quoted(sample: str) -> str:
    return sample if len(sample) < 24 else f"{sample[:20]}…"  # noqa: PLR2004 - of a screen


def _line(what: str, column: str, shown: str) -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST) - 1
    name = (
        column if len(column) <= _COLUMN_WIDTH or not shown else f"{column[: _COLUMN_WIDTH - 1]}…"
    )
    text = " ".join(f"  {what:<{_FIRST_WIDTH}}{name:<{_COLUMN_WIDTH}}  {shown}".splitlines())
    return (text if len(text) <= width or not shown else f"{text[: width - 1]}…").rstrip()
