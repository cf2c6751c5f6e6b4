"""The files of a Terminal-Bench run, read in any order: no trial counts twice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.documents import read_object, run_reading
from ingest.formats.common.fields import list_of, whole_number
from ingest.formats.terminal_bench.figures import figure_rows
from ingest.formats.terminal_bench.setup import LOCK, METADATA, setup_of
from ingest.formats.terminal_bench.trials import add_trial, named_run, part_of, problem_of
from ingest.reading import Reject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ingest.formats.terminal_bench.setup import RunSetup
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import JsonObject, ReportedMetricRow

_RUN = "Terminal-Bench run"
_TRIAL = "Terminal-Bench trial"
_METADATA = "Terminal-Bench metadata"
_LOCK = "Terminal-Bench lock file"
_RESULTS = "results.json"
_TABLES = ("results", "result_scores", "tasks", "systems", "reported_metrics")


def read_run(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the results of a run: its trials and figures."""
    document = yield from read_object(path, context, _RUN)
    if document is None:
        return
    records = list_of(document.get("results"))
    problems = [(at, problem_of(record)) for at, record in enumerate(records)]
    rejects = [Reject(f"results[{at}]: {problem}") for at, problem in problems if problem]
    trials = [records[at] for at, problem in problems if not problem]
    guess = next(filter(None, map(named_run, trials)), _prefix(path, _RESULTS).rstrip("_"))
    setup = _setup_beside(path, _RESULTS, context, guess)
    n_tasks = len({str(trial.get("task_id")) for trial in trials})
    figures = figure_rows(document, _RESULTS, n_trials=len(records), n_tasks=n_tasks)
    yield _reading(_RUN, path, setup, trials=trials, figures=list(figures), rejects=rejects)


def read_trial(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the results of a trial, `TASK/TRIAL/results.json` in the folder of the run."""
    record = yield from read_object(path, context, _TRIAL, problem_of)
    if record is not None:
        folder = path.absolute().parent.parent.parent
        setup = setup_of(folder, named_run(record), redact=context.options.redact)
        yield _reading(_TRIAL, path, setup, trials=[record])


def read_metadata(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the metadata of a run: what was tested, and the figures once more."""
    document = yield from read_object(path, context, _METADATA)
    if document is None:
        return
    n_tasks = whole_number(document.get("dataset_size"))
    n_attempts = whole_number(document.get("n_attempts"))
    n_trials = n_tasks * n_attempts if n_tasks and n_attempts else None
    figures = figure_rows(document, METADATA, n_trials=n_trials, n_tasks=n_tasks)
    yield _reading(_METADATA, path, _setup_beside(path, METADATA, context), figures=list(figures))


def read_lock(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the lock file of a run: what was tested."""
    document = yield from read_object(path, context, _LOCK)
    if document is not None:
        yield _reading(_LOCK, path, _setup_beside(path, LOCK, context))


def _prefix(path: Path, name: str) -> str:
    """Return what the name of a file has before its usual name, as do all files of its run."""
    return path.name.removesuffix(name) if path.name.endswith(name) else ""


def _setup_beside(
    path: Path, name: str, context: ImportContext, guess: str | None = None
) -> RunSetup:
    prefix = _prefix(path, name)
    return setup_of(path.parent, guess, prefix=prefix, redact=context.options.redact)


def _reading(
    form: str,
    path: Path,
    setup: RunSetup,
    *,
    trials: Sequence[JsonObject] = (),
    figures: Sequence[ReportedMetricRow] = (),
    rejects: Sequence[Reject] = (),
) -> Reading:
    starts = {row["content_id"][: len(part_id(""))] for row in (*figures, setup.system)}
    blocks = partial(_blocks, path, setup, trials, figures)
    parts = {*starts, *map(part_of, trials)}
    return run_reading(form, setup.header(), (path,), _TABLES, blocks, parts=parts, rejects=rejects)


def _blocks(
    path: Path,
    setup: RunSetup,
    trials: Iterable[JsonObject],
    figures: Iterable[ReportedMetricRow],
) -> Iterator[Block]:
    rows = RowCollector(path, setup.run_id)
    rows.add("systems", setup.system)
    rows.add("reported_metrics", *figures)
    for seq, trial in enumerate(trials, 1):
        add_trial(trial, seq, setup, rows)
        yield from rows.full()
    yield from rows.rest()
