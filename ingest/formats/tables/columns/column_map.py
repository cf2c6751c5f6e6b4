"""Which column of a table is what: guessed and confirmed, or written in a file, or stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ingest.formats.tables.columns.roles import (
    BY_NAME,
    NEEDED_OF_VOTES,
    OF_VOTES,
    unit_of_latency,
)
from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.yaml.documents import YamlError, load
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

CONFIG_KEY = "table"
# The columns that those of models become: names that no table has.
MODEL, CELL = "(model)", "(cell)"
# What the cells of models' columns can be, and several of them in words.
CELLS = {
    "passed": "verdicts",
    "score": "scores",
    "output": "outputs",
    "latency": "latencies",
    "cost": "costs",
    "value": "values of the metric",
}


def _is_list_of_columns(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


# What else a mapping file may have: whether a value is right, and what it must be.
_SETTINGS: dict[str, tuple[Callable[[object], bool], str]] = {
    "scores": (_is_list_of_columns, "a list of columns"),
    "models": (_is_list_of_columns, "a list of columns"),
    "cells": (lambda value: value in CELLS, f"one of {', '.join(CELLS)}"),
    "latency_unit": (lambda value: value in ("ms", "s"), "ms or s"),
    "first_attempt": (lambda value: value in (0, 1) and not isinstance(value, bool), "0 or 1"),
    "decimal_comma": (lambda value: isinstance(value, bool), "true or false"),
    "shown_first": (lambda value: value in ("a", "b"), "a or b"),
    "rater_kind": (
        lambda value: value in ("human", "judge", "gold", "reward"),
        "human, judge, gold or reward",
    ),
}
_LATER = ("decimal_comma", "models", "cells", "shown_first", "rater_kind")
_LARGEST_FILE_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Which column of a table is what. Columns that are not named go into `extra`.

    Attributes:
        columns: column by role.
        scores: columns that hold a score of each result.
        latency_unit: `ms` or `s`, of latencies that name none; None if all do.
        first_attempt: number of a task's first attempt, 0 or 1.
        decimal_comma: whether `0,5` is a half.
        models: columns that are named like a model and hold one value of each of its results.
        cells: what this value is, one of `CELLS`.
        shown_first: of votes the answer that was shown first, `a` or `b`; None if not known, or if
            a column says it.
        rater_kind: of votes the kind of all raters; None for `human`, or what a judge's name says.
    """

    columns: dict[str, str] = field(default_factory=dict)
    scores: tuple[str, ...] = ()
    latency_unit: str | None = None
    first_attempt: int = 1
    decimal_comma: bool = False
    models: tuple[str, ...] = ()
    cells: str | None = None
    shown_first: str | None = None
    rater_kind: str | None = None

    @property
    def is_votes(self) -> bool:
        """Whether each row is a vote between two models."""
        return not NEEDED_OF_VOTES.isdisjoint(self.columns)

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that have a role or hold scores."""
        return tuple(dict.fromkeys((*self.columns.values(), *self.scores, *self.models)))

    def by_model(self) -> ColumnMap:
        """Return the map of the table with a row for each model."""
        if not self.models or self.cells is None:
            return self
        columns, scores = {**self.columns, "model": MODEL}, self.scores
        if self.cells == "score":
            scores = (*scores, CELL)
        else:
            columns[self.cells] = CELL
        return replace(self, columns=columns, scores=scores, models=(), cells=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """How a table is imported.

    Attributes:
        suite: suite of its runs.
        run: id of its run, if no column names the run.
        model: model of all rows, if no column names it.
        task_set: task set of all rows, if no column names it.
        map: which column is what.
    """

    suite: str
    run: str
    model: str | None = None
    task_set: str | None = None
    map: ColumnMap

    @property
    def config(self) -> str:
        """The configuration to store with the runs."""
        given = asdict(self)
        del given["suite"]
        # What came later is left out where it says nothing: runs of before stay the same.
        for name in _LATER:
            if not given["map"][name]:
                del given["map"][name]
        return json_text({CONFIG_KEY: given})

    def check(self, columns: Iterable[str], where: str) -> None:
        """Check that it suffices for a table with these columns.

        Args:
            columns: names of the table's columns.
            where: what to name in messages: the table, or the file with the mapping.

        Raises:
            BadInput: a column is missing, or nothing names the model or the task.
        """
        columns = list(columns)
        for name in self.map.used:
            if name not in columns:
                hint = did_you_mean(name, columns, f"its columns are: {', '.join(columns)}")
                raise BadInput(f"{where}: the table has no column {name!r}; {hint}")
        if self.map.models and ("model" in self.map.columns or self.model is not None):
            raise BadInput(
                f"{where}: models have columns of their own: name no other, and no `--model`"
            )
        if self.map.is_votes:
            self._check_votes(where)
            return
        roles = self.map.by_model().columns
        if "model" not in roles and self.model is None:
            raise BadInput(
                f"{where}: no column names the model: `--model NAME`; `--wide` if each model has "
                "a column"
            )
        if not {"task", "question", "prompt"} & roles.keys():
            raise BadInput(
                f"{where}: no column names the task (task, item, id, prompt or question): name it "
                "in a file, `--columns map.yaml`"
            )
        if ("metric" in roles) != ("value" in roles):
            raise BadInput(
                f"{where}: a table with a row for each metric needs `metric` and `value`"
            )

    def _check_votes(self, where: str) -> None:
        roles = self.map.columns.keys()
        if missing := ", ".join(sorted(NEEDED_OF_VOTES - roles)):
            raise BadInput(f"{where}: a table of votes needs a column for {missing}")
        unused = [*sorted(roles - OF_VOTES), *(["scores"] if self.map.scores else [])]
        if unused or self.map.models or self.model is not None:
            names = ", ".join(unused or ["model"])
            raise BadInput(f"{where}: a vote between two models has no {names}")


def read_column_map(path: Path) -> ColumnMap:
    """Read a mapping file.

    Raises:
        BadInput: it cannot be read, or is not a mapping; all mistakes are in the message.
    """
    try:
        document = load(read_regular(path, max_bytes=_LARGEST_FILE_BYTES))
    except (OSError, YamlError) as error:
        raise BadInput(f"{path}: cannot be used as a mapping: {problem(error)}") from error
    if not isinstance(document, dict):
        raise BadInput(f"{path}: a mapping has lines such as `model: name of the column`")
    mistakes = list(_mistakes(document))
    if mistakes:
        raise BadInput("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    return _from_document(document)


def stored_spec(suite: str, config: Mapping[str, Any]) -> TableSpec:
    """Return what `TableSpec.config` stored."""
    given = dict(config[CONFIG_KEY])
    lists = {name: tuple(given["map"].get(name, ())) for name in ("scores", "models")}
    columns = {**given["map"], **lists}
    return TableSpec(**{**given, "suite": suite, "map": ColumnMap(**columns)})


def _mistakes(document: dict[Any, Any]) -> Iterator[str]:
    for key, value in document.items():
        if key in _SETTINGS:
            is_right, demanded = _SETTINGS[key]
            if not is_right(value):
                yield f"{key}: must be {demanded}, not {value!r}"
        elif key not in BY_NAME:
            known = [*BY_NAME, *_SETTINGS]
            hint = did_you_mean(str(key), known, f"known are: {', '.join(known)}")
            yield f"unknown role {str(key)!r}; {hint}"
        elif not isinstance(value, str):
            yield f"{key}: must be the name of a column, not {value!r}"
    if document.get("models") and "cells" not in document:
        yield f"models: add what their cells are, `cells:` {', '.join(CELLS)}"
    latency = document.get("latency")
    if isinstance(latency, str) and not ("latency_unit" in document or unit_of_latency(latency)):
        yield "latency: its name does not say the unit: add `latency_unit: ms` (or s)"


def _from_document(document: Mapping[str, Any]) -> ColumnMap:
    columns = {role: document[role] for role in BY_NAME if role in document}
    unit = document.get("latency_unit")
    if "latency" in columns and unit is None:
        unit = unit_of_latency(columns["latency"])
    return ColumnMap(
        columns=columns,
        scores=tuple(document.get("scores", ())),
        models=tuple(document.get("models", ())),
        cells=document.get("cells"),
        shown_first=document.get("shown_first"),
        rater_kind=document.get("rater_kind"),
        latency_unit=unit,
        first_attempt=document.get("first_attempt", 1),
        decimal_comma=document.get("decimal_comma", False),
    )
