import math

import pytest
from poster_cases import read_cases
from support import needs_reference

from warehouse.scoring.posters.schema import (
    EVENT_KEYS,
    POSTER_SCHEMA,
    TOP_KEYS,
    schema_exact,
    schema_strict,
    schema_valid,
)

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
def test_what_all_checks_pass(value: object) -> None:
    assert checks(value) == (True, True, True)


@pytest.mark.parametrize("value", LOOSE)
def test_what_only_the_exact_check_refuses(value: object) -> None:
    assert checks(value) == (True, True, False)


@pytest.mark.parametrize("value", WRONG)
def test_what_all_checks_refuse(value: object) -> None:
    assert checks(value) == (False, False, False)


@pytest.mark.parametrize("value", [POSTER | {"note": 1}, with_event(note=1)])
def test_further_keys_are_valid_but_not_strict(value: object) -> None:
    assert checks(value) == (True, False, False)


def test_schema_names_the_keys_that_are_checked() -> None:
    event = POSTER_SCHEMA["properties"]["events"]["items"]
    assert set(POSTER_SCHEMA["required"]) == POSTER_SCHEMA["properties"].keys() == TOP_KEYS
    assert set(event["required"]) == event["properties"].keys() == EVENT_KEYS
