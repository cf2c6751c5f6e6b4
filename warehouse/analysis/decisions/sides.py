"""The sides of a comparison: what is written on the command line, and the calls that it names.

MODEL               the model, by its run on the board
MODEL@2026-01-31    the same, of the runs until the end of that day
run:RUN_ID          one run
MODEL@run:RUN_ID    one model of a run of several
tag:NAME=VALUE      the runs with this tag
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb

_RUN, _TAG, _OF_RUN = "run:", "tag:", "@run:"
_DATED = re.compile(r"(?P<model>.+)@(?P<date>\d{4}-\d{2}-\d{2})", re.DOTALL)
_CALLED = """
SELECT suite, run_id, model, run_date
FROM (
    SELECT DISTINCT entries.suite, entries.run_id, entries.model
    FROM scores.entry_calls AS calls
    JOIN scores.entries AS entries ON calls.entry = entries.entry
    WHERE entries.model IS NOT NULL AND NOT entries.is_replay
)
JOIN scores.run_times AS times USING (suite, run_id)
WHERE $suite IS NULL OR suite = $suite
ORDER BY suite, times.position, model
"""
_TAGGED = "SELECT suite, run_id, name, value FROM run_tags"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A side as written.

    Attributes:
        text: the text itself.
        model: name of the model, if one is named.
        until: the last day of the runs that count.
        run_id: ID of the only run that counts.
        tag: name and value of the tag of the runs that count.
    """

    text: str
    model: str | None = None
    until: date | None = None
    run_id: str | None = None
    tag: tuple[str, str] | None = None


class Calls(NamedTuple):
    """The calls of one model in one run.

    Attributes:
        suite: suite of the run.
        run_id: ID of the run.
        model: name of the model.
    """

    suite: str
    run_id: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSide:
    """A side and the calls that it names.

    Attributes:
        text: the side as written.
        calls: runs and models, at least one, in the order of the runs.
        kind: what it names: a model, one run, or the runs with a tag.
    """

    text: str
    calls: tuple[Calls, ...]
    kind: Literal["model", "run", "tag"] = "model"


def with_later_runs(
    connection: duckdb.DuckDBPyConnection, side: ResolvedSide, *, suite: str | None = None
) -> ResolvedSide:
    """Return a side with all later runs of its models.

    Args:
        connection: an open warehouse.
        side: the side.
        suite: the only suite that counts, if given.
    """
    called = [Calls(*row[:3]) for row in connection.execute(_CALLED, {"suite": suite}).fetchall()]
    first = {(call.suite, call.model): called.index(call) for call in reversed(side.calls)}
    calls = tuple(
        call
        for place, call in enumerate(called)
        if place >= first.get((call.suite, call.model), len(called))
    )
    return replace(side, calls=calls)


class _Called(NamedTuple):
    suite: str
    run_id: str
    model: str
    run_date: date | None


def parse_side(text: str) -> Side:
    """Read a side as written.

    Raises:
        BadInput: it names nothing, or a day that does not exist.
    """
    if text.startswith(_RUN):
        return Side(text=text, run_id=_named(text, text.removeprefix(_RUN)))
    if text.startswith(_TAG):
        name, equals, value = text.removeprefix(_TAG).partition("=")
        if not (name and equals and value):
            raise BadInput(f"{text!r}: write a tag as tag:NAME=VALUE")
        return Side(text=text, tag=(name, value))
    if _OF_RUN in text:
        model, _, run_id = text.partition(_OF_RUN)
        return Side(text=text, model=_named(text, model), run_id=_named(text, run_id))
    if dated := _DATED.fullmatch(text):
        try:
            until = date.fromisoformat(dated["date"])
        except ValueError as error:
            raise BadInput(f"{text!r}: {dated['date']} is not a date") from error
        return Side(text=text, model=dated["model"], until=until)
    return Side(text=text, model=_named(text, text))


def resolve_sides(
    connection: duckdb.DuckDBPyConnection, texts: Iterable[str], *, suite: str | None = None
) -> list[ResolvedSide]:
    """Return the calls that each side names; replays do not count.

    Args:
        connection: an open warehouse.
        texts: the sides as written.
        suite: the only suite that counts, if given.

    Raises:
        BadInput: a side names an unknown model, run or tag, a day before the model's first run, or
            a run of several models.
    """
    rows = connection.execute(_CALLED, {"suite": suite}).fetchall()
    called = [_Called(*row) for row in rows]
    sides = [_side_of_store(parse_side(text), called) for text in texts]
    tags = _tags(connection) if any(side.tag for side in sides) else {}
    return [_resolved(side, called, tags) for side in sides]


def _side_of_store(side: Side, called: Sequence[_Called]) -> Side:
    """Return a side as meant: a model's own name may look like a model with a date or a run."""
    models = {call.model for call in called}
    return Side(text=side.text, model=side.text) if side.text in models else side


def _resolved(
    side: Side, called: Sequence[_Called], tags: dict[tuple[str, str], set[tuple[str, str]]]
) -> ResolvedSide:
    if side.tag is not None:
        found = _of_tag(side, called, tags)
    else:
        found = list(called) if side.run_id is None else _of_run(side, called)
    if side.model is not None:
        found = _of_model(side, side.model, found)
    if side.until is not None:
        found = _until(side, side.until, found)
    if side.run_id is not None:
        _check_is_one_run(side, found)
    calls = tuple(Calls(call.suite, call.run_id, call.model) for call in found)
    kind: Literal["tag", "run", "model"] = (
        "tag" if side.tag is not None else "run" if side.run_id is not None else "model"
    )
    return ResolvedSide(text=side.text, calls=calls, kind=kind)


def _check_is_one_run(side: Side, called: Sequence[_Called]) -> None:
    suites = sorted({call.suite for call in called})
    if len(suites) > 1:
        names = ", ".join(suites)
        raise BadInput(f"{side.text}: several suites have such a run ({names}); name one: --suite")
    models = sorted({call.model for call in called})
    if len(models) > 1:
        raise BadInput(
            f"{side.text}: the run called {len(models)} models; name one of them, such as "
            f"{models[0]}@run:{side.run_id}"
        )


def _of_model(side: Side, model: str, called: Sequence[_Called]) -> list[_Called]:
    found = [call for call in called if call.model == model]
    if not found:
        where = f"run {side.run_id}" if side.run_id else "the store"
        hint = did_you_mean(
            model, {call.model for call in called}, "`evalstore show leaderboard` lists the models"
        )
        raise BadInput(f"{where} has no results of a model {model!r}; {hint}")
    return found


def _of_run(side: Side, called: Sequence[_Called]) -> list[_Called]:
    found = [call for call in called if call.run_id == side.run_id]
    if not found:
        known = {call.run_id for call in called}
        hint = did_you_mean(side.run_id or "", known, "`evalstore runs` lists the runs")
        raise BadInput(f"{side.text}: no such run with calls of models; {hint}")
    return found


def _until(side: Side, until: date, called: Sequence[_Called]) -> list[_Called]:
    found = [call for call in called if call.run_date is not None and call.run_date <= until]
    if not found:
        dates = [call.run_date for call in called if call.run_date is not None]
        first = (
            f"its first run is of {min(dates)}" if dates else "the dates of its runs are not known"
        )
        raise BadInput(f"{side.text}: the model has no run until then; {first}")
    return found


def _of_tag(
    side: Side, called: Sequence[_Called], tags: dict[tuple[str, str], set[tuple[str, str]]]
) -> list[_Called]:
    tag = side.tag or ("", "")
    if tag not in tags:
        known = [f"{name}={value}" for name, value in sorted(tags)]
        listed = f"the tags are: {', '.join(known)}" if known else "the store has no tags"
        hint = did_you_mean("=".join(tag), known, listed)
        raise BadInput(f"{side.text}: no run has this tag; {hint}")
    found = [call for call in called if (call.suite, call.run_id) in tags[tag]]
    if not found:
        raise BadInput(f"{side.text}: the runs with this tag have no calls of models")
    return found


def _tags(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return the suites and runs of each tag."""
    tags: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for suite, run_id, name, value in connection.execute(_TAGGED).fetchall():
        tags.setdefault((name, value), set()).add((suite, run_id))
    return tags


def _named(text: str, name: str) -> str:
    if not name:
        raise BadInput(f"{text!r} names no model or run")
    return name
