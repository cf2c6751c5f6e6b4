"""JudgeBench: the second verdict is turned, labels are gold votes, reward models give scores."""

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

HAIKU = PREFERENCES / "judgebench_pairs" / "claude-3-haiku_arena_hard.jsonl"
# The tool's rule: one point for each order that equals the label, one less for the opposite.
ACCURACY = """
WITH gold AS (FROM preferences WHERE rater_kind = 'gold'),

pairs AS (
    SELECT
        gold.pair_id,
        sum(CASE
            WHEN votes.outcome = gold.outcome THEN 1
            WHEN votes.outcome IN ('a', 'b') THEN -1
            ELSE 0
        END) AS points,
        bool_or(votes.first_shown = 'a' AND votes.outcome = gold.outcome) AS first_is_right
    FROM gold
    JOIN preferences AS votes USING (suite, run_id, pair_id)
    WHERE votes.rater_kind <> 'gold'
    GROUP BY gold.pair_id
)

SELECT
    count(*) AS n_pairs,
    count(*) FILTER (points > 0) AS correct,
    100 * avg(CAST(points > 0 AS DOUBLE)) AS accuracy_pct,
    100 * avg(CAST(coalesce(first_is_right, false) AS DOUBLE)) AS first_order_only_pct
FROM pairs
"""


def judgment(decision, **fields):
    made = {"judge_model": "judge/1", "prompt": "Which?", "response": f"[[{decision}]]", **fields}
    return {"judgment": made, "decision": decision}


def pair(number=1, judgments=("A>B", "B>A"), **fields):
    plain = {
        "pair_id": f"p{number}",
        "original_id": number,
        "source": "math",
        "question": f"What is {number} + 1?",
        "response_model": "gpt",
        "response_A": f"{number + 1}",
        "response_B": "7",
        "label": "A>B",
        "judge_name": "arena_hard",
        "judgments": [judgment(each) if isinstance(each, str) else each for each in judgments],
    }
    return {**plain, **fields}


def write(path, *pairs):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (each if isinstance(each, str) else json.dumps(each) for each in pairs)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def votes(store):
    return query(
        store,
        """
        SELECT pair_id, rater, first_shown, outcome, status
        FROM preferences ORDER BY seq, rater NULLS FIRST, first_shown
        """,
    )


@pytest.mark.slow
def test_the_second_verdict_is_by_position_and_is_turned(tmp_path):
    store, _ = imported(tmp_path, write(tmp_path / "log.jsonl", pair(judgments=("A>B", "A=B"))))
    assert [tuple(row.values())[1:] for row in votes(store)] == [
        (None, None, "a", "ok"),
        ("arena_hard judge/1", "a", "a", "ok"),
        ("arena_hard judge/1", "b", "tie", "ok"),
    ]
    path = write(tmp_path / "other" / "log.jsonl", pair(judgments=("B>A", "A>B")))
    store, _ = imported(tmp_path / "other", path)
    assert [row["outcome"] for row in votes(store)] == ["a", "b", "b"]
    (verdict,) = query(store, "FROM preference_verdicts WHERE rater_kind = 'judge'")
    assert (verdict["is_consistent"], verdict["n_first"], verdict["n_second"]) == (True, 1, 1)


def test_a_judge_is_known_by_its_model_and_method(tmp_path):
    store, _ = imported(tmp_path, write(tmp_path / "log.jsonl", pair()))
    (run,) = query(store, "SELECT run_id, task_set FROM runs")
    assert run == {"run_id": "arena_hard judge/1 gpt", "task_set": "JudgeBench"}
    raters = query(
        store, "SELECT DISTINCT judge_model, rater_config FROM preferences WHERE rater IS NOT NULL"
    )
    config = '{"model":"judge/1","prompt":"arena_hard"}'
    assert raters == [{"judge_model": "judge/1", "rater_config": config}]
    answers = query(store, "SELECT task_id, model, raw_output FROM results ORDER BY ALL")
    assert [tuple(row.values()) for row in answers] == [
        ("p1", "gpt", "2"),
        ("p1", "gpt", "7"),
    ]
    assert query(store, "FROM verdicts WHERE passed IS NOT NULL") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "run_id", "rater", "config"),
    [
        ("judge/1", "judge judge/1 gpt", "judge/1", '{"model":"judge/1"}'),
        (None, "judge gpt", "judge", None),
    ],
)
def test_a_judge_without_a_method_is_no_set_of_labels(tmp_path, model, run_id, rater, config):
    unnamed = {"judge_name": None, "judgments": [judgment("A>B", judge_model=model)]}
    store, summary = imported(tmp_path, write(tmp_path / "log.jsonl", {**pair(), **unnamed}))
    assert summary.n_quarantined == 0
    assert query(store, "SELECT run_id FROM runs") == [{"run_id": run_id}]
    raters = query(store, "SELECT rater, rater_config FROM preferences WHERE rater_kind = 'judge'")
    assert raters == [{"rater": rater, "rater_config": config}]


def test_what_was_not_parsed_is_no_tie(tmp_path):
    judgments = [{"judgment": judgment("")["judgment"], "decision": None}, None]
    odd = pair(2, judgments=["A<B"], label="?", odd=1)
    log = write(tmp_path / "log.jsonl", pair(judgments=judgments), odd)
    store, _ = imported(tmp_path, log)
    found = [(row["outcome"], row["status"]) for row in votes(store)]
    assert found == [("a", "ok"), (None, "unparsed"), (None, "error"), *[(None, "unparsed")] * 2]
    extras = query(store, "SELECT extra FROM preferences WHERE pair_id = 'p2' ORDER BY extra")
    assert [json.loads(row["extra"]) for row in extras] == [
        {"decision": "A<B", "judgment": {"prompt": "Which?"}, "pair": {"odd": 1}},
        {"label": "?", "odd": 1},
    ]


def test_scores_of_a_reward_model_are_ratings(tmp_path):
    made = [judgment("A>B", scores=[2.5, -1.0]), judgment("B>A", scores=[-1.0, 2.5])]
    log = write(tmp_path / "log.jsonl", pair(judgments=made, judge_name="reward_model"))
    store, _ = imported(tmp_path, log)
    ratings = query(
        store, "SELECT rater, rater_kind, value, answer, model FROM ratings ORDER BY value"
    )
    assert [(row["rater_kind"], row["value"], row["model"]) for row in ratings] == [
        ("reward", -1.0, "gpt"),
        ("reward", 2.5, "gpt"),
    ]
    assert [row["outcome"] for row in votes(store)] == ["a", "a", "a"]


def test_scores_that_are_not_one_for_each_answer_are_kept(tmp_path):
    made = [judgment("A>B", scores=[1.0, None])]
    log = write(tmp_path / "log.jsonl", pair(judgments=made, judge_name="reward_model"))
    store, _ = imported(tmp_path, log)
    assert query(store, "FROM ratings") == []
    (row,) = query(store, "SELECT extra FROM preferences WHERE rater_kind = 'reward'")
    assert json.loads(row["extra"])["judgment"]["scores"] == [1.0, None]


@pytest.mark.slow
def test_pairs_without_a_judge_are_their_labels(tmp_path):
    record = {k: v for k, v in pair().items() if k not in ("judge_name", "judgments")}
    store, _ = imported(tmp_path, write(tmp_path / "log.jsonl", record))
    assert [(row["rater"], row["outcome"]) for row in votes(store)] == [(None, "a")]
    assert query(store, "SELECT run_id FROM runs") == [{"run_id": "labels gpt"}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ('{"pair_id": ', "not JSON: "),
        ("[1]", "not a JSON object"),
        (pair(2, pair_id=None), "has no `pair_id`"),
        (pair(2, judge_name="vanilla"), "belongs to another judge or model than the first pair"),
        ({**pair(2), "judgments": ["A>B"]}, "a judgement is not a JSON object"),
        (pair(2, judgments=["A>B"] * 3), "`judgments` is not a list of one for each order"),
    ],
)
def test_other_records_go_to_quarantine(tmp_path, record, reason):
    store, summary = imported(tmp_path, write(tmp_path / "log.jsonl", pair(), record, pair(3)))
    assert summary.n_quarantined == 1
    (row,) = query(store, "SELECT line, reason FROM quarantine")
    assert row["line"] == 2
    assert row["reason"].startswith(reason)
    assert {row["pair_id"] for row in votes(store)} == {"p1", "p3"}


@pytest.mark.slow
def test_the_order_of_imports_does_not_matter(tmp_path):
    pairs = [pair(number) for number in range(1, 5)]
    logs = [
        write(tmp_path / "one.jsonl", *pairs),
        write(tmp_path / "two.jsonl", *[{**each, "judge_name": "vanilla"} for each in pairs[::-1]]),
    ]
    write(tmp_path / "half" / "one.jsonl", *pairs[:2])
    check_imports_in_any_order(tmp_path / "stores", tmp_path / "half", *logs)


@pytest.mark.slow
def test_secrets_are_masked_if_asked(tmp_path):
    log = write(tmp_path / "log.jsonl", pair(response_A="key sk-proj-" + "a1B2" * 12))
    store, summary = imported(tmp_path, log, redact=True)
    assert summary.secrets
    assert "a1B2a1B2" not in str(query(store, "FROM results"))


@pytest.mark.slow
@needs_preferences
def test_the_reference_file_has_the_figures_of_the_tool(tmp_path):
    if not HAIKU.is_file():
        pytest.skip(NO_REFERENCE)
    store, summary = imported(tmp_path, HAIKU)
    assert summary.n_quarantined == 0
    oracle = json.loads((HAIKU.parent / "oracle.json").read_text())["files"][HAIKU.name]
    (found,) = query(store, ACCURACY)
    assert found == {name: pytest.approx(oracle[name], rel=1e-12) for name in found}
    pairs = [json.loads(line) for line in HAIKU.read_text().splitlines()]
    n_null = sum(each["decision"] is None for one in pairs for each in one["judgments"])
    counts = query(store, "SELECT status, count(*) AS n FROM preferences GROUP BY ALL ORDER BY 1")
    assert counts == [{"status": "ok", "n": 810 - n_null}, {"status": "unparsed", "n": n_null}]
    (texts,) = query(store, "SELECT count(*) AS n FROM results")
    assert texts["n"] == len(
        {(one["pair_id"], one[name]) for one in pairs for name in ("response_A", "response_B")}
    )
