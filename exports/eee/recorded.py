"""Samples that came in this format: what no column holds is written as it was recorded.

So an export that was imported is exported again with the same content, and its records keep their
ids. What later versions of the format do not allow is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.eee.aggregate import as_text

if TYPE_CHECKING:
    from exports.rows import Document

_ATTRIBUTION = {
    "turn_idx": int,
    "source": str,
    "extracted_value": str,
    "extraction_method": str,
    "is_terminal": bool,
}


def recorded_sample(document: Document, extra: Document) -> Document:
    """Return a sample with what was recorded of it in place of what follows from the columns.

    Args:
        document: the sample, from its columns.
        extra: the recorded fields that no column holds.
    """
    sample_hash, error = extra.get("sample_hash"), extra.get("error")
    document["sample_hash"] = sample_hash if isinstance(sample_hash, str) else None
    if document["error"] is not None and isinstance(error, str):
        document["error"] = error
    if _are_attributions(extra.get("answer_attribution")):
        document["answer_attribution"] = extra["answer_attribution"]
    metadata = extra.get("metadata")
    if isinstance(metadata, dict):
        document["metadata"] = {name: as_text(value) for name, value in metadata.items()}
    _set(document["evaluation"], extra.get("evaluation"), {"num_turns": int, "is_correct": bool})
    given = extra.get("input")
    reference = given.get("reference") if isinstance(given, dict) else None
    if isinstance(reference, list) and all(isinstance(each, str) for each in reference):
        document["input"] = {**document["input"], "reference": reference}
    return document


def _set(known: object, recorded: object, kinds: dict[str, type]) -> None:
    if isinstance(known, dict) and isinstance(recorded, dict):
        known |= {n: recorded[n] for n, kind in kinds.items() if type(recorded.get(n)) is kind}


def _are_attributions(given: object) -> bool:
    return isinstance(given, list) and all(
        isinstance(each, dict)
        and each.keys() == _ATTRIBUTION.keys()
        and all(type(each[name]) is kind for name, kind in _ATTRIBUTION.items())
        for each in given
    )
