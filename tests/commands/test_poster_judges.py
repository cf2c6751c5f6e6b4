"""`evalstore judges posters`: a workspace with gold, silver, two annotators and a judge."""

import json

import pytest
from poster_cases import SAMPLES, rows, run

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


def test_two_annotators_are_compared_with_each_other(gold):
    ben, anong = (records(SAMPLES / "benchmark" / "annotations" / who) for who in ("ben", "anong"))
    share = sum(ben[task] == anong[task] for task in ben) / len(ben)
    said = run(gold, "judges", "posters")
    assert f"several people labelled, all gave the same label to {100 * share:.1f} % " in said


def test_without_gold_the_judge_is_uncalibrated(silver):
    assert agreement(silver, JUDGE, "gold", "overall") == []
    lines = run(silver, "judges", "posters").splitlines()
    said = lines[lines.index(JUDGE) + 1]
    assert said.startswith("It judged 13 answers. Uncalibrated: ")


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
