"""JUDGE-BENCH: people without identities by slot, labels and numbers, what is NaN was not given."""

import json

import numpy as np
import pytest
from judged_logs import PREFERENCES, check_imports_in_any_order, imported, needs_preferences
from peers import query, same
from support import NO_REFERENCE

from warehouse.engine.statistics.agreement import krippendorff_alpha, label_counts

FOLDER = PREFERENCES / "judge_bench"
FIGURE = {
    "corr_coeff": {"pearson": 0.5, "spearman": float("nan")},
    "kappa_score": float("nan"),
    "total_responses": 2,
    "valid_responses": 1,
    "krippendorff_alpha": 0.25,
    "type": "graded",
}


def criterion(metric, category="graded", **fields):
    scale = {"worst": 1, "best": 5} if category == "graded" else {"labels_list": ["No", "Yes"]}
    return {"metric": metric, "category": category, "prompt": "{{ instance }}", **scale, **fields}


def item(number, scores=(4, 2), **fields):
    rated = {"fluency": {"mean_human": 3.0, "individual_human_scores": list(scores)}}
    plain = {"id": number, "instance": f"Text {number}", "annotations": rated}
    return {**plain, **fields}


def write(folder, *instances, name="news_room.json", annotations=None, **members):
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "dataset": "News",
        "dataset_url": "https://example.org",
        "annotations": annotations or [criterion("fluency")],
        **members,
        "instances": list(instances),
    }
    (folder / name).write_text(json.dumps(document))
    return folder / name


def ratings(store):
    rows = query(
        store,
        """
        SELECT task_id, criterion, rater, slot, rater_kind, value, label, status
        FROM ratings ORDER BY ALL
        """,
    )
    return [tuple(row.values()) for row in rows]


def test_people_without_identities_are_slots(tmp_path):
    labels = {"safe": {"majority_human": "No", "individual_human_scores": ["No", "Yes", 1]}}
    path = write(
        tmp_path / "data" / "news_room",
        item(1, scores=[4, 2.5, float("nan"), None, "good"]),
        {"id": "b", "instance": {"user": "Hi"}, "annotations": labels, "odd": 1},
        annotations=[criterion("fluency"), criterion("safe", "categorical")],
        expert_annotator="true",
    )
    store, _ = imported(tmp_path, path)
    assert ratings(store) == [
        ("1", "fluency", None, 1, "human", 4.0, None, "ok"),
        ("1", "fluency", None, 2, "human", 2.5, None, "ok"),
        ("1", "fluency", None, 3, "human", None, None, "not_applicable"),
        ("1", "fluency", None, 4, "human", None, None, "not_applicable"),
        ("1", "fluency", None, 5, "human", None, "good", "ok"),
        ("b", "safe", None, 1, "human", None, "No", "ok"),
        ("b", "safe", None, 2, "human", None, "Yes", "ok"),
        ("b", "safe", None, 3, "human", None, "1", "ok"),
    ]
    scales = query(
        store,
        "SELECT DISTINCT criterion, scale_low, scale_high, scale_labels, rater_config "
        "FROM ratings ORDER BY 1",
    )
    assert [tuple(row.values()) for row in scales] == [
        ("fluency", 1.0, 5.0, None, '{"expert":"true"}'),
        ("safe", None, None, ["No", "Yes"], '{"expert":"true"}'),
    ]
    tasks = query(store, "SELECT task_id, prompt, extra FROM lake.tasks ORDER BY 1")
    assert [tuple(row.values())[:2] for row in tasks] == [("1", "Text 1"), ("b", '{"user":"Hi"}')]
    assert json.loads(tasks[1]["extra"]) == {
        "annotations": {"safe": {"majority_human": "No"}},
        "odd": 1,
    }
    (run,) = query(store, "SELECT run_id, task_set, config FROM runs")
    assert (run["run_id"], run["task_set"]) == ("news-room", "news-room")
    assert json.loads(run["config"])["annotations"][0]["metric"] == "fluency"


@pytest.mark.slow
def test_what_people_come_to_is_a_gold_rating_where_no_single_one_is_recorded(tmp_path):
    settled = {"fluency": {"majority_human": 2, "mean_human": 2.25}}
    store, _ = imported(tmp_path, write(tmp_path / "data" / "x", item(1, annotations=settled)))
    assert ratings(store) == [("1", "fluency", None, None, "gold", 2.0, None, "ok")]


def test_secrets_are_masked_in_items_and_around_them(tmp_path):
    key = "sk-proj-" + "a1B2" * 12
    annotations = [criterion("fluency", prompt=f"key {key}")]
    rated = item(1, instance=f"my {key}")
    path = write(tmp_path / "data" / "x", rated, annotations=annotations)
    store, summary = imported(tmp_path, path, redact=True)
    assert summary.secrets
    assert "sk-proj" in path.read_text()
    assert key not in str(query(store, "FROM runs")) + str(query(store, "FROM lake.tasks"))
    assert len(ratings(store)) == 2


def test_annotations_of_another_form_are_kept(tmp_path):
    odd = {"fluency": 3, "style": {"individual_human_scores": "high"}}
    store, _ = imported(tmp_path, write(tmp_path / "data" / "x", item(1, annotations=odd)))
    assert ratings(store) == []
    (task,) = query(store, "SELECT extra FROM lake.tasks")
    assert json.loads(task["extra"]) == {"annotations": odd}


@pytest.mark.parametrize(
    ("folders", "run_id", "task_set"),
    [
        ("data/dices/dices_990.json", "dices-990", "dices-990"),
        ("data/medical-safety/data.json", "medical-safety", "medical-safety"),
        ("data/llmbar/data-natural.json", "llmbar-natural", "llmbar-natural"),
        ("data/recipe_data/meta.json", "recipe-data meta", "recipe-data"),
        ("elsewhere/cola.json", "cola", "cola"),
    ],
)
def test_a_set_is_named_as_its_figures_name_it(tmp_path, folders, run_id, task_set):
    path = tmp_path / folders
    store, _ = imported(tmp_path, write(path.parent, item(1), name=path.name))
    assert query(store, "SELECT run_id, task_set FROM runs") == [
        {"run_id": run_id, "task_set": task_set}
    ]


def test_figures_of_judges_have_a_reason(tmp_path):
    path = tmp_path / "results" / "regular" / "news-room.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"gpt (SP: None, AP: 1)": {"fluency": FIGURE}}))
    store, summary = imported(tmp_path, path)
    assert summary.n_quarantined == 0
    rows = query(store, "SELECT model, metric, value, text, reason FROM reported_metrics")
    assert {row["metric"]: (row["value"], row["text"]) for row in rows} == {
        "fluency.corr_coeff.pearson": (0.5, None),
        "fluency.corr_coeff.spearman": (None, "NaN"),
        "fluency.kappa_score": (None, "NaN"),
        "fluency.total_responses": (2.0, None),
        "fluency.valid_responses": (1.0, None),
        "fluency.krippendorff_alpha": (0.25, None),
    }
    assert {row["model"] for row in rows} == {"gpt (SP: None, AP: 1)"}
    assert {row["metric"] for row in rows if not row["reason"]} == {"fluency.krippendorff_alpha"}
    assert query(store, "SELECT run_id FROM runs") == [{"run_id": "judges regular news-room"}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "category", "level"),
    [
        ([[4, 2], [5, 5, 1], [3, 3], [2, 5], [4]], "graded", "ordinal"),
        ([[0, 0], [1, 0, 0], [1, 1], [0, 1], [0]], "categorical", "nominal"),
    ],
)
def test_agreement_of_people_is_that_of_krippendorff(tmp_path, numbers, category, level):
    said = [[n if category == "graded" else f"label {n}" for n in item] for item in numbers]
    instances = [item(n, scores=scores) for n, scores in enumerate(said)]
    criteria = [criterion("fluency", category)]
    data = write(tmp_path / "data" / "news_room", *instances, annotations=criteria)
    figures = tmp_path / "results" / "regular" / "news-room.json"
    figures.parent.mkdir(parents=True)
    figures.write_text(json.dumps({"gpt": {"fluency": FIGURE}}))
    store, _ = imported(tmp_path, data, figures)
    [row] = query(store, "FROM metric_audit WHERE metric = 'fluency.krippendorff_alpha'")
    items = np.repeat(range(len(numbers)), [len(each) for each in numbers])
    counts = label_counts(items, np.concatenate(numbers))
    assert row["recomputed"] == pytest.approx(krippendorff_alpha(counts, level), rel=1e-12)


def test_what_is_damaged_goes_to_quarantine(tmp_path):
    path = write(tmp_path / "data" / "x", item(1), item(2, annotations=None), 7, item(None))
    store, _ = imported(tmp_path, path)
    assert {row["reason"] for row in query(store, "SELECT reason FROM quarantine")} == {
        "instance 2: has no `id` or no `annotations`",
        "instance 3: not a JSON object",
        "instance 4: has no `id` or no `annotations`",
    }
    path.write_text(path.read_text()[:-90])
    store, _ = imported(tmp_path / "cut", path)
    assert query(store, "FROM quarantine WHERE reason LIKE 'not JSON%'")
    assert len(ratings(store)) == 2


@pytest.mark.slow
def test_the_order_of_imports_does_not_matter(tmp_path):
    items = [item(number) for number in range(4)]
    figures = tmp_path / "results" / "regular" / "news-room.json"
    figures.parent.mkdir(parents=True)
    figures.write_text(json.dumps({"gpt": {"fluency": FIGURE}}))
    path = write(tmp_path / "data" / "news_room", *items)
    write(tmp_path / "half" / "data" / "news_room", *items[:2])
    check_imports_in_any_order(tmp_path / "stores", tmp_path / "half", path, figures)


@pytest.mark.slow
@needs_preferences
def test_the_reference_sets_have_their_figures(tmp_path):
    if not FOLDER.is_dir():
        pytest.skip(NO_REFERENCE)
    store, summary = imported(tmp_path, FOLDER)
    assert summary.n_quarantined == 0
    oracle = json.loads((FOLDER / "oracle.json").read_text())["sets"]
    counts = query(
        store, "SELECT task_set || '|' || criterion AS name, count(*) AS n FROM ratings GROUP BY 1"
    )
    assert {row["name"]: row["n"] for row in counts} == {
        name: expected["n_ratings"] for name, expected in oracle.items()
    }
    n_compared = 0
    for row in query(store, "FROM metric_audit"):
        name, status = f"{row['task_set']}|{row['metric'].split('.')[0]}", row["status"]
        if row["metric"].endswith(".krippendorff_alpha"):
            expected = oracle[name]["published_alpha"]
            assert status == ("samples missing" if expected is None else "equal"), row
            assert same(row["recomputed"], expected)
            n_compared += expected is not None
        elif row["metric"].endswith(".valid_responses"):
            assert row["reported"] == oracle[name]["published_judges"][row["model"]]["valid"]
        else:
            assert row["reason"].startswith("the repository has no answers")
    assert n_compared > 100
