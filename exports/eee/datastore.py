"""every_eval_ever files of any suite: `data/<benchmark>/<developer>/<model>/<uuid>.json`.

A file is one model with some settings in one run; its samples stand next to it. The same data give
the same bytes: ids are hashes, and the clock is never read.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from click import Choice, Option

from exports.base import Exported, Exporter
from exports.eee.aggregate import SUITE, UNKNOWN, aggregate_document, developer_of
from exports.eee.samples import LINES, SampleLines
from exports.rows import Document, json_object
from exports.run_rows import OF_RUNS, results_by_group, rows_by_run
from exports.selection import SELECTION, path_part, selected_runs
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.lake.targets import check_spelling, write_lines, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from warehouse.app.store import Store
    from warehouse.core.types import Row

_SAMPLES_SUFFIX = "_samples.jsonl"
# What is a file of its own, in the order of the files of a run.
_MODEL = ("provider", "model", "settings")
_MODELS = f"""
SELECT
    suite, run_id, provider, model, settings, any_value(parameters) AS parameters,
    list_sort(list(DISTINCT task_set)) AS task_sets
FROM results
{OF_RUNS}
GROUP BY suite, run_id, provider, model, settings
ORDER BY suite, run_id, {", ".join(_MODEL)}
"""  # noqa: S608 - only names of our own
_FIGURES = f"""
SELECT
    suite, run_id, provider, model, settings, task_set, scorer, metric, filter,
    'mean' AS statistic, mean AS value, stderr, 'sample' AS stderr_method, mean_low AS low,
    mean_high AS high, interval_method, n_tasks AS n, NOT is_lesser AS higher_is_better,
    NULL AS reducer, NULL AS reducer_parameters, NULL AS extra,
    interval_method = 'wilson' AS is_binary, min >= 0 AND max <= 1 AS is_share
FROM metrics
{OF_RUNS}
LEFT JOIN scores.lesser_metrics USING (suite, task_set, metric)
WHERE reducer = 'mean' AND mean IS NOT NULL AND (remark IS NULL OR metric = 'passed')
ORDER BY suite, run_id, task_set, metric <> 'passed', metric, scorer, filter
"""  # noqa: S608 - only names of our own
_REPORTED = f"""
SELECT
    suite, run_id, provider, model, task_set, scorer, metric, filter, statistic, value, stderr,
    stderr_method, NULL::DOUBLE AS low, NULL::DOUBLE AS high, NULL AS interval_method, n,
    higher_is_better, reducer, reducer_parameters, false AS is_binary, false AS is_share, extra
FROM reported_metrics
{OF_RUNS}
WHERE source = 'log' AND value IS NOT NULL AND isfinite(value)
ORDER BY suite, run_id, provider NULLS FIRST, model NULLS FIRST, seq, reported_id
"""  # noqa: S608 - only names of our own


def export_eee(
    store: Store,
    folder: Path,
    *,
    suite: str | None,
    run: str | None,
    organization: str,
    relationship: str,
) -> Exported:
    """Write runs as every_eval_ever files, version 0.3.0.

    Raises:
        BadInput: there is no such run, or a file cannot be written.
    """
    exported = Exported()
    publisher = {"organization": organization, "relationship": relationship}
    with store.reading() as connection:
        runs = selected_runs(connection, exported, suite, run)
        samples = results_by_group(connection, runs, LINES, by=_MODEL, then=["task_set"])
        for row, (models, figures, reported) in rows_by_run(
            connection, runs, _MODELS, _FIGURES, _REPORTED
        ):
            files = _RunFiles(
                row, folder, publisher=publisher, exported=exported, left_out=store.left_out
            )
            for model in models:
                chosen = _model_figures(model, row, figures, reported)
                files.write_model(model, chosen, next(samples), is_only=len(models) == 1)
            if not models:
                files.write_reported(reported)
    return exported


def _model_figures(
    model: Row, run: Row, figures: Iterable[Row], reported: Iterable[Row]
) -> list[Row]:
    """Return the figures of a model in a run."""
    if run["suite"] == SUITE:
        # What came in this format says itself what its figures are.
        of_model = [row for row in reported if row["model"] in {None, model["model"]}]
        # An aggregate without results stays one.
        if of_model or "source_metadata" in json_object(run["extra"]):
            return of_model
    return [row for row in figures if all(row[name] == model[name] for name in _MODEL)]


class _RunFiles:
    """The files of a run."""

    def __init__(
        self,
        run: Row,
        folder: Path,
        *,
        publisher: Mapping[str, str],
        exported: Exported,
        left_out: str,
    ) -> None:
        self._run = run
        self._folder = folder
        self._publisher = publisher
        self._exported = exported
        self._left_out = left_out
        self._extra = json_object(run["extra"])

    def write_model(
        self, model: Row, figures: Sequence[Row], samples: Iterable[Row], *, is_only: bool
    ) -> None:
        """Write the files of a model: its aggregate, and its samples."""
        evaluation_id = self._evaluation_id(model, is_only=is_only)
        task_sets = model["task_sets"] or [self._run["suite"]]
        document = aggregate_document(
            evaluation_id,
            self._run,
            model,
            figures=_complete(figures, task_sets),
            publisher=self._publisher,
        )
        place = self._place(task_sets, model, evaluation_id)
        lines = SampleLines(
            evaluation_id, model["model"] or UNKNOWN, has_task_sets=len(task_sets) > 1
        )
        path = self._folder / f"{place}{_SAMPLES_SUFFIX}"
        checksum = hashlib.sha256()
        check_spelling(path)
        write_lines(path, _hashed(lines.encode(samples), checksum))
        if lines.n_unscored:
            reason = "without a score, which the format demands of a sample"
            self._exported.omitted[self._run["run_id"], reason] += lines.n_unscored
        if lines.n_lines:
            document["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{place}{_SAMPLES_SUFFIX}",
                "hash_algorithm": "sha256",
                "checksum": checksum.hexdigest(),
                "total_rows": lines.n_lines,
            }
            self._exported.paths.append(path)
        else:
            path.unlink()
            _remove_empty(path.parent, self._folder)
            place = self._place(_task_sets(figures), model, evaluation_id)
        self._write_aggregate(place, document)

    def write_reported(self, rows: Sequence[Row]) -> None:
        """Write the figures of a run without results, as its log reports them."""
        named = {(row["provider"], row["model"]) for row in rows}
        of_run = self._run["models"][0] if self._run["models"] else None
        for provider, name in sorted(named, key=str) or [(None, of_run)]:
            figures = [row for row in rows if (row["provider"], row["model"]) == (provider, name)]
            model = {
                "provider": provider,
                "model": name or of_run,
                "settings": "",
                "parameters": None,
            }
            evaluation_id = self._evaluation_id(model, is_only=len(named) <= 1)
            document = aggregate_document(
                evaluation_id,
                self._run,
                model,
                figures=_complete(figures, _task_sets(figures)),
                publisher=self._publisher,
            )
            place = self._place(_task_sets(figures), model, evaluation_id)
            self._write_aggregate(place, document)

    def _write_aggregate(self, place: str, document: Document) -> None:
        path = self._folder / f"{place}.json"
        if self._left_out:
            document["source_metadata"]["additional_details"] = {"left_out": self._left_out}
        check_spelling(path)
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
        write_whole(path, utf8(text + "\n").encode())
        self._exported.paths.append(path)

    def _evaluation_id(self, model: Row, *, is_only: bool) -> str:
        run_id = str(self._run["run_id"])
        if self._run["suite"] == SUITE and is_only:
            return run_id
        name = (model["model"] or UNKNOWN).replace("/", "_")
        settings = f" ({model['settings']})" if model["settings"] else ""
        return f"{self._run['suite']}/{name}{settings}/{run_id}"

    def _place(self, task_sets: Sequence[str | None], model: Row, evaluation_id: str) -> str:
        name = model["model"] or UNKNOWN
        benchmark = task_sets[0] if len(task_sets) == 1 else None
        provider = model["provider"]
        family = self._run["suite"]
        if family == SUITE:
            # What is imported again goes where it was.
            provider = _text_in(self._extra, "model_info", "inference_platform") or provider
            family = _text_in(self._extra, "source_metadata", "source_name") or family
        folders = [benchmark or family, developer_of(name), name.rpartition("/")[2] or name]
        digest = content_hash("every_eval_ever", evaluation_id, provider)
        file = uuid.UUID(hex=digest, version=4)
        return "/".join(["data", *map(path_part, folders), str(file)])


def _complete(figures: Iterable[Row], task_sets: Sequence[str | None]) -> list[Row]:
    """Return figures with `is_share` and `is_binary` known, and whether they name task sets."""
    named = {"has_task_sets": len(task_sets) > 1}
    return [
        {**figure, **named, **{name: bool(figure[name]) for name in ("is_share", "is_binary")}}
        for figure in figures
    ]


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder and those around it that are empty, up to the target."""
    with suppress(OSError):
        while folder != root:
            folder.rmdir()
            folder = folder.parent


def _task_sets(figures: Iterable[Row]) -> list[str | None]:
    return list({figure["task_set"] for figure in figures})


def _text_in(document: Document, name: str, field: str) -> str | None:
    inside = document.get(name)
    found = inside.get(field) if isinstance(inside, dict) else None
    return found if isinstance(found, str) and found else None


def _hashed(lines: Iterable[bytes], checksum: hashlib._Hash) -> Iterator[bytes]:
    for line in lines:
        checksum.update(line)
        yield line


EXPORTER = Exporter(
    export=export_eee,
    says_left_out=True,
    target_help="Folder for data/<benchmark>/<developer>/<model>/.",
    options=(
        *SELECTION,
        Option(
            ["--organization"],
            default=UNKNOWN,
            show_default=True,
            metavar="NAME",
            help="Organization that produced the results.",
        ),
        Option(
            ["--relationship"],
            type=Choice(["first_party", "third_party", "collaborative", "other"]),
            default="other",
            show_default=True,
            help="Relationship of the evaluator to the model's developer.",
        ),
    ),
    help="""
    Export runs of any suite as every_eval_ever 0.3: an aggregate for each model, and its samples.

    \b
      evalstore export eee --to out/
      evalstore export eee --suite palindrome --organization "My lab" --to out/
    """,
)
