"""The files of tau-bench: the list of the first version; results of tau2, in a file or a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import BrokenElementsError, Elements
from ingest.formats.common.fields import list_of, object_of, text_of, texts_of
from ingest.formats.common.json_spans import file_spans
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.tau_bench.experiment import SUITE, Experiment, task_row
from ingest.formats.tau_bench.trials import add_trial, from_v1, problem_of, v1_task
from ingest.reading import Reading, Reject, Stream
from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import find_secrets, mask
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject

_RESULTS = "tau2 results"
_TRIALS = "tau-bench trials"
_TABLES = ("results", "result_scores", "messages", "steps", "systems", "tasks")
_MOST_MEMBER_BYTES = 64 * 2**20
_MOST_SIMULATION_BYTES = 256 * 2**20
_DOMAIN = re.compile(r"#\s*(\w+) agent policy", re.IGNORECASE)
_UNKNOWN_DOMAIN = "domain not recorded"
_N_FIRST = 20
_FOLDER_INDEX = "results.json"


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
    yield _reading(_TRIALS, experiment, (path,), blocks)


def _first_trials(path: Path, *, is_masked: bool) -> list[JsonObject]:
    """Return the first trials of a list: those that failed at once have no messages."""
    found: list[JsonObject] = []
    try:
        elements = islice(Elements(path, is_masked=is_masked).read(), _N_FIRST)
        found.extend(each for each in elements if isinstance(each, dict))
    except (OSError, BrokenElementsError):
        pass  # the rest is reported when it is read
    return found


def _v1_domain(trial: JsonObject) -> str | None:
    """Return the domain of a trial, which only the policy in its system message names."""
    for message in list_of(trial.get("traj"))[:1]:
        found = _DOMAIN.search(texts_of(object_of(message).get("content")) or "")
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
    if isinstance(object_of(trial.get("info")).get("task"), dict):
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
    try:
        results = _Results.opened(path, redact=context.options.redact)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    if results.problem:
        yield _broken(_RESULTS, path, results.problem, context)
        return
    if not results.n_simulations():
        context.decline(path, "0 simulations in this file")
        return
    experiment = results.experiment()
    blocks = partial(results.blocks, experiment)
    reading = _reading(_RESULTS, experiment, (path, *results.files), blocks)
    reading.rejects = results.rejects
    yield reading


def _reading(
    name: str,
    experiment: Experiment,
    paths: tuple[Path, ...],
    blocks: Callable[[], Iterator[Block]],
) -> Reading:
    stream = Stream(paths=paths, tables=_TABLES, blocks=blocks, is_run=True)
    run = (SUITE, experiment.run_id)
    return Reading(name, rows={"runs": [experiment.header()]}, run=run, stream=stream)


def _broken(name: str, path: Path, problem: str, context: ImportContext) -> Reading:
    file = context.read(path)
    if file is None:
        return Reading(name)
    return Reading(name, rejects=[Reject(problem, raw=file.data)], files=[file])


@dataclass(slots=True)
class _Results:
    """Results of tau2: where the simulations are, and everything else in the file.

    Attributes:
        path: the file.
        redact: whether possible secrets are masked.
        places: where each simulation in the file is, in bytes.
        files: files of the other simulations.
        document: the members of the file but for the simulations.
        problem: why the file cannot be used, human-readable; empty if it can.
        rejects: members that cannot be used.
        secrets: line (1) and kind of each possible secret outside the simulations.
    """

    path: Path
    redact: bool
    places: Sequence[int] = ()
    files: Sequence[Path] = ()
    document: JsonObject = field(default_factory=dict)
    problem: str = ""
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def opened(cls, path: Path, *, redact: bool) -> _Results:
        """Find the parts of the results.

        Raises:
            OSError: the file cannot be read.
        """
        spans = file_spans(path, {"simulations"})
        made = cls(path, redact, problem=spans.problem)
        if spans.problem:
            return made
        for name, place in spans.members.items():
            if name != "simulations":
                made._read_member(name, *place)
        listed = spans.lists.get("simulations")
        if listed is not None:
            made.places = listed.places
            n_others = listed.n_elements - listed.n_objects
            if n_others:
                made.rejects.append(Reject(f"{n_others:,} simulations are not objects"))
        if path.name == _FOLDER_INDEX and not made.places:
            files = (path.parent / "simulations").glob("*.json")
            made.files = sorted(each for each in files if each.is_file())
        return made

    def n_simulations(self) -> int:
        """Return the number of simulations, readable or not."""
        return len(self.places) // 2 + len(self.files)

    def experiment(self) -> Experiment:
        """Return what the file says of all simulations."""
        info, started = self.document.get("info"), text_of(self.document.get("timestamp"))
        environment = object_of(object_of(info).get("environment_info"))
        domain = text_of(environment.get("domain_name")) or _UNKNOWN_DOMAIN
        identity = (started, info) if started and info else self._first_id()
        run_id = f"{(started or 'undated')[:19]} {domain} {content_hash('run', identity)[:8]}"
        return Experiment(run_id, self.path.name, domain, "tau2", self.document)

    def blocks(self, experiment: Experiment) -> Iterator[Block]:
        """Yield the rows of the run: of the file first."""
        rows = RowCollector(self.path, experiment.run_id)
        rows.secrets += self.secrets
        rows.add("systems", experiment.system)
        for task in experiment.tasks.values():
            rows.add("tasks", task)
        for seq, (raw, name) in enumerate(self._simulation_texts(), 1):
            simulation, reject = self._value(raw, name, seq, rows.secrets)
            if reject is not None:
                rows.rejects.append(reject)
            elif isinstance(simulation, dict):
                add_trial(simulation, seq, experiment, rows)
            yield from rows.full()
        yield from rows.rest()

    def _simulation_texts(self) -> Iterator[tuple[bytes | None, str]]:
        """Yield the text of each simulation, None if it is too long, and its name."""
        for at in range(0, len(self.places), 2):
            start, end = self.places[at : at + 2]
            yield _bytes(self.path, start, end), f"simulation {at // 2 + 1}"
        for path in self.files:
            yield _bytes(path, 0, path.stat().st_size), f"simulations/{utf8(path.name)}"

    def _value(
        self, raw: bytes | None, name: str, seq: int, secrets: list[tuple[int, str]]
    ) -> tuple[Json, Reject | None]:
        """Return a simulation, or the reject for it."""
        if raw is None:
            return None, Reject(f"{name}: more than {_MOST_SIMULATION_BYTES:,} bytes", seq)
        try:
            value = parsed(self._masked(raw.removeprefix(_BOM), seq, secrets))[0]
            problem = problem_of(value)
        except UnreadableRecordError as error:
            value, problem = None, str(error)
        return value, Reject(f"{name}: {problem}", seq, raw=raw) if problem else None

    def _first_id(self) -> Json:
        """Return the id of the first simulation, or all of one that has none."""
        for raw, name in self._simulation_texts():
            value, _ = self._value(raw, name, 1, [])
            return object_of(value).get("id") or value
        return None

    def _read_member(self, name: str, start: int, end: int) -> None:
        raw = _bytes(self.path, start, end, _MOST_MEMBER_BYTES)
        if raw is None:
            reason = f"`{utf8(name)}` has more than {_MOST_MEMBER_BYTES:,} bytes"
            self.rejects.append(Reject(reason, byte_offset=start))
            return
        try:
            member, _ = parsed(b"{" + self._masked(raw, 1, self.secrets) + b"}")
        except UnreadableRecordError as error:
            reason = f"`{utf8(name)}`: {error}"
            self.rejects.append(Reject(reason, byte_offset=start, raw=raw))
            return
        self.document |= object_of(member)

    def _masked(self, raw: bytes, line: int, found: list[tuple[int, str]]) -> bytes:
        secrets = find_secrets(raw)
        found += [(line, secret.kind) for secret in secrets]
        return mask(raw, secrets) if self.redact and secrets else raw


_BOM = b"\xef\xbb\xbf"


def _bytes(path: Path, start: int, end: int, most: int = _MOST_SIMULATION_BYTES) -> bytes | None:
    """Return the bytes of a file between two positions; None for more than the limit."""
    if end - start > most:
        return None
    with open_regular(path) as file:
        file.seek(start)
        return file.read(end - start)
