"""A page that asks for labels: one file that works without a network, and gives a table back.

Texts of the store are JSON that the page's own script shows as text: none can become markup.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.app.output.html import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.samples import LabelSample
    from warehouse.app.labelling.sheets import AnswerText
    from warehouse.core.types import Json

_TEMPLATES = Path(__file__).with_name("templates")
_STYLE, _SCRIPT = ((_TEMPLATES / f"label_page.{kind}").read_text("utf-8") for kind in ("css", "js"))


def as_page(
    sample: LabelSample,
    texts: Sequence[AnswerText],
    own: RaterLabels | None,
    *,
    has_reference: bool,
) -> bytes:
    """Return the page.

    Args:
        sample: the sample.
        texts: its answers.
        own: labels that the rater has given already.
        has_reference: whether raters see the right answer.
    """
    from markupsafe import Markup

    answers: list[Json] = [
        {
            "id": text.id,
            "prompt": text.prompt,
            "answer": text.answer,
            "reference": text.reference if has_reference else None,
            "given": _given(own, text.id),
        }
        for text in texts
    ]
    data: Json = {
        # Where a browser keeps the labels: those of one sample and rater together.
        "sample": sample.run_id,
        "rater": own.rater if own is not None else "",
        "labels": list(sample.scale.values),
        "keys": sample.scale.keys(),
        "answers": answers,
    }
    # Inside of a script, only `<` could end it or begin a comment.
    text = json.dumps(data).replace("<", "\\u003c")
    page = render(
        _TEMPLATES / "label_page.html",
        f"Label answers: {sample.criterion}",
        style=_STYLE,
        script=_SCRIPT,
        criterion=sample.criterion,
        n_answers=len(texts),
        is_ordered=sample.scale.text != "pass/fail",
        data=Markup(text),  # noqa: S704 - without markup
    )
    return page.encode()


def _given(own: RaterLabels | None, answer_id: str) -> Json:
    given = own.newest.get(answer_id) if own is not None else None
    if given is None:
        return {"label": "", "note": "", "rated_at": ""}
    time = given.rated_at.isoformat(timespec="milliseconds") + "Z"
    return {"label": given.label, "note": given.note or "", "rated_at": time}
