"""Data sets of items, each with the ratings of people by criterion, who have no identities."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import Elements
from ingest.formats.common.fields import (
    Fields,
    finite_number,
    list_of,
    object_of,
    plain_text,
    text_of,
)
from ingest.formats.common.json_spans import file_spans
from ingest.formats.common.judged import JudgedRows, judged_reading, rater_config
from ingest.formats.common.records import UnreadableRecordError, parsed
from warehouse.core.files import open_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.secrets import find_secrets, mask
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import Json, JsonObject, RatingRow, RunRow

SUITE = "judge_bench"
_ITEMS, _SCORES = "instances", "individual_human_scores"
_MOST_MEMBER_BYTES = 16 * 2**20
# What a data set records of all ratings of an item, the first of which stands for them.
_AGGREGATES = ("majority_human", "mean_human")
_FOLDER, _UNNAMED = "data", "data"


def read_ratings(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the ratings of a data set: a run."""
    redact = context.options.redact
    try:
        document = _document(path, redact=redact)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    run_id, task_set = _names(path)
    blocks = partial(_blocks, path, run_id, task_set, document, redact=redact)
    header: RunRow = {"task_set": task_set, "config": json_text(document)}
    yield judged_reading("JUDGE-BENCH ratings", (SUITE, run_id), (path,), blocks, header)


def _names(path: Path) -> tuple[str, str]:
    """Return the run and the task set, as files of figures name it: `data/SET/FILE.json`.

    A file is named by its set, or its folder is.
    """
    folders = ("", *path.absolute().parts)[-3:-1]
    parent, folder, name = (utf8(each).replace("_", "-") for each in (*folders, path.stem))
    if parent != _FOLDER or name.startswith(folder):
        return name, name
    if name.startswith(_UNNAMED):
        return (named := folder + name.removeprefix(_UNNAMED)), named
    return f"{folder} {name}", folder


def _document(path: Path, *, redact: bool) -> JsonObject:
    """Return the members of a data set but for its items; damaged ones are left out.

    Raises:
        OSError: the file cannot be read.
    """
    found: JsonObject = {}
    with open_regular(path) as file:
        for name, (start, end) in file_spans(path, {_ITEMS}).members.items():
            if name == _ITEMS or end - start > _MOST_MEMBER_BYTES:
                continue
            file.seek(start)
            raw = file.read(end - start)
            raw = mask(raw, find_secrets(raw)) if redact else raw
            try:
                found |= object_of(parsed(b"{" + raw + b"}")[0])
            except UnreadableRecordError:
                continue  # that the file is broken is reported when its items are read
    return found


def _blocks(
    path: Path, run_id: str, task_set: str, document: JsonObject, *, redact: bool
) -> Iterator[Block]:
    rows = RowCollector(path, run_id)
    items = _Items(document, JudgedRows(SUITE, task_set, rows))
    elements = Elements(path, _ITEMS, is_masked=redact)
    yield from rows.add_elements(elements, "instance", items.add)
    yield from rows.rest()


class _Items:
    """Adds the rows of items to those of a run."""

    def __init__(self, document: JsonObject, judged: JudgedRows) -> None:
        self._judged = judged
        self._config = rater_config(expert=plain_text(document.get("expert_annotator")))
        self._criteria = {
            text_of(each.get("metric")): each
            for each in map(object_of, list_of(document.get("annotations")))
        }

    def add(self, record: JsonObject, seq: int) -> str:
        """Add the rows of an item; return why it cannot be used."""
        fields = Fields(record)
        task_id, item = plain_text(fields.value("id")), plain_text(fields.value("instance"))
        annotations = fields.value("annotations")
        if task_id is None or not isinstance(annotations, dict):
            return "has no `id` or no `annotations`"
        for criterion, given in annotations.items():
            rated: RatingRow = {
                "task_id": task_id,
                "criterion": utf8(criterion),
                "rater_config": self._config,
                "seq": seq,
                **self._scale(criterion),
            }
            self._add_ratings(rated, object_of(given))
        aggregates: JsonObject = {
            criterion: _without_scores(given) for criterion, given in annotations.items()
        }
        self._judged.add_task(task_id, item, extra=fields.extra(annotations=aggregates))
        return ""

    def _add_ratings(self, rated: RatingRow, annotation: JsonObject) -> None:
        """Add the ratings by one criterion: without any, what they come to as a settled label."""
        scores = list_of(annotation.get(_SCORES))
        for slot, score in enumerate(scores, 1):
            said = self._said(rated["criterion"], score)
            self._judged.add_rating({**rated, **said, "slot": slot, "rater_kind": "human"})
        settled = next((annotation[name] for name in _AGGREGATES if name in annotation), None)
        if not scores and settled is not None:
            said = self._said(rated["criterion"], settled)
            self._judged.add_rating({**rated, **said, "rater_kind": "gold"})

    def _said(self, criterion: str, score: Json) -> RatingRow:
        """Return a rating as number or label; one that is null or NaN was not given."""
        number = finite_number(score)
        if score is None or (isinstance(score, float) and number is None):
            return {"status": "not_applicable"}
        is_label = object_of(self._criteria.get(criterion)).get("category") == "categorical"
        return {"label": plain_text(score)} if is_label or number is None else {"value": number}

    def _scale(self, criterion: str) -> RatingRow:
        declared = object_of(self._criteria.get(criterion))
        ends = [finite_number(declared.get(name)) for name in ("worst", "best")]
        known = sorted(each for each in ends if each is not None)
        labels = [text for text in map(plain_text, list_of(declared.get("labels_list"))) if text]
        return {
            "scale_low": known[0] if known else None,
            "scale_high": known[-1] if known else None,
            "scale_labels": labels or None,
        }


def _without_scores(annotation: Json) -> Json:
    """Return what an annotation says besides the ratings that have rows."""
    scores = object_of(annotation).get(_SCORES)
    if not isinstance(annotation, dict) or not isinstance(scores, list):
        return annotation
    return {name: each for name, each in annotation.items() if name != _SCORES}
