"""Decides, before anything is stored, how the tables among the given files are imported."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
import orjson

from ingest.formats.tables.batches import UnusableTableError
from ingest.formats.tables.columns.column_map import (
    CELLS,
    CONFIG_KEY,
    ColumnMap,
    TableSpec,
    read_column_map,
    stored_spec,
)
from ingest.formats.tables.columns.facts import facts_of
from ingest.formats.tables.columns.proposal import describe, guess, model_columns
from ingest.formats.tables.opening import open_table
from warehouse.app.console.cli import note
from warehouse.core.errors import BadInput
from warehouse.core.files import problem
from warehouse.core.formats.values import utf8
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import RUNS, rows_sql
from warehouse.engine.views.suite_traits import built_in_suites
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from ingest.formats.tables.columns.facts import ColumnFacts
    from warehouse.lake.lake import Lake


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """What the user said about tables.

    Attributes:
        suite: the suite; None for the file's name without its suffix.
        run: the run's id; None for the file's name without its suffix.
        model: model of all rows.
        task_set: task set of all rows.
        columns: a mapping file.
        decimal_comma: whether `0,5` is a half, which is else asked.
        wide: whether the table has a column for each model, which is else asked.
        is_confirmed: whether what is found need not be confirmed.
    """

    suite: str | None = None
    run: str | None = None
    model: str | None = None
    task_set: str | None = None
    columns: Path | None = None
    decimal_comma: bool = False
    wide: bool = False
    is_confirmed: bool = False


def confirmed_specs(
    lake: Lake, paths: Iterable[Path], request: TableRequest
) -> dict[Path, TableSpec]:
    """Return how each table is imported: as a file says, as before, or as the user confirms.

    Raises:
        BadInput: a table cannot be imported, or its columns were not confirmed.
    """
    return {path: _confirmed(lake, path, request) for path in paths}


def _confirmed(lake: Lake, path: Path, request: TableRequest) -> TableSpec:
    suite, run = request.suite or utf8(path.stem), request.run or utf8(path.stem)
    if suite in built_in_suites():
        raise BadInput(f"{path}: suite {suite!r} is built in: choose another name, `--suite NAME`")
    given = {"model": request.model, "task_set": request.task_set}
    constants = {name: value for name, value in given.items() if value is not None}
    if request.columns is not None:
        if request.wide:
            raise BadInput(f"{path}: `--wide` asks for a guess: put `models:` into the mapping")
        columns = _with_options(read_column_map(request.columns), request)
        spec = TableSpec(suite=suite, run=run, map=columns, **constants)
        spec.check(_columns(path, columns), str(request.columns))
        return spec
    stored = _stored(lake, suite, run)
    # A wide table grows by columns, too, which are found again.
    if stored is not None and not request.wide:
        hint = "`--wide` looks for more models" if stored.map.models else "`--columns` changes them"
        note(f"{path}: columns as at the first import of run {run}; {hint}")
        spec = replace(stored, **constants, map=_with_options(stored.map, request))
        spec.check(_columns(path, spec.map), str(path))
        return spec
    facts, n_rows = _facts(path)
    note(f"{path}: {n_rows:,} rows, {len(facts):,} columns")
    fixed = {*constants, *(["run"] if request.run is not None else [])}
    columns = guess(facts, fixed)
    if request.decimal_comma or _has_decimal_commas(facts, columns, request):
        facts, _ = _facts(path, decimal_comma=True)
        columns = replace(guess(facts, fixed), decimal_comma=True)
    by_model = _by_model(facts, columns, fixed, request)
    columns = replace(by_model or columns, decimal_comma=columns.decimal_comma)
    spec = TableSpec(suite=suite, run=run, map=columns, **constants)
    for line in describe(spec, facts):
        note(line)
    spec.check([each.name for each in facts], str(path))
    _ask(path, request)
    return spec


def _facts(path: Path, *, decimal_comma: bool = False) -> tuple[list[ColumnFacts], int]:
    try:
        return facts_of(open_table(path), decimal_comma=decimal_comma)
    except (OSError, UnusableTableError) as error:
        raise BadInput(f"{path}: {problem(error)}") from error


def _has_decimal_commas(
    facts: Sequence[ColumnFacts], columns: ColumnMap, request: TableRequest
) -> bool:
    """Return whether commas are decimal ones, where some columns are numbers only if they are."""
    found = [each for each in facts if each.needs_commas and each.name not in columns.used]
    names = ", ".join(each.name for each in found)
    sample = next((text for each in found for text in each.samples if "," in text), "")
    reading = f"read {sample} as {sample.replace('.', '').replace(',', '.')}"
    return bool(found) and _agrees(f"Decimal commas in {names}: {reading}", request)


def _by_model(
    facts: Sequence[ColumnFacts],
    columns: ColumnMap,
    constants: Collection[str],
    request: TableRequest,
) -> ColumnMap | None:
    """Return the map of a table with a column for each model; None if it is not such a one."""
    models = model_columns(facts, columns, is_wide=request.wide)
    if not models or columns.is_votes or ("model" in columns.columns and not request.wide):
        return None
    by_model = guess(facts, constants, models)
    proposal = f"{len(models)} columns look like models: {', '.join(by_model.models)}"
    if request.wide:
        return by_model
    if request.model is not None:
        note(f"{proposal}; `--wide` in place of `--model` reads each as one")
        return None
    what = CELLS[by_model.cells or ""]
    return by_model if _agrees(f"{proposal}. Read their cells as {what}", request) else None


def _agrees(proposal: str, request: TableRequest) -> bool:
    """Return whether the user agrees with what a table looks like."""
    if request.is_confirmed or not _is_terminal():
        note(proposal)
        return True
    return click.confirm(f"{proposal}?", default=True, err=True)


def _with_options(columns: ColumnMap, request: TableRequest) -> ColumnMap:
    """Return a map as the user's options change it: a constant is in the place of its column."""
    given = {"model": request.model, "task_set": request.task_set, "run": request.run}
    kept = {role: name for role, name in columns.columns.items() if given.get(role) is None}
    has_commas = columns.decimal_comma or request.decimal_comma
    return replace(columns, columns=kept, decimal_comma=has_commas)


def _columns(path: Path, columns: ColumnMap) -> list[str]:
    """Return the columns of a table, read as far as those that a map names were not found."""
    found: dict[str, None] = {}
    try:
        for batch in open_table(path).batches(None):
            found |= dict.fromkeys(batch.values.columns)
            if found.keys() >= set(columns.used):
                break
    except (OSError, UnusableTableError) as error:
        raise BadInput(f"{path}: {problem(error)}") from error
    return list(found)


def _ask(path: Path, request: TableRequest) -> None:
    if request.is_confirmed:
        return
    if not _is_terminal():
        raise BadInput(
            f"{path}: nothing was imported: confirm these columns with `--yes`, or name them in a "
            "file, `--columns map.yaml`"
        )
    if not click.confirm("Import the table with these columns?", err=True):
        raise BadInput("nothing was imported; name the columns in a file, `--columns map.yaml`")


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _stored(lake: Lake, suite: str, run: str) -> TableSpec | None:
    """Return how the newest table of a run was imported; None if there is none."""
    with shared_lake_lock(lake.store_path), open_in_memory() as connection:
        paths = lake.files(lake.register().folders(), "runs")
        if not paths:
            return None
        rows = connection.execute(
            """
            SELECT config
            FROM $rows
            WHERE suite = $suite AND origin = 'import'
                AND CASE WHEN json_valid(config) THEN json_extract_string(config, $place) = $run END
            ORDER BY filename DESC
            LIMIT 1
            """.replace("$rows", rows_sql(RUNS)),
            {"paths": paths, "suite": suite, "run": run, "place": f"$.{CONFIG_KEY}.run"},
        ).fetchall()
    if not rows:
        return None
    config: dict[str, object] = orjson.loads(rows[0][0])
    return stored_spec(suite, config)
