"""Tables of votes: columns of arenas and of crowds, any columns by a mapping, repeated votes."""

import csv
import json
from datetime import datetime

import polars as pl
import pytest
from judged_logs import PREFERENCES, needs_preferences
from support import NO_REFERENCE, digests

CROWD = """\
id,prompt,model_x,model_y,worker,winner,left,right
0,8,97,98,58,tie,Airoboros,Weaver 12k
0,8,97,98,83,right,Airoboros,Weaver 12k
1,9,98,97,58,left,Weaver 12k,Airoboros
"""
LLMFAO = PREFERENCES / "llmfao" / "llmfao.csv"
# evalica's counting and average win rate: a tie is half a win each way.
SCORES = """
WITH sides AS (
    SELECT model_a AS model, model_b AS other, 1 - share_b AS won FROM preferences
    UNION ALL
    SELECT model_b, model_a, share_b FROM preferences
),

pairs AS (
    SELECT model, other, sum(won) AS won, avg(won) AS rate FROM sides GROUP BY ALL
)

SELECT model, sum(won) AS counting, avg(rate) AS average_win_rate FROM pairs GROUP BY model
"""


def rows(store, query):
    return store.sql(query).fetchall()


def table(path, text):
    path.write_text(text, "utf-8")
    return path


def lines(path, *records):
    return table(path, "".join(f"{json.dumps(each)}\n" for each in records))


def talk(*texts):
    roles = ("user", "assistant") * 2
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def battle(**fields):
    plain = {
        "question_id": "q1",
        "model_a": "ant",
        "model_b": "bee",
        "winner": "model_b",
        "judge": "arena_user_1",
        "conversation_a": talk("Hi?", "Ant."),
        "conversation_b": talk("Hi?", "Bee."),
        "turn": 1,
        "language": "English",
        "tstamp": 1682351591.5,
    }
    return {**plain, **fields}


@pytest.mark.slow
def test_a_crowd_sees_the_left_answer_first(store, cli, tmp_path):
    done = cli("import", table(tmp_path / "crowd.csv", CROWD), "--yes")
    assert done.code == 0, done.err
    shown = [line.split() for line in done.err.splitlines()]
    assert ["winner", "winner", "tie", "=", "tie,", "right", "=", "b,", "left", "=", "a"] in shown
    assert ["first", "model_a", "(for", "all", "rows)"] in shown
    found = rows(
        store,
        """
        SELECT run_id, task_set, task_id, pair_id, model_a, model_b, rater, slot, rater_kind,
            first_shown, outcome, status, extra
        FROM preferences ORDER BY seq
        """,
    )
    same = ("human", "a")
    sides, extra = ("Airoboros", "Weaver 12k"), '{"model_x":"97","model_y":"98"}'
    assert found == [
        ("crowd", "crowd", "8", "0", *sides, "58", None, *same, "tie", "ok", extra),
        ("crowd", "crowd", "8", "0", *sides, "83", None, *same, "b", "ok", extra),
        (
            *("crowd", "crowd", "9", "1", *sides[::-1], "58", None, *same, "a", "ok"),
            '{"model_x":"98","model_y":"97"}',
        ),
    ]
    assert rows(store, "FROM results") == []


@pytest.mark.slow
def test_battles_of_an_arena_have_conversations(store, cli, tmp_path):
    longer = talk("Hi?", "Ant.", "And?", "Done.")
    path = lines(
        tmp_path / "arena.jsonl",
        battle(),
        battle(winner="tie (bothbad)", judge="gpt-4", conversation_a=longer, tstamp=None),
        battle(winner="tie", judge="expert_3", conversation_a="plain text", turn=2),
    )
    assert cli("import", path, "--yes").code == 0
    found = rows(
        store,
        """
        SELECT task_id, rater, rater_kind, turn, outcome, first_shown, rated_at, extra
        FROM preferences ORDER BY seq
        """,
    )
    at = datetime.fromisoformat("2023-04-24T15:53:11.5")
    extra = {"language": "English"}
    assert [(*row[:-1], json.loads(row[-1])) for row in found] == [
        ("q1", "arena_user_1", "human", 1, "b", "a", at, extra),
        ("q1", "gpt-4", "judge", 1, "both_bad", "a", None, {**extra, "answer_a": longer}),
        ("q1", "expert_3", "human", 2, "tie", "a", at, extra),
    ]
    answers = "SELECT model, raw_output FROM results ORDER BY ALL"
    assert rows(store, answers) == [
        ("ant", "Ant."),
        ("ant", "Ant.\n\nDone."),
        ("ant", "plain text"),
        ("bee", "Bee."),
    ]
    assert rows(store, "SELECT DISTINCT prompt FROM tasks ORDER BY 1") == [
        ("Hi?",),
        ("Hi?\n\nAnd?",),
    ]
    assert rows(store, "FROM verdicts WHERE passed IS NOT NULL") == []


@pytest.mark.slow
def test_equal_votes_are_counted(store, cli, tmp_path):
    text = "model_a,model_b,winner,rater\n" + "ant,bee,tie,\n" * 3 + "ant,bee,left,r\n" * 2
    assert cli("import", table(tmp_path / "votes.csv", text), "--yes").code == 0
    found = rows(store, "SELECT rater, slot, outcome FROM preferences ORDER BY ALL")
    assert found == [
        ("r", 2, "a"),
        ("r", None, "a"),
        (None, 1, "tie"),
        (None, 2, "tie"),
        (None, 3, "tie"),
    ]
    before = digests(store)
    cli("import", tmp_path / "votes.csv", "--yes")
    assert digests(store) == before


@pytest.mark.slow
def test_any_columns_by_a_mapping(store, cli, tmp_path):
    path = table(
        tmp_path / "odd.csv",
        "one;two;better;who;top;q;why\nb;a;a;gpt;two;t1;short\na;b;b;gpt;one;t1;\na;b;neither;gpt;;t1;\n",
    )
    mapping = table(
        tmp_path / "map.yaml",
        "model_a: one\nmodel_b: two\nwinner: better\nrater: who\nfirst: top\ntask: q\n"
        "rater_kind: reward\n",
    )
    done = cli("import", path, "--columns", mapping)
    assert done.code == 0, done.err
    query = "SELECT model_a, rater_kind, first_shown, outcome, status, extra FROM preferences"
    # A winner that is the name of a model is this model.
    assert rows(store, f"{query} ORDER BY seq") == [
        ("b", "reward", None, "b", "ok", '{"why":"short"}'),
        ("a", "reward", None, "b", "ok", None),
        ("a", "reward", None, None, "unparsed", '{"winner":"neither"}'),
    ]


@pytest.mark.slow
def test_the_column_that_says_what_was_first(store, cli, tmp_path):
    text = "model_1,model_2,winner,first_shown\nant,bee,model_1,bee\nant,bee,2,model_a\nant,bee,,\n"
    assert cli("import", table(tmp_path / "votes.csv", text), "--yes").code == 0
    query = "SELECT outcome, first_shown, status FROM preferences ORDER BY seq"
    assert rows(store, query) == [
        ("a", "b", "ok"),
        ("b", "a", "ok"),
        (None, None, "unparsed"),
    ]


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ("model_a: a\nwinner: w\n", "a table of votes needs a column for model_b"),
        ("model_a: a\nmodel_b: b\nwinner: w\noutput: o\n", "two models has no output"),
        ("model_a: a\nmodel_b: b\nwinner: w\nscores: [o]\n", "two models has no scores"),
        ("model_a: a\nmodel_b: b\nwinner: w\nshown_first: c\n", "shown_first: must be a or b"),
        (
            "model_a: a\nmodel_b: b\nwinner: w\nrater_kind: dog\n",
            "rater_kind: must be human, judge",
        ),
    ],
)
def test_mappings_that_cannot_be_used(cli, tmp_path, mapping, reason):
    path = table(tmp_path / "votes.csv", "a,b,w,o\nant,bee,a,1\n")
    done = cli("import", path, "--columns", table(tmp_path / "map.yaml", mapping))
    assert done.code == 2
    assert reason in done.err


@pytest.mark.slow
def test_rows_that_cannot_be_used_are_quarantined(store, cli, tmp_path):
    text = "model_a,model_b,winner,tstamp,turn\nant,bee,a,2026-01-02T03:04:05Z,1\n,bee,a,,1\n"
    path = table(tmp_path / "votes.csv", f"{text}ant,bee,a,,first\n")
    mapping = "model_a: model_a\nmodel_b: model_b\nwinner: winner\ntime: tstamp\nturn: turn\n"
    done = cli("import", path, "--columns", table(tmp_path / "map.yaml", mapping))
    assert done.code == 2
    assert rows(store, "SELECT line, reason FROM quarantine ORDER BY line") == [
        (3, "names no model_a"),
        (4, "turn must be an integer, not 'first'"),
    ]
    assert rows(store, "SELECT count(*) FROM preferences") == [(1,)]


@pytest.mark.slow
def test_every_form_gives_the_same_votes(store, cli, tmp_path):
    records = [battle(question_id=f"q{n}", judge=f"expert_{n % 2}") for n in range(6)]
    lines(tmp_path / "votes.jsonl", *records)
    (tmp_path / "votes.json").write_text(json.dumps(records))
    pl.DataFrame(records).write_parquet(tmp_path / "votes.parquet")
    lines(
        tmp_path / "half" if (tmp_path / "half").mkdir() else tmp_path / "half" / "votes.jsonl",
        *records[:3],
    )
    before = None
    for path in (
        "half/votes.jsonl",
        "votes.jsonl",
        "votes.json",
        "votes.parquet",
        "half/votes.jsonl",
    ):
        assert cli("import", tmp_path / path, "--yes").code == 0
        ids = rows(store, "SELECT vote_id FROM preferences ORDER BY ALL")
        assert len(ids) == (3 if before is None else 6)
        before = ids
    assert rows(store, "SELECT count(*) FROM results") == [(12,)]


@pytest.mark.slow
def test_a_table_with_a_judge_is_no_table_of_votes(store, cli, tmp_path):
    path = table(tmp_path / "plain.csv", "model,id,judge,left,right,winner\nant,q1,gpt,1,2,x\n")
    assert cli("import", path, "--yes").code == 0
    assert rows(store, "SELECT model, task_id, extra FROM results") == [
        ("ant", "q1", '{"judge":"gpt","winner":"x"}')
    ]


@pytest.mark.slow
@needs_preferences
def test_the_reference_table_has_the_scores_of_its_tool(store, cli):
    if not LLMFAO.is_file():
        pytest.skip(NO_REFERENCE)
    assert cli("import", LLMFAO, "--yes").code == 0
    oracle = json.loads((LLMFAO.parent / "oracle.json").read_text())
    counts = "SELECT outcome, count(*) FROM preferences GROUP BY outcome"
    names = {"a": "left", "b": "right", "tie": "tie"}
    assert {names[outcome]: n for outcome, n in rows(store, counts)} == oracle["winner_counts"]
    (sizes,) = rows(
        store,
        """
        SELECT count(*), count(DISTINCT rater), count(DISTINCT pair_id), count(DISTINCT task_id),
            count(*) FILTER (first_shown = 'a'), count(slot)
        FROM preferences
        """,
    )
    assert sizes == (oracle["n"], oracle["n_workers"], 2139, 13, oracle["n"], 0)
    golden = list(csv.DictReader((LLMFAO.parent / "llmfao-golden.csv").read_text().splitlines()))
    for at, algorithm in enumerate(("counting", "average_win_rate"), 1):
        found = {row[0]: row[at] for row in rows(store, SCORES)}
        expected = {e["item"]: float(e["score"]) for e in golden if e["algorithm"] == algorithm}
        assert found == pytest.approx(expected, abs=1e-12)
