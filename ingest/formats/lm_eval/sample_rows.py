"""Makes rows of the lake of samples that were taken apart; a repeated sample counts once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.repeats import SeenHashes
from ingest.formats.lm_eval.layout import SUITE, part_of
from ingest.formats.lm_eval.sample_columns import RESULTS, SCORES, TASKS
from ingest.reading import Block, Reject
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

    from ingest.formats.lm_eval.plain_samples import PlainForm

TABLES = ("results", "result_scores", "tasks")

# Columns of plain samples, by those of the lake.
_PLAIN_RESULTS = {
    "content_id": "result_id",
    "seq": "line",
    "task_id": "task_id",
    "task_hash": "task_hash",
    "prompt": "prompt",
    "sent": "sent",
    "raw_output": "response_text",
    "objective_pass": "objective_pass",
    "extra": "result_extra",
}
_PLAIN_TASKS = {
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
_SCORE_COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("content_id", "result_id", "metric", "filter")),
        ("value", pa.float64()),
        ("text", pa.string()),
        ("passed", pa.bool_()),
        ("answer", pa.string()),
        ("extra", pa.string()),
    ]
)
_KEYS = ["line", "line_hash", "place_hash", "record_number", "problem"]


@dataclass(frozen=True, slots=True)
class SamplePart:
    """Some samples of a block.

    Attributes:
        lines: the lines, `line` and `text`.
        samples: a sample for each of them.
        form: the form of the samples if all are plain.
    """

    lines: pa.Table
    samples: pa.Table
    form: PlainForm | None = None


@dataclass(slots=True)
class ReadBlock:
    """The samples of some lines, whatever came before.

    Attributes:
        parts: lines that are objects, with their samples.
        sources: original text of the lines that were changed to be read, by number.
        rejects: the other lines.
        secrets: line and kind of each possible secret.
    """

    parts: list[SamplePart] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)


class SampleRows:
    """The state of a samples file between blocks: about 24 bytes for each sample."""

    def __init__(
        self, run_id: str, task_set: str, path: Path, connection: duckdb.DuckDBPyConnection
    ) -> None:
        self._run_id = run_id
        self._task_set = task_set
        self._path = path
        self._connection = connection
        self._part = part_of(task_set)
        # Tasks are added to a set from any part of it, so that its version is only its name.
        task_set_hash = content_hash("lm-eval task set", task_set)
        self._of_set = {"suite": SUITE, "task_set_hash": task_set_hash}
        self._places, self._samples, self._results = SeenHashes(), SeenHashes(), SeenHashes()

    def block(self, read: ReadBlock) -> Block:
        """Return the rows of some lines; those of earlier lines are known."""
        block = Block(
            path=self._path, run_id=self._run_id, rejects=read.rejects, secrets=read.secrets
        )
        parts: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
        for part, samples in self._kept(read.parts, block.rejects):
            if part.form is None:
                rows = self._rows(samples, read.sources)
            else:
                rows = self._plain_rows(samples, part.form)
            for name, made in rows.items():
                parts[name].append(made)
        block.rejects.sort(key=lambda reject: reject.line or 0)
        block.rows = {
            # Plain samples lack columns.
            name: pa.concat_tables(found, promote_options="default")
            for name, found in parts.items()
            if found
        }
        if "result_scores" in block.rows:
            block.rows["result_scores"] = _without_repeats(block.rows["result_scores"])
        return block

    def _kept(
        self, parts: list[SamplePart], rejects: list[Reject]
    ) -> Iterator[tuple[SamplePart, pa.Table]]:
        """Yield the samples that count, and whether each is the first of its result."""
        if not parts:
            return
        keys = pa.concat_tables([part.samples.select(_KEYS) for part in parts])
        # Lines of one part may be between those of another.
        keys = keys.append_column("at", pa.array(np.arange(len(keys)))).sort_by("line")
        is_good = pc.is_null(keys["problem"]).to_numpy()
        is_known = self._samples.add(keys["line_hash"].to_numpy())
        is_other = self._places.add(keys["place_hash"].to_numpy()) & ~is_known & is_good
        is_kept = is_good & ~is_other & ~is_known
        is_first = np.zeros(len(keys), bool)
        is_first[is_kept] = ~self._results.add(keys["record_number"].to_numpy()[is_kept])
        at = keys["at"].to_numpy()
        is_wrong, is_kept, is_first = (
            _moved(values, at) for values in (~is_good | is_other, is_kept, is_first)
        )
        start = 0
        for part in parts:
            here = slice(start, start + len(part.samples))
            start = here.stop
            rejects += (_reject(part, n) for n in np.flatnonzero(is_wrong[here]).tolist())
            samples = part.samples.append_column("is_first", pa.array(is_first[here]))
            if not is_kept[here].all():
                samples = samples.filter(pa.array(is_kept[here]))
            yield part, samples

    def _rows(self, samples: pa.Table, sources: dict[int, str]) -> dict[str, pa.Table]:
        cursor = self._connection
        cursor.register("samples", samples)
        cursor.register(
            "sources",
            pa.table(
                {
                    "line": pa.array(list(sources), pa.int64()),
                    "source": pa.array(list(sources.values()), pa.string()),
                }
            ),
        )
        task_set = {"task_set": self._task_set}
        return {
            "results": query(cursor, RESULTS, **task_set),
            "result_scores": query(cursor, SCORES, part=self._part),
            "tasks": query(cursor, TASKS, **task_set, **self._of_set),
        }

    def _plain_rows(self, samples: pa.Table, form: PlainForm) -> dict[str, pa.Table]:
        is_first = samples["is_first"]
        first = samples if pc.all(is_first).as_py() else samples.filter(is_first)
        task_set = {"task_set": self._task_set}
        return {
            "results": _renamed(first, _PLAIN_RESULTS, task_set),
            "result_scores": pa.concat_tables(
                [
                    _SCORE_COLUMNS.empty_table(),
                    *(_plain_scores(samples, n, name) for n, name in enumerate(form.scored)),
                ]
            ),
            "tasks": _renamed(first, _PLAIN_TASKS, {**task_set, **self._of_set}),
        }


def query(connection: duckdb.DuckDBPyConnection, text: str, **parameters: object) -> pa.Table:
    """Return the rows of a query."""
    return connection.sql(text, params=parameters).to_arrow_table()


def _plain_scores(samples: pa.Table, n: int, name: str) -> pa.Table:
    rows = _renamed(
        samples,
        {
            "content_id": f"score_id_{n}",
            "result_id": "result_id",
            "filter": "filter_name",
            "value": f"value_{n}",
            "text": f"text_{n}",
            "passed": f"passed_{n}",
            "answer": "answer",
            "extra": "score_extra",
        },
        {"metric": name},
    )
    # The result has the fields of its first sample.
    nothing = pa.scalar(None, pa.string())
    extra = pc.if_else(samples["is_first"], nothing, rows["extra"]) if n == 0 else None
    at = rows.column_names.index("extra")
    rows = rows.set_column(
        at, "extra", pa.nulls(len(rows), pa.string()) if extra is None else extra
    )
    return rows.select(_SCORE_COLUMNS.names).cast(_SCORE_COLUMNS)


def _renamed(rows: pa.Table, names: dict[str, str], shared: dict[str, str]) -> pa.Table:
    """Return columns by their new names, with those that are equal in all rows."""
    columns = {name: rows[old] for name, old in names.items()}
    repeated = {name: pa.repeat(value, len(rows)) for name, value in shared.items()}
    return pa.table({**columns, **repeated})


def _moved(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return values each at the place that is given for it."""
    moved = np.empty_like(values)
    moved[at] = values
    return moved


def _reject(part: SamplePart, n: int) -> Reject:
    reason, line, task, name = (
        part.samples[column][n].as_py() for column in ("problem", "line", "task_id", "filter_name")
    )
    repeats = f"repeats doc_id {task}, filter {name}, of an earlier line, with other content"
    return Reject(reason or repeats, line, raw=raw_line(part.lines, n))


def raw_line(lines: pa.Table, at: int) -> bytes:
    """Return a line without its line feed."""
    text: str = lines["text"][at].as_py()
    return text.rstrip("\n").encode()


def _without_repeats(scores: pa.Table) -> pa.Table:
    """Return scores without those that are the same in two samples of a result."""
    ids = scores["content_id"].combine_chunks()
    codes = ids.dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    return scores if len(first) == len(scores) else scores.take(np.sort(first))
