"""From the records of two annotators to gold, with the samples."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from poster_cases import SAMPLES, rows, run

import evalstore
from warehouse.app.posters.adjudication import AdjudicationSession, Choice, merged
from warehouse.engine.scoring.posters.annotation_pairs import compare_batch, differences

AGREED = "8cedf912fc27"
DIFFERING = ("5fc63edbedab", "b199ea2fec3d", "c500adc741d0")


def label_of(store):
    (found,) = rows(store, "FROM poster_runs")
    return found["label"], found["label_basis"], found["gold_posters"]


def test_disagreements_are_listed_field_by_field(samples):
    lines = json.loads(run(samples.path, "annotate", "list", "--format", "json"))
    assert {(line["task_id"], line["field"]) for line in lines} == {
        ("5fc63edbedab", "contact_info"),
        ("5fc63edbedab", "events[3]"),
        ("b199ea2fec3d", "events[0].event_name"),
        ("b199ea2fec3d", "events[3].time"),
        ("c500adc741d0", "events[0].venue"),
        ("c500adc741d0", "events[2].status"),
    }


def test_posters_with_two_equal_records_are_agreed(samples):
    session = AdjudicationSession(samples, None)
    assert session.agreed() == [AGREED]
    session.records[AGREED].pop()
    assert session.agreed() == []


@pytest.mark.slow
def test_an_annotator_who_adjudicates_is_warned(samples):
    adjudicate = ("annotate", "adjudicate", "--agreed", "--by")
    warning = f"BEN wrote a record of {AGREED}: let a third person adjudicate"
    assert warning in run(samples.path, *adjudicate, "BEN")
    assert warning not in run(samples.path, *adjudicate, "BEN")  # nothing is left to adjudicate


def test_agreement(samples):
    (found,) = rows(samples, "FROM annotator_agreement")
    # 4, 5, 3, 3 events against 4, 4, 3, 3: three of four equal. By chance, of 16 pairings:
    # 4 events 1 × 2, 3 events 2 × 2, 5 events 1 × 0, together 6; (3 × 4 - 6) / (16 - 6)
    assert found["event_count_agreement"] == 0.75
    assert found["event_count_kappa"] == pytest.approx(0.6)
    # 15 events in the larger records; one is not there, of the others one venue differs
    assert (found["date_match"], found["venue_match"]) == (14 / 15, 13 / 15)
    # events of one poster depend on each other, and four posters are too few for an interval
    assert found["event_count_low"] is not None
    assert found["date_match_low"] is found["venue_match_high"] is None


@pytest.mark.slow
def test_only_adjudicated_records_become_gold(samples):
    assert label_of(samples) == ("silver", None, 0)
    run(samples.path, "annotate", "promote")
    assert label_of(samples) == ("silver", None, 0)
    run(samples.path, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    assert label_of(samples) == ("silver", None, 0)
    assert AGREED in run(samples.path, "annotate", "promote")
    assert label_of(samples) == ("silver", "proven", 1)
    assert rows(samples, "SELECT label, label_basis FROM runs") == [
        {"label": "silver", "label_basis": None}
    ]


@pytest.mark.slow
def test_adjudication_from_a_file_and_in_the_terminal(samples):
    for poster in DIFFERING[:2]:
        settled = SAMPLES / "settled" / f"{poster}.json"
        run(samples.path, "annotate", "adjudicate", poster, "--by", "Cho", "--from", settled)
    command = ["--store", str(samples.path), "annotate", "adjudicate", DIFFERING[2], "--by", "Cho"]
    done = CliRunner().invoke(evalstore._cli, command, input="b\nx\n=Cancelled\n")
    assert done.exit_code == 0, done.output
    query = "SELECT document FROM annotations WHERE kind = 'adjudicated' AND task_id = $poster"
    (found,) = rows(samples, query, poster=DIFFERING[2])
    events = json.loads(found["document"])["events"]
    assert (events[0]["venue"], events[2]["status"]) == ("Songkran Splash Arena", "Cancelled")
    assert json.loads(run(samples.path, "annotate", "list", "--format", "json")) == []


@pytest.mark.slow
def test_one_annotator_is_not_enough(samples, tmp_path):
    lonely = "e03e7f13bf09"
    folder = tmp_path / "more" / "dao"
    folder.mkdir(parents=True)
    record = SAMPLES / "benchmark" / "ground_truth" / f"{lonely}.json"
    (folder / f"{lonely}.json").write_bytes(record.read_bytes())
    assert "dao: 1 record\n" in run(samples.path, "annotate", "import", folder.parent)
    command = ("annotate", "adjudicate", lonely, "--by", "Cho", "--from", record)
    assert "two different annotators" in run(samples.path, *command, code=2)


@pytest.mark.slow
def test_files_that_are_no_records_of_posters_are_refused(samples, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "settings.json").write_text("{}")
    before = rows(samples, "FROM annotations ORDER BY ALL")
    said = run(samples.path, "annotate", "import", tmp_path, code=2)
    assert "site: the dataset 'tours' has no poster 'settings'; files are" in said
    said = run(samples.path, "annotate", "import", tmp_path, "--dataset", "tour", code=2)
    assert "the store has no posters of a dataset 'tour'; did you mean 'tours'?" in said
    assert rows(samples, "FROM annotations ORDER BY ALL") == before


@pytest.mark.slow
def test_record_that_changed_after_its_adjudication_is_not_promoted(samples, tmp_path):
    run(samples.path, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    folder = tmp_path / "again" / "ben"
    folder.mkdir(parents=True)
    record = SAMPLES / "benchmark" / "annotations" / "ben" / f"{AGREED}.json"
    changed = json.loads(record.read_text("utf-8")) | {"tour_name": "another"}
    (folder / f"{AGREED}.json").write_text(json.dumps(changed))
    run(samples.path, "annotate", "import", folder.parent)
    assert "have changed" in run(samples.path, "annotate", "promote", code=1)
    assert label_of(samples) == ("silver", None, 0)


@pytest.mark.slow
def test_record_that_breaks_the_schema_is_not_promoted(samples, tmp_path):
    settled = json.loads((SAMPLES / "settled" / f"{DIFFERING[2]}.json").read_text("utf-8"))
    settled["events"][2]["status"] = "Cancelled"
    del settled["tour_name"]
    path = tmp_path / "settled.json"
    path.write_text(json.dumps(settled))
    run(samples.path, "annotate", "adjudicate", DIFFERING[2], "--by", "Cho", "--from", path)
    run(samples.path, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    output = run(samples.path, "annotate", "promote", code=1)
    assert (
        f"{DIFFERING[2]}: events[2].status 'Cancelled' is not one of active, cancelled, postponed"
    ) in output
    assert f"{DIFFERING[2]}: tour_name is missing" in output
    assert "1 poster was not promoted" in output
    assert label_of(samples) == ("silver", "proven", 1)  # the other poster is gold
    repaired = SAMPLES / "settled" / path.with_stem(DIFFERING[2]).name
    run(samples.path, "annotate", "adjudicate", DIFFERING[2], "--by", "Cho", "--from", repaired)
    assert DIFFERING[2] in run(samples.path, "annotate", "promote")
    assert label_of(samples)[2] == 2


@pytest.mark.slow
def test_report_over_gold_and_silver_gives_both_parts(samples, tmp_path):
    run(samples.path, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    run(samples.path, "annotate", "promote")
    run_id = rows(samples, "SELECT run_id FROM poster_runs")[0]["run_id"]
    run(samples.path, "export", "posters", "--run", run_id, "--to", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert all(row["label"] == "silver" for row in summary)
    assert all((row["gold_posters"], row["silver_posters"]) == (1, 4) for row in summary)
    assert all(row["parts"].keys() == {"gold", "silver"} for row in summary)
    # The gold part is a single poster.
    gold = [row["parts"]["gold"] for row in summary]
    assert all((part["posters"], part["app_quality_ci95"]) == (1, None) for part in gold)
    text = (tmp_path / "out" / "summary.md").read_text("utf-8")
    assert "(silver ground truth)" in text
    assert "Gold posters: 1 (proven); silver posters: 4." in text
    assert "(gold) | 1 |" in text


texts = st.sampled_from([None, "Hall", "Hill", "ลาน", " hall "])
event = st.fixed_dictionaries(
    {"date": st.sampled_from(["2026-01-01", "2026-01-02", "2026-01-03"]), "venue": texts,
     "city": texts, "status": st.sampled_from(["active", "cancelled"])}
)  # fmt: skip
record = st.fixed_dictionaries({"artist_name": texts, "events": st.lists(event, max_size=4)})


@given(record, record)
def test_choosing_one_side_everywhere_gives_that_record(a, b):
    rows_ = differences(a, b)
    assert differences(a, merged(a, b, [Choice.A] * len(rows_))) == []
    settled = merged(a, b, [Choice.B] * len(rows_))
    assert sorted(map(str, differences(settled, b))) == [] or len(settled["events"]) == len(
        b["events"]
    )


@pytest.mark.parametrize("value", ["[SOLD OUT] Night", "{", "true", "[1]", 5, True, None, ["x"]])
def test_choosing_the_other_side_keeps_its_value(value):
    event = {"date": "2026-04-13", "venue": "Arena", "event_name": "Splash"}
    a, b = ({"events": [event | {"event_name": name}]} for name in ("Splash", value))
    assert merged(a, b, [Choice.B]) == b


def test_adjudicated_record_nested_too_deeply_is_refused(samples, tmp_path):
    settled = tmp_path / "settled.json"
    settled.write_text("[" * 100_000)
    command = ["annotate", "adjudicate", DIFFERING[0], "--by", "Cho", "--from", settled]
    assert "not readable as JSON" in run(samples.path, *command, code=2)


def test_records_that_cannot_be_read_are_a_difference():
    (row, nothing) = compare_batch(["{", None], ["{}", "{}"])
    assert row["differences"][0]["field"] == "record"
    assert nothing is None
