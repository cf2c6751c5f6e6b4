"""Numbers the records of a log: assigns run, place in the run, and unique ids."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.repeats import RepeatedIds
from ingest.reading import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ingest.formats.openclaw.log import RecordBlock
    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.core.types import EventRow, ResultRow

    Rows: TypeAlias = pa.Table | list[ResultRow]


def numbered_blocks(blocks: Iterable[RecordBlock], *, path: Path, run_id: str) -> Iterator[Block]:
    """Yield the records of a log in order, each with `seq` and `content_id`, by run.

    A record without a run id belongs to the run of the next result, because events precede the
    calls that they prepare. In each run, results and events are numbered together, from 1.

    Args:
        blocks: blocks of the log, in order.
        path: path of the log.
        run_id: the run of results without a run id.
    """
    numbering = _Numbering(run_id)
    for block in blocks:
        if block.rejects or block.secrets or block.unsearched:
            yield Block(
                path=path,
                run_id=run_id,
                rejects=block.rejects,
                secrets=block.secrets,
                unsearched=block.unsearched,
            )
        yield from _violations_by_run(path, run_id, block)
        yield from _by_run(path, *numbering.number(block))
    yield from _by_run(path, *numbering.rest())


def _violations_by_run(path: Path, run_id: str, block: RecordBlock) -> Iterator[Block]:
    """Yield the broken rules of a block with the runs of their results."""
    if not block.violations:
        return
    run_of = _runs_of_lines(block.results, [violation.line for violation in block.violations])
    by_run: dict[str, list[Violation]] = {}
    for violation in block.violations:
        by_run.setdefault(run_of[violation.line] or run_id, []).append(violation)
    for name, violations in by_run.items():
        yield Block(path=path, run_id=name, violations=violations)


def _runs_of_lines(
    results: pa.Table | list[tuple[int, ResultRow]], lines: list[int]
) -> dict[int, str | None]:
    """Return the run of each line; None if the line does not name it."""
    if isinstance(results, list):
        return {line: row.get("run_id") for line, row in results}
    broken = results.filter(pc.is_in(results["line"], pa.array(lines)))
    return dict(zip(broken["line"].to_pylist(), broken["run_id"].to_pylist(), strict=True))


def _by_run(path: Path, results: Rows, events: list[EventRow]) -> Iterator[Block]:
    if isinstance(results, pa.Table):
        names = dict.fromkeys(results["run_id"].unique().to_pylist())
    else:
        names = dict.fromkeys(row["run_id"] for row in results)
    names |= dict.fromkeys(event["run_id"] for event in events)
    for name in names:
        own, own_events = results, events
        if len(names) > 1:
            own = _of_run(results, name)
            own_events = [event for event in events if event["run_id"] == name]
        yield Block(path=path, run_id=name, rows={"results": own, "events": own_events})


def _of_run(results: Rows, run_id: str) -> Rows:
    if isinstance(results, pa.Table):
        return results.filter(pc.equal(results["run_id"], run_id))
    return [row for row in results if row["run_id"] == run_id]


class _Numbering:
    """The state of the numbering between blocks."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._next_run = run_id
        self._waiting: list[tuple[int, EventRow]] = []
        self._last_seq: Counter[str] = Counter()
        self._repeats = RepeatedIds()

    def number(self, block: RecordBlock) -> tuple[Rows, list[EventRow]]:
        """Return the results of a block, and the events that precede one of them."""
        self._waiting += block.events
        if isinstance(block.results, list):
            return self._number_few(block.results)
        return self._number_table(block.results)

    def _number_few(
        self, placed: list[tuple[int, ResultRow]]
    ) -> tuple[list[ResultRow], list[EventRow]]:
        """Return the same for a few results, in less time than tables take."""
        results = [row for _, row in placed]
        if not results:
            return results, []
        for row in results:
            if row.get("run_id") is None:
                row["run_id"] = self._run_id
        taken = self._take_events_before([line for line, _ in placed], results)
        records: list[tuple[int, ResultRow | EventRow]] = [*placed, *taken]
        for _, record in sorted(records, key=itemgetter(0)):
            self._last_seq[record["run_id"]] += 1
            record["seq"] = self._last_seq[record["run_id"]]
        self._next_run = results[-1]["run_id"]
        ids = self._repeats.numbered_few([row["content_id"] for row in results])
        for row, content_id in zip(results, ids, strict=True):
            row["content_id"] = content_id
        return results, self._numbered([event for _, event in taken])

    def _take_events_before(
        self, lines: list[int], results: list[ResultRow]
    ) -> list[tuple[int, EventRow]]:
        """Return the waiting events that precede a result, with its run."""
        taken = [each for each in self._waiting if each[0] < lines[-1]]
        self._waiting = self._waiting[len(taken) :]
        for line, event in taken:
            event.setdefault("run_id", results[bisect(lines, line)]["run_id"])
        return taken

    def _number_table(self, results: pa.Table) -> tuple[pa.Table, list[EventRow]]:
        results = _with(results, "run_id", pc.fill_null(results["run_id"], self._run_id))
        if not results.num_rows:
            return results, []
        placed = self._take_events(results)
        events = [event for _, event in placed]
        seqs = self._seqs(results, placed)
        results = _with(results, "seq", pa.array(seqs[: len(results)]))
        for event, seq in zip(events, seqs[len(results) :].tolist(), strict=True):
            event["seq"] = seq
        self._next_run = results["run_id"][-1].as_py()
        ids = self._repeats.numbered(results["content_id"].combine_chunks())
        results = _with(results, "content_id", ids).drop_columns("line")
        return results, self._numbered(events)

    def rest(self) -> tuple[list[ResultRow], list[EventRow]]:
        """Return the events after the last result."""
        events = [event for _, event in self._waiting]
        for event in events:
            run_id = event.setdefault("run_id", self._next_run)
            self._last_seq[run_id] += 1
            event["seq"] = self._last_seq[run_id]
        return [], self._numbered(events)

    def _take_events(self, results: pa.Table) -> list[tuple[int, EventRow]]:
        """Return the waiting events that precede a result, with its run."""
        lines = results["line"].to_numpy()
        following = np.searchsorted(lines, [line for line, _ in self._waiting])
        n_taken = int((following < len(lines)).sum())
        taken, self._waiting = self._waiting[:n_taken], self._waiting[n_taken:]
        for (_, event), at in zip(taken, following.tolist(), strict=False):
            event.setdefault("run_id", results["run_id"][at].as_py())
        return taken

    def _seqs(self, results: pa.Table, events: list[tuple[int, EventRow]]) -> np.ndarray:
        """Return the places of results and events in their runs, in the order of their lines."""
        names = pa.array([event["run_id"] for _, event in events], pa.string())
        runs = pa.chunked_array([*results["run_id"].chunks, names]).combine_chunks()
        encoded = runs.dictionary_encode()
        codes = encoded.indices.to_numpy()
        lines = np.append(results["line"].to_numpy(), [line for line, _ in events])
        order = np.lexsort((lines, codes))
        sizes = np.bincount(codes)
        ranks = np.empty(len(codes), np.int64)
        ranks[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        run_ids = encoded.dictionary.to_pylist()
        first = np.array([self._last_seq[run_id] + 1 for run_id in run_ids], np.int64)
        self._last_seq.update(dict(zip(run_ids, sizes.tolist(), strict=True)))
        seqs: np.ndarray = first[codes] + ranks
        return seqs

    def _numbered(self, events: list[EventRow]) -> list[EventRow]:
        ids = self._repeats.numbered_few([event["content_id"] for event in events])
        for event, content_id in zip(events, ids, strict=True):
            event["content_id"] = content_id
        return events


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.append_column(name, column) if at < 0 else table.set_column(at, name, column)
