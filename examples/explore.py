"""A notebook to start from: the leaderboard of a store, comparisons of its models, its samples.

    pip install 'evalstore[explore]'
    EVALSTORE_DIR=store marimo edit examples/explore.py

It reads the store and never writes to its lake.
"""

import marimo

app = marimo.App(width="medium", app_title="evalstore")


@app.cell
def _():
    import os

    import marimo as mo

    import evalstore

    store = evalstore.open(os.environ.get("EVALSTORE_DIR", "store"))
    return evalstore, mo, store


@app.cell
def _(mo, store):
    suites = [
        row[0] for row in store.sql("SELECT DISTINCT suite FROM runs ORDER BY ALL").fetchall()
    ]
    suite = mo.ui.dropdown(suites, value=suites[0] if suites else None, label="suite")
    suite  # noqa: B018 - shown
    return (suite,)


@app.cell
def _(mo, store, suite):
    leaderboard = store.sql(
        """
        SELECT task_set, model, settings, metric, pass_rate, pass_rate_low, pass_rate_high,
            score, n_tasks, total_cost_usd, p50_ms
        FROM leaderboard
        WHERE suite = $suite AND is_main
        """,
        {"suite": suite.value},
    ).pl()
    mo.vstack([mo.md("## Leaderboard"), mo.ui.table(leaderboard, selection=None)])
    return (leaderboard,)


@app.cell
def _(leaderboard, mo):
    models = leaderboard["model"].drop_nulls().unique(maintain_order=True).to_list()
    a = mo.ui.dropdown(models, value=models[0] if models else None, label="model")
    b = mo.ui.dropdown(models, value=models[1] if len(models) > 1 else None, label="other model")
    mo.hstack([a, b], justify="start")
    return a, b


@app.cell
def _(a, b, mo, store, suite):
    from warehouse.analysis.decisions.comparison import compare
    from warehouse.analysis.decisions.contests import Choice, find_contests
    from warehouse.analysis.decisions.sentences import sentence
    from warehouse.core.errors import BadInput

    try:
        with store.reading() as connection:
            sides = [side.value for side in (a, b) if side.value is not None]
            contests = find_contests(connection, sides, Choice(suite=suite.value))
        compared = compare(contests)
        said = [sentence(row, n_comparisons=len(compared)) for row in compared]
    except BadInput as error:
        said = [str(error)]
    # Names of models are text, not Markdown.
    mo.vstack([mo.md("## Comparison"), *map(mo.plain_text, said)])
    return (said,)


@app.cell
def _(a, mo, store, suite):
    samples = store.sql(
        """
        SELECT verdicts.run_date, verdicts.task_id, verdicts.attempt, verdicts.passed,
            results.prompt, results.answer, results.failure_type
        FROM verdicts
        JOIN results USING (suite, run_id, result_id)
        WHERE suite = $suite AND verdicts.model = $model
        ORDER BY verdicts.run_date DESC, verdicts.run_id, verdicts.seq
        LIMIT 1000
        """,
        {"suite": suite.value, "model": a.value},
    ).pl()
    mo.vstack([mo.md("## Samples, the newest 1,000"), mo.ui.table(samples, selection=None)])
    return (samples,)


if __name__ == "__main__":
    app.run()
