"""Gold made in the browser is the gold that `annotate` makes of the same choices."""

import json
import random
import re
import shutil
from datetime import datetime
from html import unescape

import pytest
from poster_cases import SAMPLES, rows, run
from support import REFERENCE, add_rows, needs_reference, new_store

from warehouse.app.posters.adjudication import AdjudicationSession, Choice, merged
from warehouse.engine.scoring.posters.annotation_pairs import differences

DATASET = "tours"
DIFFERING = ("5fc63edbedab", "b199ea2fec3d", "c500adc741d0")
AGREED = "8cedf912fc27"
AT = datetime.fromisoformat("2026-01-01")
GOLD = """
SELECT task_id, annotator, label, document, list_sort(adjudicates) AS adjudicates FROM annotations
WHERE kind = 'adjudicated' AND is_current ORDER BY ALL
"""


@pytest.fixture(scope="module")
def _imported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("posters")
    shutil.copytree(SAMPLES, folder / DATASET)
    store = new_store(folder / "store")
    run(store.path, "import", folder / DATASET)
    store.sync()
    return store.path


@pytest.fixture
def store(_imported, tmp_path):
    shutil.copytree(_imported, tmp_path / "store")
    return new_store(tmp_path / "store")


def about(store, poster, dataset=DATASET):
    session = AdjudicationSession(store, dataset)
    records = [record.id for record in session.pair(poster)]
    return {"dataset": dataset, "poster": poster, "records": records}


def chosen(choice):
    """Return a choice as the page sends it."""
    return choice.value if isinstance(choice, Choice) else {"text": choice}


def random_choices(chance, a, b):
    choices = []
    for row in differences(a, b):
        texts = [] if row["field"].endswith("]") else ["ตลาดน้อย", None]
        choices.append(chance.choice([Choice.A, Choice.B, *texts]))
    return choices


def settle_both_ways(store, client, dataset, posters, seed):
    """Settle posters with the same choices by `annotate` and in the browser; return both golds."""
    chance = random.Random(seed)
    session = AdjudicationSession(store, dataset)
    choices = {
        poster: random_choices(chance, *(each.document for each in session.pair(poster)))
        for poster in posters
    }
    for poster, made in choices.items():
        answer = client.post_fields(
            "/view/poster/settle",
            **about(store, poster, dataset),
            choices=[*map(chosen, made)],
            edits={},
            by="Cho",
        )
        assert answer.status_code == 200, answer.text
    in_browser = rows(store, GOLD)
    documents = {
        poster: merged(*(each.document for each in session.pair(poster)), choices[poster])
        for poster in posters
    }
    return in_browser, documents


@pytest.mark.slow
def test_gold_is_that_of_annotate(store, browse, tmp_path):
    shutil.copytree(store.path, tmp_path / "other")
    other = new_store(tmp_path / "other")
    posters = (*DIFFERING, AGREED)
    gold, documents = settle_both_ways(store, browse(store), DATASET, posters, 1)
    session = AdjudicationSession(other, DATASET)
    session.adjudicate(documents, "Cho", AT)
    AdjudicationSession(other, DATASET).promote(AT)
    # What breaks the schema is not even adjudicated in the browser.
    theirs = [row for row in rows(other, GOLD) if row["label"]]
    assert [row for row in gold if row["label"]] == theirs
    assert {row["task_id"] for row in theirs} == set(posters) - {DIFFERING[2]}


# By workspace, of how many posters the choices below make gold; the one other has no ground truth.
WORKSPACES = {
    "workspace": 16,
    "edge/crash_events_int": 1,
    "edge/events_string_and_dict": 1,
    "edge/identical_perfect_models": 1,
    "edge/one_poster": 1,
}


@needs_reference
@pytest.mark.slow
@pytest.mark.parametrize("name", WORKSPACES)
def test_gold_of_the_reference_posters_is_that_of_annotate(browse, tmp_path, name):
    workspace = tmp_path / "work"
    shutil.copytree(REFERENCE / "posters" / name, workspace)
    chance = random.Random(2)
    truths = [p for p in (workspace / "ground_truth").glob("*.json") if p.name.count(".") == 1]
    posters = []
    for path in sorted(truths):
        record = json.loads(path.read_text("utf-8"))
        if not isinstance(record, dict) or not isinstance(record.get("events"), list):
            continue
        for person in ("anong", "ben"):
            folder = workspace / "people" / person
            folder.mkdir(parents=True, exist_ok=True)
            for event in record["events"]:
                if chance.random() < 0.3:
                    event["venue"] = chance.choice(["Impact Arena", None, "ท่ามหาราช"])
            if chance.random() < 0.3:
                record["events"] = record["events"][1:]
            (folder / path.name).write_text(json.dumps(record), "utf-8")
        posters.append(path.stem)
    one, other = new_store(tmp_path / "one"), new_store(tmp_path / "other")
    for store in (one, other):
        run(store.path, "import", workspace)
        run(store.path, "annotate", "import", workspace / "people", "--dataset", "work")
    gold, documents = settle_both_ways(one, browse(one), "work", posters, 3)
    session = AdjudicationSession(other, "work")
    session.adjudicate(documents, "Cho", AT)
    AdjudicationSession(other, "work").promote(AT)
    theirs = rows(other, GOLD)
    valid = {row["task_id"] for row in theirs if row["label"] == "gold"}
    assert [row for row in gold if row["label"]] == [row for row in theirs if row["label"]]
    assert len(valid) >= WORKSPACES[name]


@pytest.mark.slow
def test_a_record_that_breaks_the_schema_is_not_settled(store, browse):
    client = browse(store)
    choices = ["a", {"text": "Cancelled"}]
    sent = {**about(store, DIFFERING[2]), "choices": choices, "edits": {}}
    answer = client.post_fields("/view/poster/merge", **sent).json()
    assert answer["record"]["events"][2]["status"] == "Cancelled"
    problem = "events[2].status 'Cancelled' is not one of active, cancelled, postponed"
    assert answer["problems"] == [problem]
    assert client.post_fields("/view/poster/settle", **sent, by="Cho").json() == {
        "problems": [problem]
    }
    assert rows(store, GOLD) == []
    sent["edits"] = {"events[2].status": "cancelled", "artist_name": "ม่าน"}
    assert client.post_fields("/view/poster/settle", **sent, by="Cho").json() == {"problems": []}
    document = json.loads(rows(store, GOLD)[-1]["document"])
    assert (document["artist_name"], document["events"][2]["status"]) == ("ม่าน", "cancelled")


@pytest.mark.slow
def test_a_poster_goes_back_until_a_record_changes(store, browse, tmp_path):
    client, poster = browse(store), DIFFERING[0]
    assert f'poster={poster}">settle' in unescape(client.get("/view/posters").text)
    sent = {**about(store, poster), "by": "Cho", "reason": "which year?"}
    refused = client.post_fields("/view/poster/return", **{**sent, "reason": "\0"})
    assert (refused.status_code, "without NUL" in refused.text) == (400, True)
    assert f'poster={poster}">settle' in unescape(client.get("/view/posters").text)
    assert client.post_fields("/view/poster/return", **sent).json() == {"problems": []}
    text = unescape(client.get("/view/posters").text)
    assert "given back by Cho: which year?" in text
    assert f'poster={poster}">settle' not in text
    folder = tmp_path / "again" / "ben"
    folder.mkdir(parents=True)
    record = json.loads((SAMPLES / f"benchmark/annotations/ben/{poster}.json").read_text("utf-8"))
    (folder / f"{poster}.json").write_text(json.dumps(record | {"tour_name": "2026"}))
    client.pages.close()
    run(store.path, "annotate", "import", folder.parent)
    assert "given back" not in client.get("/view/posters").text


def test_a_changed_record_is_not_settled_unseen(store, browse):
    sent = about(store, AGREED) | {"choices": [], "edits": {}, "by": "Cho", "records": ["old"]}
    answer = browse(store).post_fields("/view/poster/settle", **sent)
    assert (answer.status_code, answer.text[:70]) == (
        400,
        "8cedf912fc27: an annotator has changed a record since this page was lo",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": []},
        {"choices": ["a", "c"]},
        {"choices": ["a", {"text": 1}]},
        {"choices": ["a", {"texts": "x"}]},
        {"choices": ["a", None]},
        {"choices": "ab"},
        {"edits": {"events[99].venue": "x"}},
        {"edits": {"events[0].confidence": "x"}},
        {"edits": {"events[0].venue": 1}},
        {"poster": "nope"},
        {"dataset": ""},
        {"by": " "},
        {"by": "Cho\0"},
        {"extra": 1},
    ],
)
def test_what_cannot_be_settled_is_refused(store, browse, changes):
    sent = {**about(store, DIFFERING[2]), "choices": ["a", "b"], "edits": {}, "by": "Cho"}
    answer = browse(store).post_fields("/view/poster/settle", **(sent | changes))
    assert answer.status_code == 400
    assert answer.text.strip()
    assert rows(store, GOLD) == []


@pytest.mark.slow
def test_a_record_written_in_the_form_is_the_annotators(store, browse):
    client, poster = browse(store), "e03e7f13bf09"
    record = json.loads((SAMPLES / f"benchmark/ground_truth/{poster}.json").read_text("utf-8"))
    sent = {"dataset": DATASET, "poster": poster, "annotator": "dao", "record": record}
    broken = {**sent, "record": {**record, "events": [{}], "odd": 1}}
    problems = client.post_fields("/view/record/add", **broken).json()["problems"]
    assert {"events[0].date is missing", "odd is not in the schema"} <= set(problems)
    assert client.post_fields("/view/record/add", **sent).json() == {"problems": []}
    assert "1 of 2 records" in client.get("/view/posters").text
    client.post_fields("/view/record/add", **{**sent, "annotator": "eve"})
    assert "both agree" in client.get("/view/posters").text
    assert client.post_fields("/view/record/add", **{**sent, "poster": "nope"}).status_code == 400


@pytest.mark.slow
def test_the_form_does_not_show_the_other_record(store, browse):
    page = browse(store).get(f"/view/record?dataset={DATASET}&poster={DIFFERING[2]}").text
    assert "Songkran" not in page
    assert set(re.findall(r'data-name="(\w+)"', page)) >= {"artist_name", "venue", "confidence"}


@pytest.mark.slow
def test_pictures_come_from_the_named_folder_only(store, browse, tmp_path):
    client = browse(store, pictures=SAMPLES / "images")
    address = f"/view/poster/picture?dataset={DATASET}&poster="
    found = client.get(address + AGREED)
    assert found.headers["content-type"] == "image/png"
    assert found.content == (SAMPLES / "images" / f"{AGREED}.png").read_bytes()
    assert browse(store).get(address + AGREED).status_code == 404
    assert client.get(address + "../images/" + AGREED).status_code == 400
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / f"{AGREED}.png").write_text("<script>")
    assert browse(store, pictures=tmp_path / "images").get(address + AGREED).status_code == 404


def test_a_store_without_posters_says_so(browse, tmp_path):
    answer = browse(new_store(tmp_path / "empty")).get("/view/posters")
    assert (answer.status_code, answer.text) == (
        400,
        "the store has no posters; `evalstore import` reads a benchmark's folder\n",
    )


@pytest.mark.slow
def test_of_several_datasets_one_is_chosen_by_a_link(store, browse):
    add_rows(
        store.lake,
        tasks=[
            {"suite": "posters", "task_set": "a&b", "task_id": "p", "content_id": "t"}
            | {"task_set_hash": "s", "task_hash": "t", "seq": 1}
        ],
    )
    client = browse(store)
    page = client.get("/view/posters?dataset=tours").text
    [link] = re.findall(r'href="([^"]*dataset=a%26b)"', page)
    assert '<b dir="auto">a&amp;b</b>' in client.get(f"/view/{link}").text
    assert '<b dir="auto">a&amp;b</b>' in client.get("/view/posters").text


@pytest.mark.slow
def test_a_store_without_posters_has_no_entry(shared_examples, browse):
    page = browse(shared_examples).get("/index.html").text
    assert ("Ground truth" in page) == bool(rows(shared_examples, "FROM annotations LIMIT 1"))
