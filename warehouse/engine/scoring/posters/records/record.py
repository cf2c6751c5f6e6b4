"""A poster record, gold or predicted, as the texts that scoring compares."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.engine.scoring.posters.records.text import normalise, normalise_handle

EVENT_FIELDS = (
    "date",
    "time",
    "venue",
    "city",
    "province",
    "country",
    "event_name",
    "ticket_info",
    "status",
)
TOP_FIELDS = ("artist_name", "instagram_handle", "tour_name", "contact_info", "source_month")

_JSON_NAMES = {
    str: "text",
    dict: "an object",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}
_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What scoring needs from a poster record.

    Attributes:
        is_object: whether the record is a JSON object; other values have no fields.
        top: the normalised top-level texts, in the order of `TOP_FIELDS`.
        events: the normalised texts of each event, in the order of `EVENT_FIELDS`.
        dates: the well-formed dates and how often each occurs.
        note: what could not be used, or None.
    """

    is_object: bool
    top: tuple[str, ...]
    events: list[tuple[str, ...]]
    dates: Counter[str]
    note: str | None


def read_record(value: object) -> Record:
    """Read a parsed JSON value of any type; never raises."""
    if not isinstance(value, dict):
        return Record(
            is_object=False, top=("",) * len(TOP_FIELDS), events=[], dates=Counter(), note=None
        )
    listed = value.get("events")
    items = listed if isinstance(listed, list) else ()
    events = [item for item in items if isinstance(item, dict)]
    return Record(
        is_object=True,
        top=tuple(map(_top_text, TOP_FIELDS, map(value.get, TOP_FIELDS))),
        events=[tuple(map(normalise, map(event.get, EVENT_FIELDS))) for event in events],
        dates=_count_dates(event.get("date") for event in events),
        note=_note(listed),
    )


def _top_text(name: str, value: object) -> str:
    return normalise_handle(value) if name == "instagram_handle" else normalise(value)


def _count_dates(values: Iterable[object]) -> Counter[str]:
    return Counter(text for text in values if isinstance(text, str) and _DATE.match(text))


def _note(listed: object) -> str | None:
    """Return what is wrong with the list of events; it may be absent or empty."""
    if not listed or isinstance(listed, list):
        return None
    return f"events is {_JSON_NAMES[type(listed)]}, not a list: scored as having none"
