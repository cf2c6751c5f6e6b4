"""LLMBar: the last round counts, winners are texts, the statistics follow from the votes."""

import json

import pytest
from judged_logs import (
    PREFERENCES,
    check_imports_in_any_order,
    imported,
    needs_preferences,
)
from peers import query
from support import NO_REFERENCE

pytestmark = pytest.mark.slow

SETS = PREFERENCES / "llmbar"


def both(forward, backward, **fields):
    made = {
        name: {"completion": [f"Output {winner}", "stop"], "winner": winner, **fields}
        for name, winner in (("swap = False", forward), ("swap = True", backward))
    }
    return dict(made)


def pair(*rounds, number=1, **fields):
    plain = {"input": f"Do {number}.", "output_1": f"Done {number}.", "output_2": "No.", "label": 1}
    return {**plain, "results": list(rounds), **fields}


def write(folder, pairs, method="CoT", statistics=None):
    folder = folder / "Dataset" / "LLMBar" / "Natural" / "evaluators" / "GPT-4" / method
    folder.mkdir(parents=True)
    text = pairs if isinstance(pairs, str) else json.dumps(pairs, indent=2)
    (folder / "result.json").write_text(text)
    if statistics is not None:
        (folder / "statistics.json").write_text(json.dumps(statistics))
    return folder


def votes(store):
    return query(
        store,
        """
        SELECT task_id, rater, first_shown, outcome, status, raw_output, extra
        FROM preferences ORDER BY seq, rater NULLS FIRST, first_shown
        """,
    )


def test_the_last_round_counts_and_earlier_ones_are_kept(tmp_path):
    last = both("1", "1", prompt="Decide.")
    store, _ = imported(
        tmp_path, write(tmp_path, [pair(both("2", "1"), last), pair(both("1", "2"))])
    )
    found = votes(store)
    assert [tuple(row.values())[:5] for row in found] == [
        ("0", None, None, "a", "ok"),
        ("0", "GPT-4 CoT", "a", "a", "ok"),
        ("0", "GPT-4 CoT", "b", "a", "ok"),
        ("1", None, None, "a", "ok"),
        ("1", "GPT-4 CoT", "a", "a", "ok"),
        ("1", "GPT-4 CoT", "b", "b", "ok"),
    ]
    assert found[1]["raw_output"] == "Output 1"
    assert json.loads(found[1]["extra"]) == {
        "prompt": "Decide.",
        "rounds": [{"completion": ["Output 2", "stop"], "winner": "2"}],
        "stop": ["stop"],
    }
    (run,) = query(store, "SELECT run_id, task_set FROM runs")
    assert run == {"run_id": "LLMBar/Natural GPT-4 CoT", "task_set": "LLMBar/Natural"}
    assert query(
        store, "SELECT DISTINCT rater_config FROM preferences WHERE rater IS NOT NULL"
    ) == [{"rater_config": '{"model":"GPT-4","prompt":"CoT"}'}]


def test_a_winner_that_was_not_parsed_is_none(tmp_path):
    store, _ = imported(tmp_path, write(tmp_path, [pair(both("None", None), label=3, odd=1)]))
    found = [(row["outcome"], row["status"], json.loads(row["extra"])) for row in votes(store)]
    assert found == [
        (None, "unparsed", {"label": 3, "odd": 1}),
        (None, "unparsed", {"winner": "None", "stop": ["stop"]}),
        (None, "unparsed", {"stop": ["stop"]}),
    ]


def test_a_reply_of_another_form_is_kept(tmp_path):
    store, _ = imported(tmp_path, write(tmp_path, [pair(both("1", "1", completion="Output 1"))]))
    found = [(row["raw_output"], row["extra"]) for row in votes(store)]
    assert found == [(None, None), *[(None, '{"stop":"Output 1"}')] * 2]


def test_single_ratings_are_ratings(tmp_path):
    swaps = {name: {"winner": "1"} for name in both("1", "1")}
    rated = {"score_1": ["7", "stop"], "score_2": ["about 6", "length"], **swaps}
    store, _ = imported(tmp_path, write(tmp_path, [pair(rated)], method="Rating"))
    ratings = query(
        store,
        "SELECT model, rater, value, status, raw_output, result_id IS NOT NULL, extra "
        "FROM ratings ORDER BY model",
    )
    assert [tuple(row.values()) for row in ratings] == [
        ("output_1", "GPT-4 Rating", 7.0, "ok", "7", True, '{"stop":["stop"]}'),
        ("output_2", "GPT-4 Rating", None, "unparsed", "about 6", True, '{"stop":["length"]}'),
    ]
    assert [row["outcome"] for row in votes(store)] == ["a", "a", "a"]


def test_pairs_without_a_judge_are_their_labels(tmp_path):
    path = tmp_path / "Dataset" / "LLMBar" / "Natural" / "dataset.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{k: v for k, v in pair(label=2).items() if k != "results"}]))
    store, _ = imported(tmp_path, path)
    assert [(row["rater"], row["outcome"]) for row in votes(store)] == [(None, "b")]
    assert query(store, "SELECT run_id FROM runs") == [{"run_id": "LLMBar/Natural labels"}]


def test_a_judge_whom_no_folder_names_is_no_set_of_labels(tmp_path):
    path = tmp_path / "LLMBar" / "Natural" / "result.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([pair(both("1", "1"))]))
    store, _ = imported(tmp_path, path)
    assert query(store, "SELECT run_id FROM runs") == [{"run_id": "LLMBar/Natural judge"}]
    assert query(store, "FROM checks.unreproducible_runs") == []


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([pair(), 7], "pair 2: not a JSON object"),
        ([pair(), pair(output_2=None)], "pair 2: has no `input`, `output_1` or `output_2`"),
        ([pair(), pair("1")], "pair 2: a round in `results` is not a JSON object"),
        (json.dumps([pair(), pair()])[:-40], "not JSON: Unterminated string"),
    ],
)
def test_what_is_damaged_goes_to_quarantine(tmp_path, document, reason):
    store, summary = imported(tmp_path, write(tmp_path, document))
    assert summary.n_quarantined == 1
    (row,) = query(store, "SELECT reason FROM quarantine")
    assert row["reason"].startswith(reason)
    assert {row["task_id"] for row in votes(store)} == {"0"}


def test_statistics_are_figures_of_the_run(tmp_path):
    statistics = {"correct_False": "1 / 2 = 50.0%", "correct_both": "1 / 2 = 50.0%"}
    statistics |= {"correct_average": "75.0%", "kappa_False": 0.25, "odd": None}
    folder = write(tmp_path, [pair(both("1", "1"))], statistics=statistics)
    store, _ = imported(tmp_path, folder / "statistics.json", folder / "result.json")
    figures = query(
        store, "SELECT metric, value, text, n, model, reason FROM reported_metrics ORDER BY seq"
    )
    assert [tuple(row.values())[:5] for row in figures] == [
        ("correct_False", 50.0, "1 / 2 = 50.0%", 2, "GPT-4"),
        ("correct_both", 50.0, "1 / 2 = 50.0%", 2, "GPT-4"),
        ("correct_average", 75.0, "75.0%", None, "GPT-4"),
        ("kappa_False", 0.25, None, None, "GPT-4"),
        ("odd", None, None, None, "GPT-4"),
    ]
    assert [row["metric"] for row in figures if row["reason"]] == ["kappa_False"]
    assert len(query(store, "FROM runs")) == 1
    audited = query(store, "SELECT metric, status, n_reported, reason FROM metric_audit")
    assert {tuple(row.values()) for row in audited if row["metric"] != "kappa_False"} == {
        (metric, "samples missing", 2, "the store has 1 of 2")
        for metric in ("correct_False", "correct_both", "correct_average", "odd")
    }


def test_statistics_that_do_not_follow_from_the_votes_differ(tmp_path):
    statistics = {"correct_False": "1 / 1 = 100.0%", "correct_True": "1 / 1 = 100.0%", "new": 1}
    pairs = [pair(both("1", "2"))]
    folder = write(tmp_path, pairs, statistics={**statistics, "kappa_agreement": 0.5})
    store, _ = imported(tmp_path, folder)
    audited = query(store, "SELECT metric, recomputed, n, status, reason FROM metric_audit")
    assert {row.pop("metric"): tuple(row.values()) for row in audited} == {
        "correct_False": (100, 1, "equal", None),
        "correct_True": (0, 1, "differs", None),
        "kappa_agreement": (0, 1, "differs", None),
        "new": (
            *(None, None, "not recomputable"),
            "it does not follow from the votes and ratings in the store",
        ),
    }


def test_the_order_of_imports_does_not_matter(tmp_path):
    pairs = [pair(both("1", "2"), number=number) for number in range(4)]
    statistics = {"correct_False": "4 / 4 = 100.0%", "correct_both": "0 / 4 = 0.0%"}
    folder = write(tmp_path, pairs, statistics=statistics)
    half = write(tmp_path / "half", pairs[:2])
    files = [folder / "result.json", folder / "statistics.json"]
    check_imports_in_any_order(tmp_path / "stores", half, *files)


@needs_preferences
def test_the_reference_sets_have_their_figures(tmp_path):
    if not SETS.is_dir():
        pytest.skip(NO_REFERENCE)
    store, summary = imported(tmp_path, SETS)
    assert summary.n_quarantined == 0
    oracle = json.loads((SETS / "oracle.json").read_text())["sets"]
    by_run = {}
    for row in query(store, "FROM metric_audit"):
        by_run.setdefault(row["run_id"], {})[row["metric"]] = row
    assert len(by_run) == len(oracle)
    for name, expected in oracle.items():
        parts = name.split("/")
        figures = by_run[f"{'/'.join(parts[:-4])} {' '.join(parts[-3:-1])}"]
        assert figures.keys() == expected["published"].keys()
        for metric, row in figures.items():
            coded = {"kappa_False", "kappa_True", "kappa_average"}
            if not expected["kappa_agreement_reproduced"]:
                coded.add("kappa_agreement")
            if metric in coded:
                assert row["status"] == "not recomputable", (name, metric)
            else:
                assert (row["status"], row["n"]) == ("equal", expected["n"]), (name, metric)
