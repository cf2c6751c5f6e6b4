"""Other tools' logs, exported and imported again: the same samples, verdicts, scores, figures."""

from collections import Counter

import pytest
from peers import PEERS, needs_peers
from support import command, import_into, new_store

pytestmark = [pytest.mark.slow, needs_peers]

SETS = ("bfcl", "eee", "helm", "inspect", "lm-eval", "openai-evals", "promptfoo")
# One name for each score, as both formats have it.
NAMED = """
    WITH named AS (
        SELECT * REPLACE (
            CASE WHEN metric = 'passed' AND filter IS NULL AND suite <> 'inspect' THEN NULL
                WHEN scorer <> metric THEN scorer END AS scorer
        )
        FROM {relation}
    )
"""
JOINED = "concat_ws('/', scorer, metric, filter)"
# Of several scores of one name, Inspect's logs number the others.
PLAIN = rf"regexp_replace({JOINED}, ' \(\d+\)$', '')"
TEXT = "nullif(lower(text), 'nan')"  # no score
CALLS = "(SELECT suite, run_id, result_id, task_set, task_id, attempt, raw_output FROM results)"
ANSWERS = "SELECT task_set, task_id, attempt, raw_output FROM results"
VERDICTS = "SELECT task_set, task_id, attempt, outcome FROM scores.outcomes"
SCORES = f"""
    {NAMED.format(relation="result_scores")}
    SELECT task_set, task_id, attempt, {PLAIN}, round(value, 9), {TEXT}, raw_output
    FROM named
    JOIN {CALLS} USING (suite, run_id, result_id)
    WHERE named.metric <> 'passed'
"""
FIGURES = f"""
    {NAMED.format(relation="metrics")}
    SELECT task_set, {JOINED}, round(mean, 9), n_tasks
    FROM named
    WHERE reducer = 'mean' AND mean IS NOT NULL
"""
REPORTED_MEANS = """
    SELECT task_set, score, round(value, 9), n
    FROM reported_metrics
    WHERE source = 'log' AND metric = 'mean'
"""
REPORTED = """
    SELECT run_id, task_set, scorer, score, metric, reducer, reducer_parameters, value, text, n
    FROM reported_metrics
    WHERE source = 'log' AND (value IS NOT NULL OR run_id NOT LIKE 'i5LyrzaUdD9K4EW5WTAd5t%')
"""  # two files of this run have different figures of one name, of which a log holds one


def rows(store, query):
    return Counter(store.sql(query).fetchall())


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return a function that gives the store of a set, and a store of its export to a format."""
    known = {}

    def made(name, form):
        folder = tmp_path_factory.getbasetemp() / f"round-trips-{name}"
        if name not in known:
            known[name] = new_store(folder / "store")
            import_into(known[name], PEERS / name)
        if (name, form) not in known:
            done = command(known[name].path, "export", form, "--to", folder / form)
            assert done.code in {0, 1}, done.err
            known[name, form] = new_store(folder / f"again-{form}")
            summary = import_into(known[name, form], folder / form)
            assert (summary.n_quarantined, summary.n_violations) == (0, 0)
        return known[name], known[name, form]

    return made


@pytest.mark.campaign
@pytest.mark.parametrize("name", SETS)
def test_inspect_logs_come_back(stores, name):
    store, again = stores(name, "inspect")
    for query in (ANSWERS, VERDICTS, SCORES):
        assert rows(again, query) == rows(store, query)
    if name == "inspect":
        assert rows(again, REPORTED) == rows(store, REPORTED)
    else:
        assert rows(again, REPORTED_MEANS) == rows(store, FIGURES)


# In every_eval_ever each score is a line, its name the id of a result, perhaps with its task set.
SCORED = """
    SEMI JOIN (
        SELECT suite, run_id, result_id FROM result_scores WHERE value IS NOT NULL
        UNION SELECT suite, run_id, result_id FROM scores.outcomes WHERE outcome IS NOT NULL
    ) USING (suite, run_id, result_id)
"""
LINE_NAME = """CASE WHEN starts_with(scorer, task_set || '/')
    THEN substr(scorer, length(task_set) + 2) ELSE scorer END"""
# What each run has: a result is a line for each of its scores.
SAMPLES = f"""
    SELECT task_set, task_id, attempt
    FROM (
        SELECT DISTINCT suite, run_id, model, settings, task_set, task_id, attempt
        FROM results {SCORED}
    )
"""
OUTCOMES = f"""
    SELECT DISTINCT run_id, model, settings, task_set, task_id, attempt, outcome
    FROM scores.outcomes {SCORED}
"""
LINES = f"""
    SELECT task_set, task_id, attempt, {LINE_NAME} AS name, round(value, 9)
    FROM result_scores
    JOIN {CALLS} USING (suite, run_id, result_id)
    WHERE metric <> 'passed' AND name IS DISTINCT FROM 'passed'
"""
MEANS = """
    SELECT metric, round(mean, 9), n_tasks
    FROM metrics
    WHERE reducer = 'mean' AND mean IS NOT NULL
    UNION ALL
    SELECT metric, round(value, 9), n
    FROM reported_metrics
    ANTI JOIN results USING (suite, run_id)
    WHERE source = 'log' AND isfinite(value)
"""
REPORTED_AGAIN = """
    SELECT metric, round(value, 9), n
    FROM reported_metrics
    WHERE source = 'log' AND isfinite(value)
"""


@pytest.mark.campaign
@pytest.mark.parametrize("name", SETS)
def test_every_eval_ever_comes_back(stores, name):
    store, again = stores(name, "eee")
    assert rows(again, SAMPLES) == rows(store, SAMPLES)
    outcomes = [Counter(row[3:] for row in rows(of, OUTCOMES)) for of in (again, store)]
    assert outcomes[0] == outcomes[1]
    scores = (
        SCORES.replace(f", {TEXT}, raw_output", "").replace(PLAIN, JOINED) + "AND value IS NOT NULL"
    )
    assert rows(again, LINES) == rows(store, LINES if name == "eee" else scores)
    figures = rows(store, REPORTED_AGAIN if name == "eee" else MEANS)
    # Samples without an aggregate get one, with figures.
    added = rows(again, REPORTED_AGAIN) - figures if name == "eee" else Counter()
    assert rows(again, REPORTED_AGAIN) == figures + added
