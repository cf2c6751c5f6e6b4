"""Exported palindrome logs follow every rule of the specification, and round trips keep bytes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from palindrome_cases import check_rules, independent, older_logs
from support import (
    PALINDROME,
    command,
    import_into,
    log,
    needs_reference,
    new_store,
    task,
    write_log,
)

from exports.palindrome.log_files import Selection, export_palindrome
from warehouse.core.errors import BadInput


def export(store, folder, **selection):
    return export_palindrome(store, Path(folder), Selection(**selection))


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def check_again(tmp_path, store, **selection):
    """Import the export into an empty store, export again, and compare the bytes."""
    export(store, tmp_path / "first", **selection)
    second = new_store(tmp_path / "again")
    import_into(second, tmp_path / "first")
    export(second, tmp_path / "second", **selection)
    assert files_in(tmp_path / "first") == files_in(tmp_path / "second")


@pytest.mark.slow
@pytest.mark.parametrize("with_extras", [False, True])
def test_examples_export_to_the_same_bytes_again(examples, tmp_path, with_extras):
    check_again(tmp_path, examples, with_extras=with_extras)
    if not with_extras:
        assert len(check_rules(tmp_path / "first")) == 15  # 16 less the one without {prompt}


@pytest.mark.campaign
@needs_reference
def test_reference_logs_export_to_the_same_bytes_again(store, tmp_path):
    import_into(store, PALINDROME / "benchmark_logs", PALINDROME / "models" / "head")
    check_again(tmp_path, store)
    assert len(check_rules(tmp_path / "first")) == len(
        list((PALINDROME / "benchmark_logs").iterdir())
    )


@pytest.mark.campaign
@needs_reference
def test_older_logs_export_to_the_same_bytes_again(tmp_path):
    for n, paths in enumerate(older_logs()):
        store = new_store(tmp_path / str(n) / "store")
        import_into(store, *paths)
        check_again(tmp_path / str(n), store)
        logs = check_rules(tmp_path / str(n) / "first")
        n_tasks = sum(len(independent(path.read_text("utf-8"))["tasks"]) for path in logs)
        # Some logs record the same calls under another model path.
        query = "SELECT count(*) FROM results WHERE duplicate_of IS NULL"
        assert store.sql(query).fetchall() == [(n_tasks,)]


@pytest.mark.slow
def test_two_paths_without_a_model_file_stay_separate(store, tmp_path):
    for n, model in enumerate(("models/m-1.yaml", "models/m.yaml"), start=1):
        path = tmp_path / f"2026-04-0{n}-m.yaml"
        import_into(store, write_log(path, log([n], model=model, date=f"2026-04-0{n}")))
    check_again(tmp_path, store)
    names = {path.name for path in (tmp_path / "second" / "models").iterdir()}
    assert names == {"m-1.yaml", "m-2.yaml"}


@pytest.mark.slow
def test_values_that_no_column_holds_are_exported(store, tmp_path):
    odd = {"timestamp": "yesterday", "metadata": {"cost_usd": 1e16, "input_tokens": 5}}
    tasks = [task(1) | odd, task(2) | {"attempt": "second"}]
    import_into(store, write_log(tmp_path / "2026-04-01-kokeilu.yaml", log(tasks=tasks)))
    export(store, tmp_path / "out", with_extras=True)
    [path] = (tmp_path / "out" / "benchmark_logs").iterdir()
    assert independent(path.read_text("utf-8"))["tasks"] == tasks


# Logs contain no raw control characters: YAML forbids them.
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"], exclude_characters="\ufeff")
    | st.sampled_from("\n\t"),
    max_size=60,
)


@pytest.mark.slow
@given(
    template=TEXT,
    records=st.lists(
        st.tuples(TEXT, TEXT, st.booleans(), st.floats(0, 1e6, allow_nan=False)),
        min_size=1,
        max_size=3,
    ),
)
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_text_survives_export_and_import(tmp_path_factory, template, records):
    folder = tmp_path_factory.mktemp("text")
    tasks = [
        {"prompt": prompt, "answer": answer, "is_correct": verdict, "duration_seconds": seconds}
        for prompt, answer, verdict, seconds in records
    ]
    path = write_log(folder / "log.yaml", tasks=tasks, prompt_template=template + "{prompt}")
    store = new_store(folder / "store")
    import_into(store, path)
    export(store, folder / "out")
    (log,) = check_rules(folder / "out")
    read = independent(log.read_text("utf-8"))
    assert (read["prompt_template"], read["tasks"]) == (template + "{prompt}", tasks)


@pytest.mark.slow
def test_no_log_overwrites_another(store, tmp_path):
    """`gpt-4` variation 2 on a day when `gpt-4-2` ran too, and a second prompt template."""
    for name, text in {
        "gpt-4-1": "name: gpt-4",
        "gpt-4-2": "name: gpt-4\noptions: {temperature: 0.5}",
        "gpt-4-2-1": "name: gpt/4-2",
    }.items():
        (tmp_path / "models").mkdir(exist_ok=True)
        (tmp_path / "models" / f"{name}.yaml").write_text(text)
        write_log(
            tmp_path / f"{name}.yaml", model=f"models/{name}.yaml", tasks=[task(1, answer=name)]
        )
    write_log(
        tmp_path / "other.yaml",
        model="models/gpt-4-1.yaml",
        prompt_template="Other: {prompt}",
        tasks=[task(2)],
    )
    import_into(store, *sorted(tmp_path.glob("*.yaml")))
    exported = export(store, tmp_path / "out")
    names = [path.name for path in check_rules(tmp_path / "out")]
    assert names == [
        "2026-04-01-gpt-4-1.yaml",
        "2026-04-01-gpt-4-2-1.yaml",
        "2026-04-01-gpt-4-2.yaml",
        "2026-04-01-gpt-4.yaml",
    ]
    assert len([note for note in exported.notes if "a separate file" in note]) == 3
    # Each name is one that the import accepts.
    strict = import_into(new_store(tmp_path / "strict"), tmp_path / "out", strict=True)
    assert set(strict.outcomes) == {"imported"}
    for path in (tmp_path / "out" / "benchmark_logs").iterdir():
        assert len(independent(path.read_text())["tasks"]) == 1


@pytest.mark.slow
def test_names_do_not_depend_on_the_selection(examples, tmp_path):
    export(examples, tmp_path / "all")
    runs = [run for (run,) in examples.sql("SELECT run_id FROM runs").fetchall()]
    for run in runs:
        export(examples, tmp_path / "singly", run=run)
    assert files_in(tmp_path / "all") == files_in(tmp_path / "singly")


@pytest.mark.slow
def test_another_log_in_the_folder_is_not_overwritten(examples, tmp_path):
    export(examples, tmp_path / "out")
    path = min((tmp_path / "out" / "benchmark_logs").iterdir())
    path.write_text("date: '2020-01-01'\nprompt_template: mine\ntasks: []\n")
    with pytest.raises(BadInput, match="is another log"):
        export(examples, tmp_path / "out")
    assert "mine" in path.read_text()


def test_the_command_reports_what_it_leaves_out(examples, tmp_path):
    ended = command(examples.path, "export", "palindrome", "--to", tmp_path / "out")
    assert ended.code == 1  # the sample without {prompt}
    assert "has no {prompt}" in ended.err
    assert "--with-extras" in ended.err
    assert ended.out.count(".yaml") == len(files_in(tmp_path / "out"))


@pytest.mark.slow
def test_a_run_without_results_is_reported(store, tmp_path):
    import_into(store, write_log(tmp_path / "1.yaml", log([1])))
    import_into(store, write_log(tmp_path / "2.yaml", log(tasks=[], date="2026-04-02")))
    exported = export_palindrome(store, tmp_path / "out", Selection())
    assert [path.name for path in exported.paths if path.parent.name == "benchmark_logs"] == [
        "2026-04-01-kokeilu-1.yaml"
    ]
    assert exported.notes[0] == (
        "run 2026-04-02/models/kokeilu-1.yaml has no results, so no log was written"
    )
    other = export_palindrome(
        store, tmp_path / "out", Selection(run="2026-04-01/models/kokeilu-1.yaml")
    )
    assert not any("no results" in note for note in other.notes)


def test_an_empty_selection_is_reported(examples, tmp_path):
    ended = command(examples.path, "export", "palindrome", "--to", tmp_path, "--run", "unknown")
    assert ended.code == 2
    assert "evalstore runs" in ended.err
