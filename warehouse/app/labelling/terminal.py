"""Labelling in a terminal: an answer is shown, a key is its label, which is stored at once."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.sheets import AnswerText
    from warehouse.engine.base_store import BaseStore

_SKIP, _BACK, _QUIT = "s", "b", "q"


def ask_for_labels(
    store: BaseStore, labels: RaterLabels, texts: Sequence[AnswerText], *, has_reference: bool
) -> None:
    """Ask for the labels that are missing, until all are given or the rater quits.

    Args:
        store: where labels are stored.
        labels: what the rater has labelled.
        texts: the answers.
        has_reference: whether the rater sees the right answer.

    Raises:
        EvalstoreError: a label could not be stored.
    """
    asked = [text for text in texts if text.id not in labels.newest]
    place = 0
    while place < len(asked):
        text = asked[place]
        say(_shown(text, labels, len(texts), has_reference=has_reference))
        answer = _ask(labels)
        if answer == _QUIT:
            return
        if answer == _BACK:
            place = max(place - 1, 0)
            continue
        if answer != _SKIP:
            labels.save(store, text.id, answer)
        place += 1


def _shown(text: AnswerText, labels: RaterLabels, n_answers: int, *, has_reference: bool) -> str:
    rule = "─" * min(shutil.get_terminal_size().columns, 80)
    given = labels.newest.get(text.id)
    parts = [
        rule,
        f"{len(labels.newest)} of {n_answers} labelled",
        f"\nPROMPT\n{text.prompt or '(no prompt is recorded)'}",
        f"\nANSWER\n{text.answer or '(empty)'}",
    ]
    if has_reference and text.reference is not None:
        parts.append(f"\nRIGHT ANSWER\n{text.reference}")
    if given is not None:
        parts.append(f"\nyour label: {given.label}")
    return "\n".join(parts)


def _ask(labels: RaterLabels) -> str:
    """Return the label that the rater chooses, or skip, back or quit."""
    scale = labels.sample.scale
    keys = scale.keys()
    if len(keys) < len(scale.values):
        return _typed(labels)
    named = ", ".join(label if key == label else f"{key} {label}" for key, label in keys.items())
    say(f"\n{labels.sample.criterion}: {named}   s skip, b back, q quit")
    while True:
        key = click.getchar().lower()
        if key in {_SKIP, _BACK, _QUIT}:
            return key
        if key in keys:
            return keys[key]


def _typed(labels: RaterLabels) -> str:
    """Return a label of a scale that has more of them than there are keys."""
    scale = labels.sample.scale
    while True:
        text = click.prompt(f"\n{labels.sample.criterion}, {scale.text} (s skip, b back, q quit)")
        if text in {_SKIP, _BACK, _QUIT}:
            return str(text)
        if label := scale.label(text):
            return label
