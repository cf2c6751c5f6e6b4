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
from exports.run_rows import OF_RUNS, results_by_group, rows_by_run
from exports.selection import SELECTION, path_part, selected_runs
from warehouse.lake.targets import check_spelling, open_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import duckdb

    from exports.rows import Document
    from warehouse.app.store import Store
    from warehouse.core.types import Row

# What is a log of its own, in the order of the logs of a run.
_PART = ("task_set", "provider", "model", "settings")
_PARTS = f"""
SELECT
    suite, run_id, provider, model, settings, any_value(parameters) AS parameters, task_set,
    count(*) AS samples, count(*) FILTER (success) AS completed,
    greatest(max(attempt), 1) AS epochs,
    coalesce(list(DISTINCT task_id ORDER BY task_id) FILTER (task_id IS NOT NULL), []) AS ids
FROM results
{OF_RUNS}
GROUP BY suite, run_id, provider, model, settings, task_set
ORDER BY suite, run_id, {", ".join(_PART)}
"""  # noqa: S608 - only names of our own columns
_REPORTED = f"""
SELECT *
FROM reported_metrics
{OF_RUNS}
WHERE suite = '{SUITE}' AND source = 'log'
ORDER BY suite, run_id, seq, reported_id
"""  # noqa: S608 - only names of our own
_METRICS = f"""
SELECT *
FROM metrics
{OF_RUNS}
WHERE suite <> '{SUITE}' AND reducer = 'mean' AND mean IS NOT NULL
    AND (remark IS NULL OR metric = 'passed')
ORDER BY suite, run_id, metric <> 'passed', metric, scorer, filter
"""  # noqa: S608 - only names of our own
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
        runs = selected_runs(connection, exported, suite, run)
        samples = results_by_group(connection, runs, SAMPLES, by=_PART)
        for row, (parts, reported, metrics) in rows_by_run(
            connection, runs, _PARTS, _REPORTED, _METRICS
        ):
            if not parts and row["suite"] != SUITE:
                exported.notes.append(f"{row['run_id']}: no results, so that there is no log of it")
            documents = _documents(connection, row)
            for part in parts or _empty(row):
                figures = reported or [m for m in metrics if all(m[n] == part[n] for n in _PART)]
                header = header_document(row, part, figures, part)
                rows = next(samples) if part["samples"] else ()
                exported.paths.append(_write(folder, header, rows, documents))
    return exported


def _documents(connection: duckdb.DuckDBPyConnection, run: Row) -> list[tuple[str, bytes]]:
    """Return the further members of one of Inspect's own logs."""
    if run["suite"] != SUITE:
        return []
    return connection.execute(_DOCUMENTS, {"suite": SUITE, "run": run["run_id"]}).fetchall()


def _empty(run: Row) -> list[Row]:
    """Return the part of a log without samples, which Inspect itself can write."""
    if run["suite"] != SUITE:
        return []
    model = run["models"][0] if run["models"] else None
    nothing = {"provider": None, "settings": "", "parameters": None}
    return [{**nothing, "model": model, "task_set": run["task_set"], "samples": 0, "ids": []}]


def _write(
    folder: Path,
    header: Document,
    rows: Iterable[Row],
    documents: Iterable[tuple[str, bytes]],
) -> Path:
    path = folder / f"{path_part(log_name(header))}.eval"
    check_spelling(path)
    with (
        open_target(path, with_folders=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        _add(archive, "_journal/start.json", start_document(header))
        summaries = []
        for sample in sample_documents(rows, scorer_names(header)):
            _add(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
            summaries.append(summary_of(sample))
        _add(archive, "_journal/summaries/1.json", summaries)
        _add(archive, "summaries.json", summaries)
        for name, content in documents:
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
