"""Ratings and queues on the server: who sees what, what is stored, what is refused."""

import itertools
import json
import random
import time

import pytest
from label_cases import MODELS, REFERENCE, labelled_store, result
from rendering import HOSTILE
from support import add_rows

from tests.campaigns.rating_kills import rate_and_kill

ORIGIN = "http://127.0.0.1:8000"
PLAN = {
    "targets": ["arena"],
    "sample": 12,
    "draw": "random",
    "seed": 0,
    "criterion": "overall",
    "scale": "pass/fail",
    "rubric": "Is it right?",
    "raters": [],
    "per_answer": 1,
}
SAID = {"rater": "Ann", "label": "pass", "note": "", "reference": "", "is_wrong": False}
CHOSEN = {"suite": "arena", "run_id": "night-ant-9000", "result_id": "ant-9000/1"}
RATINGS = "SELECT rater, value, reason, result_id FROM ratings WHERE is_current ORDER BY ALL"
_ids = itertools.count()


@pytest.fixture
def answers(tmp_path):
    return labelled_store(tmp_path / "store")


@pytest.fixture
def client(browse, answers):
    return browse(answers)


@pytest.fixture
def queue(client):
    return make(client)


def make(client, **plan):
    answer = client.post_fields("/view/review/create", **{**PLAN, **plan})
    assert answer.status_code == 200, answer.text
    return answer.json()["queue"]


def asked(client, queue, rater="Ann"):
    answer = client.get("/view/review/answers", params={"queue": queue, "rater": rater})
    assert answer.status_code == 200, answer.text
    return answer.json()["answers"]


def rate(client, queue, answer_id, **said):
    fields = {"id": f"rating {next(_ids)}", **SAID, **said, "queue": queue, "answer": answer_id}
    return client.post_fields("/view/review/rate", **fields)


@pytest.mark.slow
def test_a_queue_is_blind_to_models_runs_and_others(client, queue):
    ids = [each["id"] for each in asked(client, queue)]
    for answer_id in ids:
        assert rate(client, queue, answer_id, note="others' remark").status_code == 200
    about = {"queue": queue, "rater": "Ben"}
    pages = [
        client.get("/view/review"),
        client.get("/view/review/queue", params=about),
        client.get("/view/review/answers", params=about),
        client.get("/view/review/agreement", params=about),
        *(client.get("/view/review/answer", params={**about, "id": each}) for each in ids),
    ]
    for page in pages:
        assert page.status_code == 200
        sent = page.content + repr(page.headers).encode()
        for word in (*MODELS, "night", "arena", "others' remark", "result_id", "/t1", '"pass"'):
            is_scale = word == '"pass"' and b'"labels":' in sent
            assert is_scale or word.encode() not in sent, word
    assert b"Is it right?" in pages[1].content
    assert [each["label"] for each in pages[2].json()["answers"]] == [""] * 12
    assert pages[3].json() == []
    texts = pages[4].json()
    assert texts["prompt"].startswith("Is 7 prime?")
    assert texts["reference"] == REFERENCE
    assert texts["answer"].startswith("answer ")
    assert [each["label"] for each in asked(client, queue)] == ["pass"] * 12  # one's own


@pytest.mark.slow
def test_two_raters_keep_both_and_a_second_rating_is_a_version(client, queue, answers):
    first = asked(client, queue)[0]["id"]
    rate(client, queue, first)
    rate(client, queue, first, rater="Ben", label="fail")
    more = {"note": "on second thoughts", "reference": "Yes.", "is_wrong": True}
    rate(client, queue, first, label="fail", **more)
    assert asked(client, queue)[0] == {"id": first, "label": "fail", **more}
    rate(client, queue, first, rater="Ben", label="")
    assert asked(client, queue, "Ben")[0]["label"] == ""
    client.pages.close()
    rows = answers.sql("""
        SELECT rater, value, reason, is_current, sampling_probability, extra ->> '$.rubric_version'
        FROM ratings ORDER BY rater, rated_at
    """).fetchall()
    assert [row[:5] for row in rows] == [
        ("Ann", 1.0, None, False, 1.0),
        ("Ann", 0.0, "on second thoughts", True, 1.0),
        ("Ben", 0.0, None, False, 1.0),
        ("Ben", None, None, True, 1.0),
    ]
    assert len({row[5] for row in rows}) == 1


@pytest.mark.slow
def test_a_repeated_post_is_one_row_and_an_id_one_rating(client, queue, answers):
    first, second = (each["id"] for each in asked(client, queue)[:2])
    assert rate(client, queue, first, id="x").json() == {"is_new": True}
    assert rate(client, queue, first, id="x").json() == {"is_new": False}
    other = rate(client, queue, second, id="x")
    assert (other.status_code, other.text) == (400, "another rating was sent with this id\n")
    client.pages.close()
    assert len(answers.sql(RATINGS).fetchall()) == 1


@pytest.mark.slow
def test_ratings_are_in_figures_when_nobody_has_rated_for_a_while(
    client, queue, answers, monkeypatch
):
    monkeypatch.setattr("exports.view.review.session._IDLE_SECONDS", 0.1)
    first, second = (each["id"] for each in asked(client, queue)[:2])
    for n, answer_id in enumerate([first, second], 1):
        rate(client, queue, answer_id, id=f"x{n}")
        deadline = time.monotonic() + 30
        while len(answers.sql(RATINGS).fetchall()) < n:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert [each["label"] for each in asked(client, queue)[:2]] == ["pass"] * n + [""] * (2 - n)
    assert rate(client, queue, first, id="x1").json() == {"is_new": False}


@pytest.mark.slow
def test_work_goes_on_in_another_server(browse, answers):
    client = browse(answers)
    queue = make(client)
    for each in asked(client, queue)[:3]:
        rate(client, queue, each["id"], label="fail")
    client.pages.close()
    again = browse(answers)
    assert make(again) == queue
    assert [each["label"] for each in asked(again, queue)] == ["fail"] * 3 + [""] * 9


@pytest.mark.slow
def test_a_queue_is_split_over_its_raters(client):
    queue = make(client, raters=["Ann", "Ben", "Cyd"], per_answer=2)
    shares = {name: {each["id"] for each in asked(client, queue, name)} for name in ("Ann", "Ben")}
    assert {len(share) for share in shares.values()} == {8}
    others = shares["Ben"] - shares["Ann"]
    assert len(others) == 4
    refused = rate(client, queue, min(others))
    assert (refused.status_code, refused.text) == (
        400,
        "the queue puts this answer to other raters\n",
    )
    stranger = client.get("/view/review/answers", params={"queue": queue, "rater": "Zoe"})
    assert (stranger.status_code, stranger.text) == (
        400,
        "this queue is for Ann, Ben, Cyd: 'Zoe' is none of them\n",
    )


@pytest.mark.slow
def test_agreement_counts_only_what_one_has_rated(client, queue):
    ids = [each["id"] for each in asked(client, queue)]
    about = {"queue": queue, "rater": "Ben"}
    for n, answer_id in enumerate(ids):
        rate(client, queue, answer_id, label="pass" if n % 2 else "fail")
    assert client.get("/view/review/agreement", params=about).json() == []
    for answer_id in ids[:2]:
        rate(client, queue, answer_id, rater="Ben")
    [few] = client.get("/view/review/agreement", params=about).json()
    assert (few["raters"], few["n_answers"], few["n_equal"]) == (["Ben", "Ann"], 2, None)
    for n, answer_id in enumerate(ids):
        rate(client, queue, answer_id, rater="Ben", label="pass" if n % 2 else "fail")
    [whole] = client.get("/view/review/agreement", params=about).json()
    assert (whole["n_answers"], whole["n_equal"], whole["kappa"]) == (12, 12, 1.0)
    assert whole["interval"][0] < 1.0


@pytest.mark.slow
def test_any_answer_can_be_rated_by_any_criterion(client, answers):
    page = client.get("/view/rate", params=CHOSEN)
    assert page.status_code == 200
    said = {**SAID, **CHOSEN, "criterion": "style", "scale": "1..5", "label": "4"}
    more = {"note": "nice", "reference": "Yes.", "is_wrong": True}
    posted = client.post_fields("/view/rate/rate", id="x", **said | more)
    assert posted.json() == {"is_new": True}
    client.pages.close()
    [row] = answers.sql("""
        SELECT criterion, value, scale_low, scale_high, reason, sampling_probability, model,
            extra ->> '$.corrected_reference', extra ->> '$.task_is_wrong'
        FROM ratings
    """).fetchall()
    expected = ("style", 4.0, 1.0, 5.0, "nice", None, "ant-9000", "Yes.", "true")
    assert row == expected


@pytest.mark.slow
def test_texts_are_inert_and_long_ones_are_cut(browse, answers):
    header = {"suite": "arena", "run_id": "odd", "generation": "root", "content_id": "odd"}
    texts = {"prompt": HOSTILE, "raw_output": HOSTILE + "x" * 300_000}
    odd = result("ant-9000", 1, run_id="odd", content_id=HOSTILE, **texts)
    add_rows(answers.lake, runs=[header], results=[odd])
    client = browse(answers)
    about = {"suite": "arena", "run_id": "odd", "result_id": HOSTILE}
    page = client.get("/view/rate", params=about)
    assert page.status_code == 200
    assert HOSTILE not in page.text
    cut = client.get("/view/review/answer", params=about)
    assert cut.headers["content-type"] == "application/json"
    assert len(cut.json()["answer"]) == 200_000
    assert cut.json()["sizes"]["answer"] == 300_000 + len(HOSTILE)
    whole = client.get("/view/review/answer", params={**about, "all": "answer"}).json()
    assert whole == {"answer": texts["raw_output"]}
    posted = client.post_fields(
        "/view/rate/rate", id="x", **SAID | about | {"note": HOSTILE}, criterion="c", scale="1..5"
    )
    assert posted.status_code == 400  # `pass` is not on the scale
    assert "the label is not on the scale 1..5" in posted.text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sample": 0}, "sample: write a whole number"),
        ({"sample": True}, "sample: write a whole number"),
        ({"sample": 1.5}, "sample: not"),
        ({"targets": ["nope"]}, "there is no suite and no run 'nope'"),
        ({"targets": []}, "there is no answer to label"),
        ({"targets": "arena"}, "targets: not a list"),
        ({"draw": "best"}, "write one of random, unsure, disagree"),
        ({"draw": "unsure"}, "no judge is unsure of an answer of these runs: draw at random"),
        ({"scale": "good"}, "2 to 10 different ones"),
        ({"raters": ["Ann", "Ann "]}, "raters: each once"),
        ({"raters": ["Ann"], "per_answer": 2}, "per_answer: write a whole number of at most 1"),
        ({"odd": 1}, "should not have them"),
    ],
)
def test_plans_that_cannot_be_used_say_why(client, changed, message):
    answer = client.post_fields("/view/review/create", **{**PLAN, **changed})
    assert answer.status_code == 400
    assert message in answer.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"label": "maybe"}, "the label is not on the scale pass/fail"),
        ({"label": None}, "label: not a text"),
        ({"rater": " "}, "rater: give a text"),
        ({"rater": "a\nb"}, "write one line"),
        ({"note": "x" * 10_001}, "note: give a text of at most 10,000"),
        ({"note": "a\0b"}, "note: give a text"),
        ({"is_wrong": 1}, "is_wrong: not true or false"),
        ({"id": ""}, "id: give a text"),
        ({"queue": "nope"}, "there is no such queue"),
        ({"answer": "label-0"}, "the queue has no such answer"),
    ],
)
def test_ratings_that_cannot_be_used_say_why(client, queue, answers, changed, message):
    fields = {"id": "x", **SAID, "queue": queue, "answer": asked(client, queue)[0]["id"]}
    answer = client.post_fields("/view/review/rate", **{**fields, **changed})
    assert answer.status_code == 400
    assert message in answer.text
    client.pages.close()
    assert answers.sql(RATINGS).fetchall() == []


@pytest.mark.slow
def test_random_requests_are_refused_without_a_trace(client, queue, answers):
    requests = random.Random(0)
    paths = [
        f"/view/{each}"
        for each in ("review", "review/new", "review/queue", "review/answers", "review/answer",
                     "review/scale", "review/agreement", "rate", "review/create", "review/rate",
                     "rate/rate", "review/none", "rate/", "review/../rate")
    ]  # fmt: skip
    odd = ["", " ", "\x00", HOSTILE, "1" * 400, "\ud800", "../..", "NaN", queue, "Ann", "pass", "٣"]
    values = [*odd, None, True, 1e999, -1, 2**70, [], {}, [[]] * 3, ["arena"] * 3]
    known = {**SAID, **CHOSEN, **PLAN, "queue": queue, "answer": "x", "id": "x"}
    before = [*answers.lake.batch_names()]
    for n in range(1_000):
        path = requests.choice(paths)
        if n % 2:
            chosen = requests.sample(["queue", "rater", "id", "all", "scale", *CHOSEN], 4)
            about = {name: requests.choice(odd).encode("utf-8", "replace") for name in chosen}
            answer = client.get(path, params=about)
        else:
            names = requests.sample(sorted(known), requests.randrange(len(known)))
            body = json.dumps({name: requests.choice(values) for name in names}).encode()
            if requests.random() < 0.3:
                body = body[: requests.randrange(len(body))] + requests.randbytes(3)
            headers = {"origin": ORIGIN, "content-type": "application/json"}
            answer = client.post(path, content=body, headers=headers)
        assert answer.status_code in {200, 400, 404, 405}, (path, answer.text)
        assert "Traceback" not in answer.text
    client.pages.close()
    assert [*answers.lake.batch_names()] == before


@pytest.mark.campaign
def test_ratings_of_four_raters_survive_kills(tmp_path):
    rate_and_kill(tmp_path, ratings=1_000, kills=2, seed=33)
