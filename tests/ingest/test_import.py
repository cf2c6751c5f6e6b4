"""Grown, partial, conflicting and copied logs: how each is imported."""

import shutil

import pytest
from palindrome_cases import read_back
from support import EXAMPLES, digests, import_into, log, new_store, task, write_log

from warehouse.core.errors import BadInput
from warehouse.lake.batch import Generation, current_generations

RUN = "2026-04-01/models/kokeilu-1.yaml"
# These two list the imported files; a log that adds nothing is not among them.
BY_FILE = ("main.files", "checks.violations")


def prompts(store, run=RUN):
    rows = store.sql("SELECT prompt FROM results WHERE run_id = $run ORDER BY seq", {"run": run})
    return [prompt for (prompt,) in rows.fetchall()]


def named(*numbers):
    return [f"Tehtävä {n}" for n in numbers]


def outcomes(summary):
    return {str(outcome): count for outcome, count in summary.outcomes.items()}


@pytest.mark.slow
def test_a_grown_log_adds_what_is_new(store, tmp_path):
    path = tmp_path / "log.yaml"
    import_into(store, write_log(path, log([1, 2])))
    assert prompts(store) == named(1, 2)
    summary = import_into(store, write_log(path, log([1, 2, 3])))
    assert (outcomes(summary), summary.n_results) == ({"grown": 1}, 1)
    assert prompts(store) == named(1, 2, 3)


def test_a_log_that_grew_in_the_middle_keeps_its_order(store, tmp_path):
    path = tmp_path / "log.yaml"
    import_into(store, write_log(path, log([1, 3])))
    # A call that is found at a later place is not a new result.
    assert import_into(store, write_log(path, log([1, 2, 3]))).n_results == 1
    assert prompts(store) == named(1, 2, 3)


@pytest.mark.slow
def test_a_part_of_a_log_changes_nothing(store, tmp_path):
    import_into(store, write_log(tmp_path / "all.yaml", log([1, 2, 3])))
    before = digests(store)
    summary = import_into(store, write_log(tmp_path / "part.yaml", log([2, 3])))
    assert (outcomes(summary), summary.n_results, summary.runs) == ({"unchanged": 1}, 0, set())
    assert len(store.lake.batch_names()) == 1
    assert digests(store) == before


@pytest.mark.parametrize("names", [("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")])
def test_a_part_and_the_whole_in_one_import_count_each_call_once(store, tmp_path, names):
    part, whole = names
    write_log(tmp_path / "logs" / part, log([2, 3]))
    write_log(tmp_path / "logs" / whole, log([1, 2, 3]))
    assert import_into(store, tmp_path / "logs").n_results == 3
    assert prompts(store) == named(1, 2, 3)
    assert store.sql("SELECT n_results FROM runs").fetchall() == [(3,)]
    assert store.sql("SELECT count(*) FROM checks.duplicate_calls").fetchall() == [(0,)]


@pytest.mark.campaign
def test_a_part_and_the_whole_give_the_same_views_in_any_order(tmp_path):
    part = write_log(tmp_path / "part.yaml", log([2, 3]))
    whole = write_log(tmp_path / "whole.yaml", log([1, 2, 3]))
    seen = []
    for number, imports in enumerate([[part, whole], [whole, part], [[part, whole]]]):
        store = new_store(tmp_path / f"store{number}")
        for paths in imports:
            import_into(store, *(paths if isinstance(paths, list) else [paths]))
        seen.append(digests(store, without=BY_FILE))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.campaign
def test_run_fields_of_a_second_log_of_the_same_calls_are_kept(tmp_path):
    plain = write_log(tmp_path / "plain.yaml", log([1, 2]))
    noted = write_log(tmp_path / "noted.yaml", log([1, 2], run_note="toinen kone"))
    seen = []
    for number, paths in enumerate([(plain, noted), (noted, plain)]):
        store = new_store(tmp_path / f"store{number}")
        for path in paths:
            import_into(store, path)
        store.sync()
        with store.reading() as connection:
            extras = connection.execute("SELECT extra FROM lake.runs ORDER BY extra").fetchall()
        assert extras == [('{"run_note":"toinen kone"}',), (None,)]
        seen.append(digests(store, without=BY_FILE))
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_the_same_record_twice_in_a_log_is_two_results(store, tmp_path):
    path = write_log(tmp_path / "log.yaml", log(tasks=[task(1), task(1), task(2)]))
    import_into(store, path)
    assert prompts(store) == named(1, 1, 2)
    import_into(store, write_log(path, log(tasks=[task(1), task(1), task(1), task(2)])))
    assert prompts(store) == named(1, 1, 1, 2)


@pytest.mark.slow
def test_a_conflicting_log_is_refused_completely(cli, store, tmp_path):
    write_log(tmp_path / "a.yaml", log([1, 2, 3]))
    assert cli("import", tmp_path / "a.yaml").code == 0
    before = digests(store)
    other = write_log(tmp_path / "new" / "a.yaml", log([1, 2, 4]))
    ended = cli("import", other)
    assert ended.code == 2
    assert "--as" in ended.err
    assert "--replace" in ended.err
    assert RUN in ended.err
    assert "Traceback" not in ended.err
    assert ended.lines["results"] == "0 new"
    assert len(store.lake.batch_names()) == 1
    assert digests(store) == before


@pytest.mark.slow
def test_the_rest_is_imported_despite_a_conflict(cli, store, tmp_path):
    cli("import", write_log(tmp_path / "a.yaml", log([1, 2])))
    write_log(tmp_path / "new" / "a.yaml", log([2, 3]))
    write_log(tmp_path / "new" / "b.yaml", log([5], date="2026-04-02"))
    ended = cli("import", tmp_path / "new")
    assert ended.code == 2
    assert prompts(store) == named(1, 2)
    assert prompts(store, "2026-04-02/models/kokeilu-1.yaml") == named(5)


def test_as_imports_a_conflicting_log_as_another_run(cli, store, tmp_path):
    cli("import", write_log(tmp_path / "a.yaml", log([1, 2])))
    other = write_log(tmp_path / "b.yaml", log([3, 4]))
    assert cli("import", "--as", "toinen", other).code == 0
    assert prompts(store) == named(1, 2)
    assert prompts(store, "toinen") == named(3, 4)
    again = cli("import", "--as", "toinen", other)
    assert (again.code, again.lines["unchanged"]) == (0, "1")


def test_as_with_several_runs_is_refused_completely(cli, store, tmp_path):
    write_log(tmp_path / "logs" / "a.yaml", log([1]))
    write_log(tmp_path / "logs" / "b.yaml", log([2], date="2026-04-02"))
    ended = cli("import", "--as", "yksi", tmp_path / "logs")
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert "--as" in ended.err
    assert store.lake.batch_names() == set()


def test_as_an_empty_name_is_refused(cli, store, tmp_path):
    ended = cli("import", "--as", "", write_log(tmp_path / "a.yaml"))
    assert (ended.code, store.lake.batch_names()) == (2, set())


@pytest.mark.slow
def test_replace_shows_only_the_new_generation(cli, store, tmp_path):
    cli("import", write_log(tmp_path / "a.yaml", log([1, 2])))
    ended = cli("import", "--replace", write_log(tmp_path / "b.yaml", log([2, 3])))
    assert ended.code == 0
    assert prompts(store) == named(2, 3)
    with store.reading() as connection:
        [(parent,)] = connection.execute("SELECT parent_generation FROM runs").fetchall()
    assert parent == "root"
    # The old generation is still in the lake, and its log is now in conflict.
    assert cli("import", tmp_path / "a.yaml").code == 2
    assert prompts(store) == named(2, 3)


@pytest.mark.campaign
def test_replacements_follow_each_other(store, tmp_path):
    versions = [[1, 2], [2, 3], [3, 4], [4, 5], [1, 2]]
    for number, numbers in enumerate(versions):
        path = write_log(tmp_path / f"{number}.yaml", log(numbers))
        import_into(store, path, replace=True)
        assert prompts(store) == named(*numbers)
    before = digests(store)
    store.sync(rebuild=True)
    assert digests(store) == before
    assert store.sql("FROM checks.rival_generations").fetchall() == []
    # The current generation can grow.
    import_into(store, write_log(tmp_path / "grown.yaml", log([1, 2, 9])))
    assert prompts(store) == named(1, 2, 9)


@pytest.mark.slow
def test_replace_by_a_part_removes_the_rest(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2, 3])))
    summary = import_into(store, write_log(tmp_path / "b.yaml", log([2])), replace=True)
    assert outcomes(summary) == {"replaced": 1}
    assert prompts(store) == named(2)


def test_replace_with_the_same_changes_nothing(store, tmp_path):
    path = write_log(tmp_path / "a.yaml", log([1, 2]))
    import_into(store, path)
    assert outcomes(import_into(store, path, replace=True)) == {"unchanged": 1}
    assert len(store.lake.batch_names()) == 1


@pytest.mark.campaign
def test_rival_generations_resolve_the_same_in_any_order(tmp_path):
    origin = new_store(tmp_path / "origin")
    import_into(origin, write_log(tmp_path / "a.yaml", log([1, 2])))
    sides = []
    for side, numbers in (("left", [2, 3]), ("right", [2, 4])):
        shutil.copytree(origin.path, tmp_path / side)
        store = new_store(tmp_path / side)
        import_into(store, write_log(tmp_path / f"{side}.yaml", log(numbers)), replace=True)
        sides.append((store, store.lake.batch_names() - origin.lake.batch_names()))
    (left, of_left), (right, of_right) = sides
    for name in of_right:  # combined after a sync in one store, before it in the other
        left.sync()
        shutil.copytree(right.lake.path / name, left.lake.path / name)
    for name in of_left:
        right.sync()
        shutil.copytree(left.lake.path / name, right.lake.path / name)
    assert digests(left) == digests(right)
    rivals = left.sql("SELECT generation FROM checks.rival_generations ORDER BY 1").fetchall()
    assert len(rivals) == 2
    assert left.sql("SELECT generation FROM runs").fetchall() == [min(rivals)]
    before = digests(left)
    left.sync(rebuild=True)
    assert digests(left) == before
    assert prompts(left) in (named(2, 3), named(2, 4))


def test_rivals_need_no_clock():
    root = Generation("s", "r")
    rivals = [Generation("s", "r", name, "root") for name in ("b", "a", "c")]
    later = Generation("s", "r", "z", "a")
    lost = Generation("s", "r", "0", "b")
    for order in ([root, *rivals, later, lost], [lost, later, *reversed(rivals), root]):
        assert current_generations(order) == {("s", "r"): later}


def test_two_templates_of_one_run_coexist(store, tmp_path):
    first = write_log(tmp_path / "a.yaml", log([1, 2]))
    second = write_log(tmp_path / "b.yaml", log([3, 4], prompt_template="Toisin: {prompt}"))
    assert outcomes(import_into(store, first, second)) == {"imported": 2}
    assert store.sql("SELECT n_results, n_templates FROM runs").fetchall() == [(4, 2)]
    assert outcomes(import_into(store, first, second)) == {"unchanged": 2}


BARE = ("timestamp", "metadata")


def bare(*numbers, **fields):
    """Give tasks with only the fields of the specification."""
    tasks = [{**task(n), **fields} for n in numbers]
    return [{k: v for k, v in each.items() if k not in BARE} for each in tasks]


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(1, 2, 2), (2,)])
def test_the_log_of_a_run_without_times_and_costs_adds_nothing(store, tmp_path, numbers):
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2, 2])))
    before = digests(store)
    summary = import_into(store, write_log(tmp_path / "b.yaml", log(tasks=bare(*numbers))))
    assert (outcomes(summary), summary.n_results) == ({"unchanged": 1}, 0)
    assert digests(store) == before


@pytest.mark.parametrize(
    "tasks", [bare(1, 3), bare(1, 1), bare(1, is_correct=True), bare(1, duration_seconds=9.5)]
)
def test_the_log_of_a_run_that_says_something_else_conflicts(store, tmp_path, tasks):
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2])))
    summary = import_into(store, write_log(tmp_path / "b.yaml", log(tasks=tasks)))
    assert outcomes(summary) == {"conflicting": 1}


def test_the_same_calls_under_another_template_conflict(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2])))
    second = write_log(tmp_path / "b.yaml", log([1, 2], prompt_template="Toisin: {prompt}"))
    assert outcomes(import_into(store, second)) == {"conflicting": 1}


@pytest.mark.slow
def test_the_same_call_in_two_runs_counts_once(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2])))
    import_into(store, write_log(tmp_path / "b.yaml", log([2, 3])), run_as="zz")
    assert store.sql(
        "SELECT run_id, duplicate_of, task_id FROM checks.duplicate_calls"
    ).fetchall() == [("zz", RUN, "Tehtävä 2")]
    assert store.sql("SELECT sum(n_results) FROM runs").fetchall() == [(4,)]
    assert store.sql("SELECT sum(n), sum(n_correct) FROM palindrome_accuracy").fetchall() == [
        (3, 1)
    ]
    assert store.sql("SELECT n_results, n_judged FROM leaderboard_pooled").fetchall() == [(3, 3)]
    # The later run is shown with all its calls, though the first run counts one of them; no run
    # asked all three tasks.
    assert store.sql("SELECT run_id, n_tasks, n_tasks_in_set FROM leaderboard").fetchall() == [
        ("zz", 2, 2)
    ]


@pytest.mark.slow
def test_a_duplicate_counts_again_when_the_first_is_replaced(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml", log([1, 2])))
    import_into(store, write_log(tmp_path / "b.yaml", log([2, 3])), run_as="zz")
    assert len(store.sql("FROM checks.duplicate_calls").fetchall()) == 1
    import_into(store, write_log(tmp_path / "c.yaml", log([1, 7])), replace=True)
    assert store.sql("FROM checks.duplicate_calls").fetchall() == []
    before = digests(store)
    store.sync(rebuild=True)
    assert digests(store) == before


def test_a_log_imported_again_under_another_name_changes_nothing(store, tmp_path):
    path = write_log(tmp_path / "a.yaml")
    import_into(store, path)
    shutil.copy(path, tmp_path / "b.yaml")
    assert outcomes(import_into(store, tmp_path / "b.yaml")) == {"unchanged": 1}


def test_a_copied_model_file_applies_to_both_names(store, tmp_path):
    text = "name: talo/malli\noptions:\n  temperature: 0.3\n"
    for name in ("malli-1.yaml", "malli-2.yaml"):
        (tmp_path / "models").mkdir(exist_ok=True)
        (tmp_path / "models" / name).write_text(text)
        import_into(store, tmp_path / "models" / name)
    write_log(tmp_path / "a.yaml", log([1], model="models/malli-1.yaml"))
    write_log(tmp_path / "b.yaml", log([2], model="models/malli-2.yaml"))
    import_into(store, tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert store.sql("SELECT model_path, name FROM models ORDER BY ALL").fetchall() == [
        ("models/malli-1.yaml", "talo/malli"),
        ("models/malli-2.yaml", "talo/malli"),
    ]
    assert store.sql("SELECT DISTINCT model, is_resolved FROM results").fetchall() == [
        ("talo/malli", True)
    ]


def test_task_and_model_files_next_to_a_log_are_imported(store):
    one = EXAMPLES / "benchmark_logs" / "2026-02-08-esimerkki-revontuli-t03.yaml"
    import_into(store, one)
    assert store.sql("SELECT name, parameters FROM models").fetchall() == [
        ("esimerkki/revontuli", '{"temperature":0.3}')
    ]
    assert store.sql("SELECT count(*) > 0 FROM tasks").fetchall() == [(True,)]
    assert store.sql("SELECT DISTINCT verdict_source FROM verdicts").fetchall() == [("recorded",)]


@pytest.mark.parametrize(
    "model",
    ["../salainen.yaml", "/etc/hostname", "models/../../salainen.yaml", "models/linkki.yaml"],
)
def test_a_log_cannot_choose_which_files_are_read(store, tmp_path, model):
    (tmp_path / "salainen.yaml").write_text("name: salaisuus\n")
    project = tmp_path / "project"
    (project / "models").mkdir(parents=True)
    (project / "models" / "linkki.yaml").symlink_to(tmp_path / "salainen.yaml")
    import_into(store, write_log(project / "logs" / "a.yaml", log([1], model=model)))
    assert store.sql("FROM models").fetchall() == []


@pytest.mark.slow
def test_a_later_task_file_gives_verdicts_to_existing_results(store, tmp_path):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(1, answer="Saippuakauppias!")]))
    import_into(store, path)
    assert store.sql("SELECT computed FROM verdicts").fetchall() == [(None,)]
    tasks = tmp_path / "t.yaml"
    tasks.write_text('tasks:\n- {prompt: "Tehtävä 1", reference: saippuakauppias}\n', "utf-8")
    import_into(store, tasks)
    assert store.sql("SELECT recorded, computed FROM verdicts").fetchall() == [(False, True)]
    assert len(store.sql("FROM verdict_drift").fetchall()) == 1


def test_strict_refuses_violations_and_imports_the_rest(cli, store, tmp_path):
    write_log(tmp_path / "logs" / "2026-04-01-kokeilu.yaml")
    write_log(
        tmp_path / "logs" / "b.yaml", log(tasks=[task(1, is_correct="True")], date="2026-04-02")
    )
    ended = cli("import", "--strict", tmp_path / "logs")
    assert ended.code == 1
    assert "tasks[0].is_correct" in ended.err
    assert prompts(store) == named(1, 2)
    assert len(store.sql("FROM runs").fetchall()) == 1


def test_strict_refuses_files_that_the_store_has(cli, store, tmp_path):
    write_log(tmp_path / "logs" / "2026-04-01-kokeilu.yaml")
    (tmp_path / "logs" / "tasks.yaml").write_text("tasks: [{prompt: a, reference: b}]\n")
    bad = log(tasks=[task(1, is_correct="True")], date="2026-04-02")
    write_log(tmp_path / "logs" / "2026-04-02-kokeilu.yaml", bad)
    assert cli("import", tmp_path / "logs").code == 0
    batches = store.lake.batch_names()
    ended = cli("import", "--strict", tmp_path / "logs")
    assert ended.code == 1
    assert "tasks[0].is_correct" in ended.err
    assert "3  (2 unchanged, 1 refused)" in ended.out
    assert store.lake.batch_names() == batches


def test_violations_are_rows_with_line_and_field(store, tmp_path):
    path = tmp_path / "nimi.yaml"
    path.write_text(
        "date: '2025-02-30'\n"
        "model: models/malli.yaml\n"
        "prompt_template: ilman paikkaa\n"
        "tasks:\n"
        "- prompt: p\n"
        "  is_correct: 'yes'\n"
        "  duration_seconds: 4\n"
    )
    import_into(store, path)
    assert store.sql("SELECT line, field, rule FROM checks.violations").fetchall() == [
        (1, "(file name)", "file_name"),
        (1, "date", "date"),
        (2, "model", "model_path"),
        (3, "prompt_template", "placeholder"),
        (5, "tasks[0].answer", "required"),
        (6, "tasks[0].is_correct", "type"),
        (7, "tasks[0].duration_seconds", "float"),
    ]
    assert store.sql("SELECT recorded_date, n_results FROM runs").fetchall() == [("2025-02-30", 1)]


@pytest.mark.parametrize(
    ("file", "path", "rules"),
    [
        # The name in the model file counts, whatever the path.
        ("2026-04-01-org-x.yaml", "models/y-1.yaml", []),
        ("2026-04-01-y.yaml", "models/y-1.yaml", ["file_name"]),
        # The second log of a day may have the variation, and only that.
        ("2026-04-01-org-x-2.yaml", "models/org-x-2.yaml", []),
        ("2026-04-01-org-x-2.yaml", "models/org-x-3.yaml", ["file_name"]),
        ("2026-04-01-org-x-t05.yaml", "models/org-x-t05-1.yaml", ["file_name"]),
        # The slashes of a name become dashes.
        ("2026-04-01-org-x.yaml", "models/org/x-1.yaml", ["model_path"]),
    ],
)
def test_the_model_file_gives_the_name_of_the_log(store, tmp_path, file, path, rules):
    model = tmp_path / path
    model.parent.mkdir(parents=True)
    model.write_text("name: org/x\n")
    log_path = write_log(tmp_path / "benchmark_logs" / file, log(model=path))
    summary = import_into(store, log_path)
    assert store.sql("SELECT rule FROM checks.violations").fetchall() == [(r,) for r in rules]
    assert summary.outcomes["imported"] == 2
    refused = import_into(new_store(tmp_path / "strict"), log_path, strict=True)
    assert refused.outcomes["refused"] == len(rules)


def test_an_empty_name_in_the_model_file_says_nothing_of_the_log(store, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "y-1.yaml").write_text("name: ''\n")
    import_into(store, write_log(tmp_path / "2026-04-01-y.yaml", log(model="models/y-1.yaml")))
    assert store.sql("SELECT rule FROM checks.violations").fetchall() == []


def test_the_summary_counts_files_by_outcome(cli, tmp_path):
    folder = tmp_path / "logs"
    first = write_log(folder / "a.yaml", log([1, 2]))
    changed = write_log(folder / "b.yaml", log([1, 2], date="2026-05-01"))
    assert cli("import", folder).lines["files"] == "2  (2 imported)"
    write_log(first, log([1, 2, 3]))
    write_log(changed, log(tasks=[task(1, answer="toinen"), task(2)], date="2026-05-01"))
    write_log(folder / "c.yaml", log([1], date="2026-06-01"))
    (folder / "d.yaml").write_text("date: [")
    summary = cli("import", folder)
    assert summary.lines["files"] == "4  (1 imported, 1 grown, 1 conflicting, 1 quarantined)"
    assert summary.code == 2


def test_as_changes_only_the_run(store, tmp_path):
    path = write_log(tmp_path / "a.yaml", log([1, 2]))
    import_into(store, path, run_as="omituinen\n'; DROP\t\x1b[31m/../\u202e")
    assert list(read_back(store).values()) == [log([1, 2])]


def test_a_negative_summary_is_an_error(store, tmp_path):
    with pytest.raises(BadInput, match="--as"):
        import_into(
            store,
            write_log(tmp_path / "a.yaml", log([1])),
            write_log(tmp_path / "b.yaml", log([1], date="2026-05-01")),
            run_as="x",
        )
