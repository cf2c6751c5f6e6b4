"""`evalstore judges posters`: a workspace with gold, silver, two annotators and a judge."""

import json
import random

import pytest
from poster_cases import SAMPLES, rows, run
from support import add_rows, new_store

from warehouse.app.store import Store
from warehouse.engine.scoring.posters.batches import score_batch

READER, JUDGE = "example/reader-large", "example/judge"
AGREEMENT = """
SELECT n_items, agreement_rate, quadratic_kappa, mean_difference
FROM judge_agreement
WHERE judge = $judge AND other = $other AND criterion = $criterion
"""


def records(folder):
    """Return the dates of each record in a folder, by poster."""
    paths = [path for path in folder.glob("*.json") if path.stem.isalnum()]
    return {
        path.stem: sorted(event["date"] for event in json.loads(path.read_text("utf-8"))["events"])
        for path in paths
    }


@pytest.fixture(scope="module")
def silver(tmp_path_factory):
    """Return a store in which nothing is adjudicated."""
    store = tmp_path_factory.mktemp("posters") / "store"
    run(store, "import", SAMPLES)
    return store


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    """Return a store in which all posters that two people annotated are gold."""
    store = tmp_path_factory.mktemp("posters") / "store"
    run(store, "import", SAMPLES)
    run(store, "annotate", "adjudicate", "--from", SAMPLES / "settled", "--by", "Cho")
    run(store, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    run(store, "annotate", "promote")
    return store


def agreement(store, judge, other, criterion):
    parameters = {"judge": judge, "other": other, "criterion": criterion}
    return rows(Store(store), AGREEMENT, **parameters)


@pytest.mark.slow
def test_the_judge_is_compared_with_scores_by_gold(gold):
    pairs = rows(
        Store(gold),
        """
        SELECT judgements.score, scores.app_quality
        FROM poster_scores AS scores
        JOIN judgements USING (suite, run_id, model, task_id)
        WHERE scores.label = 'gold'
        """,
    )
    [found] = agreement(gold, JUDGE, "gold", "overall")
    assert found["n_items"] == len(pairs) == 10
    mean = sum(pair["score"] - pair["app_quality"] for pair in pairs) / len(pairs)
    assert found["mean_difference"] == pytest.approx(mean, abs=1e-9)
    said = run(gold, "judges", "posters")
    assert "It gives the same number as gold on 0.0 %" in said
    assert f"Its numbers are {-mean:.2f} lower on average." in said


@pytest.mark.slow
def test_silver_and_people_are_compared_with_gold_by_poster(gold):
    settled = records(SAMPLES / "settled")
    ours = records(SAMPLES / "benchmark" / "ground_truth")
    [found] = agreement(gold, READER, "gold", "dates")
    equal = [ours[task] == dates for task, dates in settled.items()]
    # One poster is gold because both annotators agree.
    assert (found["n_items"], found["agreement_rate"]) == (len(equal) + 1, 1.0)
    assert all(equal)
    [events] = agreement(gold, READER, "gold", "events")
    assert (events["quadratic_kappa"], events["mean_difference"]) == (1.0, 0.0)


@pytest.mark.slow
def test_two_annotators_are_compared_with_each_other(gold):
    ben, anong = (records(SAMPLES / "benchmark" / "annotations" / who) for who in ("ben", "anong"))
    share = sum(ben[task] == anong[task] for task in ben) / len(ben)
    said = run(gold, "judges", "posters")
    assert f"several people labelled, all gave the same label to {100 * share:.1f} % " in said


@pytest.mark.slow
def test_without_gold_the_judge_is_uncalibrated(silver):
    assert agreement(silver, JUDGE, "gold", "overall") == []
    lines = run(silver, "judges", "posters").splitlines()
    said = lines[lines.index(JUDGE) + 1]
    assert said.startswith("It judged 13 answers. Uncalibrated: ")


@pytest.mark.slow
def test_gold_counts_as_soon_as_it_is_promoted(tmp_path):
    store = tmp_path / "store"
    run(store, "import", SAMPLES)
    assert agreement(store, JUDGE, "gold", "overall") == []
    run(store, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    run(store, "annotate", "promote")
    after = agreement(store, JUDGE, "gold", "overall")
    assert [row["n_items"] for row in after] == [3]  # of one poster, by three models
    run(store, "sync", "--rebuild")
    assert agreement(store, JUDGE, "gold", "overall") == after


@pytest.mark.slow
def test_figures_by_silver_stand_next_to_those_by_gold(gold, silver):
    folder = SAMPLES / "benchmark"
    predictions = next((folder / "runs").iterdir()) / "predictions"
    scores = {}
    for task in records(folder / "annotations" / "ben"):
        record = (folder / "ground_truth" / f"{task}.json").read_text("utf-8")
        for model in predictions.iterdir():
            path = model / f"{task}.json"
            prediction = path.read_text("utf-8") if path.exists() else None
            score = score_batch([record], [prediction])[0]
            scores.setdefault(model.name, []).append(score["app_quality"])
    query = "FROM poster_silver_check WHERE metric = 'app_quality'"
    found = {row["model"]: row for row in rows(Store(gold), query)}
    assert {name: row["silver_mean"] for name, row in found.items()} == pytest.approx(
        {name: sum(values) / len(values) for name, values in scores.items()}
    )
    reports = rows(Store(gold), "SELECT model, app_quality_score FROM poster_report")
    assert {row["model"]: row["app_quality_score"] for row in reports} == pytest.approx(
        {name: row["reported"] for name, row in found.items()}, abs=0.005
    )
    for row in found.values():
        assert (row["n_posters"], row["n_scored"]) == (4, 5)
        assert row["difference"] == pytest.approx(row["gold_mean"] - row["silver_mean"])
        assert row["basis"] == "labelled answers only"
    assert rows(Store(silver), query) == []


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return stores of 120 posters on which silver is too kind: with a third as gold, and all."""
    record = json.loads(next((SAMPLES / "settled").glob("*.json")).read_text("utf-8"))
    event = record["events"][0]
    key = {"suite": "posters", "task_set": "tour"}
    run_key = {"suite": "posters", "run_id": "20260101-120000-made", "generation": "root"}
    draw = random.Random(4)
    tasks, results, silver, declared = [], [], [], []
    for n in range(120):
        name = f"p{n:03}"
        events = [
            {**event, "date": f"2026-01-{day:02}"} for day in range(1, 2 + draw.randint(1, 3))
        ]
        said = {**record, "events": events}
        # The prediction has most of what silver says; gold has still more events in some posters.
        found = {**record, "events": events[draw.randint(0, 1) :]}
        more = [{**event, "date": f"2026-02-{day:02}"} for day in range(1, 1 + draw.randint(0, 2))]
        seq = {**key, "task_id": name, "seq": n + 1}
        tasks.append(
            {**seq, "task_set_hash": "v1", "status": "ok", "content_id": name, "task_hash": name}
        )
        results.append(
            {**run_key, **seq, "content_id": name, "model": "a", "parsed_output": json.dumps(found)}
            | {"output_state": "object", "success": True}
        )
        record_key = {**key, "task_id": name, "annotator": "m"}
        silver.append(
            {**record_key, "kind": "model", "label": "silver", "document": json.dumps(said)}
        )
        full = {**record, "events": [*events, *more]}
        declared.append(
            {**record_key, "kind": "declared", "label": "gold", "document": json.dumps(full)}
        )
    for n, each in enumerate((*silver, *declared)):
        each["content_id"] = f"record {n}"
    stores = []
    for chosen in (random.Random(9).sample(declared, 40), declared):
        store = new_store(tmp_path_factory.mktemp("drawn") / "store")
        header = {**run_key, "content_id": "run", "task_set": "tour", "task_set_hash": "v1"}
        config = {"config": json.dumps({"models": ["a"]})}
        records_of = [*silver, *chosen]
        add_rows(
            store.lake, runs=[header | config], tasks=tasks, results=results, annotations=records_of
        )
        store.sync()
        stores.append(store)
    return stores


_CORRECTED = "FROM metrics WHERE metric = 'app_quality (corrected)'"


@pytest.mark.slow
def test_gold_drawn_as_declared_corrects_figures_by_silver(drawn):
    part, every = drawn
    assert rows(part, _CORRECTED) == []
    run(part.path, "tag", "20260101-120000-made", "gold_probability=0.3333")
    [found] = rows(part, _CORRECTED)
    assert (found["scorer"], found["n_tasks"]) == ("silver", 120)
    assert found["remark"] == "corrected by 40 labels (gold)"
    [truth] = rows(every, "FROM poster_silver_check WHERE metric = 'app_quality'")
    assert truth["n_posters"] == 120
    assert truth["silver_mean"] > found["mean_high"]
    assert found["mean_low"] < truth["gold_mean"] < found["mean_high"]
    after = rows(part, _CORRECTED)
    run(part.path, "sync", "--rebuild")
    assert rows(part, _CORRECTED) == after


@pytest.mark.slow
def test_gold_that_is_not_drawn_as_declared_corrects_nothing(drawn):
    part, _ = drawn
    run(part.path, "tag", "20260101-120000-made", "gold_probability=0.9")
    [found] = rows(part, _CORRECTED)
    assert found["mean"] is None
    assert "40 of 120 tasks, although about 108 were drawn" in found["remark"]
    run(part.path, "tag", "20260101-120000-made", "gold_probability=often")
    [found] = rows(part, _CORRECTED)
    assert found["remark"].endswith("and how they were drawn is not recorded")
    run(part.path, "tag", "20260101-120000-made", "--remove", "gold_probability")
    assert rows(part, _CORRECTED) == []
