"""ZeroEval: answers are read as its board reads them, and its figures follow from the answers."""

import csv
import json

import duckdb
import pytest
from peers import query
from preferences import imported, rejected, write_list
from support import NO_REFERENCE, REFERENCE

from ingest.formats.zeroeval.answers import written_answer
from warehouse.engine.views.sql_files import shipped_sql

FOLDER = REFERENCE / "items" / "zeroeval"
needs_items = pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_REFERENCE)


def answer(number, text, gold="'ab'", **fields):
    plain = {
        "session_id": f"crux-test-#{number}",
        "chat_history": [f"Question {number}?"],
        "model_input": "n/a",
        "output": [text],
        "generator": "org/model-a",
        "configs": {"engine": "openai", "temperature": 0.0},
        "dataset": "crux",
        "id": f"crux-test-#{number}",
        "question": "Question",
        "answer": gold,
    }
    return {**plain, **fields}


def verdicts(store):
    rows = query(
        store,
        "SELECT calls.run_id, model, task_id, verdicts.is_correct, verdicts.violation "
        "FROM results AS calls "
        "JOIN scores.computed_verdicts AS verdicts "
        "ON calls.run_id = verdicts.run_id AND calls.result_id = verdicts.content_id ORDER BY seq",
    )
    return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reasoning": "{", "answer": "7"}', "7"),
        ('So:\n```json\n{"reasoning": "a\nb", "answer": "7"}\n``` {"answer": "8"}', "7"),
        ('{"reasoning": "r"} {"answer": "8"}', "8"),
        ('{"answer": [1, True]}', "[1"),
        ('{"answer": [1, 2]}', "[1, 2]"),
        ('{"answer": true}', "True"),
        ('{"answer": ""}', ""),
        ('{"reasoning": "cut", "answer": "x', '"x'),
        ('{"reasoning": "a "quoted" word", "answer": "x"}', "x"),
        ("}}} 7", None),
        ("", None),
        ("{" * 5000 + "}" * 5000, None),
    ],
)
def test_the_answer_of_a_reply(text, expected):
    assert written_answer(text) == expected


@pytest.mark.slow
def test_quotes_around_answers_do_not_count(tmp_path):
    replies = ("ab", "'ab'", "'ab' ", 'a"b', "")
    answers = [answer(n, json.dumps({"answer": each})) for n, each in enumerate(replies)]
    path = write_list(
        tmp_path / "crux" / "m@x.json",
        *answers,
        answer(5, "no idea"),
        answer(6, '{"answer": "x"}', gold=None),
    )
    assert [row[2:] for row in verdicts(imported(tmp_path, path))] == [
        ("crux-test-#0", True, None),
        ("crux-test-#1", True, None),
        ("crux-test-#2", False, "another answer"),
        ("crux-test-#3", False, "another answer"),
        ("crux-test-#4", False, "another answer"),
        ("crux-test-#5", False, "no answer"),
        ("crux-test-#6", None, "the right answer is not known"),
    ]


@pytest.mark.slow
def test_the_mode_is_of_the_run_and_other_sets_are_not_scored(tmp_path):
    plain = write_list(tmp_path / "gsm" / "m.json", answer(1, "{}", dataset="gsm", id=7))
    sampled = write_list(tmp_path / "crux" / "sampling" / "m.json", answer(1, '{"answer": "ab"}'))
    store = imported(tmp_path, plain, sampled)
    assert sorted(verdicts(store)) == [
        ("crux sampling", "m", "crux-test-#1", True, None),
        ("gsm greedy", "m", "7", None, "evalstore has no scorer for the data set gsm"),
    ]
    [row] = query(store, "SELECT provider, settings, extra FROM results WHERE task_id = '7'")
    assert (row["provider"], "temperature" in row["settings"]) == ("openai", True)
    assert '"generator":"org/model-a"' in row["extra"]


@pytest.mark.slow
def test_what_is_no_answer_goes_to_quarantine(tmp_path):
    path = write_list(tmp_path / "m.json", answer(1, "x"), answer(2, "x", dataset=3), [1])
    assert rejected(imported(tmp_path, path)) == [
        (2, "has no `id` or no `dataset`"),
        (3, "not a JSON object"),
    ]


@pytest.mark.slow
def test_figures_of_few_answers_are_of_missing_samples(tmp_path):
    answers = write_list(tmp_path / "deepseek-chat.json", answer(1, '{"answer": "ab"}'))
    board = [
        {"Model": "deepseek-v2-chat-0628", "Mode": "greedy", "Acc": "50.00", "Total": 2},
        {"Model": None, "Mode": "greedy"},
    ]
    summary = write_list(tmp_path / "crux.summary.json", *board)
    store = imported(tmp_path, answers, summary)
    [row] = query(store, "SELECT metric, status, reason FROM metric_audit")
    assert tuple(row.values()) == ("Acc", "samples missing", "the store has 1 of 2")
    assert rejected(store) == [(None, "has no `Model` or no `Mode`")]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([("1", "A", True), ("2", None, False)], (50.0, 50.0)),
        ([("1", "A", True), ("2", "A", None)], (None, 0.0)),
        ([("1", "A", True), ("1", "A", True)], (None, None)),
    ],
)
def test_figures_are_of_one_judged_answer_to_each_item(answers, expected):
    [figures] = [file for file in shipped_sql() if file.name == "zeroeval_figures"]
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA lake; CREATE SCHEMA scores")
        con.execute("CREATE TABLE answers (task_id TEXT, answer TEXT, is_correct BOOLEAN)")
        con.executemany("INSERT INTO answers VALUES (?, ?, ?)", answers)
        rows = "SELECT 'zeroeval' AS suite, 'r' AS run_id, rowid AS content_id, *"
        con.execute(f"CREATE VIEW scores.zeroeval_verdicts AS {rows} FROM answers")
        con.execute(f"CREATE VIEW lake.results AS {rows}, 'm' AS model FROM answers")
        query = f"SELECT figures['Acc'], figures['No answer'] FROM ({figures.sql})"
        assert con.execute(query).fetchall() == [expected]


@pytest.mark.slow
@needs_items
def test_the_published_figures_follow_from_the_answers(tmp_path):
    store = imported(tmp_path, FOLDER)
    with (FOLDER / "crux.matrix.csv").open() as file:
        matrix = {row["item"]: row["gemini-1.5-pro"] for row in csv.DictReader(file)}
    found = {item: passed for _, _, item, passed, _ in verdicts(store)}
    assert found == {item: value == "1" for item, value in matrix.items()}
    audit = query(
        store,
        "SELECT metric, reported, recomputed, n, status FROM metric_audit "
        "WHERE model = 'gemini-1.5-pro' AND status <> 'not recomputable'",
    )
    assert [tuple(row.values()) for row in audit] == [
        ("Acc", 68.0, 68.0, 800, "equal"),
        ("No answer", 0.25, 0.25, 800, "equal"),
    ]
