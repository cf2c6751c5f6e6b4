"""MT-Bench: grades as ratings, both orders of a pair as two votes, and its tables' figures."""

import json

import pytest
from peers import query
from preferences import (
    PREFERENCES,
    check_any_order_is_the_same,
    figures,
    imported,
    rejected,
    write_lines,
)
from support import NO_REFERENCE

FOLDER = PREFERENCES / "mt_bench"
# What the tables call the judges whose judgements are in the reference data.
JUDGES = {"Qwen-7B": "Qwen2.5-7B-Instruct", "GPT-4o-mini": "gpt-4o-mini"}
COLUMNS = {"qwen_7b": "Qwen2.5-7B-Instruct", "gpt_4o_mini": "gpt-4o-mini"}
# Of this judge the reference data has 400 pairs of 1,200.
PARTIAL = "GPT-4o-mini"
PROMPT = "rater_config ->> '$.prompt'"

REFERENCE_MEANS = f"""
    SELECT
        standard.rater,
        avg(standard.value) AS en_standard_mean,
        avg(guided.value) AS en_reference_mean,
        en_reference_mean - en_standard_mean AS en_delta,
        count(*) AS en_paired
    FROM ratings AS standard
    JOIN ratings AS guided USING (suite, run_id, task_id, model, turn)
    WHERE standard.{PROMPT} = 'single_grade' AND guided.with_reference
        AND standard.value IS NOT NULL AND guided.value IS NOT NULL
    GROUP BY ALL
"""
INCONSISTENCY = """
    SELECT
        rater,
        count(*) AS n,
        count(*) FILTER (n_valid = 2 AND outcome = 'inconsistent') AS en_inconsistent,
        count(*) FILTER (n_valid = 2) AS en_valid,
        100 * en_inconsistent / en_valid AS en_rate_pct,
        count(*) FILTER (n_first = 2) AS first_twice,
        count(*) FILTER (n_second = 2) AS second_twice
    FROM preference_verdicts
    GROUP BY rater
"""
CALLS = f"""
    SELECT
        rater,
        {PROMPT} AS protocol,
        count(*) AS expected_calls,
        count(*) FILTER (status = 'ok') AS valid_calls,
        count(*) FILTER (status = 'unparsed') AS format_parse_failures,
        count(*) FILTER (status = 'error') AS empty_or_api_failures,
        format_parse_failures + empty_or_api_failures AS total_failures
    FROM (
        SELECT rater, rater_config, status FROM ratings
        UNION ALL
        SELECT rater, rater_config, status FROM preferences
    )
    GROUP BY ALL
"""

GRADE = {
    "question_id": 81,
    "model_id": "m/1",
    "judge_id": "j",
    "score_turn1": 8.5,
    "score_turn2": -1.0,
    "judgment_turn1": "[[8.5]]",
    "judgment_turn2": "Good.",
    "category": "writing",
    "tstamp": 1782739992.5,
    "avg_score": 8.5,
}
PAIR = {
    "question_id": 81,
    "model_a": "x",
    "model_b": "y",
    "judge_id": "j",
    "winner": "y",
    "judgment_ab": "[[B]]",
    "judgment_ba": "[[A]]",
    "winner_ab": "B",
    "winner_ba": "A",
    "turn": 2,
    "category": "writing",
    "tstamp": 1782739992.5,
}
SINGLE = {
    "question_id": 81,
    "model": "m/1",
    "judge": ["gpt-4", "single-math-v1-multi-turn"],
    "user_prompt": "Rate it.",
    "judgment": "[[7]]",
    "score": 7,
    "turn": 2,
    "tstamp": 1782739992.5,
}
GAMES = {
    "question_id": 81,
    "model_1": "x",
    "model_2": "y",
    "g1_winner": "model_1",
    "g2_winner": "tie",
    "judge": ["gpt-4", "pair-v2"],
    "g1_user_prompt": "p1",
    "g1_judgment": "[[A]]",
    "g2_user_prompt": "p2",
    "g2_judgment": "[[C]]",
    "turn": 1,
    "tstamp": 1782739992.5,
}
PERSON = {
    "question_id": 81,
    "model_a": "x",
    "model_b": "y",
    "winner": "model_b",
    "judge": "expert_3",
    "conversation_a": [
        {"role": "user", "content": "q1"},
        {"role": "assistant", "content": "a1"},
        {"role": "user", "content": "q2"},
        {"role": "assistant", "content": "a2"},
    ],
    "conversation_b": [{"role": "user", "content": "q1"}, {"role": "assistant", "content": "b1"}],
    "turn": 1,
}
QUESTION = {"question_id": 81, "category": "writing", "turns": ["q1", "q2"], "reference": ["r"]}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    if not FOLDER.is_dir():
        pytest.skip(NO_REFERENCE)
    store = imported(tmp_path_factory.mktemp("mt_bench"), FOLDER)
    with store.reading():  # open for all tests
        yield store


@pytest.fixture(scope="module")
def oracle():
    if not FOLDER.is_dir():
        pytest.skip(NO_REFERENCE)
    found = json.loads((FOLDER / "oracle.json").read_text("utf-8"))
    judges = {"en|gpt/judge_gpt4omini": "gpt-4o-mini", "en|qwen/judge_7B": "Qwen2.5-7B-Instruct"}
    kinds = ("single_grade", "reference", "pairwise")
    return {kind: {judges[key]: row for key, row in found[kind].items()} for kind in kinds}


def by_rater(store, sql):
    return {row["rater"]: row for row in query(store, sql)}


def check_rows(table, found, metrics, judges, digits=2):
    """Compare figures of a table with recomputed ones, by judge, as exactly as reported."""
    for label in judges:
        for metric in metrics:
            value = found[JUDGES[label]][metric]
            expected = table[label, metric]
            assert abs(value - expected) <= 0.5 * 10**-digits + 1e-9, (label, metric)


def table(store, run_id, **columns):
    """Return the figures of a table by judge and metric."""
    rows = query(store, "FROM reported_metrics WHERE run_id = $run_id", run_id=run_id)
    kept = [row for row in rows if all(row[name] == value for name, value in columns.items())]
    return {(row["scorer"], row["metric"]): row["value"] for row in kept}


@pytest.mark.slow
def test_the_reference_figures_follow_from_the_rows(logs, oracle):
    grades = query(logs, f"SELECT rater, model, value FROM ratings WHERE {PROMPT} = 'single_grade'")
    for rater, expected in oracle["single_grade"].items():
        values = [row["value"] for row in grades if row["rater"] == rater]
        assert len(values) == expected["n_valid"]
        assert sum(values) / len(values) == pytest.approx(expected["mean"], rel=1e-12)
        for model, mean in expected["by_model"].items():
            own = [row["value"] for row in grades if (row["rater"], row["model"]) == (rater, model)]
            assert sum(own) / len(own) == pytest.approx(mean, rel=1e-12)
    for rater, row in by_rater(logs, REFERENCE_MEANS).items():
        expected = oracle["reference"][rater]
        assert row["en_paired"] == expected["paired"]
        assert row["en_standard_mean"] == pytest.approx(expected["standard_mean"], rel=1e-12)
        assert row["en_reference_mean"] == pytest.approx(expected["reference_mean"], rel=1e-12)
    for rater, row in by_rater(logs, INCONSISTENCY).items():
        expected = oracle["pairwise"][rater]
        assert (row["n"], row["en_valid"]) == (expected["n"], expected["valid"])
        assert row["en_inconsistent"] == expected["inconsistent"]
        assert row["en_rate_pct"] == pytest.approx(expected["rate_pct"], rel=1e-12)
        assert row["first_twice"] == expected["first_twice"]
        assert row["second_twice"] == expected["second_twice"]
    assert rejected(logs) == []


@pytest.mark.slow
def test_tables_of_judges_follow_from_their_judgements(logs):
    means = by_rater(
        logs,
        "SELECT rater, avg(value) AS en_mean, count(value) AS en_valid_scores FROM ratings "
        f"WHERE {PROMPT} = 'single_grade' GROUP BY rater",
    )
    check_rows(table(logs, "table6_single_scores"), means, ["en_mean", "en_valid_scores"], JUDGES)
    references = by_rater(logs, REFERENCE_MEANS)
    metrics = ["en_standard_mean", "en_reference_mean", "en_delta", "en_paired"]
    check_rows(table(logs, "table7_reference_scores"), references, metrics, JUDGES)
    metrics = ["en_inconsistent", "en_valid", "en_rate_pct"]
    reported = table(logs, "table5_pairwise_inconsistency")
    check_rows(reported, by_rater(logs, INCONSISTENCY), metrics, JUDGES.keys() - {PARTIAL})
    for row in query(logs, CALLS):
        label = {name: label for label, name in JUDGES.items()}[row["rater"]]
        if (label, row["protocol"]) == (PARTIAL, "pairwise"):
            continue
        protocol = {"task_set": "mt_bench/en", "task_group": row["protocol"]}
        reported = table(logs, "table8_parse_failures", **protocol)
        for metric in row.keys() - {"rater", "protocol"}:
            assert row[metric] == reported[label, metric], (label, row["protocol"], metric)


@pytest.mark.slow
def test_the_figure_of_models_and_categories_follows_from_the_grades(logs):
    rows = query(
        logs,
        "SELECT rater, model, NULL AS category, avg(value) AS mean FROM ratings "
        f"WHERE {PROMPT} = 'single_grade' GROUP BY ALL UNION ALL BY NAME "
        "SELECT rater, NULL AS model, extra ->> '$.category' AS category, avg(value) AS mean "
        f"FROM ratings WHERE {PROMPT} = 'single_grade' GROUP BY ALL",
    )
    found = {(row["rater"], row["model"], row["category"]): row["mean"] for row in rows}
    reported = query(
        logs,
        "FROM reported_metrics WHERE run_id = 'figure3_scores' AND task_set = 'mt_bench/en'",
    )
    n_recomputed = 0
    for row in reported:
        if row["metric"] in COLUMNS:
            mean = found[COLUMNS[row["metric"]], row["model"], row["task_group"]]
            assert abs(mean - row["value"]) <= 0.5e-4 + 1e-9
            n_recomputed += 1
    assert n_recomputed == 2 * (6 + 8)
    audited = query(logs, "SELECT DISTINCT status, reason FROM metric_audit")
    assert [tuple(row.values()) for row in audited] == [
        ("not recomputable", "the table calls judges by labels, which no judgement has")
    ]
    # The rest is about judges, or a language, of which the reference data has no judgements.
    assert {row["metric"] for row in reported} - COLUMNS.keys() == {
        *("qwen_14b", "qwen_32b", "exaone_32b", "gemma_4_12b", "judge_mean")
    }


@pytest.mark.slow
def test_questions_are_tasks_and_a_review_of_them_is_declined(logs):
    rows = query(logs, "FROM tasks ORDER BY seq")
    lines = (FOLDER / "en" / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    assert [row["task_id"] for row in rows] == [str(each["question_id"]) for each in questions]
    assert [row["prompt"] for row in rows] == ["\n\n".join(each["turns"]) for each in questions]
    assert {row["task_set"] for row in rows} == {"mt_bench/en"}
    for row, each in zip(rows, questions, strict=True):
        assert json.loads(row["extra"]) == {k: v for k, v in each.items() if k != "question_id"}
    assert not any(run.startswith("table4") for run, _, _ in figures(logs)[0])


@pytest.mark.slow
def test_a_grade_is_a_rating_of_each_turn(tmp_path):
    records = [
        GRADE,
        {**GRADE, "judgment_turn2": "", "question_id": 82},
        {**GRADE, "score_turn2": 11, "question_id": 83, "input_sha256": "ab"},
    ]
    guided = {**GRADE, "score_turn1": -1.0, "judgment_turn1": "", "score_turn2": 3.0}
    folder = tmp_path / "data" / "ko" / "judgments" / "judge_j"
    write_lines(folder / "single_grade" / "m.jsonl", *records)
    write_lines(folder / "single_grade_ref" / "m.jsonl", guided)
    store = imported(tmp_path, tmp_path / "data")
    rows = query(store, "FROM ratings ORDER BY with_reference, task_id, turn")
    assert [(row["task_id"], row["turn"], row["value"], row["status"]) for row in rows] == [
        ("81", 1, 8.5, "ok"),
        ("81", 2, None, "unparsed"),
        ("82", 1, 8.5, "ok"),
        ("82", 2, None, "error"),
        ("83", 1, 8.5, "ok"),
        ("83", 2, None, "unparsed"),
        ("81", 2, 3.0, "ok"),
    ]
    assert {(row["run_id"], row["task_set"]) for row in rows} == {("ko/j", "mt_bench/ko")}
    first, strange, last = rows[0], rows[5], rows[6]
    assert (first["rater"], first["rater_kind"], first["judge_model"]) == ("j", "judge", "j")
    assert (first["with_reference"], last["with_reference"]) == (False, True)
    assert (first["scale_low"], first["scale_high"], first["model"]) == (1, 10, "m/1")
    assert first["rated_at"].isoformat() == "2026-06-29T13:33:12.500000"
    assert first["raw_output"] == "[[8.5]]"
    assert json.loads(first["extra"]) == {"category": "writing", "avg_score": 8.5}
    kept = {"score_turn2": 11, "input_sha256": "ab"}
    assert json.loads(strange["extra"]) == {"category": "writing", "avg_score": 8.5, **kept}


@pytest.mark.slow
def test_both_orders_of_a_pair_are_two_votes(tmp_path):
    records = [
        PAIR,
        {**PAIR, "question_id": 82, "winner_ba": "B", "winner": "inconsistent"},
        {**PAIR, "question_id": 83, "winner_ab": "error", "winner": "error"},
        {**PAIR, "question_id": 84, "winner_ab": "tie", "winner_ba": "tie", "winner": "tie"},
        {**PAIR, "question_id": 85, "winner_ab": "C", "winner_ba": "error", "judgment_ba": ""},
    ]
    store = imported(tmp_path, write_lines(tmp_path / "pairwise" / "x_vs_y.jsonl", *records))
    votes = query(store, "FROM preferences ORDER BY seq, first_shown")
    found = [(row["first_shown"], row["outcome"], row["status"]) for row in votes]
    assert found == [
        *(("a", "b", "ok"), ("b", "b", "ok")),
        *(("a", "b", "ok"), ("b", "a", "ok")),
        *(("a", None, "unparsed"), ("b", "b", "ok")),
        *(("a", "tie", "ok"), ("b", "tie", "ok")),
        *(("a", None, "unparsed"), ("b", None, "error")),
    ]
    assert {(row["model_a"], row["model_b"], row["run_id"]) for row in votes} == {("x", "y", "j")}
    assert [row["pair_id"] for row in votes[::2]] == [row["pair_id"] for row in votes[1::2]]
    assert len({row["pair_id"] for row in votes}) == 5
    assert [row["turn"] for row in votes] == [None] * 10
    assert json.loads(votes[8]["extra"])["winner_ab"] == "C"
    assert [row["raw_output"] for row in votes[:2]] == ["[[B]]", "[[A]]"]
    verdicts = query(store, "FROM preference_verdicts ORDER BY task_id")
    outcomes = [(row["outcome"], row["n_valid"], row["is_consistent"]) for row in verdicts]
    assert outcomes == [
        ("b", 2, True),
        ("inconsistent", 2, False),
        ("b", 1, None),
        ("tie", 2, True),
        (None, 0, None),
    ]


@pytest.mark.slow
def test_judgements_and_people_of_fastchat(tmp_path):
    folder = tmp_path / "mt_bench"
    failed = {**SINGLE, "score": -1, "question_id": 82, "judge": ["gpt-4", "single-v1"], "turn": 1}
    people = [
        PERSON,
        {**PERSON, "judge": "author_0", "winner": "tie (bothbad)", "turn": 2},
        {**PERSON, "judge": "author_1", "winner": "?"},
        {**PERSON, "judge": "author_2", "conversation_a": ["a1", 7]},
    ]
    write_lines(folder / "model_judgment" / "gpt-4_single.jsonl", SINGLE, failed)
    write_lines(folder / "model_judgment" / "gpt-4_pair.jsonl", GAMES)
    write_lines(folder / "human_judgments.jsonl", *people)
    write_lines(folder / "question.jsonl", QUESTION)
    store = imported(tmp_path, folder)
    single, unparsed = query(store, "FROM ratings ORDER BY seq")
    assert (single["run_id"], single["task_set"]) == ("gpt-4", "mt_bench")
    assert (single["value"], single["turn"], single["with_reference"]) == (7, 2, True)
    assert json.loads(single["rater_config"])["prompt"] == "single-math-v1-multi-turn"
    assert json.loads(single["extra"]) == {"user_prompt": "Rate it."}
    assert (unparsed["value"], unparsed["status"]) == (None, "unparsed")
    assert unparsed["with_reference"] is False
    games = query(store, "FROM preferences WHERE rater_kind = 'judge' ORDER BY first_shown")
    found = [(row["first_shown"], row["outcome"], row["turn"], row["run_id"]) for row in games]
    assert found == [("a", "a", 1, "gpt-4"), ("b", "tie", 1, "gpt-4")]
    votes = query(store, "FROM preferences WHERE rater_kind = 'human' ORDER BY seq")
    assert [row["rater"] for row in votes] == ["expert_3", "author_0", "author_1", "author_2"]
    assert [row["outcome"] for row in votes] == ["b", "both_bad", None, "b"]
    assert [row["status"] for row in votes] == ["ok", "ok", "unparsed", "ok"]
    assert json.loads(votes.pop()["extra"]) == {"conversation_a": ["a1", 7]}
    assert {(row["run_id"], row["first_shown"]) for row in votes} == {("human", None)}
    # All three voted on the same two answers.
    assert len({row["pair"] for row in votes}) == 1
    answers = query(store, "SELECT model, raw_output FROM results ORDER BY model")
    assert [tuple(row.values()) for row in answers] == [("x", "a1\n\na2"), ("y", "b1")]
    (task,) = query(store, "FROM tasks")
    assert (task["task_id"], task["prompt"], task["seq"]) == ("81", "q1\n\nq2", 81)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["somewhere", "judgments/en", "en/judgments/j/elsewhere"])
def test_where_a_file_lies_says_no_more_than_its_language(tmp_path, place):
    store = imported(tmp_path, write_lines(tmp_path / place / "a.jsonl", PAIR))
    task_set = "mt_bench/en" if place.startswith("en/") else "mt_bench"
    rows = query(store, "SELECT DISTINCT task_set, rater_config FROM preferences")
    assert rows == [{"task_set": task_set, "rater_config": '{"model":"j"}'}]


@pytest.mark.slow
def test_what_cannot_be_used_is_in_quarantine(tmp_path):
    records = [
        {**SINGLE, "model": None},
        {**SINGLE, "judge": []},
        {**PAIR, "model_b": 3},
        {**PERSON, "question_id": "x"},
        [1],
        SINGLE,
    ]
    path = write_lines(tmp_path / "a.jsonl", *records)
    path.write_text(path.read_text() + '{"question_id": 8')
    store = imported(
        tmp_path,
        path,
        write_lines(tmp_path / "question.jsonl", QUESTION, {**QUESTION, "turns": "q"}),
    )
    reasons = rejected(store)
    assert [line for line, _ in reasons] == [1, 2, 2, 3, 4, 5, 7]
    assert reasons[0] == (1, "has no model")
    assert reasons[3] == (3, "has no two models")
    assert {reason for line, reason in reasons if line in {2, 4}} == {
        "has no question_id, or no judge",
        "has no question_id, or no texts as turns",
    }
    assert len(query(store, "FROM ratings")) == 1


@pytest.mark.slow
def test_any_order_halves_and_repeats_give_equal_rows(tmp_path):
    folder = tmp_path / "data" / "en" / "judgments"
    numbers = range(81, 87)
    files = [
        write_lines(
            folder / "single_grade" / "m.jsonl", *({**GRADE, "question_id": n} for n in numbers)
        ),
        write_lines(
            folder / "pairwise" / "x_vs_y.jsonl", *({**PAIR, "question_id": n} for n in numbers)
        ),
        write_lines(tmp_path / "human.jsonl", *({**PERSON, "question_id": n} for n in numbers)),
        write_lines(tmp_path / "more.jsonl", *({**PERSON, "question_id": n} for n in (90, 83))),
        write_lines(
            tmp_path / "data" / "en" / "questions.jsonl",
            *({**QUESTION, "question_id": n} for n in numbers),
        ),
    ]
    check_any_order_is_the_same(tmp_path, files)
