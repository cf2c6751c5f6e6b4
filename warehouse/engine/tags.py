"""The tags of runs: each change is a row of the lake, and none is ever rewritten.

A change names the changes that it replaces: those in force when it was made. So a tag that was
set in the knowledge of another replaces it whatever the clocks say, and even within the same
microsecond. Only changes made at the same time without knowledge of each other, or in different
stores, are ordered by their time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.formats.masking import Mask, secrets_of_environment
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import TAGS
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warehouse.core.types import TagRow
    from warehouse.engine.base_store import BaseStore
    from warehouse.lake.batch import RunKey

# The tag by which `evalstore version` declares the version of a task set.
VERSION_TAG = "task-set-version"
_NAME = re.compile(r"[\w][\w./-]{0,99}")
_LONGEST_VALUE = 1_000  # characters

# Changes that no other replaces, and those of the same tag: what a new change replaces.
_IN_FORCE = """
SELECT content_id, name
FROM lake.tags
ANTI JOIN (SELECT unnest(replaces) AS content_id FROM lake.tags) USING (content_id)
WHERE suite = $suite AND run_id = $run_id
ORDER BY content_id
"""
_SET = """
SELECT name, value FROM run_tags WHERE suite = $suite AND run_id = $run_id ORDER BY name
"""


@dataclass(frozen=True, slots=True)
class TagChange:
    """A change of a tag: its name, and its new value, None to remove it."""

    name: str
    value: str | None


def parse_change(text: str) -> TagChange:
    """Return the change that `name=value` stands for; `name=` removes the tag.

    Raises:
        BadInput: the text has another form.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"{text!r} is not a tag: write name=value, or name= to remove it")
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} cannot be the name of a tag: use up to 100 letters, digits and _ - . /, "
            "beginning with a letter, a digit or _"
        )
    if len(value) > _LONGEST_VALUE or not value.isprintable():
        raise BadInput(
            f"the value of tag {name!r} must be one line of at most {_LONGEST_VALUE:,} characters"
        )
    return TagChange(name, value or None)


def tags_of(store: BaseStore, run: RunKey) -> dict[str, str]:
    """Return the tags of a run, by name."""
    return dict(store.sql(_SET, {"suite": run[0], "run_id": run[1]}).fetchall())


def tag(store: BaseStore, run: RunKey, changes: Sequence[TagChange]) -> int:
    """Change tags of a run; return how many of the changes were not in force already.

    Secrets of the environment, and what looks like a key, are masked in values.

    Raises:
        BadInput: a tag is given twice, a tag to remove is not set, or the run was forgotten.
        StoreReadOnly: the store cannot be written.
    """
    _check_distinct(changes)
    # `forget` waits until the change is in the lake, and so removes it too.
    with shared_lake_lock(store.path):
        _check_known(store, run)
        known = tags_of(store, run)
        needed = list(_needed(changes, known))
        if not needed:
            return 0
        rows = _rows(run, needed, _in_force(store, run))
        with store.lake.write("tag") as writer:
            writer.add(TAGS, rows)
            writer.commit()
    return len(needed)


def _check_distinct(changes: Sequence[TagChange]) -> None:
    names = [change.name for change in changes]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"tag {repeated[0]!r} is given more than once")


def _check_known(store: BaseStore, run: RunKey) -> None:
    if not store.lake.register().holding([run]):
        raise BadInput(f"run {run[1]!r} was forgotten in the meantime")


def _needed(changes: Iterable[TagChange], known: Mapping[str, str]) -> Iterable[TagChange]:
    mask = Mask(secrets_of_environment())
    for change in changes:
        if change.value is None and change.name not in known:
            names = f"its tags are: {', '.join(known)}" if known else "it has no tags"
            hint = did_you_mean(change.name, known, names)
            raise BadInput(f"the run has no tag {change.name!r}; {hint}")
        value = None if change.value is None else mask.text(change.value)
        if known.get(change.name) != value:
            yield TagChange(change.name, value)


def _in_force(store: BaseStore, run: RunKey) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    rows = store.sql(_IN_FORCE, {"suite": run[0], "run_id": run[1]}).fetchall()
    for content_id, name in rows:
        found.setdefault(name, []).append(content_id)
    return found


def _rows(
    run: RunKey, changes: Iterable[TagChange], in_force: Mapping[str, list[str]]
) -> list[TagRow]:
    now = datetime.now(UTC)
    suite, run_id = run
    return [
        {
            "content_id": content_hash(
                "tag", suite, run_id, change.name, change.value, now.isoformat(), replaces
            ),
            "suite": suite,
            "run_id": run_id,
            "name": change.name,
            "value": change.value,
            "replaces": replaces,
            "tagged_at": now,
        }
        for change in changes
        for replaces in [in_force.get(change.name, [])]
    ]
