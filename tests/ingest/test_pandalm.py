"""PandaLM: people by slot and judges on the same answers; what was not parsed is no tie."""

import json

import pytest
from judged_logs import PREFERENCES, check_imports_in_any_order, imported, needs_preferences
from peers import query, same
from support import NO_REFERENCE, import_into

pytestmark = pytest.mark.slow

FOLDER = PREFERENCES / "pandalm"
# The votes of people as a majority, and each judge's next to it: 0 for a tie, 1 and 2 for a and b.
MAJORITY = """
WITH votes AS (
    SELECT
        *, CASE outcome WHEN 'a' THEN '1' WHEN 'b' THEN '2' WHEN 'tie' THEN '0' END AS vote
    FROM preferences
),

gold AS (
    SELECT pair_id, mode(vote) AS gold FROM votes WHERE rater_kind = 'human' GROUP BY pair_id
)

SELECT rater, coalesce(vote, '-9') AS vote, gold, count(*) AS n
FROM votes JOIN gold USING (pair_id)
WHERE rater_kind = 'judge'
GROUP BY ALL
"""
FLEISS = """
WITH counts AS (
    SELECT pair_id, outcome, count(*) AS n FROM preferences
    WHERE rater_kind = 'human'
    GROUP BY ALL
),

observed AS (
    SELECT avg(agreement) AS agreement
    FROM (SELECT pair_id, (sum(n * n) - 3) / 6 AS agreement FROM counts GROUP BY pair_id)
),

expected AS (
    SELECT sum(share * share) AS agreement FROM (
        SELECT sum(n) / (SELECT sum(n) FROM counts) AS share FROM counts GROUP BY outcome
    )
)

SELECT (observed.agreement - expected.agreement) / (1 - expected.agreement) AS kappa
FROM observed, expected
"""


def pair(idx, votes=(1, 2, 0), **fields):
    people = {f"annotator{n}": vote for n, vote in enumerate(votes, 1)}
    plain = {
        "idx": idx,
        "motivation_app": "Notion",
        "cmp_key": "bloom-7b_opt-6.7B",
        "instruction": "Sum up.",
        "input": f"Text {idx}.",
        "response1": f"First {idx}.",
        "response2": f"Second {idx}.",
    }
    return {**plain, **people, **fields}


def verdict(idx, result="1", **fields):
    return {
        "idx": idx,
        "gpt_result": result,
        "gpt_reason": "Clear.",
        "gpt_reference": "R",
        **fields,
    }


def write(folder, name, *records):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(records, indent=1))
    return folder / f"{name}.json"


def test_people_are_slots_and_judges_vote_on_the_same_answers(tmp_path):
    write(tmp_path / "logs", "testset-v1", pair(0), pair(1, response1=True))
    write(tmp_path / "logs", "gpt-4-testset-v1", verdict(1, 2), verdict(0, "garbage"))
    store, _ = imported(tmp_path, tmp_path / "logs")
    votes = query(
        store,
        """
        SELECT run_id, pair_id, rater, slot, model_a, model_b, outcome, status, first_shown, reason
        FROM preferences ORDER BY run_id DESC, pair_id, slot
        """,
    )
    models = ("bloom-7b", "opt-6.7B")
    people = ("testset-v1",)
    assert [tuple(row.values()) for row in votes] == [
        *[
            (*people, idx, None, slot, *models, outcome, "ok", None, None)
            for idx in "01"
            for slot, outcome in enumerate(("a", "b", "tie"), 1)
        ],
        ("gpt-4-testset-v1", "0", "gpt-4", None, *models, None, "unparsed", None, "Clear."),
        ("gpt-4-testset-v1", "1", "gpt-4", None, *models, "b", "ok", None, "Clear."),
    ]
    assert query(store, "SELECT count(DISTINCT pair) AS n FROM preferences") == [{"n": 2}]
    answers = query(store, "SELECT DISTINCT raw_output FROM results ORDER BY 1")
    assert [row["raw_output"] for row in answers] == ["First 0.", "Second 0.", "Second 1.", "true"]
    (task,) = query(store, "SELECT prompt, extra FROM lake.tasks WHERE task_id = '0'")
    assert task == {"prompt": "Sum up.\n\nText 0.", "extra": '{"motivation_app":"Notion"}'}
    (extra,) = query(store, "SELECT extra FROM preferences WHERE status = 'unparsed'")
    assert json.loads(extra["extra"]) == {"gpt_reference": "R", "result": "garbage"}


def test_verdicts_without_their_pairs_go_to_quarantine(tmp_path):
    path = write(tmp_path / "logs", "gpt-4-testset-v1", verdict(0))
    store, summary = imported(tmp_path, path)
    assert summary.n_quarantined == 1
    reason = "its pairs are in testset-v1.json, which is not next to it"
    assert query(store, "SELECT reason FROM quarantine") == [{"reason": reason}]
    write(tmp_path / "logs", "testset-v1", pair(0))
    import_into(store, path)
    assert query(store, "SELECT run_id, rater FROM preferences") == [
        {"run_id": "gpt-4-testset-v1", "rater": "gpt-4"}
    ]


def test_what_is_damaged_goes_to_quarantine(tmp_path):
    odd = pair(1, votes=(1, 3, None), odd=1)
    write(tmp_path / "logs", "testset-v1", pair(0), odd, pair(2, cmp_key="a_b_c"), pair("3"), 7)
    write(tmp_path / "logs", "x-testset-v1", verdict(0), verdict(2), verdict(None), {"idx": 1})
    store, _ = imported(tmp_path, tmp_path / "logs")
    assert {row["reason"] for row in query(store, "SELECT reason FROM quarantine")} == {
        "pair 3: has no `idx`, or no `cmp_key` with two models",
        "pair 4: has no `idx`, or no `cmp_key` with two models",
        "pair 5: not a JSON object",
        "verdict 2: no pair 2 in the test set",
        "verdict 3: has no `idx` or result",
        "verdict 4: has no `idx` or result",
    }
    votes = query(store, "SELECT status, extra FROM preferences WHERE pair_id = '1' ORDER BY slot")
    assert [(row["status"], json.loads(row["extra"])) for row in votes] == [
        ("ok", {"odd": 1}),
        ("unparsed", {"odd": 1, "vote": 3}),
        ("unparsed", {"odd": 1}),
    ]


def test_the_order_of_imports_does_not_matter(tmp_path):
    pairs, verdicts = [pair(idx) for idx in range(4)], [verdict(idx) for idx in range(4)]
    files = [
        write(tmp_path / "logs", "testset-v1", *pairs),
        write(tmp_path / "logs", "gpt-4-testset-v1", *verdicts),
    ]
    write(tmp_path / "half", "testset-v1", *pairs[:3])
    write(tmp_path / "half", "gpt-4-testset-v1", *verdicts[:2])
    check_imports_in_any_order(tmp_path / "stores", tmp_path / "half", *files)


@needs_preferences
def test_the_reference_files_have_their_figures(tmp_path):
    if not FOLDER.is_dir():
        pytest.skip(NO_REFERENCE)
    store, summary = imported(tmp_path, FOLDER)
    assert summary.n_quarantined == 0
    oracle = json.loads((FOLDER / "oracle.json").read_text())
    counts = query(store, "SELECT rater_kind, count(*) AS n FROM preferences GROUP BY 1 ORDER BY 1")
    assert [row["n"] for row in counts] == [oracle["bt_human_votes"]["n"], 2 * oracle["n"]]
    (fleiss,) = query(store, FLEISS)
    assert same(fleiss["kappa"], oracle["humans"]["fleiss_kappa"]["value"])
    rows = query(store, MAJORITY)
    for rater, key in (("gpt-3.5-turbo", "gpt"), ("pandalm-7b", "pan")):
        found = {(row["vote"], row["gold"]): row["n"] for row in rows if row["rater"] == rater}
        expected = oracle["judges_vs_majority"][key]
        confusion = expected["confusion_rows_gold_0_1_2"]
        assert found == {(v, g): n for v, golds in confusion.items() for g, n in golds.items()}
        right = sum(n for (vote, gold), n in found.items() if vote == gold)
        assert same(right / oracle["n"], expected["accuracy"])
