import json
from typing import Any

import pytest
from poster_cases import POSTERS, read_cases, read_json
from support import needs_reference

from warehouse.engine.scoring.posters.batches import (
    extract_json_batch,
    schema_strict_batch,
    score_batch,
    string_score_batch,
)
from warehouse.engine.scoring.posters.events import explain
from warehouse.engine.scoring.posters.matching import Match
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS, read_record
from warehouse.engine.scoring.posters.scores import PosterScore, read_prediction, score_records

EVENT = {
    "date": "2026-01-02",
    "time": "20:00",
    "venue": "ลานคนเมือง",
    "city": "หัวหิน",
    "province": "เลย",
    "country": "Thailand",
    "event_name": None,
    "ticket_info": None,
    "status": "active",
    "confidence": 0.9,
}
POSTER = {
    "artist_name": "Bodyslam",
    "instagram_handle": "@bodyslamband",
    "tour_name": None,
    "contact_info": "Line",
    "source_month": "2026-01",
    "poster_confidence": 1,
    "events": [EVENT],
}


def score(gold: object, prediction: object) -> PosterScore:
    return score_records(read_record(gold), read_prediction(prediction))


def assert_equals_reference(ours: PosterScore, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if name in ("model", "poster"):
            continue
        got = getattr(ours, name)
        if name.endswith("matches"):
            got = [list(match) for match in got]
        assert got == value, name
        assert type(got) is type(value), name


@needs_reference
def test_reference_cases_are_equal_to_the_last_bit() -> None:
    for case in read_cases("score_cases.jsonl"):
        ours = score(case["gold"], case["pred"])
        if case["expected"] is None:
            assert ours.reason
            assert "scored as having none" in ours.reason
            assert ours.app_quality >= 0
        else:
            assert_equals_reference(ours, case["expected"])


@needs_reference
def test_a_batch_equals_single_calls() -> None:
    cases = read_cases("score_cases.jsonl")[::7]
    golds, predictions = ([json.dumps(case[side]) for case in cases] for side in ("gold", "pred"))
    rows = score_batch(golds, predictions)
    for case, row in zip(cases, rows, strict=True):
        single = score(case["gold"], case["pred"])
        assert [m["similarity"] for m in row["matches"]] == [m.similarity for m in single.matches]
        for name in set(row) - {"matches", "core_matches"}:
            assert row[name] == getattr(single, name)


@needs_reference
def test_workspace_is_equal_to_the_report_of_the_original() -> None:
    workspace = POSTERS / "workspace"
    (predictions,) = (workspace / "runs").glob("*/predictions")
    for expected in read_cases("workspace/oracle_per_poster.jsonl"):
        gold = read_json(workspace / "ground_truth" / f"{expected['poster']}.json")
        found = read_json(predictions / expected["model"] / f"{expected['poster']}.json")
        assert_equals_reference(score(gold, found), expected)


@needs_reference
@pytest.mark.parametrize("name", ["one_poster", "events_string_and_dict"])
def test_edge_workspaces_average_to_their_reports(name: str) -> None:
    folder = POSTERS / "edge" / name
    for row in json.loads((folder / "report" / "summary.json").read_text(encoding="utf-8")):
        scores = [
            score(read_json(path), read_json(folder / "predictions" / row["model"] / path.name))
            for path in sorted((folder / "ground_truth").glob("*.json"))
        ]
        for column, field in (("app_quality_score", "app_quality"), ("app_core_score", "app_core")):
            mean = sum(getattr(s, field) for s in scores) / len(scores)
            assert round(mean, 2) == row[column]


@needs_reference
def test_a_number_for_events_is_scored_with_a_note_unlike_the_original() -> None:
    folder = POSTERS / "edge" / "crash_events_int"
    gold = read_json(folder / "ground_truth" / "P0.json")
    ours = score(gold, read_json(folder / "predictions" / "m" / "P0.json"))
    assert ours.pred_events == 0
    assert ours.reason == "prediction: events is a number, not a list: scored as having none"


def test_identical_poster_scores_a_hundred() -> None:
    ours = score(POSTER, POSTER)
    assert (ours.app_quality, ours.app_core, ours.missing_of_gold_rate) == (100.0, 100.0, 0.0)
    assert ours.schema_exact
    assert ours.matches == (Match(0, 0, 1.0000000000000002),)


def test_missing_prediction_of_a_poster_without_events_scores_45() -> None:
    # .35 event match + .1 event count, both 1.0 because both have no events
    assert score(POSTER | {"events": []}, None).app_quality == 44.99999999999999
    assert score(POSTER, None).app_quality == 0.0


def test_missing_fields_are_also_counted_against_gold() -> None:
    gold = POSTER | {"events": [EVENT | {"venue": None}, EVENT | {"date": "2026-01-09"}]}
    found = POSTER | {"events": [EVENT | {"venue": None, "city": " "}]}
    ours = score(gold, found)
    # the only predicted event lacks 2 of 4
    assert ours.missing_field_rate == 0.5
    # gold has 3 + 4 of them; the matched event lacks the city, the unmatched one all 4
    assert ours.missing_of_gold_rate == 5 / 7


def test_matches_list_both_assignments_with_every_field() -> None:
    later = EVENT | {"date": "2026-01-09", "venue": "ลานคนเมือ"}
    rows = explain(POSTER | {"events": [EVENT, later]}, POSTER | {"events": [later]})
    pairs = [row for row in rows if None not in (row["gold_index"], row["predicted_index"])]
    assert [row["assignment"] for row in pairs] == ["full", "core"]
    assert (pairs[0]["gold_index"], pairs[0]["predicted_index"]) == (1, 0)
    assert {pairs[0][name] for name in EVENT_FIELDS} == {1.0}


@pytest.mark.parametrize("value", [None, [], "x", 5, True, {}, {"events": True}, {"events": [1]}])
def test_any_json_value_can_be_scored_on_either_side(value: object) -> None:
    assert 0 <= score(POSTER, value).app_quality <= 100
    assert 0 <= score(value, POSTER).app_quality <= 100
    assert all(row["gold_index"] is None for row in explain(value, POSTER))


def test_batch_rows_have_reasons_and_do_not_affect_each_other() -> None:
    gold, deep = json.dumps(POSTER), "[" * 100_000
    rows = score_batch([gold, None, "{", gold, gold, gold], [gold, gold, gold, None, "{", deep])
    assert rows[0]["app_quality"] == 100.0
    assert rows[1] is None
    assert rows[2]["app_quality"] is None
    assert rows[2]["reason"].startswith("gold: JSONDecodeError")
    assert (rows[3]["pred_missing"], rows[3]["reason"]) == (True, None)
    assert rows[4]["pred_missing"]
    assert rows[4]["reason"].startswith("prediction: JSONDecodeError")
    assert rows[5]["reason"] == "prediction: ValueError: nested too deeply"


def test_small_batches() -> None:
    assert schema_strict_batch([json.dumps(POSTER), None, "{"]) == [True, None, False]
    assert string_score_batch([" A", None], ["a", "b"]) == [1.0, 0.0]
    texts = extract_json_batch(['{"ก": 1}', None, "none", "[NaN]", '"\\ud800"'])
    assert texts[0] == {"json": '{"ก": 1}', "reason": None}
    assert texts[1] is None
    assert [row["json"] for row in texts[2:]] == [None, None, '"\\ud800"']
