"""The files of a Terminal-Bench run, read in any order: no trial counts twice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.fields import list_of, whole_number
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.terminal_bench.figures import figure_rows, n_distinct
from ingest.formats.terminal_bench.setup import LOCK, METADATA, SUITE, setup_of
from ingest.formats.terminal_bench.trials import add_trial, named_run, part_of, problem_of
from ingest.reading import Reading, Reject, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from pathlib import Path

    from ingest.formats.terminal_bench.setup import RunSetup
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_RUN = "Terminal-Bench run"
_TRIAL = "Terminal-Bench trial"
_METADATA = "Terminal-Bench metadata"
_LOCK = "Terminal-Bench lock file"
_NO_OBJECT = "not a JSON object"
_TABLES = ("results", "result_scores", "tasks", "systems", "reported_metrics")


def read_run(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the results of a run: its trials and figures."""
    document = yield from _document(path, context, _RUN)
    if document is None:
        return
    records = list_of(document.get("results"))
    problems = [(at, problem_of(record)) for at, record in enumerate(records)]
    rejects = [Reject(f"results[{at}]: {problem}") for at, problem in problems if problem]
    trials = [records[at] for at, problem in problems if not problem]
    prefix = path.name.removesuffix("results.json") if path.name.endswith("results.json") else ""
    setup = setup_of(
        path.parent,
        next(filter(None, map(named_run, trials)), prefix.rstrip("_")),
        prefix=prefix,
        redact=context.options.redact,
    )
    figures = figure_rows(
        document, "results.json", n_trials=len(records), n_tasks=n_distinct(trials)
    )
    yield _reading(_RUN, path, setup, trials=trials, figures=list(figures), rejects=rejects)


def read_trial(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the results of a trial, `TASK/TRIAL/results.json` in the folder of the run."""
    record = yield from _document(path, context, _TRIAL, problem_of)
    if record is None:
        return
    folder = path.absolute().parent.parent.parent
    setup = setup_of(folder, named_run(record), redact=context.options.redact)
    yield _reading(_TRIAL, path, setup, trials=[record])


def read_metadata(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the metadata of a run: what was tested, and the figures once more."""
    document = yield from _document(path, context, _METADATA)
    if document is None:
        return
    n_tasks = whole_number(document.get("dataset_size"))
    n_attempts = whole_number(document.get("n_attempts"))
    n_trials = n_tasks * n_attempts if n_tasks and n_attempts else None
    prefix = path.name.removesuffix(METADATA) if path.name.endswith(METADATA) else ""
    setup = setup_of(path.parent, None, prefix=prefix, redact=context.options.redact)
    figures = figure_rows(document, METADATA, n_trials=n_trials, n_tasks=n_tasks)
    yield _reading(_METADATA, path, setup, figures=list(figures))


def read_lock(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the lock file of a run: what was tested."""
    document = yield from _document(path, context, _LOCK)
    if document is not None:
        prefix = path.name.removesuffix(LOCK) if path.name.endswith(LOCK) else ""
        setup = setup_of(path.parent, None, prefix=prefix, redact=context.options.redact)
        yield _reading(_LOCK, path, setup)


def _document(
    path: Path,
    context: ImportContext,
    name: str,
    check: Callable[[Json], str] = lambda value: "" if isinstance(value, dict) else _NO_OBJECT,
) -> Generator[Reading, None, JsonObject | None]:
    """Return the object in a file; None, after a reading with the reason, if it is of no use."""
    file = context.read(path)
    if file is None:
        return None
    try:
        document, _ = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
        problem = check(document)
    except UnreadableRecordError as error:
        document, problem = None, str(error)
    if problem:
        yield Reading(name, rejects=[Reject(problem, raw=file.data)], files=[file])
    return document if isinstance(document, dict) and not problem else None


def _reading(
    name: str,
    path: Path,
    setup: RunSetup,
    *,
    trials: Sequence[JsonObject] = (),
    figures: Sequence[ReportedMetricRow] = (),
    rejects: Sequence[Reject] = (),
) -> Reading:
    starts = {row["content_id"][: len(part_id(""))] for row in (*figures, setup.system)}
    return Reading(
        name,
        rows={"runs": [setup.header()]},
        run=(SUITE, setup.run_id),
        rejects=list(rejects),
        stream=Stream(
            paths=(path,),
            tables=_TABLES,
            blocks=partial(_blocks, path, setup, trials, figures),
            is_run=True,
            parts=frozenset({*starts, *map(part_of, trials)}),
        ),
    )


def _blocks(
    path: Path,
    setup: RunSetup,
    trials: Iterable[JsonObject],
    figures: Iterable[ReportedMetricRow],
) -> Iterator[Block]:
    rows = RowCollector(path, setup.run_id)
    rows.add("systems", setup.system)
    for figure in figures:
        rows.add("reported_metrics", figure)
    for seq, trial in enumerate(trials, 1):
        add_trial(trial, seq, setup, rows)
        yield from rows.full()
    yield from rows.rest()
