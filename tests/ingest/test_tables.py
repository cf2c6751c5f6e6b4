"""Tables of results: shapes, guesses, mappings, growth, and what is wrong with rows."""

import json
import sys
from datetime import datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest
from large_logs import write_table
from support import EXAMPLES, child, command, import_into

from ingest.formats.common import lines
from ingest.formats.tables import csv_files, parquet_files, values
from ingest.formats.tables.columns import confirmation
from ingest.formats.tables.columns.facts import ColumnFacts
from ingest.reconciliation import FileOutcome

WIDE = """\
model,item,question,output,target,correct,accuracy,f1,note
a,q1,Why?,yes,yes,true,85%,0.5,x
a,q2,"How,
so?",no,yes,false,9%,1,
b,q1,Why?,,yes,no,NA,,""
b,q2,"How,
so?",yes,yes,PASS,100%,1e-3,y
"""


def table(path, text):
    path.write_text(text, "utf-8")
    return path


def rows(store, query):
    return store.sql(query).fetchall()


def scores(store):
    return rows(
        store,
        """
        SELECT model, task_id, attempt, metric, value, text
        FROM lake.result_scores AS s
        JOIN lake.results AS r ON s.run_id = r.run_id AND s.result_id = r.content_id
        ORDER BY ALL
        """,
    )


@pytest.mark.slow
def test_a_wide_table(store, cli, tmp_path):
    path = table(tmp_path / "first.csv", WIDE)
    done = cli("import", path, "--yes")
    assert (done.code, done.lines["results"]) == (0, "4 new")
    assert rows(
        store,
        "SELECT suite, run_id, seq, model, task_id, prompt, raw_output, objective_pass, extra "
        "FROM lake.results ORDER BY seq",
    ) == [
        ("first", "first", 2, "a", "q1", "Why?", "yes", True, '{"note":"x"}'),
        ("first", "first", 3, "a", "q2", "How,\nso?", "no", False, None),
        ("first", "first", 5, "b", "q1", "Why?", None, False, '{"note":""}'),
        ("first", "first", 6, "b", "q2", "How,\nso?", "yes", True, '{"note":"y"}'),
    ]
    assert scores(store) == [
        ("a", "q1", None, "accuracy", 0.85, None),
        ("a", "q1", None, "f1", 0.5, None),
        ("a", "q2", None, "accuracy", 0.09, None),
        ("a", "q2", None, "f1", 1.0, None),
        ("b", "q2", None, "accuracy", 1.0, None),
        ("b", "q2", None, "f1", 0.001, None),
    ]
    assert rows(store, "SELECT task_id, question, target FROM lake.tasks ORDER BY ALL") == [
        ("q1", "Why?", "yes"),
        ("q2", "How,\nso?", "yes"),
    ]
    [(config, name)] = rows(store, "SELECT config, source_name FROM lake.runs")
    assert json.loads(config)["table"]["map"]["scores"] == ["accuracy", "f1"]
    assert name == "first.csv"
    assert rows(store, "SELECT model, pass_rate FROM leaderboard WHERE is_main ORDER BY ALL") == [
        ("a", 0.5),
        ("b", 0.5),
    ]


TASKS = "SELECT task_id, cluster, task_hash FROM tasks ORDER BY task_id"


@pytest.mark.slow
def test_clusters_of_tasks_leave_the_tasks_as_they_are(store, cli, tmp_path):
    header, *lines = "run_id,model,item,question,correct", "r,m,q1,Why?,yes", "r,m,q2,How?,no"
    plain = table(tmp_path / "plain.csv", "\n".join([header, *lines]))
    assert cli("import", plain, "--yes", "--suite", "a").code == 0
    before = rows(store, TASKS)
    assert [cluster for _, cluster, _ in before] == [None, None]
    # Each table with clusters is another version of the set, with the same versions of its tasks.
    named = [f"{line}, p1 " for line in lines]
    grouped = table(tmp_path / "grouped.csv", "\n".join([f"{header},Cluster", *named]))
    assert cli("import", grouped, "--yes", "--suite", "b").code == 0
    after = rows(store, TASKS.replace("tasks", "tasks WHERE suite = 'b'"))
    assert after == [(task, "p1", task_hash) for task, _, task_hash in before]
    sets = "SELECT count(DISTINCT task_set_hash), count(DISTINCT item_hash) FROM tasks"
    assert rows(store, sets) == [(2, 2)]
    assert rows(store, "SELECT extra, count(*) FROM lake.results GROUP BY ALL") == [(None, 4)]


@pytest.mark.slow
def test_ids_without_clusters_are_those_from_before_the_column(store, cli, tmp_path):
    # Reference values: written by the version before `tasks` had the column `cluster`.
    path = table(
        tmp_path / "plain.csv",
        "run_id,model,item,question,correct\nr,m,q1,Why?,yes\nr,m,q2,How?,no\n",
    )
    assert cli("import", path, "--yes", "--suite", "a").code == 0
    why, how = "b8e05e47f3c2d8f3369e0c54f446ef48", "a57f3cd58d7375f71a12ad21992847ea"
    query = "SELECT task_id, task_hash, content_id FROM lake.{} ORDER BY task_id DESC"
    assert rows(store, query.format("tasks")) == [
        ("q2", how, "eafc090148d7f409b9a172ef2819d4e4"),
        ("q1", why, "0b679989eb09d3ee5826447ed143f14d"),
    ]
    assert rows(store, query.format("results")) == [
        ("q2", how, "233a67090f66e4f38961c70c1810a773"),
        ("q1", why, "c3585b6a1bb3b90ae5088c896221d5a7"),
    ]
    assert rows(store, "SELECT DISTINCT task_set_hash FROM lake.tasks") == [
        ("10b3872f8559a5a286c9faca90efb3df",)
    ]


@pytest.mark.slow
def test_clusters_of_tasks_without_texts(store, cli, tmp_path):
    path = table(tmp_path / "first.csv", "model,task_id,correct,cluster_id\nm,x,yes,1\nm,y,no,1\n")
    assert cli("import", path, "--yes").code == 0
    found = rows(store, TASKS)
    assert [row[:2] for row in found] == [("x", "1"), ("y", "1")]
    assert len({task_hash for *_, task_hash in found}) == 2


@pytest.mark.slow
def test_again_and_grown(store, cli, tmp_path):
    path = table(tmp_path / "first.csv", WIDE)
    cli("import", path, "--yes")
    assert cli("import", path).lines["files"].endswith("(1 unchanged)")
    # Other bytes, the same content, and no question: the columns are stored with the run.
    shorter = "".join(WIDE.splitlines(keepends=True)[:4])
    (tmp_path / "part").mkdir()
    part = table(tmp_path / "part" / "first.csv", shorter.replace("9%", "9.0%"))
    done = cli("import", part)
    assert "columns as at the first import" in done.err
    assert done.lines["files"].endswith("(1 unchanged)")
    table(path, WIDE + "b,q3,New?,yes,yes,yes,1%,0,z\n")
    done = cli("import", path)
    assert (done.lines["results"], done.code) == ("1 new", 0)
    assert rows(store, "SELECT count(*), count(DISTINCT content_id) FROM lake.results") == [(5, 5)]
    assert len(scores(store)) == 8
    # Another score of a result that the store has is a contradiction, not growth.
    table(path, (WIDE + "b,q4,New?,yes,yes,yes,1%,0,z\n").replace("85%", "86%"))
    done = cli("import", path)
    assert done.code == 2
    assert "conflicts with run first" in done.err
    assert cli("import", path, "--replace").code == 0
    assert scores(store)[0][4] == 0.86


@pytest.mark.slow
def test_nothing_is_stored_without_a_confirmation(store, cli, tmp_path, monkeypatch):
    path = table(tmp_path / "first.csv", WIDE)
    done = cli("import", path)
    assert done.code == 2
    shown = "correct                   true = pass, false = fail, no = fail"
    assert f"passed        {shown}" in done.err
    assert "score         accuracy                  85% = 0.85, 9% = 0.09, 100% = 1" in done.err
    assert "extra         note" in done.err
    assert max(map(len, done.err.splitlines()[1:-1])) <= 80
    assert not store.lake.batch_names()

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    assert cli("import", path).code == 2
    assert not store.lake.batch_names()
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    assert cli("import", path).code == 0


@pytest.mark.slow
def test_a_long_table_with_runs_and_attempts(store, cli, tmp_path):
    path = table(
        tmp_path / "long.tsv",
        "run\tmodel\titem\tepoch\tmetric\tvalue\tnote\n"
        "r1\ta\tq1\t0\tf1\t0.5\tx\n"
        "r1\ta\tq1\t0\taccuracy\t1\ty\n"
        "r1\ta\tq1\t1\tf1\tinf\t\n"
        "r2\ta\tq1\t0\tf1\t0.25\t\n",
    )
    done = cli("import", path, "--yes", "--suite", "mine", "--task-set", "set")
    assert (done.code, done.lines["runs"], done.lines["results"]) == (0, "2", "3 new")
    assert "0 (0 is the first attempt)" in done.err or "0, 1 (0 is the first attempt)" in done.err
    assert scores(store) == [
        ("a", "q1", 1, "accuracy", 1.0, None),
        ("a", "q1", 1, "f1", 0.25, None),
        ("a", "q1", 1, "f1", 0.5, None),
        ("a", "q1", 2, "f1", None, "inf"),
    ]
    assert rows(store, "SELECT DISTINCT suite, task_set FROM lake.results") == [("mine", "set")]
    assert len(rows(store, "SELECT config FROM lake.runs WHERE config IS NOT NULL")) == 2
    # A metric more for a known result is growth.
    path.write_text(path.read_text() + "r2\ta\tq1\t0\taccuracy\t0\t\n")
    done = cli("import", path, "--suite", "mine")
    assert (done.code, done.lines["files"]) == (0, "1  (1 grown)")
    assert done.lines["results"] == "0 new"
    assert len(scores(store)) == 5


@pytest.mark.slow
def test_a_mapping_file(store, cli, tmp_path):
    path = table(
        tmp_path / "odd.csv",
        "who;what;ok;took;points;percentage\na;q1;1;1500;0,5;3\na;q2;0;20;2;4\n",
    )
    assert "no column names the model" in cli("import", path, "--yes").err
    columns = tmp_path / "map.yaml"
    columns.write_text(
        "model: who\ntask: what\npassed: ok\nlatency: took\nlatency_unit: ms\nscores: [points]\n"
    )
    done = cli("import", path, "--columns", columns)
    assert (done.code, done.lines["results"]) == (0, "2 new")
    assert rows(
        store, "SELECT task_id, objective_pass, duration_seconds, extra FROM lake.results"
    ) == [("q1", True, 1.5, '{"percentage":"3"}'), ("q2", False, 0.02, '{"percentage":"4"}')]
    # What is no number is kept as text.
    assert scores(store) == [
        ("a", "q1", None, "points", None, "0,5"),
        ("a", "q2", None, "points", 2.0, None),
    ]
    for text, message in (
        ("modle: who", "did you mean 'model'"),
        ("model: whom\ntask: what", "no column 'whom'; did you mean 'who'"),
        ("model: who\ntask: what\nlatency: took", "does not say the unit"),
        ("model: who\nscores: points", "scores: must be a list of columns"),
        ("- model", "a mapping has lines"),
        ("model: who", "no column names the task"),
        ("model: {", "cannot be used as a mapping"),
    ):
        columns.write_text(text)
        done = cli("import", path, "--columns", columns)
        assert (done.code, message in done.err) == (2, True), (message, done.err)
    assert "only for tables" in cli("import", EXAMPLES, "--suite", "x").err


@pytest.mark.parametrize(
    ("column", "values", "shown"),
    [
        ("correct", "0,1,2", "score         correct"),  # a count
        ("passed", "0,0.5,1", "score         passed"),
        ("score", "0,1,1", "score         score"),
        ("success_rate", "true,false,yes", "score         success_rate              true = 1"),
        ("passed", "0,1,1", "passed        passed                    0 = fail, 1 = pass"),
        ("pass", "Yes,no,", "passed        pass                      Yes = pass, no = fail"),
        ("latency", "1,2,3", "score         latency"),  # of an unknown unit
        ("temperature", "0,1,2", "extra         temperature"),
        (
            "cost",
            "0.1,2 EUR,3",
            "extra         cost                      not always a number: 2 EUR",
        ),
        # Of many values those are named that are no numbers.
        (
            "cost",
            "1,2,3,4,5,cheap",
            "extra         cost                      not always a number: cheap",
        ),
        ("time", "1.5,2.5,3", "score         time"),
        ("time", "2026-03-01,2026-03-02,", "time          time"),
        # Long values are cut off to the width of the screen.
        (
            "output",
            f"{'a' * 30},{'b' * 30},{'c' * 30}",
            f"output        output                    {'a' * 20}…, bbbb",
        ),
    ],
)
def test_guesses_are_visible_and_careful(cli, tmp_path, column, values, shown):
    lines = [f"m,q{n},{value}" for n, value in enumerate(values.split(","))]
    path = table(tmp_path / "t.csv", "\n".join([f"model,id,{column}", *lines]))
    done = cli("import", path)
    assert shown in done.err
    assert max(map(len, done.err.splitlines()[1:-1])) <= 80
    assert done.code == 2


@pytest.mark.slow
def test_rows_that_cannot_be_used_are_quarantined_with_their_line(store, cli, tmp_path):
    good = "model,item,passed,cost_usd,output\na,q1,yes,0.5,x\n"
    path = table(tmp_path / "t.csv", good)
    cli("import", path, "--yes")
    bad = (
        b'a,q2,yes,0.5,"two\nlines"\n'  # 3
        b"\n"
        b"a,q3,maybe,0.5,x\n"  # 6
        b"a,q4,yes,cheap,x\n"
        b"a,q5,yes\n"
        b",q6,yes,1,x\n"
        b"a,,yes,1,x\n"  # 10
        b"a,q7,yes,1,\xff\n"
        b"a,\xe4\n"
        b"a,q8,yes,1,x\n"
    )
    path.write_bytes(good.encode() + bad)
    done = cli("import", path)
    assert (done.code, done.lines["results"], done.lines["quarantined"]) == (2, "2 new", "7")
    assert rows(store, "SELECT line, reason FROM lake.quarantine ORDER BY line") == [
        (6, "passed must be true or false, yes or no, pass or fail, 1 or 0, not 'maybe'"),
        (7, "cost_usd must be a finite number, not 'cheap'"),
        (8, "3 fields in place of 5"),
        (9, "names no model"),
        (10, "names no task"),
        (11, "not UTF-8"),
        (12, "2 fields in place of 5"),
    ]
    assert rows(store, "SELECT task_id, seq FROM lake.results ORDER BY seq") == [
        ("q1", 2),
        ("q2", 3),
        ("q8", 13),
    ]
    [(raw,)] = rows(store, "SELECT raw FROM lake.quarantine WHERE line = 12")
    assert raw == b"a,\xe4"
    assert cli("import", path, "--strict", "--as", "other").code == 1
    assert rows(store, "SELECT count(DISTINCT run_id) FROM lake.results") == [(1,)]


@pytest.mark.slow
def test_private_characters_are_text(store, cli, tmp_path):
    """The reader marks bytes that are not UTF-8 with such characters."""
    text = f"model,item,output,score\na,q1,{chr(0x10FF80)},1\na,q2,x,1\n"
    assert cli("import", table(tmp_path / "t.csv", text), "--yes").code == 0
    found = rows(store, "SELECT raw_output FROM lake.results ORDER BY seq")
    assert found == [(chr(0x10FF80),), ("x",)]


def test_a_column_is_shown_by_its_first_three_values():
    facts = ColumnFacts("note")
    facts.add(pl.Series(["a", None, "b", "a"]), decimal_comma=False)
    assert facts.samples == ["a", "b"]
    facts.add(pl.Series(["b", "c", "d"]), decimal_comma=False)
    assert facts.samples == ["a", "b", "c"]


@pytest.mark.slow
def test_repeated_rows(store, cli, tmp_path):
    start = "model,item,score\na,q1,1\nb,q1,2\na,q1,1.0\n"
    path = table(tmp_path / "t.csv", start)
    done = cli("import", path, "--yes")
    assert done.lines["results"] == "2 new"
    assert len(scores(store)) == 2
    table(path, start + "b,q1,3\n")
    done = cli("import", path)
    assert done.code == 2
    assert "t.csv:5: a result with the run, model, task and attempt of line 3, but" in done.err
    long = table(
        tmp_path / "long.csv", "model,item,metric,value\na,q1,f1,1\na,q1,f1,1\na,q1,f1,2\n"
    )
    done = cli("import", long, "--yes")
    assert "long.csv:4: a score with the run, model, task, metric and attempt of line 2" in done.err
    assert rows(store, "SELECT DISTINCT run_id FROM lake.results") == [("t",)]


@pytest.mark.slow
@pytest.mark.parametrize("again", ["yes,1.0,0.0", "yes,,"])
def test_a_row_is_repeated_if_all_of_it_is_equal(store, cli, tmp_path, again):
    first = again.replace(".0", "")
    text = f"model,item,output,f1,em\na,q1,{first}\na,q2,yes,1,1\na,q1,{again}\n"
    done = cli("import", table(tmp_path / "t.csv", text), "--yes")
    assert done.lines["results"] == "2 new"
    assert len(scores(store)) == (2 if again == "yes,," else 4)


@pytest.mark.parametrize(
    ("first", "second"),
    [("yes,1,0", "no,1,0"), ("yes,,", "yes,1,"), ("yes,1,", "yes,,"), ("yes,1,0", "yes,0,1")],
)
def test_a_row_with_another_answer_or_score_is_a_contradiction(cli, tmp_path, first, second):
    text = f"model,item,output,f1,em\na,q1,{first}\na,q2,yes,1,1\na,q1,{second}\n"
    done = cli("import", table(tmp_path / "t.csv", text), "--yes")
    assert done.code == 2
    assert "t.csv:4: a result with the run, model, task and attempt of line 2" in done.err


FORMS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "json": lambda frame, path: frame.write_json(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
}


def many(n):
    return pl.DataFrame(
        {
            "model": [f"m{i % 2}" for i in range(n)],
            "item": [f"q{i // 2 % 50}" for i in range(n)],
            "epoch": [i // 100 + 1 for i in range(n)],
            "prompt": [f'say "{i // 2 % 50}"' for i in range(n)],
            "passed": [None if i % 7 == 0 else i % 3 == 0 for i in range(n)],
            "f1": [None if i % 5 == 0 else i / 8 for i in range(n)],
            "note": [None if i % 2 else f"n{i}" for i in range(n)],
        }
    )


@pytest.mark.campaign
def test_every_form_and_every_size_of_blocks_gives_the_same_rows(store, tmp_path, monkeypatch):
    found = []
    for form, write in FORMS.items():
        for n_bytes, n_rows in ((2**24, 50_000), (2**11, 7)):
            monkeypatch.setattr(csv_files, "_BLOCK_BYTES", n_bytes)
            monkeypatch.setattr(lines, "_BLOCK_BYTES", n_bytes)
            monkeypatch.setattr(parquet_files, "_ROWS", n_rows)
            path = tmp_path / f"t.{form}"
            write(many(400), path)
            other = type(store)(tmp_path / f"store-{form}-{n_rows}", wait_seconds=0)
            assert command(other.path, "import", path, "--yes").code == 0
            parts = [
                pl.read_parquet(other.path / "lake" / "*" / f"{name}.parquet")["content_id"]
                for name in ("results", "result_scores", "tasks")
            ]
            assert [len(part) for part in parts] == [400, 320, 50]
            found.append(pl.concat(parts).sort().to_list())
    assert all(each == found[0] for each in found)


@pytest.mark.slow
def test_batches_without_usable_rows_or_keys(store, cli, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK_BYTES", 64)
    rest = "".join(f'{{"model": "a", "id": {n}}}\n' for n in range(3))
    text = '{"x": 1}\n{"x": 2}\n' + "\n" * 70 + "[1]\n" + " " * 70 + "\n" + rest
    path = table(tmp_path / "t.jsonl", text)
    assert cli("import", path, "--yes").lines["results"] == "3 new"
    assert rows(store, "SELECT line, reason FROM lake.quarantine ORDER BY line") == [
        (1, "names no model"),
        (2, "names no model"),
        (73, "not a JSON object"),
    ]
    path = table(tmp_path / "none.csv", "model,id,prompt\n,1,x\n")
    assert cli("import", path, "--yes").lines["quarantined"] == "1"


@pytest.mark.slow
def test_json_lines_of_any_keys(store, cli, tmp_path):
    records = [
        {"model": "a", "id": 1, "input": "?", "score": 1, "more": {"x": [1, None]}, "~x/": True},
        {"model": "a", "id": 2, "input": "?", "late": 7},
    ]
    text = "\n".join(map(json.dumps, records))
    text += '\n\n[1]\n{"model": \n{"model": "\\ud800", "id": 3}'
    path = table(tmp_path / "t.jsonl", text)
    done = cli("import", path, "--yes")
    assert done.lines["results"] == "3 new"
    assert rows(store, "SELECT model, task_id, seq, extra FROM lake.results ORDER BY seq") == [
        ("a", "1", 1, '{"more":{"x":[1,null]}}'),
        ("a", "2", 2, None),
        ("���", "3", 6, None),
    ]
    assert scores(store) == [
        ("a", "1", None, "score", 1.0, None),
        ("a", "1", None, "~x/", 1.0, None),
        ("a", "2", None, "late", 7.0, None),
    ]
    assert rows(store, "SELECT line FROM lake.quarantine ORDER BY line") == [(4,), (5,)]


def test_a_quote_that_is_not_closed_swallows_no_rows_in_silence(store, cli, tmp_path):
    text = "model,id,epoch,output\na,1,0,x\na,2,-1,x\n"
    path = table(tmp_path / "t.csv", text + 'a,3,0,"y\na,4,0,y\n')
    columns = table(tmp_path / "map.yaml", "model: model\ntask: id\nattempt: epoch\n")
    columns.write_text(columns.read_text() + "first_attempt: 0\noutput: output\n")
    assert cli("import", path, "--columns", columns).lines["results"] == "1 new"
    assert rows(store, "SELECT line, reason FROM lake.quarantine ORDER BY line") == [
        (3, "epoch must be counted from 0, not '-1'"),
        (4, "a quote is not closed"),
    ]
    [(raw,)] = rows(store, "SELECT decode(raw) FROM lake.quarantine WHERE line = 4")
    assert json.loads(raw)["output"] == "y\na,4,0,y\n"


BY_MODEL = """\
task,target,gpt-x,claude-y,gemini-z,note,difficulty
t1,A,yes,no,✓,hm,1
t2,B,fail,pass,,x,2
t3,C,no,n/a,maybe,,3
"""


def answers(store):
    return rows(
        store,
        "SELECT model, task_id, seq, objective_pass, extra FROM lake.results ORDER BY ALL",
    )


@pytest.mark.slow
def test_a_column_for_each_model(store, cli, tmp_path, monkeypatch):
    path = table(tmp_path / "t.csv", BY_MODEL.replace("maybe", "no"))
    asked = []
    monkeypatch.setattr(confirmation, "_is_terminal", lambda: True)
    monkeypatch.setattr("click.confirm", lambda text, **_: asked.append(text) or len(asked) > 1)
    done = cli("import", path)
    [question] = asked
    assert question.startswith(
        "3 columns look like models: gpt-x, claude-y, gemini-z. Read their cells as"
    )
    assert (done.code, "--wide" in done.err.splitlines()[-1]) == (2, True)
    done = cli("import", path)
    assert (done.code, done.lines["results"]) == (0, "7 new")
    assert "model         claude-y                  passed: no = fail, pass = pass" in done.err
    assert "extra         difficulty                not named like a model; see --wide" in done.err
    assert answers(store) == [
        ("claude-y", "t1", 2, False, '{"difficulty":"1","note":"hm"}'),
        ("claude-y", "t2", 3, True, '{"difficulty":"2","note":"x"}'),
        ("gemini-z", "t1", 2, True, '{"difficulty":"1","note":"hm"}'),
        ("gemini-z", "t3", 4, False, '{"difficulty":"3"}'),
        ("gpt-x", "t1", 2, True, '{"difficulty":"1","note":"hm"}'),
        ("gpt-x", "t2", 3, False, '{"difficulty":"2","note":"x"}'),
        ("gpt-x", "t3", 4, False, '{"difficulty":"3"}'),
    ]
    assert rows(store, "SELECT task_id, target FROM lake.tasks ORDER BY ALL") == [
        ("t1", "A"),
        ("t2", "B"),
        ("t3", "C"),
    ]
    assert rows(store, "SELECT model, pass_rate FROM leaderboard WHERE is_main ORDER BY ALL") == [
        ("claude-y", 0.5),
        ("gemini-z", 0.5),
        ("gpt-x", 1 / 3),
    ]


@pytest.mark.slow
def test_a_wide_table_grows_by_rows_and_by_models(store, cli, tmp_path):
    text = "id,aurora,tundra\n1,0.5,72 %\n2,1,\n"
    path = table(tmp_path / "t.csv", text)
    done = cli("import", path, "--yes")
    assert (done.code, "`--wide` if each model has a column" in done.err) == (2, True)
    assert cli("import", path, "--yes", "--wide").lines["results"] == "3 new"
    assert [(row[0], *row[3:]) for row in scores(store)] == [
        ("aurora", "score", 0.5, None),
        ("aurora", "score", 1.0, None),
        ("tundra", "score", 0.72, None),
    ]
    path.write_text(text + "3,0,$0.25\n")
    assert cli("import", path).lines["results"] == "2 new"
    path.write_text("id,aurora,tundra,taiga\n1,0.5,72 %,1\n2,1,,1\n3,0,$0.25,1\n")
    done = cli("import", path)
    assert (done.code, "`--wide` looks for more models" in done.err) == (2, True)
    assert cli("import", path, "--yes", "--wide").lines["results"] == "3 new"
    assert "no `--model`" in cli("import", path, "--yes", "--wide", "--model", "x").err
    assert "`models:`" in cli("import", path, "--wide", "--columns", path).err


@pytest.mark.parametrize(
    ("header", "row", "shown"),
    [
        (
            "task,gpt-4o,claude-3",
            "1,0,1",
            "model         gpt-4o                    passed: 0 = fail",
        ),
        ("task,gpt-4o,a/b", "1,0.5,1", "model         a/b                       score: 1"),
        (
            "task,my-7b,qwen2",
            "1,1.2s,350 ms",
            "model         my-7b                     latency: 1.2",
        ),
        (
            "task,gpt-4o,claude",
            "1,Paris,Bonn",
            "model         claude                    output: Bonn",
        ),
        ("task,metric,o1,o3", "1,f1,0.5,1", "metric        metric                    f1"),
        ("task,gpt-4o_score,gpt-4o_cost", "1,0.5,1", "score         gpt-4o_score"),
        ("task,gpt-4o,f1", "1,0.5,1", "score         gpt-4o"),
    ],
)
def test_columns_that_look_like_models(cli, tmp_path, header, row, shown):
    done = cli("import", table(tmp_path / "t.csv", f"{header}\n{row}\n"))
    assert (done.code, shown in done.err) == (2, True), done.err


@pytest.mark.slow
def test_a_mapping_of_models(store, cli, tmp_path):
    path = table(tmp_path / "t.csv", BY_MODEL)
    assert "`--wide` in place of `--model`" in cli("import", path, "--model", "m").err
    columns = tmp_path / "map.yaml"
    columns.write_text("task: task\nmodels: [gpt-x, gemini-z]\n")
    assert "add what their cells are" in cli("import", path, "--columns", columns).err
    columns.write_text(columns.read_text() + "cells: passed\n")
    done = cli("import", path, "--columns", columns)
    assert (done.code, done.lines["results"]) == (2, "4 new")
    assert rows(store, "SELECT line, reason FROM lake.quarantine") == [
        (4, "gemini-z must be true or false, yes or no, pass or fail, 1 or 0, not 'maybe'")
    ]


NOON = datetime.fromisoformat("2026-03-04T12:00:00")


@pytest.mark.parametrize(
    ("convert", "given", "expected", "bad"),
    [
        (
            values.number,
            ["1", " 2.5 ", "85%", "1e-3", "NA", "nan", None],
            [1, 2.5, 0.85, 0.001, None, None, None],
            [],
        ),
        (values.number, ["-inf", "x", "1,5", ""], [float("-inf"), None, None, None], [1, 2]),
        (values.number, [True, None, False], [1, None, 0], []),
        (
            values.number,
            ["$0.001", "-$2", "0.5 $", "USD 3", "72 %", "72\u202f%", "2 EUR", "€1"],
            [0.001, -2, 0.5, 3, 0.72, 0.72, None, None],
            [6, 7],
        ),
        (
            lambda series: values.duration(series, None),
            ["1.2s", "250 ms", "2 min", "1000000µs", "1 h", "NA", "3", "s", "soon", None],
            [1.2, 0.25, 120, 1, 3600, None, None, None, None, None],
            [6, 7, 8],
        ),
        (
            lambda series: values.duration(series, "ms"),
            ["250", "1.2 s", "1e999 s"],
            [0.25, 1.2, None],
            [2],
        ),
        (
            values.number,
            ["$1,000.5", "-12,345,678.25", "1,234.5 %", "12,34.5", "1,234", "1,234,5.0"],
            [1000.5, -12345678.25, 12.345, None, None, None],
            [3, 4, 5],
        ),
        (values.finite_number, [1.5, float("inf"), float("nan")], [1.5, None, None], [1]),
        (
            values.integer,
            ["3", "3.0", "3.5", "1e20", "9007199254740993"],
            [3, 3, None, None, None],
            [2, 3, 4],
        ),
        (
            values.boolean,
            ["Yes", "FAIL", "1", "0.0", "2", "none", None],
            [True, False, True, False, None, None, None],
            [4],
        ),
        (values.boolean, [1, 0, 2], [True, False, None], [2]),
        (
            values.boolean,
            ["✓", "✔\ufe0f", "✅", "✗", "❌", "ja", "x"],
            [True, True, True, False, False, True, None],
            [6],
        ),
        (
            values.moment,
            [
                "2026-03-04T12:00:00Z",
                "2026-03-04 14:00:00+02:00",
                "2026-03-04 12:00:00.000",
                "1772625600",
                "1772625600000",
                "2026-03-04",
                "noon",
                None,
            ],
            [NOON] * 5 + [None] * 3,
            [6],
        ),
        (values.moment, [1_772_625_600.0, 17.0], [NOON, None], [1]),
        (values.json_list, ['["a"]', '{"a": 1}', "[1", None], ['["a"]', None, None, None], [1, 2]),
    ],
)
def test_values(convert, given, expected, bad):
    """Alone and next to others: what a value means does not depend on its neighbours."""
    converted, is_bad = convert(pl.Series("x", given))
    assert converted.to_list() == expected
    assert is_bad.arg_true().to_list() == bad
    for at, value in enumerate(given):
        alone, is_bad_alone = convert(pl.Series("x", [value], pl.Series("x", given).dtype))
        assert (alone[0], is_bad_alone[0]) == (expected[at], at in bad)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,5", "0.5"),
        ("-1.234,5", "-1234.5"),
        ("1.234", "1234"),
        ("0.5", "0.5"),
        ("$0,01", "$0.01"),
        ("72,5 %", "72.5 %"),
        ("1,5e-3 s", "1.5e-3 s"),
        ("a,5", "a,5"),
        ("1,2,3", "1,2,3"),
        ("1.2", "1.2"),
    ],
)
def test_decimal_commas(text, expected):
    assert values.decimal_points(pl.Series([text]))[0] == expected


def test_a_comma_of_thousands_is_no_evidence():
    clear = ["0,5", "12,34", "1.234,567", "0,123"]
    unclear = ["1,234", "1,234.5", "1,2,3", "a,5", "5"]
    found = [text for text in clear + unclear if values.has_decimal_comma(pl.Series([text]))]
    assert found == clear


@pytest.mark.slow
def test_minutes_that_a_person_needs_are_no_score(store, cli, tmp_path):
    lines = [f"m,q{n},{n < 4},{2**n}" for n in range(8)]
    path = table(tmp_path / "t.csv", "\n".join(["model,task,passed,human_minutes", *lines]))
    done = cli("import", path, "--yes")
    assert "extra         human_minutes" in done.err
    assert rows(store, "SELECT human_minutes, outcome FROM scores.timed_results ORDER BY 1") == [
        (2.0**n, float(n < 4)) for n in range(8)
    ]


@pytest.mark.slow
def test_a_spreadsheet_with_units_and_decimal_commas(store, cli, tmp_path, monkeypatch):
    path = table(
        tmp_path / "t.csv",
        "case;Modell;Latenz (ms);is_right;Kosten;qual;output;temperature;note\n"
        "c1;m;250;ja;$0,001;72,5 %;1,5;0,5;x\n"
        "c2;m;1,2s;✗;0,2 $;80 %;;0,7;y\n",
    )
    done = cli("import", path, "--yes")
    assert done.code == 0, done.err
    assert "Decimal commas in Latenz (ms), Kosten, qual, temperature: read 1,2s as 1.2s" in done.err
    assert "latency       Latenz (ms)               250 = 0.25 s, 1,2s = 1.2 s" in done.err
    assert "passed        is_right                  ja = pass, ✗ = fail" in done.err
    assert "extra         temperature               a setting, not a score" in done.err
    assert "extra         note                      text, and not a usual name" in done.err
    assert rows(
        store,
        "SELECT task_id, duration_seconds, objective_pass, cost_usd, raw_output "
        "FROM lake.results ORDER BY task_id",
    ) == [("c1", 0.25, True, 0.001, "1,5"), ("c2", 1.2, False, 0.2, None)]
    assert [row[3:5] for row in scores(store)] == [("qual", 0.725), ("qual", 0.8)]
    # It is stored with the run, and asked where someone can answer.
    path.write_text(path.read_text() + "c3;m;0,5s;ja;$1;1,5 %;;0,7;y\n")
    assert cli("import", path).lines["results"] == "1 new"
    asked = []
    monkeypatch.setattr(confirmation, "_is_terminal", lambda: True)
    monkeypatch.setattr("click.confirm", lambda text, **_: asked.append(text) or len(asked) > 1)
    other = type(store)(tmp_path / "other", wait_seconds=0)
    done = command(other.path, "import", path)
    assert asked[0].startswith("Decimal commas in Latenz (ms), Kosten")
    assert "extra         Kosten                    decimal commas? --decimal-comma: $0" in done.err
    assert rows(other, "SELECT count(*), count(cost_usd) FROM lake.results") == [(3, 0)]
    third = type(store)(tmp_path / "third", wait_seconds=0)
    done = command(third.path, "import", path, "--decimal-comma")
    assert (done.code, "Decimal commas" in done.err) == (0, False)
    assert rows(third, "SELECT count(cost_usd) FROM lake.results") == [(3,)]


def test_commas_between_thousands_are_not_read(cli, tmp_path):
    path = table(tmp_path / "t.csv", 'model,id,input_tokens\nm,1,"1,234"\nm,2,"12,345"\n')
    done = cli("import", path)
    assert "input_tokens              not always an integer: 1,234, 12,345" in done.err
    assert "Decimal" not in done.err


def test_a_date_is_no_time():
    dates = pl.Series("x", ["2026-03-04", "2026-03-04T12:00:00Z", None])
    assert values.date_text(dates).to_list() == ["2026-03-04", None, None]
    assert values.date_text(pl.Series("x", [NOON.date()])).to_list() == ["2026-03-04"]


def test_parquet_of_any_types(store, cli, tmp_path):
    frame = pl.DataFrame(
        {
            "model": pl.Series(["a", "b"], dtype=pl.Categorical),
            "id": [1, 2],
            "choices": [["x", "y"], None],
            "score": [Decimal("0.5"), None],
            "started_at": pl.Series([NOON] * 2).dt.replace_time_zone("Europe/Helsinki"),
            "blob": [b"\xff", None],
            "nested": [{"a": 1, "b": None}] * 2,
            "f1": [float("nan"), float("inf")],
            "elapsed_s": [timedelta(seconds=2)] * 2,
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    assert cli("import", tmp_path / "t.parquet", "--yes").code == 0
    assert rows(
        store, "SELECT model, task_id, started_at, duration_seconds, extra FROM lake.results"
    ) == [
        ("a", "1", NOON - timedelta(hours=2), 2.0, '{"blob":"/w==","nested":{"a":1,"b":null}}'),
        ("b", "2", NOON - timedelta(hours=2), 2.0, '{"nested":{"a":1,"b":null}}'),
    ]
    assert [row[3:] for row in scores(store)] == [("score", 0.5, None), ("f1", None, "inf")]
    assert rows(store, "SELECT choices FROM lake.tasks ORDER BY task_id") == [
        ('["x","y"]',),
        (None,),
    ]


@pytest.mark.slow
def test_secrets_are_found_and_masked(store, cli, tmp_path):
    key = "sk-" + "a1b2c3d4" * 4
    frame = pl.DataFrame({"model": ["a", "a"], "item": ["q1", "q2"], "output": ["x", key]})
    for form, write in FORMS.items():
        write(frame, tmp_path / f"{form}.{form}")
    done = cli("import", *[tmp_path / f"{form}.{form}" for form in FORMS], "--yes", "--redact")
    assert done.code == 0
    assert "4  (4 OpenAI keys)" in done.out
    assert rows(store, "SELECT DISTINCT raw_output FROM lake.results ORDER BY ALL") == [
        ("(redacted)",),
        ("x",),
    ]
    other = command(tmp_path / "other", "import", tmp_path / "csv.csv", "--yes")
    assert "csv.csv: line 3: looks like an OpenAI key" in other.err


@pytest.mark.slow
def test_forget_and_restore(store, cli, tmp_path):
    path = table(tmp_path / "t.csv", WIDE)
    cli("import", path, "--yes")
    assert cli("forget", "t", "--yes").code == 0
    assert "forgotten" in cli("import", path, "--yes").out
    assert rows(store, "SELECT count(*) FROM lake.result_scores") == [(0,)]
    assert cli("import", path, "--yes", "--restore").lines["results"] == "4 new"


@pytest.mark.slow
def test_only_tables_given_by_name_are_imported(store, cli, tmp_path):
    table(tmp_path / "in.csv", WIDE)
    (tmp_path / "prompts.json").write_text('[{"id": "A", "prompt": "x"}]')
    log = {"record_type": "result", "run_id": "r", "model": "m", "prompt_id": "p", "output": "x"}
    (tmp_path / "log.jsonl").write_text(json.dumps(log))
    done = cli("import", tmp_path)
    assert done.code == 0
    assert "ignored (1 may be tables: name them to import them)" in done.out
    assert rows(store, "SELECT suite FROM lake.results") == [("openclaw",)]
    done = cli("import", tmp_path / "log.jsonl", tmp_path / "prompts.json")
    assert (done.code, done.lines["unchanged"]) == (0, "2")
    # Without the command line, nothing is guessed either.
    summary = import_into(store, tmp_path / "in.csv")
    assert dict(summary.outcomes) == {FileOutcome.QUARANTINED: 1}


def test_files_that_are_not_tables(cli, tmp_path):
    for name, content, message in (
        ("empty.csv", b"", "no names of columns"),
        ("twice.csv", b"model,id,id\na,1,2\n", "several columns are named id"),
        ("open.parquet", b"PAR1 nothing", "not readable as Parquet"),
        ("open.json", b'[{"model": "a"}', "not JSON"),
        ("text.json", b"[1, 2]", "no row can be read; line 1: not a JSON object"),
        ("cut.jsonl", b'\n{"model": "a", "id": tr', "no row can be read; line 2: not JSON"),
        ("none.json", b"[]", "the table has no rows"),
        ("header.csv", b"model,id\n", "the table has no rows"),
        ("other.csv", b"a,b\n1,2\n", "no column names the model"),
        ("wide.csv", "model,id\na,1\n".encode("utf-16"), "is UTF-16: save it as UTF-8"),
        ("openclaw.csv", b"model,id\na,1\n", "suite 'openclaw' is built in"),
        ("many.csv", ",".join(f"c{n}" for n in range(1001)).encode(), "the limit is 1,000"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        done = cli("import", path, "--yes")
        assert (done.code, message in done.err) == (2, True), (name, done.err)


# On two cores, as every core of a larger machine would take memory of its own.
_MEASURED = """
import os, resource, sys, evalstore
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
try:
    evalstore.main(["--store", sys.argv[2], "import", sys.argv[1], "--yes"])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/status") as status:
        (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM"))
    print(used.ru_utime + used.ru_stime, int(peak) / 1024)
"""


@pytest.mark.campaign
def test_a_million_rows(store, tmp_path):
    """Processor time, which other programs change little: 15 s of two cores."""
    path = tmp_path / "t.csv"
    write_table(path, 1_000_000)
    done = child("-c", _MEASURED, path, store.path, timeout=1_200)
    assert done.code == 0, done.err
    seconds, megabytes = map(float, done.out.split()[-2:])
    assert seconds < 120
    assert megabytes < 1_500
    [counts] = rows(
        store,
        "SELECT count(*), count(DISTINCT content_id), count(DISTINCT task_id), "
        "count_if(objective_pass), (SELECT count(*) FROM lake.result_scores) FROM lake.results",
    )
    assert counts == (1_000_000, 1_000_000, 20_000, 666_666, 2_000_000)
