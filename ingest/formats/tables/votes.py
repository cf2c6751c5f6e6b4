"""The rows of a table of votes between two models, as blocks of a stream."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.fields import list_of, texts_of
from ingest.formats.common.judged import JudgedRows
from ingest.formats.common.repeats import RepeatedIds
from ingest.formats.tables import values
from ingest.formats.tables.batches import UnusableTableError
from ingest.formats.tables.opening import open_table
from ingest.reading import Block, Reject
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.judged import Outcome
    from ingest.formats.tables.batches import TableBatch
    from ingest.formats.tables.columns.column_map import TableSpec
    from warehouse.core.types import JsonObject, PreferenceRow, Row

# A column `judge` holds people in the logs of arenas, and models elsewhere.
_PERSON = re.compile(r"(?:arena_user|author|expert|user|human|worker|annotator)?[-_ ]?\d*")
_UNCHANGED = {"answer_a", "answer_b", "question", "prompt"}
_ONE_TURN = 2  # messages
_CONVERTED = {"time": (values.moment, "a time"), "turn": (values.integer, "an integer")}


class VoteBlocks:
    """The blocks of a table of votes."""

    def __init__(self, path: Path, spec: TableSpec, *, redact: bool) -> None:
        self._path, self._spec, self._redact = path, spec, redact

    def read(self) -> Iterator[Block]:
        """Read the table from the start.

        Raises:
            BadInput: it is not a table.
            OSError: it cannot be read.
        """
        votes = _Votes(self._path, self._spec)
        try:
            for batch in open_table(self._path, redact=self._redact).batches(self._spec.map.used):
                rows, rejects = _rows(batch, self._spec)
                if batch.rejects or rejects or batch.secrets:
                    rejects = [*batch.rejects, *rejects]
                    secrets = batch.secrets
                    yield Block(path=self._path, run_id=None, rejects=rejects, secrets=secrets)
                yield from votes.blocks(rows)
        except UnusableTableError as error:
            raise BadInput(f"{self._path}: {error}") from error


def _rows(batch: TableBatch, spec: TableSpec) -> tuple[list[Row], list[Reject]]:
    """Return the values of each row by role, with `line` and `extra`; and unusable rows."""
    columns = {"line": batch.lines.to_list(), "extra": batch.extra.to_list()}
    problems: dict[int, str] = {}
    for role, column in spec.map.columns.items():
        series = batch.values[column]
        texts = values.as_text(series)
        if role not in _UNCHANGED:
            stripped = texts.str.strip_chars()
            texts = stripped.set((stripped == "").fill_null(value=False), None)
        columns[role] = texts.to_list()
        if role in _CONVERTED:
            convert, demand = _CONVERTED[role]
            converted, bad = convert(series)
            columns[role] = converted.to_list()
            for at in bad.arg_true().to_list():
                problems[at] = f"{column} must be {demand}, not {texts[at]!r}"
        if role in ("model_a", "model_b"):
            problems |= dict.fromkeys(texts.is_null().arg_true().to_list(), f"names no {role}")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    rejects = [_reject(rows[at], reason) for at, reason in sorted(problems.items())]
    return [row for at, row in enumerate(rows) if at not in problems], rejects


def _reject(row: Row, reason: str) -> Reject:
    texts = {role: None if value is None else str(value) for role, value in row.items()}
    return Reject(reason, row["line"], raw=json_text(texts).encode())


class _Votes:
    """Adds rows of a table to those of their runs."""

    def __init__(self, path: Path, spec: TableSpec) -> None:
        self._path, self._spec = path, spec
        self._runs: dict[str, RowCollector] = {}
        self._judged: dict[tuple[str, str], JudgedRows] = {}
        self._repeats = RepeatedIds()

    def blocks(self, rows: list[Row]) -> Iterator[Block]:
        """Yield the blocks of a batch of rows."""
        added = [self._add_answers(row) for row in rows]
        numbered = self._repeats.numbered_few([_key(judged, vote) for judged, vote in added])
        for (judged, vote), name in zip(added, numbered, strict=True):
            number = int(name.partition("-")[2] or 1)
            # Without a rater, or with one who votes again, only a number tells votes apart.
            slot = number if vote["rater"] is None or number > 1 else None
            judged.add_vote({**vote, "slot": slot})
        for collector in self._runs.values():
            yield from collector.rest()

    def _add_answers(self, row: Row) -> tuple[JudgedRows, PreferenceRow]:
        """Add the task and the answers of a row, and return its vote."""
        judged = self._judged_rows(row)
        models = (row["model_a"], row["model_b"])
        shown = [_Shown(row.get(role)) for role in ("answer_a", "answer_b")]
        given = (row.get("question"), row.get("prompt"), *(each.asked for each in shown))
        asked = next(filter(None, given), None)
        task_id = row.get("task") or asked
        if task_id is not None and asked is not None:
            judged.add_task(task_id, asked)
        texts = [each.answer for each in shown]
        pair = judged.add_pair(task_id or "", row.get("pair"), models, texts, row["line"])
        outcome, rater = _outcome(row["winner"], models), row.get("rater")
        first = _outcome(row.get("first"), models)
        more = {f"answer_{side}": each.messages for side, each in zip("ab", shown, strict=True)}
        more = {name: messages for name, messages in more.items() if len(messages) > _ONE_TURN}
        if outcome is None and row["winner"] is not None:
            more["winner"] = row["winner"]
        is_person = rater is None or _PERSON.fullmatch(rater.lower()) is not None
        return judged, {
            **pair,
            "task_id": task_id,
            "turn": row.get("turn"),
            "rater": rater,
            "rater_kind": self._spec.map.rater_kind or ("human" if is_person else "judge"),
            "first_shown": first if first in ("a", "b") else self._spec.map.shown_first,
            "outcome": outcome,
            "rated_at": row.get("time"),
            "extra": json_text({**orjson.loads(row["extra"] or "{}"), **more})
            if more
            else row["extra"],
        }

    def _judged_rows(self, row: Row) -> JudgedRows:
        spec = self._spec
        run_id = row.get("run") or spec.run
        task_set = row.get("task_set") or spec.task_set or spec.suite
        if run_id not in self._runs:
            self._runs[run_id] = RowCollector(self._path, run_id)
        if (run_id, task_set) not in self._judged:
            judged = JudgedRows(spec.suite, task_set, self._runs[run_id])
            self._judged[run_id, task_set] = judged
        return self._judged[run_id, task_set]


class _Shown:
    """An answer as it was shown: a text, or a conversation as a JSON list of messages."""

    def __init__(self, text: str | None) -> None:
        self.messages: list[JsonObject] = []
        if text is not None and text.startswith("["):
            with suppress(ValueError):
                parts = list_of(orjson.loads(text))
                self.messages = parts if all(isinstance(each, dict) for each in parts) else []
        self.asked, self.answer = self._said("user"), self._said("assistant")
        if not self.messages:
            self.answer = text

    def _said(self, role: str) -> str | None:
        said = [each for each in self.messages if each.get("role") == role]
        texts = [texts_of(each.get("content")) for each in said]
        return "\n\n".join(filter(None, texts)) or None


def _outcome(text: str | None, models: tuple[str, str]) -> Outcome | None:
    """Return the better answer, which may be named by its model."""
    if text in models and models[0] != models[1]:
        return "a" if text == models[0] else "b"
    return values.WINNERS.get((text or "").lower())


def _key(judged: JudgedRows, vote: PreferenceRow) -> str:
    """Return what votes have in common that only a number tells apart."""
    answers = sorted(
        [
            [vote["model_a"], vote["result_a"] or ""],
            [vote["model_b"], vote["result_b"] or ""],
        ]
    )
    shown = vote["first_shown"] if vote["rater"] is not None else None
    about = [vote[name] for name in ("task_id", "pair_id", "turn", "rater")]
    return content_hash(judged.rows.run_id, judged.task_set, answers, shown, about)
