"""The files of tau-bench: the list of the first version; results of tau2, in a file or a folder."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.documents import opened, run_reading
from ingest.formats.common.elements import BrokenElementsError, Elements
from ingest.formats.common.fields import inner, list_of, text_of, texts_of
from ingest.formats.common.large_objects import Parts, large_object
from ingest.formats.tau_bench.experiment import Experiment, task_row
from ingest.formats.tau_bench.trials import add_trial, from_v1, problem_of, v1_task
from ingest.reading import Reading, Reject
from warehouse.core.files import open_regular
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ingest.formats.common.large_objects import LargeObject
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject

_RESULTS = "tau2 results"
_TRIALS = "tau-bench trials"
_TABLES = ("results", "result_scores", "messages", "steps", "systems", "tasks")
_DOMAIN = re.compile(r"#\s*(\w+) agent policy", re.IGNORECASE)
_UNKNOWN_DOMAIN = "domain not recorded"
_N_FIRST = 20
_FOLDER_INDEX = "results.json"
_SIMULATIONS = "simulations"


def read_v1(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a list of trials of the first tau-bench."""
    first_trials = _first_trials(path, is_masked=context.options.redact)
    if not first_trials:
        yield _broken(_TRIALS, path, "no JSON list of trials", context)
        return
    # The log names no run: the name of the file says what was tested, the first trial which run.
    run_id = f"{utf8(path.stem)}-{content_hash('first trial', first_trials[0])[:8]}"
    domain = next(filter(None, map(_v1_domain, first_trials)), _UNKNOWN_DOMAIN)
    experiment = Experiment(run_id, path.name, f"{domain} v1", "tau-bench")
    blocks = partial(_v1_blocks, path, experiment, redact=context.options.redact)
    yield run_reading(_TRIALS, experiment.header(), (path,), _TABLES, blocks)


def _first_trials(path: Path, *, is_masked: bool) -> list[JsonObject]:
    """Return the first trials of a list: those that failed at once have no messages."""
    found: list[JsonObject] = []
    # What is broken is reported when all is read.
    with suppress(OSError, BrokenElementsError):
        elements = islice(Elements(path, is_masked=is_masked).read(), _N_FIRST)
        found.extend(each for each in elements if isinstance(each, dict))
    return found


def _v1_domain(trial: JsonObject) -> str | None:
    """Return the domain of a trial, which only the policy in its system message names."""
    for message in list_of(trial.get("traj"))[:1]:
        found = _DOMAIN.search(texts_of(inner(message, "content")) or "")
        if found:
            return found[1].lower()
    return None


def _v1_blocks(path: Path, experiment: Experiment, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, experiment.run_id)
    rows.add("systems", experiment.system)
    elements = Elements(path, is_masked=redact)
    yield from rows.add_elements(
        elements, "trial", lambda trial, seq: _add_v1(trial, seq, experiment, rows)
    )
    yield from rows.rest()


def _add_v1(trial: JsonObject, seq: int, experiment: Experiment, rows: RowCollector) -> str:
    problem = problem_of(trial)
    if problem:
        return problem
    if isinstance(inner(trial, "info", "task"), dict):
        row = task_row(v1_task(trial), experiment.task_set)
        experiment.tasks[row["task_id"]] = row
        rows.add("tasks", row)
    add_trial(from_v1(trial), seq, experiment, rows)
    return ""


def read_folder(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a folder that has each simulation in a file of its own."""
    return read_results(path / _FOLDER_INDEX, context)


def read_results(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read results of tau2, of any size, and the simulations in the folder next to them."""
    results = opened(path, context, partial(_results, path, redact=context.options.redact))
    if results is None:
        return
    document = results.document
    if document.spans.problem:
        yield _broken(_RESULTS, path, document.spans.problem, context)
    elif not results.files and not document.n_objects(_SIMULATIONS):
        context.decline(path, "0 simulations in this file")
    else:
        experiment = results.experiment()
        blocks = partial(results.blocks, experiment)
        yield run_reading(_RESULTS, experiment.header(), (path, *results.files), _TABLES, blocks)


def _broken(name: str, path: Path, problem: str, context: ImportContext) -> Reading:
    file = context.read(path)
    if file is None:
        return Reading(name)
    return Reading(name, rejects=[Reject(problem, raw=file.data)], files=[file])


def _results(path: Path, *, redact: bool) -> _Results:
    """Find the parts of the results.

    Raises:
        OSError: the file cannot be read.
    """
    document = large_object(path, {_SIMULATIONS}, is_masked=redact)
    if path.name != _FOLDER_INDEX or document.n_objects(_SIMULATIONS):
        return _Results(document)
    files = (path.parent / _SIMULATIONS).glob("*.json")
    return _Results(document, sorted(each for each in files if each.is_file()))


@dataclass(frozen=True, slots=True)
class _Results:
    """Results of tau2: what the file says of all simulations, and the simulations.

    Attributes:
        document: the file.
        files: files of simulations that are not in it.
    """

    document: LargeObject
    files: Sequence[Path] = ()

    def experiment(self) -> Experiment:
        """Return what the file says of all simulations."""
        root = self.document.root
        info, started = root.get("info"), text_of(root.get("timestamp"))
        domain = text_of(inner(info, "environment_info", "domain_name")) or _UNKNOWN_DOMAIN
        identity = (started, info) if started and info else self._first_id()
        run_id = f"{(started or 'undated')[:19]} {domain} {content_hash('run', identity)[:8]}"
        return Experiment(run_id, self.document.path.name, domain, "tau2", root)

    def blocks(self, experiment: Experiment) -> Iterator[Block]:
        """Yield the rows of the run: of the file first."""
        rows = RowCollector(self.document.path, experiment.run_id)
        rows.rejects += self.document.rejects
        rows.secrets += self.document.secrets
        rows.add("systems", experiment.system)
        rows.add("tasks", *experiment.tasks.values())
        for seq, simulation in self._simulations(rows, problem_of):
            add_trial(simulation, seq, experiment, rows)
            yield from rows.full()
        yield from rows.rest()

    def _simulations(
        self, rows: RowCollector, problem_of: Callable[[object], str]
    ) -> Iterator[tuple[int, JsonObject]]:
        """Yield the simulations with their numbers; what cannot be used is added to `rows`."""
        yield from self.document.objects(_SIMULATIONS, rows, "simulation", problem_of)
        for number, path in enumerate(self.files, 1):
            name = f"{_SIMULATIONS}/{utf8(path.name)}"
            with open_regular(path) as file:
                parts = Parts(file, self.document.is_masked)
                value = parts.usable((0, path.stat().st_size), rows, name, problem_of)
            if value is not None:
                yield number, value

    def _first_id(self) -> Json:
        """Return the id of the first simulation, or all of one that has none."""
        rows = RowCollector(self.document.path, "")
        number, first = next(self._simulations(rows, lambda _: ""), (0, {}))
        return first.get("id") or first if number == 1 else None
