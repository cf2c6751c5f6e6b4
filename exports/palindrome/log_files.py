"""Palindrome logs and model files, exactly as the specification defines them.

Writes `benchmark_logs/YYYY-MM-DD-<model>.yaml` and `models/<model>-<variation-index>.yaml` from
views. The same data give the same bytes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from click import DateTime, Option

from exports.base import Exported, Exporter
from exports.palindrome.documents import log_document, model_document
from exports.palindrome.yaml_text import dump
from exports.rows import Document, fetch_rows, unknown_run
from warehouse.app.console.completion import complete_model, run_completer
from warehouse.core.errors import BadInput
from warehouse.core.files import read_regular
from warehouse.core.formats.yaml.documents import YamlError, load
from warehouse.core.text.figures import counted
from warehouse.lake.targets import check_spelling, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    import duckdb

    from warehouse.app.store import Store
    from warehouse.core.types import Row

# Date, model, variation and template identify a log.
LogKey = tuple[str, str, int, str]

_LOGS = """
SELECT log_date, file_model, variation, template_hash
FROM palindrome_log_tasks
WHERE obstacle IS NULL
GROUP BY log_date, file_model, variation, template_hash
-- A replay never takes the plain name from a log of real answers.
ORDER BY log_date, file_model, bool_and(is_replay), variation, template_hash
"""
_TASKS = """
SELECT *
FROM palindrome_log_tasks
WHERE ($run IS NULL OR run_id = $run)
    AND ($model IS NULL OR $model IN (model, model_path))
    AND ($since IS NULL OR run_date >= CAST($since AS DATE))
ORDER BY log_date, file_model, variation, template_hash, run_started_at, run_id, seq, result_id
"""
_EMPTY_RUNS = """
SELECT run_id FROM runs
WHERE suite = 'palindrome' AND n_results = 0
    AND ($run IS NULL OR run_id = $run)
    AND ($model IS NULL OR model_path = $model)
    AND ($since IS NULL OR run_date >= CAST($since AS DATE))
ORDER BY run_id
"""
_MODELS = """
SELECT DISTINCT ON (variations.exported_path)
    variations.exported_path, variations.file_model, variations.is_known, variations.model_path,
    variations.model, variations.parameters, models.name, models.provider, models.version,
    models.metadata, models.price, models.skip, models.is_unresolved, models.extra
FROM palindrome_variations AS variations
LEFT JOIN models ON variations.model_path = models.model_path AND models.is_current
WHERE list_contains($paths, variations.exported_path)
ORDER BY variations.exported_path, json_array_length(models.record_keys) DESC NULLS LAST,
    models.model_version, variations.model_path
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which results to export; None for all.

    Attributes:
        run: a run id.
        model: a model's name or recorded path.
        since: first date, YYYY-MM-DD.
        with_extras: also write the fields that are not part of the specification.
    """

    run: str | None = None
    model: str | None = None
    since: str | None = None
    with_extras: bool = False


def export_palindrome(store: Store, folder: Path, selection: Selection) -> Exported:
    """Write palindrome logs, and the model files that they name, to a folder.

    File names take all logs of the store into account, whatever is selected, so that exports of
    single runs into one folder never collide.

    Raises:
        BadInput: nothing matches the selection; a file cannot be written, or holds another log.
    """
    with store.reading() as connection:
        names = _log_names(connection.execute(_LOGS).fetchall())
        parameters = {"run": selection.run, "model": selection.model, "since": selection.since}
        tasks = fetch_rows(connection, _TASKS, parameters)
        if not tasks and selection.run is not None and not _has_run(connection, selection.run):
            raise unknown_run(connection, "palindrome", selection.run)
        if not tasks:
            raise BadInput("no palindrome results match; `evalstore runs` lists the runs")
        exported = Exported()
        for (run_id,) in connection.execute(_EMPTY_RUNS, parameters).fetchall():
            exported.notes.append(f"run {run_id} has no results, so no log was written")
        tasks = list(_exportable(tasks, exported, with_replays=selection.run is not None))
        paths = list({task["exported_path"] for task in tasks})
        models = fetch_rows(connection, _MODELS, {"paths": paths})
    for model in models:
        _write_model(folder, model, exported)
    omitted: Counter[str] = Counter()
    for key, log in groupby(tasks, _log_key):
        document = log_document(list(log), omitted, with_extras=selection.with_extras)
        _write_log(folder / "benchmark_logs" / f"{names[key]}.yaml", key, document, exported)
    if omitted:
        exported.notes.append(_omission_note(omitted))
    return exported


def _has_run(connection: duckdb.DuckDBPyConnection, run_id: str) -> bool:
    query = "FROM runs WHERE suite = 'palindrome' AND run_id = $run"
    return bool(fetch_rows(connection, query, {"run": run_id}))


def _omission_note(fields: Counter[str]) -> str:
    counts = ", ".join(f"{name} {n:,}" for name, n in sorted(fields.items()))
    return (
        f"{fields.total():,} fields that are not part of the specification were left out "
        f"({counts}); use `--with-extras` to write them"
    )


def _log_key(task: Row) -> LogKey:
    return task["log_date"], task["file_model"], task["variation"], task["template_hash"]


def _log_names(keys: Sequence[LogKey]) -> dict[LogKey, str]:
    """Name every log of the store by the rule of the specification, as far as names suffice.

    A day's first log of a model is `<date>-<model>`, that of another variation or template
    `<date>-<model>-<variation>`. Where that is the name of another model (`gpt-4-2`), one of the
    two takes its other name. Only a third log of one variation, which no name is left for, gets
    a count.
    """
    firsts = {key[:2]: key for key in reversed(keys)}
    names: dict[LogKey, tuple[str, ...]] = {}
    for key in keys:
        plain = f"{key[0]}-{key[1]}"
        numbered = f"{plain}-{key[2]}"
        names[key] = (plain, numbered) if firsts[key[:2]] == key else (numbered, plain)
    holders: dict[str, LogKey] = {}
    for key in [*firsts.values(), *keys]:
        if key not in holders.values():
            _take_name(key, names, holders, set())
    chosen = {key: name for name, key in holders.items()}
    for key in keys:
        if key not in chosen:
            counted = (f"{key[0]}-{key[1]}-{key[2]}-{count}" for count in itertools.count(2))
            chosen[key] = next(name for name in counted if name not in holders)
            holders[chosen[key]] = key
    return chosen


def _take_name(
    key: LogKey,
    names: Mapping[LogKey, tuple[str, ...]],
    holders: dict[str, LogKey],
    tried: set[str],
) -> bool:
    """Give a log one of its names, if need be by giving its holder another one."""
    for name in names[key]:
        if name not in tried:
            tried.add(name)
            if name not in holders or _take_name(holders[name], names, holders, tried):
                holders[name] = key
                return True
    return False


def _exportable(tasks: Sequence[Row], exported: Exported, *, with_replays: bool) -> Iterator[Row]:
    """Yield the tasks to write, and report the others with the reason."""
    runs = {task["run_id"] for task in tasks}
    replays = {task["run_id"] for task in tasks if task["is_replay"]}
    copies: Counter[tuple[str, str]] = Counter()
    for task in tasks:
        run_id, counted_in = task["run_id"], task["duplicate_of"]
        if task["is_replay"] and not with_replays:
            exported.replays[run_id] += 1
        elif task["obstacle"] is not None:
            exported.omitted[run_id, task["obstacle"]] += 1
        elif counted_in not in runs:
            yield task
        elif counted_in in replays:
            exported.replays[run_id] += 1
        else:
            copies[run_id, counted_in] += 1
    for (run_id, counted_in), count in copies.items():
        exported.notes.append(
            f"{run_id}: {counted(count, 'result is a call', 'results are calls')} of run "
            f"{counted_in} too, written once"
        )


def _write_model(folder: Path, model: Row, exported: Exported) -> None:
    path = folder / model["exported_path"]
    check_spelling(path)
    document = model_document(model)
    existing = _existing(path)
    if existing is not None and not _same_model(existing, document):
        exported.notes.append(
            f"{path}: replaced another parameter set; logs imported since the last export have "
            "renumbered the variations"
        )
    write_whole(path, dump(document).encode())
    exported.paths.append(path)


def _same_model(before: object, after: Document) -> bool:
    return isinstance(before, dict) and all(
        before.get(key) == after.get(key) for key in ("name", "options")
    )


def _write_log(path: Path, key: LogKey, document: Document, exported: Exported) -> None:
    check_spelling(path)
    _refuse_another_log(path, document)
    date, model = key[:2]
    if path.name != f"{date}-{model}.yaml":
        exported.notes.append(
            f"{path}: a separate file with the variation in its name, because another log is "
            f"{date}-{model}.yaml"
        )
    write_whole(path, dump(document).encode())
    exported.paths.append(path)


def _refuse_another_log(path: Path, document: Document) -> None:
    existing = _existing(path)
    if existing is None:
        return
    is_same = isinstance(existing, dict) and all(
        existing.get(key) == document[key] for key in ("date", "prompt_template")
    )
    if not is_same:
        raise BadInput(f"{path}: already exists and is another log; export into an empty folder")


def _existing(path: Path) -> object:
    """Return the document of a file; None if there is no file, "" if it cannot be read."""
    if not path.is_file():
        return None
    try:
        return load(read_regular(path))
    except (OSError, YamlError):
        return ""


def _export(
    store: Store,
    folder: Path,
    *,
    run: str | None,
    model: str | None,
    since: datetime | None,
    with_extras: bool,
) -> Exported:
    first_day = since.strftime("%Y-%m-%d") if since is not None else None
    selection = Selection(run=run, model=model, since=first_day, with_extras=with_extras)
    return export_palindrome(store, folder, selection)


EXPORTER = Exporter(
    export=_export,
    target_help="Folder for benchmark_logs/ and models/.",
    options=(
        Option(
            ["--run"],
            shell_complete=run_completer("palindrome"),
            metavar="ID",
            help="Export only this run.",
        ),
        Option(
            ["--model"],
            shell_complete=complete_model,
            metavar="NAME",
            help="Export only this model: name or recorded path.",
        ),
        Option(["--since"], type=DateTime(["%Y-%m-%d"]), help="Export logs from this date on."),
        Option(["--with-extras"], is_flag=True, help="Also write fields not in the specification."),
    ),
    help="""
    Export palindrome logs and the model files that they name.

    Every file follows every rule of the specification. Results that it cannot represent are
    left out and reported, and the exit code is 1.

    \b
      evalstore export palindrome --to out/
      evalstore export palindrome --to out/ --model example/aurora-2 --since 2026-01-01
    """,
)
