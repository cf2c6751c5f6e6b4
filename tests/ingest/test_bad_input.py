"""Unusable input: a clear message and exit code; the rest is imported, and nothing is lost."""

import json
import os
import subprocess
import sys
import tracemalloc

import pytest
from support import (
    DAMAGED,
    child,
    command,
    digests,
    environment,
    import_into,
    log,
    shell,
    task,
    write_log,
)

from tests.campaigns.killing import forked
from warehouse.core.files import read_regular

GOOD = "2026-04-01/models/kokeilu-1.yaml"
HEAD = b"date: '2026-01-01'\nmodel: models/m-1.yaml\nprompt_template: '{prompt}'\ntasks:\n"
TASK = b"- {prompt: p, answer: a, is_correct: true, duration_seconds: 1.0}\n"

FILES = {
    "empty": (b"", "the document is empty"),
    "whitespace": (b"\n \n# nothing\n", "the document is empty"),
    "binary": (bytes(range(256)) * 4, "control character"),
    "an image": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\x00" * 50, "UTF-8"),
    "not UTF-8": (HEAD + b"- {prompt: p, answer: \xe4\xe4}\n", "not UTF-8"),
    "UTF-16": ("date: '2026-01-01'".encode("utf-16"), "UTF-16"),
    "a control character": (HEAD + b"- {prompt: p, answer: \x07}\n", "U+0007"),
    "an alias bomb": (
        b"a: &a ["
        + b"x, " * 9
        + b"x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b", ".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 122)
        ),
        "aliases",
    ),
    "too deep": (HEAD + b"- " + b"[" * 10_000, "nested more than"),
    "truncated in quotes": (HEAD + b"- {prompt: 'p", "close the quote"),
    "tabs": (b"date: x\n\ttasks: []\n", "spaces"),
    "a tag": (HEAD + b"- !!python/object/apply:os.system ['touch /tmp/evil']\n", "tag"),
    "two documents": (HEAD + TASK + b"---\n" + HEAD + TASK, "second document"),
    "not a mapping": (b"- a\n- b\n", "no known format"),
    "other YAML": (b"services: {web: {image: nginx}}\n", "no known format"),
    "no tasks": (b"date: '2026-01-01'\nmodel: m\nprompt_template: x\n", "`tasks` is missing"),
    "tasks that are not a list": (HEAD.replace(b"tasks:", b"tasks: 5"), "`tasks` is not a list"),
    "tasks twice": (HEAD + TASK + b"tasks:\n" + TASK, "occurs twice at the top level"),
    "a date twice": (HEAD + TASK + b"date: x\n", "occurs twice at the top level"),
}


@pytest.mark.slow
def test_unusable_files_are_named_and_kept(cli, store, tmp_path):
    write_log(tmp_path / "logs" / "good.yaml")
    paths = {what: tmp_path / "logs" / f"{what}.yaml" for what in FILES}
    for what, path in paths.items():
        path.write_bytes(FILES[what][0])
    ended = cli("import", tmp_path / "logs")
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert ended.lines["quarantined"] == str(len(FILES))
    # Nothing is lost: the bytes are stored with the reason.
    with store.reading() as connection:
        runs = connection.execute("SELECT run_id FROM runs").fetchall()
        reasons = dict(connection.execute("SELECT path, reason FROM quarantine").fetchall())
        raw = connection.execute("SELECT raw FROM lake.quarantine").fetchall()
        kept = dict(connection.execute("SELECT path, content FROM lake.files").fetchall())
    assert runs == [(GOOD,)]
    assert sorted(raw) == sorted((data,) for data, _ in FILES.values())
    for what, path in paths.items():
        data, reason = FILES[what]
        [said] = [line for line in ended.err.splitlines() if str(path) in line]
        assert reason in said
        assert reason in reasons[str(path)]
        assert kept[str(path)] == data
    again = cli("import", tmp_path / "logs")
    assert (again.code, again.lines["unchanged"]) == (2, "1")
    assert len(store.lake.batch_names()) == 1


WRONG = [None, 5, 2.5, True, [1, "a"], {"a": {"b": 1}}, "teksti", "", 10**40, -1.0]
TASK_FIELDS = ["timestamp", "prompt", "answer", "is_correct", "duration_seconds", "metadata"]


@pytest.mark.slow
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_a_wrong_type_in_every_field_of_a_task(store, tmp_path, value):
    tasks = [task(n, **{field: value}) for n, field in enumerate(TASK_FIELDS, start=1)]
    inner = ["input_tokens", "output_tokens", "cost_usd", "cost_source"]
    tasks += [task(10 + n, metadata={field: value}) for n, field in enumerate(inner)]
    tasks += [task(20, **dict.fromkeys(TASK_FIELDS, value))]
    summary = import_into(store, write_log(tmp_path / "a.yaml", log(tasks=tasks)))
    assert (summary.n_results, summary.n_quarantined) == (len(tasks), 0)
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(len(tasks),)]
    fields = {field for (field,) in store.sql("SELECT field FROM checks.violations").fetchall()}
    if not isinstance(value, str):
        assert {"tasks[0].timestamp", "tasks[1].prompt", "tasks[2].answer"} <= fields
    if not isinstance(value, bool):
        assert "tasks[3].is_correct" in fields


@pytest.mark.slow
def test_every_view_tolerates_wrong_types(store, tmp_path):
    for n, value in enumerate(WRONG):
        tasks = [task(20 * n + at, **{field: value}) for at, field in enumerate(TASK_FIELDS)]
        import_into(
            store, write_log(tmp_path / f"{n}.yaml", log(tasks=tasks, model=f"models/{n}.yaml"))
        )
    views = digests(store)  # reads every row of every view
    assert views["main.results"].startswith(f"{len(WRONG) * len(TASK_FIELDS)} rows")


@pytest.mark.parametrize("field", ["date", "model", "prompt_template"])
def test_a_wrong_type_in_every_field_of_the_root(store, tmp_path, field):
    paths = {}
    for n, value in enumerate(WRONG):
        # A second field makes each a separate run.
        other = {"date": f"2026-01-{n + 1:02}"} if field != "date" else {"model": f"m/{n}.yaml"}
        paths[n] = write_log(tmp_path / f"{n}.yaml", log(**{field: value}, **other))
    import_into(store, *paths.values())
    with store.reading() as connection:
        counts = connection.execute("SELECT n_results FROM runs").fetchall()
        violations = connection.execute("SELECT path, field FROM checks.violations").fetchall()
    assert counts == [(2,)] * len(WRONG)
    for n, value in enumerate(WRONG):
        if not isinstance(value, str):
            assert (str(paths[n]), field) in violations, value


@pytest.mark.slow
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_a_wrong_type_in_every_field_of_task_and_model_files(store, tmp_path, value):
    for field in ("title", "system_prompt", "extra"):
        tasks = [{"prompt": "p", "reference": "r"}, {"prompt": value, "reference": value}, value]
        write_log(tmp_path / "in" / f"t-{field}.yaml", {field: value, "tasks": tasks})
    for field in ("provider", "options", "parameters", "version", "metadata", "price", "skip"):
        write_log(tmp_path / "in" / "models" / f"m-{field}.yaml", {"name": "m", field: value})
    summary = import_into(store, tmp_path / "in")
    assert summary.outcomes == {"imported": 10}
    assert store.sql("SELECT count(*) FROM models").fetchall() == [(7,)]
    assert store.sql("SELECT count(*) >= 6 FROM tasks").fetchall() == [(True,)]


def test_records_that_are_not_tasks_go_to_quarantine(cli, store, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(HEAD + TASK + b"- teksti\n- [1,\n  2]\n- null\n" + TASK.replace(b"a,", b"b,"))
    ended = cli("import", path)
    assert ended.code == 2
    assert f"{path}:6" in ended.err
    assert (ended.lines["quarantined"], ended.lines["results"]) == ("3", "2 new")
    with store.reading() as connection:
        rows = connection.execute("SELECT line, raw FROM lake.quarantine ORDER BY line").fetchall()
    assert rows == [(6, b"- teksti\n"), (7, b"- [1,\n  2]\n"), (9, b"- null\n")]
    assert store.sql("SELECT answer FROM results ORDER BY seq").fetchall() == [("a",), ("b",)]


def test_duplicate_keys_are_reported_and_the_text_is_kept(cli, store):
    path = DAMAGED / "2026-03-05-example-usva-3.yaml"
    ended = cli("import", path)
    assert ended.code == 0
    [(line, field)] = store.sql(
        "SELECT line, field FROM checks.violations WHERE rule = 'unique_keys'"
    ).fetchall()
    assert path.read_text("utf-8").splitlines()[line - 1].strip().startswith("answer")
    assert field == "tasks[1].answer"
    [(source,)] = store.sql("SELECT source FROM results WHERE source IS NOT NULL").fetchall()
    assert source.count("answer:") == 2


@pytest.mark.slow
@pytest.mark.parametrize("day", ["2025-02-30", "2025-13-01", "30.2.2025", "2025-2-3", "٢٠٢٥-٠١-٠١"])
def test_an_invalid_date_is_reported_and_kept_as_text(store, tmp_path, day):
    import_into(store, write_log(tmp_path / "a.yaml", log(date=day)))
    [(recorded, is_of_call)] = store.sql(
        "SELECT recorded_date, run_date = CAST(started_at AS DATE) FROM runs"
    ).fetchall()
    assert (recorded, is_of_call) == (day, True)
    assert store.sql("SELECT field FROM checks.violations WHERE rule = 'date'").fetchall() == [
        ("date",)
    ]
    assert len(store.sql("FROM model_history").fetchall()) == 1


def test_a_folder_without_logs(cli, store, tmp_path):
    (tmp_path / "empty" / "deep").mkdir(parents=True)
    (tmp_path / "empty" / "notes.txt").write_text("x")
    ended = cli("import", tmp_path / "empty")
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert "nothing to import was found" in ended.err
    assert max(map(len, ended.err.splitlines())) < 200
    assert ended.lines["other"] == "files   1, ignored"
    assert store.lake.batch_names() == set()


def test_a_path_that_does_not_exist(cli, store, tmp_path):
    ended = cli("import", tmp_path / "nowhere", write_log(tmp_path / "a.yaml"))
    assert ended.code == 2
    assert f"{tmp_path / 'nowhere'}: no such file or folder" in ended.err
    assert "not everything was imported: of 2 files, 1 missing; the rest was" in ended.err
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(1,)]


def test_no_rest_is_claimed_where_nothing_was_imported(cli, tmp_path):
    (tmp_path / "bad.yaml").write_text("tasks: [\n")
    ended = cli("import", tmp_path / "nowhere", tmp_path / "bad.yaml")
    assert ended.code == 2
    assert "nothing was imported: of 2 files, 1 quarantined, 1 missing" in ended.err
    assert "the rest" not in ended.err


@pytest.mark.parametrize("name", ["a" * 5000, "a.yaml/b.yaml", "\x1b[31m\n.yaml"])
def test_an_impossible_path(cli, store, tmp_path, name):
    good = write_log(tmp_path / "a.yaml")
    ended = cli("import", f"{tmp_path}/{name}", good)
    assert (ended.code, "Traceback" in ended.err, "\x1b" in ended.err) == (2, False, False)
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(1,)]


def test_links_out_of_the_folder_are_not_followed(cli, store, tmp_path):
    outside = write_log(tmp_path / "outside" / "secret.yaml", log([9], date="2026-09-09"))
    write_log(tmp_path / "logs" / "a.yaml")
    (tmp_path / "logs" / "file.yaml").symlink_to(outside)
    (tmp_path / "logs" / "folder").symlink_to(outside.parent)
    ended = cli("import", tmp_path / "logs")
    assert ended.code == 2
    assert "a link out of the folder, not followed" in ended.err
    assert "a link to a folder, not followed" in ended.err
    assert store.sql("SELECT run_id FROM runs").fetchall() == [(GOOD,)]


def test_links_inside_the_folder_are_followed_once(cli, tmp_path):
    write_log(tmp_path / "logs" / "a.yaml")
    (tmp_path / "logs" / "b.yaml").symlink_to("a.yaml")
    ended = cli("import", tmp_path / "logs")
    assert (ended.code, ended.lines["results"]) == (0, "2 new")


def test_broken_and_circular_links(cli, store, tmp_path):
    write_log(tmp_path / "logs" / "a.yaml")
    (tmp_path / "logs" / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "logs" / "gone.yaml").symlink_to("nothing.yaml")
    (tmp_path / "logs" / "round").symlink_to(".")
    ended = cli("import", tmp_path / "logs", tmp_path / "logs" / "loop.yaml")
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    for name in ("loop.yaml", "gone.yaml", "round"):
        assert str(tmp_path / "logs" / name) in ended.err
    assert store.sql("SELECT run_id FROM runs").fetchall() == [(GOOD,)]


def test_pipes_and_devices_are_not_opened(cli, store, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    ended = cli("import", tmp_path / "pipe.yaml", write_log(tmp_path / "a.yaml"))
    assert ended.code == 2
    assert "neither a file nor a folder" in ended.err
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(1,)]


@pytest.mark.slow
def test_a_file_name_that_is_not_utf8(cli, store, tmp_path):
    for name in (b"log-\xff.yaml", b"models/m-\xff.yaml", b"t-\xfe.yaml"):
        path = tmp_path / "in" / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = {
            b"l": log(),
            b"m": {"name": "m"},
            b"t": {"tasks": [{"prompt": "p", "reference": "r"}]},
        }
        write_log(path, text[name[:1]])
    ended = cli("import", tmp_path / "in")
    assert (ended.code, "Traceback" in ended.err) == (0, False)
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(1,)]
    assert store.sql("SELECT count(*) FROM models").fetchall() == [(1,)]
    assert command(store.path, "show", "files").code == 0


ODD = [
    "../../etc/passwd",
    "a'b\"c;--",
    "\x1b[31mpunainen",
    "rivi\nrivi",
    "nolla\0",
    "\u202eoikealta",
    "x" * 5000,
    " ",
    "😀",
    "NULL",
    "models/a b\t.yaml",
]


@pytest.mark.slow
def test_run_ids_with_odd_characters(cli, store, tmp_path):
    for n, model in enumerate(ODD):
        write_log(tmp_path / "logs" / f"{n}.yaml", log(model=model))
    cli("import", tmp_path / "logs")
    runs = store.sql("SELECT run_id, model_path FROM runs").fetchall()
    assert sorted(runs) == sorted((f"2026-04-01/{model}", model) for model in ODD)
    shown = cli("runs")
    assert shown.code == 0
    assert not any(mark in shown.out for mark in "\x1b\0\u202e")
    assert len(shown.out.splitlines()) == 2 + len(ODD)


def test_a_line_of_100_mb_is_refused_without_reading_it(cli, store, tmp_path):
    path = tmp_path / "logs" / "huge.yaml"
    write_log(tmp_path / "logs" / "a.yaml")
    with path.open("wb") as file:
        file.write(HEAD + b"- answer: ")
        file.truncate(100 * 2**20)  # the rest is zeros, and takes no space
    # Not the memory of the process, which grows by what the first tests in it load.
    tracemalloc.start()
    ended = cli("import", tmp_path / "logs")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ended.code == 2
    assert f"{path}: quarantined: 104,857,600 bytes" in ended.err
    assert peak < 80 * 2**20
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(1,)]


def test_a_long_line_within_the_limit_is_imported(store, tmp_path):
    answer = "a" * (5 * 2**20)
    import_into(store, write_log(tmp_path / "a.yaml", log(tasks=[task(1, answer=answer)])))
    assert store.sql("SELECT length(answer) FROM results").fetchall() == [(len(answer),)]


def test_every_json_escape_in_a_log(store, tmp_path):
    meant = '\\u0041 \\ " / \b \f \n \r \t \x7f \x85 \u2028 \ufeff \uffff ä'
    (tmp_path / "a.yaml").write_text(json.dumps(log(tasks=[task(1, answer=meant)])))
    import_into(store, tmp_path / "a.yaml")
    assert store.sql("SELECT answer FROM results").fetchall() == [(meant,)]


# --- refused by the system


@pytest.mark.slow
def test_no_permission_to_read(store, tmp_path, unprivileged):
    logs = tmp_path / "logs"
    write_log(logs / "a.yaml")
    write_log(logs / "closed.yaml", log(date="2026-05-05")).chmod(0)
    write_log(logs / "closed" / "b.yaml", log(date="2026-06-06"))
    (logs / "closed").chmod(0)
    paths = [logs, logs / "closed.yaml", logs / "closed", logs / "closed" / "b.yaml"]
    ended = shell(store.path, "import", *paths, preexec_fn=unprivileged)
    (logs / "closed").chmod(0o700)
    assert (ended.code, "Traceback" in ended.err) == (2, False), ended.err
    for name in ("closed.yaml", "closed", "closed/b.yaml"):
        assert f"{logs / name}: quarantined: Permission denied" in ended.err
    assert store.sql("SELECT run_id FROM runs").fetchall() == [(GOOD,)]


@pytest.mark.slow
def test_no_permission_to_read_whoever_runs_the_test(cli, store, tmp_path, monkeypatch):
    closed = write_log(tmp_path / "logs" / "closed.yaml", log(date="2026-05-05"))
    write_log(tmp_path / "logs" / "a.yaml")

    def refuse(path):
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return read_regular(path)

    monkeypatch.setattr("ingest.session.read_regular", refuse)
    ended = cli("import", tmp_path / "logs")
    assert ended.code == 2
    assert f"{closed}: quarantined: Permission denied" in ended.err
    monkeypatch.undo()
    assert store.sql("SELECT run_id FROM runs").fetchall() == [(GOOD,)]
    # It is imported once it can be read.
    assert cli("import", tmp_path / "logs").code == 0
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]


@pytest.mark.slow
def test_no_permission_to_write_the_store(tmp_path, unprivileged):
    store = tmp_path / "store"
    log_path = write_log(tmp_path / "a.yaml")
    store.mkdir(mode=0o555)
    for arguments in (["import", log_path], ["sync"], ["runs"]):
        ended = shell(store, *arguments, preexec_fn=unprivileged)
        assert (ended.code, "Traceback" in ended.err) == (2, False), ended.err
        assert str(store) in ended.err
        assert "Permission denied" in ended.err
    assert list(store.iterdir()) == []


def test_a_store_that_is_a_file(tmp_path):
    (tmp_path / "store").write_text("x")
    ended = command(tmp_path / "store", "import", write_log(tmp_path / "a.yaml"))
    assert (ended.code, "Traceback" in ended.err) == (2, False)


def test_a_store_below_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    for arguments in (["import", write_log(tmp_path / "a.yaml")], ["runs"], ["sync"], ["info"]):
        ended = command(tmp_path / "file" / "store", *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False), ended.err


def refused_on_full_disk(store, n_bytes, *arguments, message):
    """Run a command while no file may exceed a size: it ends with a message."""

    def work():
        ended = command(store.path, *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False), ended.err
        assert message in ended.err

    ended = forked(work, full_at_bytes=n_bytes)
    assert not ended.error, ended.error
    assert not ended.is_killed


@pytest.mark.slow
@pytest.mark.parametrize("n_bytes", [0, 3_000])
def test_a_full_disk_at_the_import(store, tmp_path, n_bytes):
    import_into(store, write_log(tmp_path / "a.yaml", log(date="2026-01-01")))
    before = store.lake.batch_names()
    many = write_log(tmp_path / "b.yaml", log(range(300)))
    refused_on_full_disk(store, n_bytes, "import", many, message="nothing was added")
    assert store.lake.batch_names() == before
    assert list(store.lake.staging.iterdir()) == []
    assert command(store.path, "import", many).code == 0  # there is space again
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(302,)]


@pytest.mark.slow
@pytest.mark.parametrize("n_bytes", [0, 400_000])
@pytest.mark.parametrize("has_warehouse", [False, True])
def test_a_full_disk_at_the_sync(store, tmp_path, n_bytes, has_warehouse):
    import_into(store, write_log(tmp_path / "a.yaml", log(range(5))))
    if not has_warehouse:
        store.warehouse.unlink()
    import_into(store, write_log(tmp_path / "b.yaml", log(range(3000), date="2026-01-01")))
    refused_on_full_disk(store, n_bytes, "sync", message="safe in the lake")
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(3005,)]
    assert not list(store.path.glob("*.new*"))


@pytest.mark.slow
def test_a_closed_pipe_does_not_stop_an_import(store, tmp_path):
    write_log(tmp_path / "a.yaml", log(range(50)))
    first = subprocess.Popen(
        [sys.executable, "-m", "evalstore", "--store", store.path, "import", tmp_path / "a.yaml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    first.stdout.close()
    err = first.stderr.read()
    first.stderr.close()
    first.wait(300)
    assert b"Traceback" not in err
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(50,)]


def test_modules_in_the_current_folder_are_not_imported(tmp_path):
    # A folder of logs that contains modules with names that we import.
    for name in ("yaml.py", "click.py", "models/__init__.py", "tasks/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('led astray')")
    code = "import sys; sys.path.pop(0); import evalstore; evalstore.main(['--help'])"
    assert child("-c", code, cwd=tmp_path).code == 0
