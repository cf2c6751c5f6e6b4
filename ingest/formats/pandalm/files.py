"""The test set with the votes of people, and files of a judge's verdicts, joined by `idx`."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import BrokenElementsError, Elements
from ingest.formats.common.fields import Fields, plain_text
from ingest.formats.common.judged import JudgedRows, judged_reading, rater_config
from ingest.reading import Reading, Reject
from warehouse.core.formats.values import is_integer, utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.judged import Outcome
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject, PreferenceRow

SUITE = "pandalm"
_OUTCOMES: dict[str, Outcome] = {"0": "tie", "1": "a", "2": "b", "tie": "tie"}
_MODELS = re.compile(r"([^_]+)_([^_]+)$")
_ANNOTATOR = re.compile(r"annotator(\d{1,4})$")
_RESULT = re.compile(r"(.+)_result$")
# A judge's file is named by the judge and the test set.
_JUDGED = re.compile(r"(.+)-(testset.*)$")


def read_pairs(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the pairs of a test set and the votes of people: a run of its own."""
    task_set = utf8(path.stem)
    blocks = partial(_pair_blocks, path, task_set, redact=context.options.redact)
    yield judged_reading(
        "PandaLM test set", (SUITE, task_set), (path,), blocks, {"task_set": task_set}
    )


def read_verdicts(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the verdicts of a judge on the pairs of the test set next to them."""
    named = _JUDGED.match(utf8(path.stem))
    pairs = path.with_name(f"{named[2] if named else 'testset'}.json")
    if named is None or not pairs.is_file():
        reason = f"its pairs are in {utf8(pairs.name)}, which is not next to it"
        file = context.read(path)
        if file is not None:
            yield Reading("PandaLM verdicts", rejects=[Reject(reason)], files=[file])
        return
    blocks = partial(_verdict_blocks, path, pairs, named[1], redact=context.options.redact)
    run = (SUITE, named[0])
    yield judged_reading("PandaLM verdicts", run, (path, pairs), blocks, {"task_set": named[2]})


def _pair_blocks(path: Path, task_set: str, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, task_set)
    pairs = _Pairs(JudgedRows(SUITE, task_set, rows))
    yield from rows.add_elements(Elements(path, is_masked=redact), "pair", pairs.add_votes)
    yield from rows.rest()


def _verdict_blocks(path: Path, pairs_path: Path, judge: str, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(pairs_path, utf8(path.stem))
    pairs = _Pairs(JudgedRows(SUITE, utf8(pairs_path.stem), rows))
    # What is wrong with the test set is reported where it is imported.
    with suppress(BrokenElementsError):
        for seq, record in enumerate(Elements(pairs_path, is_masked=redact).read(), 1):
            if isinstance(record, dict):
                pairs.add(Fields(record), seq)
            yield from rows.full()
    yield from rows.rest()
    rows.path = path
    add = partial(pairs.add_verdict, judge=judge)
    yield from rows.add_elements(Elements(path, is_masked=redact), "verdict", add)
    yield from rows.rest()


class _Pairs:
    """The pairs of a test set, by `idx`, and the rows of votes on them."""

    def __init__(self, judged: JudgedRows) -> None:
        self._judged = judged
        self._pairs: dict[str, PreferenceRow] = {}

    def add(self, fields: Fields, seq: int) -> PreferenceRow | None:
        """Add the task and the answers of a pair; return None if it cannot be used."""
        idx, models = _idx(fields), _MODELS.match(fields.text("cmp_key") or "")
        if idx is None or models is None:
            return None
        asked = filter(None, (fields.text("instruction"), fields.text("input")))
        app = Fields({"motivation_app": fields.value("motivation_app")})
        self._judged.add_task(idx, "\n\n".join(asked), extra=app.extra())
        # A few answers were stored as true in place of the text.
        texts = [plain_text(fields.value(name)) for name in ("response1", "response2")]
        self._pairs[idx] = self._judged.add_pair(idx, idx, models.groups(), texts, seq)
        return self._pairs[idx]

    def add_votes(self, record: JsonObject, seq: int) -> str:
        """Add a pair and the votes of people; return why it cannot be used."""
        fields = Fields(record)
        pair = self.add(fields, seq)
        if pair is None:
            return "has no `idx`, or no `cmp_key` with two models"
        votes = {name: fields.value(name) for name in record if _ANNOTATOR.match(name)}
        for name, vote in votes.items():
            outcome = _outcome(vote)
            self._judged.add_vote(
                {
                    **pair,
                    "slot": int(name.removeprefix("annotator")),
                    "rater_kind": "human",
                    "outcome": outcome,
                    "extra": fields.extra(vote=None if outcome else vote),
                }
            )
        return ""

    def add_verdict(self, record: JsonObject, seq: int, *, judge: str) -> str:
        """Add a verdict; return why it cannot be used."""
        fields = Fields(record)
        idx = _idx(fields)
        pair = self._pairs.get(idx or "")
        named = next(filter(None, map(_RESULT.match, record)), None)
        if pair is None or named is None:
            return f"no pair {idx} in the test set" if idx and named else "has no `idx` or result"
        result = fields.value(named[0])
        outcome = _outcome(result)
        self._judged.add_vote(
            {
                **pair,
                "rater": judge,
                "rater_kind": "judge",
                "rater_config": rater_config(model=judge),
                "outcome": outcome,
                "reason": fields.text(f"{named[1]}_reason"),
                "seq": seq,
                "extra": fields.extra(result=None if outcome else result),
            }
        )
        return ""


def _idx(fields: Fields) -> str | None:
    value = fields.value("idx")
    return str(value) if is_integer(value) else None


def _outcome(vote: Json) -> Outcome | None:
    return None if isinstance(vote, bool) else _OUTCOMES.get(str(vote).lower())
