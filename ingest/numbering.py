"""Gives the records of a log their run, their place in it, and ids that tell repeats apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.formats.openclaw.lines import LineBlock

_HEX_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a log, each with `run_id`, `seq` and `content_id`.

    Attributes:
        results: with the columns that a line tells.
        events: in order.
    """

    results: pa.Table
    events: list[dict[str, Any]]


def number(blocks: Iterable[LineBlock], *, run_id: str) -> Iterator[Records]:
    """Number the records of a log, in order.

    A record without a run's name belongs to the run of the next result, as events stand before
    the calls that they prepare. Places are counted in each run, from 1, results and events alike.

    Args:
        blocks: of the log, in order.
        run_id: the run of results that name none.
    """
    numbering = _Numbering(run_id)
    for block in blocks:
        yield numbering.number(block)
    yield numbering.rest()


class _Numbering:
    """How far the numbering has come."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._next_run = run_id
        self._waiting: list[dict[str, Any]] = []
        self._last_seq: Counter[str] = Counter()
        self._seen = SeenHashes()
        self._repeats: Counter[str] = Counter()

    def number(self, block: LineBlock) -> Records:
        results = _with(
            block.results, "run_id", pc.fill_null(block.results["run_id"], self._run_id)
        )
        self._waiting += map(dict, block.others)
        if not results.num_rows:
            return Records(results, [])
        events = self._take_events(results)
        seqs = self._seqs(results, events)
        results = _with(results, "seq", pa.array(seqs[: len(results)]))
        for event, seq in zip(events, seqs[len(results) :].tolist(), strict=True):
            event["seq"] = seq
        self._next_run = results["run_id"][-1].as_py()
        return Records(self._told_apart(results), self._told_apart_events(events))

    def rest(self) -> Records:
        """Give the events after the last result."""
        for event in self._waiting:
            event["run_id"] = event["run_id"] or self._next_run
            self._last_seq[event["run_id"]] += 1
            event["seq"] = self._last_seq[event["run_id"]]
        empty = pa.table({name: pa.array([], pa.string()) for name in ("run_id", "content_id")})
        return Records(empty, self._told_apart_events(self._waiting))

    def _take_events(self, results: pa.Table) -> list[dict[str, Any]]:
        """Take the waiting events that a result follows, and give them its run."""
        lines = results["line"].to_numpy()
        following = np.searchsorted(lines, [event["line"] for event in self._waiting])
        n_taken = int((following < len(lines)).sum())
        taken, self._waiting = self._waiting[:n_taken], self._waiting[n_taken:]
        for event, at in zip(taken, following.tolist(), strict=False):
            event["run_id"] = event["run_id"] or results["run_id"][at].as_py()
        return taken

    def _seqs(self, results: pa.Table, events: list[dict[str, Any]]) -> np.ndarray:
        names = pa.array([event["run_id"] for event in events], pa.string())
        runs = pa.chunked_array([*results["run_id"].chunks, names]).combine_chunks()
        encoded = runs.dictionary_encode()
        codes = encoded.indices.to_numpy()
        lines = np.append(results["line"].to_numpy(), [event["line"] for event in events])
        order = np.lexsort((lines, codes))
        sizes = np.bincount(codes)
        ranks = np.empty(len(codes), np.int64)
        ranks[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        run_ids = encoded.dictionary.to_pylist()
        first = np.array([self._last_seq[run_id] + 1 for run_id in run_ids], np.int64)
        self._last_seq.update(dict(zip(run_ids, sizes.tolist(), strict=True)))
        seqs: np.ndarray = first[codes] + ranks
        return seqs

    def _told_apart(self, results: pa.Table) -> pa.Table:
        ids = results["content_id"].combine_chunks()
        again = self._seen.add(_as_numbers(_joined(ids)))
        if not again.any():
            return results
        texts = ids.to_pylist()
        for at in np.flatnonzero(again).tolist():
            texts[at] = self._next_id(texts[at])
        return _with(results, "content_id", pa.array(texts))

    def _told_apart_events(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        again = self._seen.add(_as_numbers("".join(event["content_id"] for event in events)))
        for at in np.flatnonzero(again).tolist():
            events[at]["content_id"] = self._next_id(events[at]["content_id"])
        return events

    def _next_id(self, content_id: str) -> str:
        self._repeats[content_id] += 1
        return f"{content_id}-{self._repeats[content_id] + 1}"


class SeenHashes:
    """A set of 64-bit hashes in eight bytes each, for logs of any length.

    Sorted arrays, each at least twice as long as the next: few to look into, cheap to merge.
    """

    def __init__(self) -> None:
        self._levels: list[np.ndarray] = []

    def add(self, values: np.ndarray) -> np.ndarray:
        """Add hashes, and tell for each whether it was there before it."""
        ordered, first, places = np.unique(values, return_index=True, return_inverse=True)
        is_known = np.zeros(len(ordered), bool)
        for level in self._levels:
            at = np.minimum(np.searchsorted(level, ordered), len(level) - 1)
            is_known |= level[at] == ordered
        again: np.ndarray = is_known[places]
        repeated = np.ones(len(values), bool)
        repeated[first] = False
        again |= repeated
        if len(ordered):
            self._levels.append(ordered)
        while len(self._levels) > 1 and len(self._levels[-2]) < 2 * len(self._levels[-1]):
            small, large = self._levels.pop(), self._levels.pop()
            # Two sorted runs: a stable sort merges them.
            self._levels.append(np.sort(np.concatenate([large, small]), kind="stable"))
        return again


def _joined(ids: pa.StringArray) -> str:
    """Join hashes of the same length: they lie so in the array already."""
    start = ids.offset * _HEX_DIGITS
    text = ids.buffers()[2].slice(start, len(ids) * _HEX_DIGITS).to_pybytes() if len(ids) else b""
    return text.decode("ascii")


def _as_numbers(hexadecimal: str) -> np.ndarray:
    """Give the first half of each hash of 32 digits as a number."""
    return np.frombuffer(bytes.fromhex(hexadecimal), ">u8")[::2].astype(np.uint64)


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.append_column(name, column) if at < 0 else table.set_column(at, name, column)
