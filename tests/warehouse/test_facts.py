"""What is stored with results, and the table of facts, is what their definitions give."""

import random
import shutil
from datetime import datetime

import pytest
from openclaw_cases import line, write_run
from poster_cases import SAMPLES
from support import add_rows, command, import_into, log, new_store, task, write_log

from warehouse.engine.tables.runs import in_parts
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake import compaction

pytestmark = pytest.mark.slow

KEY = "suite, run_id, content_id"
ENTRY = "suite, run_id, provider, model, settings, task_set, is_replay"
FILES = {file.name: file for file in shipped_sql()}
TABLES = {name: file for name, file in FILES.items() if file.is_by_run or file.is_board}
# The stored side, and the same from what it is made of.
PAIRS = {
    "is_replaced": (
        f"SELECT {KEY} FROM lake.results WHERE is_replaced",
        (
            f"SELECT {KEY} FROM lake.results AS calls WHERE EXISTS (FROM lake.results AS other "
            "WHERE (other.suite, other.run_id, other.stands_in_for) = (calls.suite, calls.run_id, "
            "calls.content_id))"
        ),
    ),
    "n_replaced_calls": (
        f"SELECT {KEY} FROM lake.results WHERE n_replaced_calls > 0",
        f"SELECT {KEY} FROM lake.results WHERE stands_in_for IS NOT NULL",
    ),
    "duplicate_of": (
        f"SELECT {KEY}, duplicate_of FROM lake.results WHERE duplicate_of IS NOT NULL",
        f"SELECT {KEY}, counted_in FROM scores.duplicate_calls",
    ),
    "computed_verdict": (
        f"SELECT {KEY}, computed_verdict FROM lake.results WHERE computed_verdict IS NOT NULL",
        f"SELECT {KEY}, is_correct FROM scores.computed_verdicts WHERE is_correct IS NOT NULL",
    ),
    "setups": (
        "SELECT * EXCLUDE (entry, series, input_hash) FROM scores.setups",
        "FROM scores.setup_inputs",
    ),
    "pair_tests": (
        "SELECT test_key FROM scores.pair_tests SEMI JOIN scores.board_pairs USING (test_key)",
        "SELECT DISTINCT test_key FROM scores.board_pairs",
    ),
    "entry_trials": (
        (
            f"SELECT {ENTRY}, is_counted, n_results, n_unanswered, n_judged, n_passed, n_outcomes "
            "FROM scores.entry_trials"
        ),
        (
            f"SELECT {ENTRY}, duplicate_of IS NULL, count(*), count(*) FILTER (NOT is_answered), "
            "count(passed), count(*) FILTER (passed), count(outcome) "
            "FROM scores.outcomes GROUP BY ALL"
        ),
    ),
    **{name: (f"FROM {file.qualified}", file.sql) for name, file in TABLES.items()},
}
# By every call, instead of facts.
EACH_CALL = "(SELECT * REPLACE (true AS is_mixed) FROM scores.task_facts)"
PAIRS["flaky_tasks"] = (
    "FROM flaky_tasks",
    FILES["flaky_tasks"].sql.replace("scores.task_facts", EACH_CALL),
)
# The view has the pairs that are not kept.
PAIRS["board_pairs"] = (
    "FROM scores.board_pairs",
    TABLES["board_pairs"].sql.replace(
        "FROM scores.pair_counts",
        f"FROM ({FILES['pair_counts'].sql.replace('scores.wide_models', 'scores.board_runs')})",
    ),
)


def differences(store, names=PAIRS):
    """Return the names of what is not stored as defined, and the number of rows of the others."""
    with store.reading() as connection:

        def rows(query):
            return sorted(connection.execute(query).fetchall(), key=repr)

        found = {name: [rows(query) for query in PAIRS[name]] for name in names}
    wrong = {name for name, (stored, defined) in found.items() if stored != defined}
    return wrong, {name: len(stored) for name, (stored, _) in found.items()}


def stored(store):
    with store.reading() as connection:
        return [
            sorted(connection.execute(query).fetchall(), key=repr) for query, _ in PAIRS.values()
        ]


def write_tasks(path, choice):
    """Write a task file with the references of some prompts, right or wrong."""
    path.write_text(
        "tasks:\n"
        + "".join(
            f'- prompt: "Tehtävä {n}"\n  reference: "vastaus {choice.choice([n, 0])}"\n'
            for n in sorted(choice.sample(range(1, 7), 3))
        )
    )
    return path


def one_of_the_runs(store, choice):
    return choice.choice(store.sql("SELECT run_id FROM runs ORDER BY ALL").fetchall())[0]


def change(store, folder, step, choice):
    """Change a store in one of the ways that change facts."""
    number = choice.randint(1, 2)
    ways = ["log", "log", "log", "model", "tasks", "forget", "version", "compact", "merge"]
    has_runs = step > 0 and store.sql("FROM runs LIMIT 1").fetchall()
    match choice.choice(ways) if has_runs else "log":
        case "log":
            tasks = [task(n) for n in sorted(choice.sample(range(1, 7), choice.randint(1, 5)))]
            if choice.random() < 0.4:
                tasks = [{k: v for k, v in t.items() if k != "is_correct"} for t in tasks]
            day = f"2026-04-{choice.randint(1, 9):02}"
            model = f"models/kokeilu-{number}.yaml"
            path = write_log(folder / f"{step}.yaml", log(tasks=tasks, model=model, date=day))
            run_as = choice.choice([None, None, "toinen"])
            import_into(store, path, run_as=run_as, replace=choice.random() < 0.5)
        case "model":
            path = folder / "models" / f"kokeilu-{number}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"name: {choice.choice('mn')}\n")
            import_into(store, path)
        case "tasks":
            import_into(store, write_tasks(folder / f"tasks-{step}.yaml", choice))
        case "forget":
            run = one_of_the_runs(store, choice)
            assert command(store.path, "forget", run, "--yes").code == 0
        case "version":
            run = one_of_the_runs(store, choice)
            assert command(store.path, "version", "palindrome", run).code == 0
        case "compact":
            assert command(store.path, "compact").code == 0
        case "merge":
            store.sync()


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(6))
def test_increments_give_what_a_rebuild_gives(tmp_path, seed, monkeypatch):
    monkeypatch.setattr(compaction, "FAN", 2)
    choice = random.Random(seed)
    store = new_store(tmp_path / "store")
    for step in range(15):
        change(store, tmp_path, step, choice)
        if choice.random() < 0.6:
            assert differences(store)[0] == set()
    grown = stored(store)
    store.sync(rebuild=True)
    assert differences(store)[0] == set()
    assert stored(store) == grown


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (19, [(171, 36), (190, 45), (None, 45), (190, 36), *[(171, 36)] * 3]),
        (99, [(4851, 1176), (4950, 1225), (None, 1225), (4950, 1176), *[(4851, 1176)] * 3]),
    ],
)
def test_pairs_are_kept_as_defined_while_models_come_and_go(tmp_path, least, expected):
    """From 21 models on pairs have no intervals; from 101 on they are not kept.

    The pairs of the verdicts that are so, None where not; and the pairs of a score that every
    second model has.
    """
    store, table = new_store(tmp_path / "store"), tmp_path / "runs.csv"
    found = []

    def import_models(*numbers, run="", month=1, name="m", options=()):
        rows = [
            f"m{n}{run},2026-0{month}-{1 + n // 4:02},{name}{n},t{task},{(task + n) % 3 > 0},"
            f"{n % 5 / 4 if n % 2 else ''}"
            for n in numbers
            for task in range(7)
        ]
        table.write_text("\n".join(["run_id,started_at,model,task_id,passed,quality", *rows]))
        assert command(store.path, "import", table, "--yes", *options).code == 0
        look()

    def look():
        assert differences(store, ("board_pairs", "pair_tests"))[0] == set()
        kept = dict(
            store.sql(
                "SELECT metric, count(*) FROM scores.board_pairs WHERE has_interval OR $least > 20 "
                "GROUP BY metric",
                {"least": least},
            ).fetchall()
        )
        found.append((kept.get("passed"), kept["quality"]))

    import_models(*range(least))
    import_models(least)
    import_models(least + 1)
    for n in (least, least + 1):
        assert command(store.path, "forget", f"m{n}", "--yes").code == 0
        look()
    import_models(3, run="-again", month=2)
    import_models(least - 2, name="other", options=["--replace"])
    assert found == expected


def test_a_run_that_is_replaced_changes_what_it_lost(tmp_path):
    store = new_store(tmp_path / "store")
    for day in (1, 2):
        path = write_log(tmp_path / f"{day}.yaml", log([1, 2], date=f"2026-04-0{day}"))
        import_into(store, path)
    lost = "SELECT n_compared, n_lost FROM model_history WHERE n_compared > 0"
    assert store.sql(lost).fetchall() == [(2, 0)]
    worse = [task(1), {**task(2), "is_correct": False}]
    write_log(path, log(tasks=worse, date="2026-04-02"))
    import_into(store, path, replace=True)
    assert store.sql(lost).fetchall() == [(2, 1)]
    assert differences(store)[0] == set()


def test_a_rebuild_in_parts_gives_what_one_at_once_gives(tmp_path, monkeypatch):
    store = new_store(tmp_path / "store")
    days = [f"2026-04-{n:02}" for n in range(1, 7)]
    for n, day in enumerate(days):
        # The same calls of a day in two runs, and models that share a board.
        tasks, model = [task(k) for k in range(1, 7 - n // 2)], f"models/kokeilu-{n % 3}.yaml"
        path = write_log(tmp_path / f"{n}.yaml", log(tasks=tasks, model=model, date=day))
        import_into(store, path)
        import_into(store, path, run_as=f"toinen-{n}")
    store.sync(rebuild=True)
    at_once = stored(store)
    parts = []

    def in_small_parts(connection, runs):
        parts.append(in_parts(connection, runs))
        return parts[-1]

    monkeypatch.setattr("warehouse.engine.tables.facts.in_parts", in_small_parts)
    monkeypatch.setattr("warehouse.engine.tables.runs._MOST_RESULTS", 10)
    monkeypatch.setattr("warehouse.engine.tables.shared_calls._MOST_HASHES", 7)
    monkeypatch.setattr("warehouse.engine.tables.pair_tests._MOST_RUNS", 1)
    monkeypatch.setattr("warehouse.engine.tables.boards._MOST_RESULTS", 10)
    monkeypatch.setattr("warehouse.engine.tables.sync._MOST_IN_ONE_TRANSACTION", 0)
    store.sync(rebuild=True)
    assert [len(runs) for runs in parts] == [6]
    wrong, n_rows = differences(store)
    assert wrong == set()
    assert n_rows["drift_breaks"] > 0
    assert n_rows["run_changes"] > 0
    assert stored(store) == at_once


def test_a_model_file_changes_what_names_it_only(tmp_path):
    store = new_store(tmp_path / "store")
    paths = [
        write_log(tmp_path / f"{n}.yaml", log(tasks=[task(n)], model=f"models/kokeilu-{n}.yaml"))
        for n in (1, 2)
    ]
    import_into(store, *paths)
    query = "SELECT task_id, entry FROM scores.task_rates ORDER BY ALL"
    (first, before), (second, unchanged) = store.sql(query).fetchall()
    models = tmp_path / "models"
    models.mkdir()
    (models / "kokeilu-1.yaml").write_text("name: m\n")
    import_into(store, models / "kokeilu-1.yaml")
    (_, after), other = store.sql(query).fetchall()
    assert other == (second, unchanged)
    assert after != before
    assert store.sql(
        "SELECT DISTINCT model FROM results WHERE task_id = $t", {"t": first}
    ).fetchall() == [("m",)]
    assert differences(store)[0] == set()


def test_the_same_call_in_two_runs_is_marked_and_unmarked(tmp_path):
    store = new_store(tmp_path / "store")
    path = write_log(tmp_path / "a.yaml", log([1, 2]))
    import_into(store, path)
    import_into(store, path, run_as="toinen")
    wrong, n_rows = differences(store)
    assert (wrong, n_rows["duplicate_of"]) == (set(), 2)
    query = "SELECT DISTINCT run_id FROM results WHERE duplicate_of IS NULL"
    [(run_id,)] = store.sql(query).fetchall()
    assert command(store.path, "forget", run_id, "--yes").code == 0
    wrong, n_rows = differences(store)
    assert (wrong, n_rows["duplicate_of"]) == (set(), 0)


def test_verdicts_that_new_tasks_change_are_marked(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2])))
    assert differences(store)[1]["computed_verdict"] == 0
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text('tasks:\n- prompt: "Tehtävä 1"\n  reference: "vastaus 1"\n')
    import_into(store, tasks)
    wrong, n_rows = differences(store)
    assert (wrong, n_rows["computed_verdict"]) == (set(), 1)


def test_what_judges_a_task_changes_the_runs_that_asked_it(tmp_path):
    store = new_store(tmp_path / "store")

    def import_run(name, **second):
        lines = (line(run_id=name), line(run_id=name, prompt_id="P1", prompt_name="two", **second))
        config = {"run_id": name}
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        import_into(store, write_run(folder, *lines, config=config, inventory=config))
        assert differences(store)[0] == set()

    query = "SELECT n_rated, pass_rate FROM scores.run_rates WHERE run_id = 'a'"
    import_run("a", success=False, failure_type="timeout", objective_pass=None)
    # A call without an answer did not pass, unless nothing judges the answers.
    assert store.sql(query).fetchall() == [(2, 0.5)]
    import_run("b", objective_pass=None)
    assert store.sql(query).fetchall() == [(1, 1.0)]
    import_run("c", objective_pass=False)
    assert store.sql(query).fetchall() == [(2, 0.5)]
    assert command(store.path, "forget", "c", "--yes").code == 0
    assert store.sql(query).fetchall() == [(1, 1.0)]


def test_pairs_are_tested_when_ground_truth_comes_later(tmp_path):
    store = new_store(tmp_path / "store")
    tours = tmp_path / "tours"
    shutil.copytree(SAMPLES, tours)
    truth = shutil.move(tours / "benchmark" / "ground_truth", tmp_path / "truth")
    import_into(store, tours)
    assert store.sql("FROM score_comparisons").fetchall() == []
    shutil.move(truth, tours / "benchmark" / "ground_truth")
    import_into(store, tours)
    # Three models by two metrics.
    p_values = store.sql("SELECT count(*), count(p_value) FROM score_comparisons").fetchall()
    assert p_values == [(6, 6)]
    assert differences(store)[0] == set()


def test_flaky_tasks_are_those_of_single_calls(tmp_path):
    """With repeated attempts, versions that are not always known, replays, calls of other runs."""
    choice, store = random.Random(1), new_store(tmp_path / "store")
    calls = [
        {
            "suite": "mine",
            "generation": "root",
            "content_id": f"c{n}",
            "seq": n,
            "model": choice.choice("mn"),
            "provider": choice.choice(["p", "p", "p", "replay"]),
            "task_id": choice.choice(["A", "B", None]),
            "task_hash": choice.choice(["old", "new", None]),
            "attempt": n,
            "objective_pass": choice.choice([True, False, None]),
            "started_at": datetime(2026, 4, 1, n // 60, n % 60),  # noqa: DTZ001 - naive UTC
            "e2e_ms": 100 + n,
            "raw_output": f"answer {n}",
        }
        for n in range(300)
    ]
    results = [
        *({**call, "run_id": "r1"} for call in calls[:120]),
        *({**call, "run_id": "r2"} for call in calls[80:200]),
        *({**call, "run_id": "r3", "task_hash": None} for call in calls[200:]),
    ]
    runs = [
        {"suite": "mine", "run_id": run, "generation": "root", "content_id": run}
        for run in ("r1", "r2", "r3")
    ]
    add_rows(store.lake, runs=runs, results=results)
    mixed = "SELECT DISTINCT is_mixed, n_counted > 0 FROM scores.task_facts ORDER BY ALL"
    assert store.sql(mixed).fetchall() == [(False, True), (True, True)]
    assert differences(store, ["flaky_tasks"]) == (set(), {"flaky_tasks": 9})
