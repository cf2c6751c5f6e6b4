"""Inspect logs, `.eval`, of any suite: a file for each model and task set in a run.

The same data give the same bytes: members have no time, and the clock is never read.
"""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

from exports.base import Exported, Exporter
from exports.inspect.header import SUITE, header_document, log_name, scorer_names, start_document
from exports.inspect.samples import SAMPLES, sample_documents, summary_of
from exports.rows import fetch_rows, iterate_rows
from exports.selection import SELECTION, path_part, selected_runs
from warehouse.lake.targets import check_spelling, open_target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import duckdb

    from warehouse.app.store import Store
    from warehouse.core.types import Row

_PARTS = """
SELECT
    provider, model, settings, any_value(parameters) AS parameters, task_set,
    count(*) AS samples, count(*) FILTER (success) AS completed,
    greatest(max(attempt), 1) AS epochs,
    list(DISTINCT task_id ORDER BY task_id) FILTER (task_id IS NOT NULL) AS ids
FROM results
WHERE suite = $suite AND run_id = $run
GROUP BY provider, model, settings, task_set
ORDER BY task_set, provider, model, settings
"""
_REPORTED = """
SELECT *
FROM reported_metrics
WHERE suite = $suite AND run_id = $run AND source = 'log'
ORDER BY seq, reported_id
"""
_METRICS = """
SELECT *
FROM metrics
WHERE suite = $suite AND run_id = $run AND reducer = 'mean' AND mean IS NOT NULL
    AND provider IS NOT DISTINCT FROM $provider AND model IS NOT DISTINCT FROM $model
    AND settings = $settings AND task_set IS NOT DISTINCT FROM $task_set
ORDER BY metric <> 'passed', metric, scorer, filter
"""
_DOCUMENTS = """
SELECT name, content
FROM artifacts
WHERE suite = $suite AND run_id = $run AND kind = 'document'
ORDER BY name
"""
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def export_inspect(store: Store, folder: Path, *, suite: str | None, run: str | None) -> Exported:
    """Write runs as Inspect logs.

    Raises:
        BadInput: there is no such run, or a file cannot be written.
    """
    exported = Exported()
    with store.reading() as connection:
        for row in selected_runs(connection, exported, suite, run):
            key = {"suite": row["suite"], "run": row["run_id"]}
            parts = fetch_rows(connection, _PARTS, key)
            if not parts and row["suite"] != SUITE:
                exported.notes.append(f"{row['run_id']}: no results, so that there is no log of it")
            for part in parts or _empty(row):
                exported.paths.append(_write(connection, row, part, folder))
    return exported


def _empty(run: Row) -> list[Row]:
    """Return the part of a log without samples, which Inspect itself can write."""
    if run["suite"] != SUITE:
        return []
    model = run["models"][0] if run["models"] else None
    nothing = {"provider": None, "settings": "", "parameters": None}
    return [{**nothing, "model": model, "task_set": run["task_set"], "samples": 0, "ids": []}]


def _write(connection: duckdb.DuckDBPyConnection, run: Row, part: Row, folder: Path) -> Path:
    key = {"suite": run["suite"], "run": run["run_id"]}
    chosen = {name: part[name] for name in ("provider", "model", "settings", "task_set")}
    is_own = run["suite"] == SUITE
    figures = fetch_rows(
        connection, *((_REPORTED, key) if is_own else (_METRICS, {**key, **chosen}))
    )
    header = header_document(run, part, figures, {**part, "ids": part["ids"] or []})
    path = folder / f"{path_part(log_name(header))}.eval"
    check_spelling(path)
    with (
        open_target(path, with_folders=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        _add(archive, "_journal/start.json", start_document(header))
        summaries = []
        rows = iterate_rows(connection, SAMPLES, {**key, **chosen}) if part["samples"] else ()
        for sample in sample_documents(rows, scorer_names(header)):
            _add(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
            summaries.append(summary_of(sample))
        _add(archive, "_journal/summaries/1.json", summaries)
        _add(archive, "summaries.json", summaries)
        if is_own:
            for name, content in connection.execute(_DOCUMENTS, key).fetchall():
                archive.writestr(_member(name), bytes(content))
        if header.get("status") != "started":
            _add(archive, "header.json", header)
    return path


def _add(archive: zipfile.ZipFile, name: str, document: Mapping[str, Any] | list[Any]) -> None:
    # Like Inspect's own logs, with bare NaN.
    text = json.dumps(document, ensure_ascii=False)
    archive.writestr(_member(name), text.encode("utf-8", "replace"))


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name.encode("utf-8", "replace").decode(), _NO_TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


EXPORTER = Exporter(
    export=export_inspect,
    target_help="Folder for the logs.",
    options=SELECTION,
    help="""
    Export runs of any suite as Inspect logs, for `inspect view` and `samples_df`.

    \b
      evalstore export inspect --to logs/
      evalstore export inspect --run 20260303_140000 --to logs/
    """,
)
