import math

import pytest
from poster_cases import read_cases
from support import needs_reference

from warehouse.engine.scoring.posters.batches import schema_problems_batch
from warehouse.engine.scoring.posters.records.schema import (
    EVENT_KEYS,
    POSTER_SCHEMA,
    TOP_KEYS,
    schema_exact,
    schema_strict,
    schema_valid,
)
from warehouse.engine.scoring.posters.records.schema_problems import schema_problems

EVENT = {
    "date": "2026-01-02",
    "event_name": None,
    "venue": "ลานคนเมือง",
    "city": None,
    "province": "เลย",
    "country": "Thailand",
    "time": "20:00",
    "ticket_info": None,
    "status": "active",
    "confidence": 0.9,
}
POSTER = {
    "artist_name": "Bodyslam",
    "instagram_handle": None,
    "tour_name": None,
    "contact_info": None,
    "source_month": "2026-01",
    "poster_confidence": 1,
    "events": [EVENT],
}


def with_event(**fields: object) -> dict[str, object]:
    return POSTER | {"events": [EVENT, EVENT | fields]}


@needs_reference
def test_reference_cases() -> None:
    for case in read_cases("score_cases.jsonl"):
        valid, strict, exact = checks(case["pred"])
        assert exact <= strict <= valid
        if case["expected"]:
            assert strict is case["expected"]["schema_strict"]
            assert valid is case["expected"]["schema_valid"]


LOOSE = [
    POSTER | {"poster_confidence": None},
    POSTER | {"poster_confidence": True},
    POSTER | {"poster_confidence": math.nan},
    POSTER | {"source_month": "2026-13"},
    POSTER | {"source_month": "2026-01\n"},
    with_event(date="๒๐๒๖-๐๑-๐๕"),
    with_event(date="0000-00-00"),
    with_event(date="2026-02-29"),
    with_event(date="2026-01-01\n"),
    with_event(time="24:99"),
    with_event(time="20:00\n"),
    with_event(confidence=False),
]
WRONG = [
    None,
    [],
    POSTER | {"artist_name": None},
    POSTER | {"instagram_handle": 5},
    POSTER | {"poster_confidence": 1.01},
    POSTER | {"poster_confidence": "1"},
    POSTER | {"events": {}},
    POSTER | {"events": [None]},
    with_event(date=None),
    with_event(date=20260101),
    with_event(country=None),
    with_event(status="Active"),
    with_event(status=["active"]),
    with_event(time="8 pm"),
    with_event(venue=1),
    with_event(confidence=-0.1),
    {name: value for name, value in POSTER.items() if name != "tour_name"},
    POSTER | {"events": [{name: EVENT[name] for name in EVENT if name != "city"}]},
]


def checks(value: object) -> tuple[bool, bool, bool]:
    return schema_valid(value), schema_strict(value), schema_exact(value)


@pytest.mark.parametrize("value", [POSTER, POSTER | {"events": []}, with_event(time=None)])
def test_records_that_all_checks_accept(value: object) -> None:
    assert checks(value) == (True, True, True)


@pytest.mark.parametrize("value", LOOSE)
def test_records_that_only_the_exact_check_rejects(value: object) -> None:
    assert checks(value) == (True, True, False)


@pytest.mark.parametrize("value", WRONG)
def test_records_that_all_checks_reject(value: object) -> None:
    assert checks(value) == (False, False, False)


@pytest.mark.parametrize(
    "value", [POSTER, POSTER | {"note": 1}, with_event(note=1), *LOOSE, *WRONG]
)
def test_problems_are_listed_exactly_where_the_exact_check_refuses(value: object) -> None:
    assert (schema_problems(value) == []) is schema_exact(value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (with_event(status="Cancelled"),
         ("events[1].status", "'Cancelled' is not one of active, cancelled, postponed")),
        (with_event(date="2026-02-29"),
         ("events[1].date", "'2026-02-29' is not a date (YYYY-MM-DD)")),
        (with_event(time="24:99"),
         ("events[1].time", "'24:99' does not match ^([01][0-9]|2[0-3]):[0-5][0-9]$")),
        (with_event(confidence=False), ("events[1].confidence", "is true or false, not a number")),
        (with_event(note=1), ("events[1].note", "is not in the schema")),
        (POSTER | {"poster_confidence": 1.5}, ("poster_confidence", "1.5 is not between 0 and 1")),
        (POSTER | {"tour_name": []}, ("tour_name", "is a list, not text or null")),
        ({name: POSTER[name] for name in POSTER if name != "events"}, ("events", "is missing")),
        ([], ("record", "is a list, not an object")),
    ],
)  # fmt: skip
def test_problem_names_the_field_and_the_reason(value: object, problem: tuple[str, str]) -> None:
    assert schema_problems(value) == [problem]


def test_problems_of_texts() -> None:
    broken, none = schema_problems_batch(["{", None])
    assert broken is not None
    assert broken[0]["field"] == "record"
    assert broken[0]["reason"].startswith("is not JSON")
    assert none is None


@pytest.mark.parametrize("value", [POSTER | {"note": 1}, with_event(note=1)])
def test_additional_keys_are_valid_but_not_strict(value: object) -> None:
    assert checks(value) == (True, False, False)


def test_the_schema_lists_the_checked_keys() -> None:
    event = POSTER_SCHEMA["properties"]["events"]["items"]
    assert set(POSTER_SCHEMA["required"]) == POSTER_SCHEMA["properties"].keys() == TOP_KEYS
    assert set(event["required"]) == event["properties"].keys() == EVENT_KEYS
