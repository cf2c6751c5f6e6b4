"""Labelling in a terminal: an answer is shown, a key is its label, which is stored at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.sheets import AnswerText
    from warehouse.engine.base_store import BaseStore

_SKIP, _QUIT = "s", "q"


def ask_for_labels(store: BaseStore, labels: RaterLabels, texts: Sequence[AnswerText]) -> None:
    """Ask for the labels that are missing, until all are given or the rater quits.

    Args:
        store: where labels are stored.
        labels: what the rater has labelled.
        texts: the answers.

    Raises:
        EvalstoreError: a label could not be stored.
    """
    keys = labels.sample.scale.keys()
    named = ", ".join(label if key == label else f"{key} {label}" for key, label in keys.items())
    for text in [text for text in texts if text.id not in labels.newest]:
        say(f"{'─' * 40}\n{len(labels.newest)} of {len(texts)} labelled\n")
        say(f"PROMPT\n{text.prompt or '(no prompt is recorded)'}\n")
        say(f"ANSWER\n{text.answer or '(empty)'}\n")
        if text.reference is not None:
            say(f"RIGHT ANSWER\n{text.reference}\n")
        say(f"{labels.sample.request['criterion']}: {named}   {_SKIP} skip, {_QUIT} quit")
        key = ""
        while key not in {_SKIP, _QUIT, *keys}:
            key = click.getchar().lower()
        if key == _QUIT:
            return
        if key in keys:
            labels.save(store, text.id, keys[key])
