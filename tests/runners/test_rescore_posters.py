"""`evalstore rescore --as-of`: posters under the ground truth as it was at a date."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from support import ROOT, command, import_into

from warehouse.core.schemas import ANNOTATIONS

NOW = datetime.now(UTC)
BEFORE, AFTER = (f"{NOW + timedelta(days=days):%Y-%m-%d}" for days in (2, 8))
CURRENT = """
SELECT run_id, model, task_id, app_quality, app_core, label
FROM poster_scores
ORDER BY run_id, model, seq, task_id
"""


@pytest.fixture
def posters(store):
    import_into(store, ROOT / "examples" / "posters")
    return store


def settle(store, days):
    """Add an adjudicated record with other venues for one poster, made in some days."""
    query = "SELECT task_set, task_id, gold FROM scores.poster_records ORDER BY task_id LIMIT 1"
    [(task_set, task_id, gold)] = store.sql(query).fetchall()
    document = json.loads(gold)
    for event in document["events"]:
        event["venue"] = "Elsewhere Hall"
    record = {
        "content_id": f"settled {days}",
        "suite": "posters",
        "task_set": task_set,
        "task_id": task_id,
        "kind": "adjudicated",
        "label": "gold",
        "label_basis": "proven",
        "document": json.dumps(document),
        "annotated_at": NOW + timedelta(days=days),
    }
    with store.lake.write("annotate") as writer:
        writer.add(ANNOTATIONS, [record])
        writer.commit()
    return task_id


def as_of(store, day, *options):
    ended = command(store.path, "rescore", "--as-of", day, "--format", "json", *options)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def then(rows):
    names = ("run_id", "model", "task_id", "app_quality_then", "app_core_then", "label_then")
    return [tuple(row[name] for name in names) for row in rows]


@pytest.mark.slow
def test_scores_of_a_date_are_those_of_the_store_at_that_date(posters):
    before = posters.sql(CURRENT).fetchall()
    changed = settle(posters, days=5)
    after = posters.sql(CURRENT).fetchall()
    assert before != after
    rows = as_of(posters, BEFORE, "--tasks")
    assert then(rows) == before
    assert {row["task_id"] for row in rows if row["is_changed"]} == {changed}
    now = [tuple(row[name] for name in ("app_quality", "app_core", "label")) for row in rows]
    assert now == [row[3:] for row in after]
    assert then(as_of(posters, AFTER, "--tasks")) == after


@pytest.mark.slow
def test_models_have_the_means_over_the_posters(posters):
    settle(posters, days=5)
    by_poster = as_of(posters, BEFORE, "--tasks")
    for row in as_of(posters, BEFORE):
        own = [p for p in by_poster if (p["run_id"], p["model"]) == (row["run_id"], row["model"])]
        assert (row["n_posters"], row["n_changed"], row["n_gold_then"]) == (5, 1, 0)
        for name in ("app_quality_then", "app_quality", "app_core_then", "app_core"):
            assert row[name] == pytest.approx(sum(p[name] for p in own) / 5)


@pytest.mark.slow
def test_without_ground_truth_nothing_was_scored(posters):
    rows = as_of(posters, "2020-01-01")
    assert {(row["n_posters_then"], row["app_quality_then"]) for row in rows} == {(0, None)}


@pytest.mark.slow
def test_nothing_is_stored(posters):
    before = posters.lake.batch_names()
    as_of(posters, BEFORE)
    assert posters.lake.batch_names() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a FILE, or --as-of DATE"),
        (["--as-of", "yesterday"], "does not match the format"),
        (["--as-of", BEFORE, "--name", "x"], "--as-of is about posters"),
        (["--as-of", BEFORE, "--run", "x"], "there is no run 'x'"),
        (["--tasks"], "--tasks needs --as-of"),
    ],
)
def test_mistakes_are_explained(posters, arguments, message):
    ended = command(posters.path, "rescore", *arguments)
    assert (ended.code, message in ended.err) == (2, True), ended.err
