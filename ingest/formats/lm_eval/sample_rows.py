"""Makes rows of the lake of samples that were taken apart; a repeated sample counts once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.repeats import SeenHashes
from ingest.formats.lm_eval.layout import SUITE
from ingest.reading import Block, Reject
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("results", "result_scores", "tasks")
# Columns of samples, by those of the lake.
_RESULT = {
    "content_id": "result_id",
    "seq": "line",
    "task_id": "task_id",
    "task_hash": "task_hash",
    "prompt": "prompt",
    "sent": "sent",
}
# Those of the first answer to a sample only.
_OF_FIRST_ANSWER = {
    "parsed_output": "parsed_output",
    "objective_pass": "objective_pass",
    "extra": "result_extra",
    "source": "source",
}
_TASK = {
    "content_id": "task_key",
    "seq": "task_seq",
    "task_id": "task_id",
    "task_hash": "task_hash",
    "reference": "reference",
    "question": "question",
    "choices": "choices",
    "target": "target_text",
    "extra": "task_extra",
}
_SCORE = {"result_id": "result_id", "filter": "filter_name", "answer": "answer"}
_NO_TEXT = pa.scalar(None, pa.string())


@dataclass(slots=True)
class ReadBlock:
    """The samples of some lines, whatever came before.

    Attributes:
        lines: the lines that are objects, `line` and `text`.
        samples: a sample for each of them.
        sources: original text of the lines that were changed to be read, by number.
        rejects: the other lines.
        secrets: line and kind of each possible secret.
    """

    lines: pa.Table
    samples: pa.Table
    sources: dict[int, str] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)


class SampleRows:
    """The state of a samples file between blocks: about 24 bytes for each sample."""

    def __init__(self, run_id: str, task_set: str, path: Path) -> None:
        self._run_id = run_id
        self._path = path
        # Tasks are added to a set from any part of it, so that its version is only its name.
        task_set_hash = content_hash("lm-eval task set", task_set)
        self._of_result = {"task_set": task_set}
        self._of_task = {"task_set": task_set, "suite": SUITE, "task_set_hash": task_set_hash}
        self._places, self._samples, self._results = SeenHashes(), SeenHashes(), SeenHashes()

    def block(self, read: ReadBlock) -> Block:
        """Return the rows of some lines; those of earlier lines are known."""
        samples = self._kept(read)
        is_first = samples["is_first"]
        first = samples if pc.all(is_first).as_py() else samples.filter(is_first)
        sources = pa.array([read.sources.get(n) for n in first["line"].to_pylist()], pa.string())
        results = _result_rows(first.append_column("source", sources))
        read.rejects.sort(key=lambda reject: reject.line or 0)
        return Block(
            path=self._path,
            run_id=self._run_id,
            rows={
                "results": _with_constants(results, self._of_result),
                "result_scores": _score_rows(samples),
                "tasks": _with_constants(_renamed(first, _TASK), self._of_task),
            },
            rejects=read.rejects,
            secrets=read.secrets,
        )

    def _kept(self, read: ReadBlock) -> pa.Table:
        """Return the samples that count, and whether each is the first of its result."""
        samples = read.samples
        is_good = pc.is_null(samples["problem"]).to_numpy()
        is_known = self._samples.add(samples["line_hash"].to_numpy())
        is_other = self._places.add(samples["place_hash"].to_numpy()) & ~is_known & is_good
        is_kept = is_good & ~is_other & ~is_known
        is_first = np.zeros(len(samples), bool)
        is_first[is_kept] = ~self._results.add(samples["record_number"].to_numpy()[is_kept])
        read.rejects += (_reject(read, n) for n in np.flatnonzero(~is_good | is_other).tolist())
        samples = samples.append_column("is_first", pa.array(is_first))
        return samples if is_kept.all() else samples.filter(pa.array(is_kept))


def _result_rows(samples: pa.Table) -> pa.Table:
    """Return a row for each answer to each sample; one for a sample without answers as text."""
    responses = samples["responses"].combine_chunks()
    n_responses = pc.fill_null(pc.list_value_length(responses), 0).to_numpy()
    n_rows = np.maximum(n_responses, 1)
    at = np.repeat(np.arange(len(samples)), n_rows)
    place = np.arange(len(at)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    has_answer = n_responses[at] > 0
    answers = pa.array(np.cumsum(has_answer) - 1, mask=~has_answer)
    if len(at) > len(samples):
        samples = samples.take(at)
    rows = _renamed(samples, {**_RESULT, **_OF_FIRST_ANSWER})
    rows = rows.append_column("raw_output", pc.list_flatten(responses).take(answers))
    is_attempt = n_responses[at] > 1
    rows = rows.append_column("attempt", pa.array(place + 1, pa.int32(), mask=~is_attempt))
    if not place.any():
        return rows
    is_first = pa.array(place == 0)
    for name in _OF_FIRST_ANSWER:
        column = rows[name]
        rows = _replaced(rows, name, pc.if_else(is_first, column, pa.scalar(None, column.type)))
    numbered = pc.binary_join_element_wise(
        rows["content_id"], pa.array(place + 1).cast(pa.string()), "-"
    )
    return _replaced(rows, "content_id", pc.if_else(is_first, rows["content_id"], numbered))


def _score_rows(samples: pa.Table) -> pa.Table:
    """Return the scores, each once: two samples of a result may have the same ones."""
    scores = samples["scores"].combine_chunks()
    at = pc.list_parent_indices(scores)
    rows = pa.Table.from_struct_array(pc.list_flatten(scores))
    of_sample = samples.select([*_SCORE.values(), "score_extra", "is_first"]).take(at)
    for name, column in _SCORE.items():
        rows = rows.append_column(name, of_sample[column])
    # The result has the fields of its first sample.
    is_in_result = pc.or_(of_sample["is_first"], pa.array(np.diff(at, prepend=-1) == 0))
    extra = pc.if_else(is_in_result, _NO_TEXT, of_sample["score_extra"])
    rows = rows.append_column("extra", extra)
    codes = rows["content_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    return rows if len(first) == len(rows) else rows.take(np.sort(first))


def _renamed(rows: pa.Table, names: dict[str, str]) -> pa.Table:
    return pa.table({name: rows[old] for name, old in names.items()})


def _with_constants(rows: pa.Table, columns: dict[str, str]) -> pa.Table:
    for name, value in columns.items():
        rows = rows.append_column(name, pa.repeat(value, len(rows)))
    return rows


def _replaced(rows: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, column)


def _reject(read: ReadBlock, n: int) -> Reject:
    reason, line, task, name = (
        read.samples[column][n].as_py() for column in ("problem", "line", "task_id", "filter_name")
    )
    repeats = f"repeats doc_id {task}, filter {name}, of an earlier line, with other content"
    text: str = read.lines["text"][n].as_py()
    return Reject(reason or repeats, line, raw=text.rstrip("\n").encode())
