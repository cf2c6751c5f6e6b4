"""The same questions, asked by two tools: their items are recognised and compared in pairs."""

import json

import pytest
from support import command, import_into

pytestmark = pytest.mark.slow

N_QUESTIONS = 12


@pytest.fixture
def both(store, inspect_logs, lm_eval_logs):
    """Return a store with the logs of Inspect and lm-eval about the same questions."""
    import_into(store, inspect_logs, lm_eval_logs)
    return store


def test_items_have_the_same_hash_in_both_tools(both):
    hashes = {
        (suite, task_set): set(found)
        for suite, task_set, found in both.sql(
            "SELECT suite, task_set, list(item_hash) FROM result_items GROUP BY ALL"
        ).fetchall()
    }
    [expected] = {frozenset(found) for (suite, _), found in hashes.items() if suite == "inspect"}
    assert len(expected) == N_QUESTIONS
    assert None not in expected
    # Rolling likelihoods of the question have no answer, and are another item.
    assert not hashes.pop(("lm-eval", "colour_text")) & expected
    assert set(map(frozenset, hashes.values())) == {expected}
    # Row by row: the number in lm-eval's order is the number in the question's id.
    assert (
        both.sql(
            """
        SELECT count(DISTINCT item_hash) = 1 FROM result_items WHERE task_set <> 'colour_text'
        GROUP BY CASE suite WHEN 'inspect' THEN CAST(task_id[2:] AS INT) ELSE task_id::INT + 1 END
        """
        ).fetchall()
        == [(True,)] * N_QUESTIONS
    )


def test_models_of_two_tools_are_compared_in_pairs(both):
    run_of = dict(both.sql("SELECT task_set, any_value(run_id) FROM results GROUP BY 1").fetchall())
    sides = [f"run:{run_of[name]}" for name in ("plain", "colour_word")]
    done = command(both.path, "compare", *sides, "--format", "json")
    assert done.code == 0, done.err
    [row] = json.loads(done.out)
    [rates] = both.sql(
        """
        SELECT avg(CAST(passed AS INT)) FILTER (task_set = 'plain'),
            avg(CAST(passed AS INT)) FILTER (task_set = 'colour_word')
        FROM verdicts
        """
    ).fetchall()
    assert (row["suite"], row["n_tasks"]) == ("inspect+lm-eval", N_QUESTIONS)
    assert (row["mean_a"], row["mean_b"]) == rates
    assert row["difference"] == pytest.approx(rates[0] - rates[1])
    # Inspect's log names the subjects of the questions as clusters; lm-eval's does not.
    assert 1 < row["n_clusters"] < N_QUESTIONS
