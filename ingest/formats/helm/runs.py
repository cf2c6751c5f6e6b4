"""Reads run folders of HELM."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import BrokenElementsError, DeepElement, Elements
from ingest.formats.common.fields import object_of, text_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.helm.layout import (
    INSTANCES,
    RUN_SPEC,
    SCENARIO,
    STATE,
    STATS,
    SUITE,
    run_id_of,
    task_set_of,
)
from ingest.formats.helm.requests import (
    InstanceResults,
    instance_key,
    request_rows,
    row_without_request,
)
from ingest.formats.helm.stats import figure_rows, score_rows
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import TOO_DEEP, is_integer, utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.helm.requests import InstanceKey
    from ingest.reading import Block, ImportContext, SourceFile
    from warehouse.core.types import Json, JsonObject, RunRow

FORMAT = "HELM run"
_LANGUAGE_MODELING = "language_modeling"
_TABLES = ("results", "tasks", "result_scores", "messages", "judgements")


def read_run(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a run's folder."""
    file = context.read(path / RUN_SPEC)
    if file is None:
        return
    reading = Reading(FORMAT, files=[file])
    run_spec = _document(file, reading)
    if not isinstance(run_spec, dict):
        if run_spec is not None:
            reading.rejects.append(Reject("no object in it", raw=file.data))
        yield reading
        return
    name = run_spec.get("name")
    name = name if isinstance(name, str) and name else path.name
    reading.run = (SUITE, run_id_of(path, name))
    documents = {"run_spec": run_spec, "scenario": _other(path / SCENARIO, context, reading)}
    header = _header(reading.run[1], task_set_of(name), documents, path)
    reading.rows["runs"] = [header]
    _add_figures(path / STATS, header, context=context, reading=reading)
    state, instances = (
        each if each.is_file() else None for each in (path / STATE, path / INSTANCES)
    )
    run = _Run(
        state,
        instances,
        reading.run[1],
        task_set_of(name),
        header["model"],
        is_masked=context.options.redact,
        is_by_request=_method(run_spec) == _LANGUAGE_MODELING,
    )
    reading.stream = Stream(
        paths=tuple(each for each in (state, instances) if each is not None),
        tables=_TABLES,
        blocks=partial(_blocks, run),
        is_run=True,
    )
    yield reading


def _header(run_id: str, task_set: str, documents: JsonObject, path: Path) -> RunRow:
    adapter = object_of(object_of(documents["run_spec"]).get("adapter_spec"))
    model, temperature, seed = (adapter.get(n) for n in ("model", "temperature", "random_seed"))
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    known = {name: value for name, value in documents.items() if value is not None}
    return {
        "suite": SUITE,
        "run_id": run_id,
        "origin": "import",
        "model": text_of(model) or None,
        "task_set": task_set,
        "temperature": float(str(temperature)) if is_number else None,
        "seed": seed if is_integer(seed) else None,
        "config": json_text(known),
        "source_name": utf8(path.name),
    }


def _add_figures(path: Path, header: RunRow, *, context: ImportContext, reading: Reading) -> None:
    stats = _other(path, context, reading)
    if stats is None:
        return
    file = reading.files[-1]
    try:
        if not isinstance(stats, list):
            raise ValueError("no list in it")  # noqa: TRY004, TRY301 - of the file
        rows = figure_rows(stats, header["model"])
    except ValueError as error:
        reading.rejects.append(Reject(f"{path.name}: {error}", raw=file.data))
        return
    key = {"suite": SUITE, "run_id": header["run_id"], "file_sha256": file.sha256}
    reading.rows["reported_metrics"] = [{**row, **key} for row in rows]


def _other(path: Path, context: ImportContext, reading: Reading) -> Json:
    """Return the content of a file of the run that may be missing."""
    file = context.read(path) if path.exists() else None
    if file is None:
        return None
    reading.files.append(file)
    return _document(file, reading)


def _method(run_spec: JsonObject) -> Json:
    return object_of(run_spec.get("adapter_spec")).get("method")


def _document(file: SourceFile, reading: Reading) -> Json:
    try:
        return parsed(file.data.removeprefix(b"\xef\xbb\xbf"))[0]
    except UnreadableRecordError as error:
        reading.rejects.append(Reject(f"{file.name}: {error}", raw=file.data))
        return None


@dataclass(frozen=True, slots=True)
class _Run:
    """The large files of a run, and what their rows share.

    Attributes:
        is_by_request: whether each request has statistics of its own. A long text of language
            modeling is a request for each window; in other runs an instance has them once.
    """

    state: Path | None
    instances: Path | None
    run_id: str
    task_set: str
    model: str | None
    is_masked: bool = field(kw_only=True)
    is_by_request: bool = field(kw_only=True)


def _blocks(run: _Run) -> Iterator[Block]:
    results = InstanceResults()
    if run.state is not None:
        yield from _request_blocks(run, run.state, results)
    if run.instances is not None:
        yield from _score_blocks(run, run.instances, results)


def _request_blocks(run: _Run, path: Path, results: InstanceResults) -> Iterator[Block]:
    """Yield the requests, and record the results of each instance."""
    rows = RowCollector(path, run.run_id)
    elements = Elements(path, "request_states", is_masked=run.is_masked)
    for seq, record in _records(elements, "request", rows):
        try:
            made = request_rows(object_of(record), seq, run.task_set)
        except ValueError as error:
            rows.rejects.append(_reject(f"request {seq}", error, record))
            continue
        if not is_exact(record):
            made.result["source"] = utf8(elements.raw())
        results.add(made.key, made.result["content_id"])
        rows.add("results", made.result)
        rows.add("tasks", made.task)
        for table, of_table in (("messages", made.messages), ("judgements", made.judgements)):
            for row in of_table:
                rows.add(table, row)
        yield from rows.full()
    yield from rows.rest()


def _records(elements: Elements, what: str, rows: RowCollector) -> Iterator[tuple[int, object]]:
    """Yield the elements of a list with their positions, from 1; others are rejected."""
    try:
        for seq, record in enumerate(elements.read(), 1):
            rows.secrets += elements.take_secrets()
            if isinstance(record, DeepElement):
                raw = elements.raw().encode()
                rows.rejects.append(Reject(f"{what} {seq}: {TOO_DEEP}", raw=raw))
            else:
                yield seq, record
    except BrokenElementsError as error:
        rows.rejects.append(Reject(f"the rest of the file cannot be read: {error}"))
    rows.secrets += elements.take_secrets()


def _reject(name: str, error: ValueError, record: object) -> Reject:
    return Reject(f"{name}: {error}", raw=json_text(record).encode())


class _ResultsOfEntries:
    """The result that each entry of `per_instance_stats.json` belongs to."""

    def __init__(self, run: _Run, results: InstanceResults) -> None:
        self._run = run
        self._results = results
        self._n_before: Counter[InstanceKey] = Counter()

    def result_id(self, key: InstanceKey, seq: int, rows: RowCollector) -> str | None:
        """Return the id of the next entry's result; None if its request is not in the log.

        In a run without requests, the result is made of the entry and added to the rows.
        """
        run, nth = self._run, 0
        n_before = self._n_before[key]
        if run.is_by_request:
            nth = n_before
        if run.is_by_request or run.state is None:
            self._n_before[key] += 1
        if run.state is not None:
            return self._results.of(key, nth)
        made = row_without_request(key, nth, seq, model=run.model, task_set=run.task_set)
        if nth == n_before:
            rows.add("results", made)
        return made["content_id"]


def _score_blocks(run: _Run, path: Path, results: InstanceResults) -> Iterator[Block]:
    rows = RowCollector(path, run.run_id)
    n_unknown = 0
    found = _ResultsOfEntries(run, results)
    for seq, record in _records(Elements(path, is_masked=run.is_masked), "entry", rows):
        entry = object_of(record)
        key = instance_key(
            entry.get("instance_id"), entry.get("perturbation"), entry.get("train_trial_index")
        )
        result_id = found.result_id(key, seq, rows)
        if result_id is None:
            n_unknown += 1
            continue
        try:
            # An instance may have several entries, and metrics repeat some statistics.
            for row in list(score_rows(entry.get("stats"), result_id)):
                rows.add("result_scores", row)
        except ValueError as error:
            rows.rejects.append(_reject(f"entry {seq}", error, record))
            continue
        yield from rows.full()
    if n_unknown:
        reason = f"statistics of {n_unknown:,} instances without a request in {STATE}"
        rows.rejects.append(Reject(reason))
    yield from rows.rest()
