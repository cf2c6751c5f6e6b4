"""Reported figures next to recomputed ones: of random scores, and by the views' former SQL."""

import random
import statistics
from pathlib import Path

import duckdb
import numpy as np
import pytest
from support import REFERENCE, ROOT, import_into, needs_reference, new_store

from warehouse.core.schemas import BY_NAME
from warehouse.lake.batch import Generation

FORMER = {
    "summary_audit": "main.summary_audit",
    "published_mismatches": "checks.published_mismatches",
}
N_RUNS = 12
IN_PYTHON = {
    "mean": statistics.fmean,
    "stderr": lambda scores: np.std(scores, ddof=1) / np.sqrt(len(scores)),
    "std": lambda scores: np.std(scores, ddof=1),
    "var": statistics.variance,
    "sum": sum,
    "min": min,
    "max": max,
    "median": statistics.median,
    "count": len,
}


# --- figures made from random scores


class Log:
    """A run whose log reports every statistic of random scores, and its rows for the lake.

    Args:
        run_id: id of the run, and the seed of its scores.
        offset: what the reported figures are changed by.
        dropped: tasks that the log counts and the store lacks.
    """

    def __init__(self, run_id, *, offset=0.0, dropped=0):
        self.run_id = run_id
        chance = random.Random(run_id)
        n_tasks, n_attempts = chance.randint(3, 40), chance.randint(1, 4)
        scores = {
            (task, attempt): self._score(chance)
            for task in range(n_tasks)
            for attempt in range(1, n_attempts + 1)
        }
        kept = {key: score for key, score in scores.items() if key[0] >= dropped}
        self.results = [
            self._row(f"{task}/{attempt}", seq=seq, task_id=str(task), attempt=attempt, model="m")
            for seq, (task, attempt) in enumerate(kept, 1)
        ]
        self.scores = [
            self._row(
                f"score {task}/{attempt}",
                result_id=f"{task}/{attempt}",
                metric="points",
                value=None if np.isnan(score) else score,
                text="nan" if np.isnan(score) else None,
            )
            for (task, attempt), score in kept.items()
        ]
        self.reported = list(self._figures(scores, offset))

    def _score(self, chance):
        return float("nan") if chance.random() < 0.1 else chance.choice([0.0, 1.0, chance.random()])

    def _figures(self, scores, offset):
        of_tasks = {}
        for (task, _), score in scores.items():
            of_tasks.setdefault(task, []).append(score)
        given = {t: [x for x in xs if not np.isnan(x)] for t, xs in of_tasks.items()}
        for reducer, reduce in {"mean": statistics.fmean, "max": max}.items():
            reduced = [reduce(xs) for xs in given.values() if xs]
            error = float(IN_PYTHON["stderr"](reduced)) + offset
            for statistic, compute in IN_PYTHON.items():
                is_mean = statistic == "mean"
                yield self._row(
                    f"{reducer} {statistic}",
                    seq=1,
                    metric=f"{reducer} {statistic}",
                    score="points",
                    statistic=statistic,
                    reducer=reducer,
                    value=float(compute(reduced)) + offset,
                    stderr=error if is_mean else None,
                    stderr_method="sample" if is_mean else None,
                    n=len(of_tasks),
                )

    def _row(self, content_id, **values):
        key = {"suite": "tool", "run_id": self.run_id, "generation": "root"}
        return {**key, "content_id": content_id, **values}

    def add_to(self, writer):
        writer.add(BY_NAME["runs"], [self._row("run")])
        writer.add(BY_NAME["results"], self.results)
        writer.add(BY_NAME["result_scores"], self.scores)
        writer.add(BY_NAME["reported_metrics"], self.reported)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Return the rows of the audit of random logs, by the kind of log: run, statistic, status."""
    store = new_store(tmp_path_factory.mktemp("audit") / "store", on_warning=pytest.fail)
    kinds = {"true": {}, "changed": {"offset": 1e-6}, "short": {"dropped": 1}}
    logs = [Log(f"{kind} {n}", **how) for kind, how in kinds.items() for n in range(N_RUNS)]
    with store.lake.write("import") as writer:
        for made in logs:
            made.add_to(writer)
        writer.commit(
            generations={Generation("tool", made.run_id, "root", None): None for made in logs}
        )
    rows = store.sql(
        "SELECT run_id, metric, statistic, status, reported, recomputed, reason FROM metric_audit"
    ).fetchall()
    return {kind: [row for row in rows if row[0].startswith(kind)] for kind in kinds}


@pytest.mark.parametrize(
    ("kind", "status"),
    [("true", "equal"), ("changed", "differs"), ("short", "samples missing")],
)
def test_figures_of_random_scores_have_their_status(audited, kind, status):
    # Two reducers, each with all statistics and the standard error next to the mean.
    assert len(audited[kind]) == N_RUNS * 2 * (len(IN_PYTHON) + 1)
    assert [row for row in audited[kind] if row[3] != status] == []


# --- the views that once compared for themselves

# Reports of the runs in the store, one figure of which is wrong, that claim to be gold.
REPORTS = """
INSERT INTO lake.published BY NAME
SELECT
    'posters' AS suite, 'report of ' || run_id AS report, run_id, 'core' AS form, 'gold' AS label,
    row_number() OVER (ORDER BY run_id, model) AS seq, model,
    unnest(['posters', 'app_quality_score', 'prediction_cost_usd', 'avg_score']) AS metric,
    unnest([posters, app_quality_score + 0.5, prediction_cost_usd, avg_score + 1]) AS value,
    concat_ws(' ', run_id, model, metric) AS content_id, 'b' AS batch
FROM poster_report
"""
DAMAGE = (
    REPORTS,
    "UPDATE lake.published SET value = value + 1e-8 WHERE metric = 'json_parse_rate'",
    "UPDATE lake.published SET value = value + 1e-10 WHERE metric = 'schema_strict_rate'",
    # A count, a latency within 1e-12, and a group that the summary lacks.
    """
    UPDATE lake.runs SET recorded_summary = json_merge_patch(
        recorded_summary,
        json_object('models', list_transform(
            json_extract(recorded_summary, '$.models[*]')[2:],
            lambda model: json_merge_patch(
                model, '{"n_ok": 7, "success_rate_ok": 1.0000000000001, "latency_ms": {"p50": "x"}}'
            )
        ))
    )
    WHERE recorded_summary IS NOT NULL
    """,
)


def rows(store, query):
    with store.reading() as connection:
        cursor = connection.execute(query)
        return [column[0] for column in cursor.description], sorted(map(repr, cursor.fetchall()))


def former_and_present(store):
    """Yield the columns and rows of each view, by its former SQL and as it is."""
    for name, view in FORMER.items():
        former = (Path(__file__).parent / "former" / f"{name}.sql").read_text("utf-8")
        yield rows(store, former), rows(store, f"FROM {view}")


def assert_views_are_as_before(store):
    counts = []
    for former, present in former_and_present(store):
        assert former == present
        counts.append(len(present[1]))
    return counts


def damage(store):
    with duckdb.connect(str(store.warehouse)) as connection:
        for statement in DAMAGE:
            connection.execute(statement)


@pytest.mark.slow
def test_the_audits_of_summaries_and_reports_are_as_before(tmp_path):
    store = new_store(tmp_path / "store", on_warning=pytest.fail)
    import_into(store, ROOT / "examples")
    n_figures, n_mismatches = assert_views_are_as_before(store)
    assert (n_figures > 100, n_mismatches) == (True, 0)
    damage(store)
    n_figures, n_mismatches = assert_views_are_as_before(store)
    assert (n_figures > 100, n_mismatches > 2) == (True, True)
    assert store.sql("SELECT count(*) > 5 FROM summary_audit WHERE NOT agrees").fetchall() == [
        (True,)
    ]


@pytest.mark.slow
@needs_reference
def test_the_audits_of_reference_data_are_as_before(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, REFERENCE / "openclaw" / "runs", REFERENCE / "posters")
    assert_views_are_as_before(store)
    damage(store)
    assert min(assert_views_are_as_before(store)) > 5
