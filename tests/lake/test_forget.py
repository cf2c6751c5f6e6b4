"""`evalstore forget`: nothing of a run's text remains, and nothing else is touched."""

import json
import os
import re

import pyarrow.parquet as pq
import pytest
from support import (
    ROOT,
    SECRET,
    command,
    digests,
    import_into,
    new_store,
    task,
    traces,
    write_log,
)

from warehouse.core.errors import ExitCode
from warehouse.lake.journal.run_lock import run_lock


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    for day, answer in {"2026-04-01": SECRET, "2026-04-02": "kept"}.items():
        write_log(folder / f"{day}-m.yaml", date=day, tasks=[task(int(day[-1]), answer=answer)])
    return folder


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def run_ids(store):
    return [run for (run,) in store.sql("SELECT run_id FROM runs ORDER BY run_id").fetchall()]


@pytest.mark.slow
def test_no_trace_of_the_text_remains(store, logs):
    import_into(store, logs)
    run, other = run_ids(store)
    (content,) = store.sql("SELECT content FROM lake.files WHERE path LIKE '%04-01%'").fetchall()[0]
    assert SECRET.encode() in content
    ended = command(store.path, "forget", run, "--yes")
    assert (ended.code, run_ids(store)) == (0, [other])
    assert store.sql("SELECT count(*) FROM lake.files").fetchall() == [(1,)]
    # Parquet is compressed, so its rows are queried; the other files are searched.
    assert SECRET.encode() not in everything_in(store.path)
    for table in ("results", "files", "quarantine", "violations"):
        assert SECRET not in str(store.sql(f"FROM lake.{table}").fetchall())


@pytest.mark.campaign
def test_the_rest_is_as_if_the_run_had_never_been_imported(store, logs, tmp_path):
    import_into(store, logs)
    command(store.path, "forget", run_ids(store)[0], "--yes")
    never = new_store(tmp_path / "never")
    import_into(never, logs / "2026-04-02-m.yaml")
    assert digests(store) == digests(never)


@pytest.mark.campaign
def test_a_forgotten_run_returns_only_with_restore(store, logs):
    import_into(store, logs)
    before = digests(store)
    run = run_ids(store)[0]
    command(store.path, "forget", run, "--yes")
    assert any("forgotten" in message for message in import_into(store, logs).messages)
    assert run not in run_ids(store)
    import_into(store, logs, restore=True)
    assert digests(store) == before
    command(store.path, "forget", run, "--yes")
    import_into(store, logs)
    assert run not in run_ids(store)


@pytest.mark.slow
def test_a_killed_forget_is_completed(store, logs, monkeypatch):
    import_into(store, logs)
    run = run_ids(store)[0]
    (batch,) = store.lake.batch_names()
    monkeypatch.setattr("warehouse.lake.lake.Lake.remove_replaced", lambda _lake: None)
    command(store.path, "forget", run, "--yes")
    assert batch in store.lake.batch_names()
    monkeypatch.undo()
    store.sync(rebuild=True)
    assert batch not in store.lake.batch_names()
    assert run not in run_ids(store)


def test_an_unknown_run_is_refused(store, logs):
    import_into(store, logs)
    ended = command(store.path, "forget", "unknown", "--yes")
    assert ended.code == 2
    assert "evalstore runs" in ended.err


@pytest.mark.slow
def test_a_run_in_progress_is_not_forgotten(store, logs):
    import_into(store, logs)
    run, _ = run_ids(store)
    with run_lock(store.path, "palindrome", run):
        ended = command(store.path, "forget", run, "--yes")
    assert ended.code == ExitCode.BUSY
    assert f"run {run} is being run by the process with id {os.getpid()}" in ended.err
    assert run in run_ids(store)


@pytest.mark.slow
def test_tasks_that_other_runs_share_stay_and_the_store_is_sound(store, tmp_path):
    own = new_store(tmp_path / "own")
    for run_id in ("one", "two"):
        with own.record(suite="own", run_id=run_id, model=f"m-{run_id}") as run:
            for n in range(3):
                run.log(task_id=f"t{n}", prompt=f"question {n}", output="x", passed=True)
    command(own.path, "export", "eee", "--to", tmp_path / "out")
    import_into(store, tmp_path / "out")
    n_tasks = store.sql("SELECT count(*) FROM tasks").fetchall()
    for run in run_ids(store)[:1]:
        assert command(store.path, "forget", run, "--yes").code == 0
    assert store.sql("SELECT count(*) FROM tasks").fetchall() == n_tasks != [(0,)]
    assert command(store.path, "check").code == 0


# --- the tasks of a run of a user's own suite


@pytest.fixture
def own_run(store, tmp_path, monkeypatch):
    """Return a function that runs a suite of one's own with these prompts, and returns its ID."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.jsonl").write_text(
        "\n".join(json.dumps({"task": f"t{n}", "text": "x"}) for n in range(3))
    )

    def run(*prompts, name="mine", options=()):
        tasks = [{"id": f"t{n}", "prompt": prompt} for n, prompt in enumerate(prompts)]
        (tmp_path / "mine.json").write_text(json.dumps({"suite": name, "tasks": tasks}))
        replay = ("--model", "m", "--provider", "replay", "--answers", "answers.jsonl")
        ended = command(store.path, "run", "mine.json", *replay, *options)
        assert ended.code == 0, ended.err
        return re.search(r"^run (\S+):", ended.err, re.MULTILINE)[1]

    return run


def palindrome_run(store):
    replay = ("--model", "example/aurora-2", "--provider", "replay")
    ended = command(store.path, "run", "palindrome", *replay)
    return re.search(r"^run (\S+):", ended.err, re.MULTILINE)[1]


def prompts_in(path):
    return pq.ParquetFile(path).read(["prompt"])["prompt"].to_pylist()


def prompts(store):
    query = "SELECT suite, prompt FROM lake.tasks ORDER BY task_set_hash, seq, suite"
    return sorted(store.sql(query).fetchall())


@pytest.mark.campaign
@pytest.mark.parametrize("is_compacted", [False, True])
def test_the_prompts_of_an_own_suite_are_forgotten_with_its_last_run(store, own_run, is_compacted):
    first = own_run("asked twice", SECRET)
    second = own_run("asked twice", "new")
    third = own_run("asked twice", "new")
    other = own_run(SECRET, name="other")
    if is_compacted:
        command(store.path, "compact")
    old = [("mine", "asked twice"), ("mine", SECRET)]
    new = [("mine", "asked twice"), ("mine", "new")]
    others = [("other", SECRET)]
    assert prompts(store) == sorted([*old, *new, *others])
    forgotten = [
        ("mine", first, [*new, *others]),
        ("mine", second, [*new, *others]),
        ("other", other, new),
        ("mine", third, []),
    ]
    for name, run, left in forgotten:
        # Runs of the same second have the same ID.
        ended = command(store.path, "forget", run, "--suite", name, "--yes")
        assert ended.code == 0, ended.err
        assert prompts(store) == sorted(left)
        assert (traces(store, SECRET) == []) == (name == "other" or not left)


@pytest.mark.slow
def test_a_run_of_fewer_tasks_keeps_its_version_of_the_suite(store, own_run):
    first = own_run("a", "b", "c")
    own_run("a", "b", "c", options=("--limit", "1"))
    command(store.path, "forget", first, "--yes")
    assert prompts(store) == [("mine", "a"), ("mine", "b"), ("mine", "c")]


@pytest.mark.slow
@pytest.mark.parametrize("is_used", [False, True])
def test_tasks_that_an_imported_run_uses_are_kept(store, tmp_path, monkeypatch, is_used):
    """Logs have no tasks of their own: those of our run give them references."""
    monkeypatch.chdir(tmp_path)
    run = palindrome_run(store)
    asked = prompts(store)
    prompt = asked[0][1] if is_used else "another"
    import_into(store, write_log(tmp_path / "log.yaml", tasks=[task(1, prompt=prompt)]))
    command(store.path, "forget", run, "--yes")
    assert prompts(store) == (asked if is_used else [])


@pytest.mark.slow
def test_tasks_from_a_task_file_are_kept(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = palindrome_run(store)
    import_into(store, ROOT / "tasks" / "palindrome.yaml")
    asked = prompts(store)
    command(store.path, "forget", run, "--yes")
    assert asked
    assert prompts(store) == asked


@pytest.mark.slow
def test_a_batch_with_the_rows_of_another_table_is_in_nobodys_way(store, own_run):
    first, second = own_run("a", SECRET), own_run("b")
    (tasks,) = [p for p in store.path.glob("lake/*/tasks.parquet") if "b" in prompts_in(p)]
    tasks.write_bytes((tasks.parent / "results.parquet").read_bytes())
    ended = command(store.path, "forget", first, "--yes")
    assert ended.code == 0, ended.err
    assert traces(store, SECRET) == []
    ended = command(store.path, "forget", second, "--yes")
    assert ended.code == 2
    assert f"{tasks}: SHA-256 is" in ended.err
