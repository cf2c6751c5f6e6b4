"""The journal: appended rows survive, whatever happens to the process that wrote them."""

import errno
import fcntl
import json
import os
import threading
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

import pytest
from support import command, new_store, queried_store

from runners import claim
from runners.claim import new_run, resumed_run
from runners.plan import Plan
from runners.run import RunSettings
from warehouse.core.errors import StoreBusy, UnknownColumn
from warehouse.core.formats.masking import Mask, secrets_of_environment, secrets_of_url
from warehouse.core.formats.values import utf8
from warehouse.core.schemas import TABLES
from warehouse.lake import locks
from warehouse.lake.batch import Generation
from warehouse.lake.journal import recovery
from warehouse.lake.journal.journal import Entry, Journal, journal_paths
from warehouse.lake.journal.recovery import pending_journals, recover_journals
from warehouse.lake.journal.run_lock import run_lock
from warehouse.lake.lake import Lake

MOMENT = datetime(2026, 1, 1, 12, 0, 0, 5000, UTC).replace(tzinfo=None)
RUN = Generation("mine", "r1")
KEY = "sk-ant-abcdefghijklmnop1234"


def result(n, **fields):
    return Entry("results", {"content_id": f"c{n}", "seq": n, "prompt": f"p{n}", **fields})


def stored(folder, on_warning=pytest.fail):
    store = new_store(folder, on_warning=on_warning)
    return store.sql("SELECT seq, prompt FROM results ORDER BY seq").fetchall()


@pytest.mark.slow
def test_a_journal_becomes_the_batch_of_the_same_name(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([Entry("runs", {"content_id": "run", "origin": "runner"}), result(1)])
        journal.append([result(2, started_at=MOMENT)])
        assert pending_journals(tmp_path)[0].n_results == 2
        assert recover_journals(Lake(tmp_path)) == []  # it is being written
        assert Lake(tmp_path).batch_names() == set()
    assert stored(tmp_path) == [(1, "p1"), (2, "p2")]
    assert Lake(tmp_path).batch_names() == {journal.name}
    assert list((tmp_path / "journals").iterdir()) == []
    (run,) = queried_store(tmp_path).sql("SELECT run_id, origin, n_results FROM runs").fetchall()
    assert run == ("r1", "runner", 2)


def test_every_column_comes_back(tmp_path):
    row = {
        "started_at": MOMENT,
        "tool_calls": ["df", "du"],
        "cost_usd": 1,
        "success": True,
        "raw_output": "a\ud800\n\x00",
        "retries": "[]",
    }
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1, **row)])
        snapshot = {"content_id": "s", "name": "n", "content": b"\xff\n"}
        journal.append([Entry("resources", snapshot)])
    query = f"SELECT {', '.join(row)} FROM lake.results"
    values = dict(zip(row, queried_store(tmp_path).sql(query).fetchall()[0], strict=True))
    assert values == {**row, "raw_output": utf8(row["raw_output"])}
    content = queried_store(tmp_path).sql("SELECT content FROM lake.resources").fetchall()
    assert content == [(b"\xff\n",)]


@pytest.mark.slow
def test_an_unknown_column_is_refused_before_it_is_written(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        with pytest.raises(UnknownColumn, match="results has no column 'inpt_tokens'"):
            journal.append([result(1), result(2, inpt_tokens=3)])
        journal.append([result(3)])
    assert stored(tmp_path) == [(3, "p3")]


@pytest.mark.slow
def test_a_truncated_line_never_counts_and_a_bad_one_is_quarantined(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
        path = journal.path
    with path.open("ab") as file:
        file.write(b'{"table": nonsense}\n{"table": "results", "row": {"conte')
    warnings = []
    assert stored(tmp_path, warnings.append) == [(1, "p1")]
    (warning,) = warnings
    assert warning.startswith(f"{path}: damaged lines moved to quarantine: 1;")
    (bad,) = queried_store(tmp_path).sql("SELECT line, raw FROM lake.quarantine").fetchall()
    assert bad == (3, b'{"table": nonsense}\n')


@pytest.mark.slow
@pytest.mark.parametrize("n_lines_left", range(5))
def test_a_journal_cut_between_two_lines_is_reported(tmp_path, n_lines_left):
    with Journal(tmp_path, RUN) as journal:
        for n in range(4):
            journal.append([result(n)])
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join(lines[:n_lines_left]))
    n_missing = sum(map(len, lines[n_lines_left:]))
    cut = f"cut short: its last {n_missing:,} bytes are missing"
    verified = command(tmp_path, "info", "--verify")
    assert verified.code == 1
    assert f"{journal.path}: {cut}" in verified.out
    warnings = []
    n_results = max(n_lines_left - 1, 0)
    assert len(stored(tmp_path, warnings.append)) == n_results
    [warning] = warnings
    assert warning.startswith(f"{journal.path}: {cut}")
    [(line, reason)] = queried_store(tmp_path).sql("SELECT line, reason FROM quarantine").fetchall()
    assert line is None
    assert reason.startswith(cut)
    assert command(tmp_path, "info", "--verify").code == 0
    assert not list(journal.path.parent.glob(f"{journal.name}.*"))


def test_a_whole_journal_is_not_reported(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
        journal.append_together([result(2), result(3)])
    assert len(stored(tmp_path)) == 3
    assert not list(journal.path.parent.glob(f"{journal.name}.*"))


TASK_WITHOUT_SUITE = {
    "content_id": "c",
    "task_set": "t",
    "task_set_hash": "h",
    "seq": 1,
    "task_id": "1",
    "task_hash": "h",
}
BAD_LINES = [
    b"[]",
    b'{"table": "results", "row": []}',
    b'{"table": "nonsense", "row": {"content_id": "c"}}',
    b'{"table": "results", "row": {"seq": 1}}',
    b'{"table": "results", "row": {"content_id": "c"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "inpt_tokens": 3}}',
    b'{"table": "results", "row": {"content_id": 1, "seq": 1}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "prompt": "\\ud800"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "e2e_ms": 9223372036854775808}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "input_tokens": true}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "attempt": 2147483648}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "cost_usd": "abc"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "cost_usd": true}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "cost_usd": 1%s}}' % (b"0" * 400),
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "started_at": "2026"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "started_at": 20260101}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "ended_at": "0001-01-01T00+05"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "extra": "{"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "extra": "[\\"\\\\ud800\\"]"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "suitf": "mine"}}',
    json.dumps({"table": "tasks", "row": TASK_WITHOUT_SUITE}).encode(),
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "suite": "mine"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "success": "yes"}}',
    b'{"table": "results", "row": {"content_id": "c", "seq": 1, "tool_calls": [1]}}',
    b'{"table": "resources", "row": {"content_id": "c", "name": "n", "content": "?"}}',
]


@pytest.mark.slow
def test_lines_that_are_not_rows_go_to_quarantine(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
    with journal.path.open("ab") as file:
        file.writelines(line + b"\n" for line in BAD_LINES)
    verified = command(tmp_path, "info", "--verify")
    assert verified.code == 1
    assert f"{journal.path}: damaged lines: {len(BAD_LINES)}" in verified.out
    assert stored(tmp_path, lambda _: None) == [(1, "p1")]
    assert command(tmp_path, "info", "--verify").code == 0
    kept = (
        queried_store(tmp_path)
        .sql("SELECT line, raw FROM lake.quarantine ORDER BY line")
        .fetchall()
    )
    assert kept == [(3 + n, line + b"\n") for n, line in enumerate(BAD_LINES)]


WRONG_VALUES = [0, -1, 1.5, 10**30, True, "x", "", "{", "\ud800", "2026-01-01", [], ["x"], [1], {}]


@pytest.mark.slow
def test_no_value_of_any_column_stops_the_store(tmp_path):
    required = {"content_id": "c", "seq": 1, "path": "p", "sha256": "s", "name": "n"}
    rows = []
    for table in TABLES:
        columns = {column.name: column.type for column in table.columns if not column.nullable}
        row = {k: required.get(k, 1 if t == "BIGINT" else "x") for k, t in columns.items()}
        row = {k: v for k, v in row.items() if k not in {"suite", "run_id", "generation"}}
        for column in table.column_names:
            for value in WRONG_VALUES:
                rows.append((table.name, {**row, "content_id": f"c{len(rows)}", column: value}))
    with Journal(tmp_path, RUN) as journal:
        journal.append([result("first")])
    with journal.path.open("a") as file:
        file.writelines(json.dumps({"table": t, "row": row}) + "\n" for t, row in rows)
    store = new_store(tmp_path, on_warning=lambda _: None)
    report = store.sync()
    assert (len(report.loaded), report.damaged, journal_paths(tmp_path)) == (1, (), [])
    with store.reading() as connection:
        views = connection.execute(
            "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
        for (view,) in views:
            connection.execute(f"SELECT count(COLUMNS(*)) FROM {view}")


@pytest.mark.parametrize(
    "first",
    [
        b"nonsense",
        b"{}",
        b'{"suite": 1, "run_id": "r"}',
        b'{"suitf": "mine", "run_id": "r1", "generation": "root", "parent": null}',
        b'{"suite": "mine", "run_id": "r1", "generation": "roos", "parent": null}',
    ],
)
def test_answers_in_a_journal_without_a_run_are_kept(tmp_path, first):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1), result(2)])
    _, *lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join([first + b"\n", *lines]))
    assert stored(tmp_path, lambda _: None) == []
    query = "SELECT raw FROM lake.quarantine WHERE line IS NOT NULL ORDER BY line"
    kept = queried_store(tmp_path).sql(query).fetchall()
    assert [raw for (raw,) in kept] == [first + b"\n", *lines]
    assert journal_paths(tmp_path) == []


@pytest.mark.parametrize("size", [0, 10])
def test_an_empty_journal_is_removed(tmp_path, size):
    with Journal(tmp_path, RUN) as journal:
        path = journal.path
    path.write_bytes(path.read_bytes()[:size])
    path.with_suffix(".size").unlink()  # a process killed here has not written it
    assert recover_journals(Lake(tmp_path)) == []
    assert journal_paths(tmp_path) == []


@pytest.mark.slow
def test_a_kill_between_batch_and_removal_duplicates_nothing(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
        path = journal.path
    kept = path.read_bytes()
    assert stored(tmp_path) == [(1, "p1")]
    path.write_bytes(kept)
    assert stored(tmp_path) == [(1, "p1")]
    assert journal_paths(tmp_path) == []


def test_a_row_written_again_replaces_the_first(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1), result(1, prompt="replaced")])
    assert stored(tmp_path) == [(1, "replaced")]


class FullDisk:
    """A file on a disk that fills up: it has some room, and more once the reserve is released."""

    def __init__(self, file, room, reserve, more, code=errno.ENOSPC):
        self.file, self.room, self.reserve, self.more = file, room, reserve, more
        self.code = code

    def write(self, data):
        room = self.room + (0 if self.reserve.exists() else self.more)
        if room == 0:
            raise OSError(self.code, os.strerror(self.code))
        taken = data[:room]
        self.room -= len(taken)
        return self.file.write(taken)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.slow
def test_calls_in_flight_are_recorded_on_a_full_disk(tmp_path):
    with Journal(tmp_path, RUN, reserve_bytes=1000) as journal:
        journal.append([result(1)])
        journal._file = FullDisk(journal._file, 10, journal._reserve, 1000)
        journal.append([result(2)])
        assert journal.is_full
        assert not journal._reserve.exists()
        journal.append([result(3)])
        journal._file.room = journal._file.more = 0
        with pytest.raises(OSError, match="No space"):
            journal.append([result(4)])
    assert stored(tmp_path) == [(1, "p1"), (2, "p2"), (3, "p3")]


def test_a_write_that_fails_for_another_reason_is_not_repeated(tmp_path):
    with Journal(tmp_path, RUN, reserve_bytes=1000) as journal:
        journal._file = FullDisk(journal._file, 0, journal._reserve, 1000, errno.EIO)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            journal.append([result(1)])
        assert not journal.is_full


@pytest.fixture
def before_locking(monkeypatch):
    """Return a function that has work done between the creation of a file and its locking."""
    flock = fcntl.flock

    def arrange(work):
        def lock(file, kind):
            monkeypatch.setattr(locks.fcntl, "flock", flock)
            work()
            flock(file, kind)

        monkeypatch.setattr(locks.fcntl, "flock", lock)

    return arrange


@pytest.mark.slow
def test_a_new_journal_is_not_mistaken_for_an_abandoned_one(tmp_path, before_locking):
    before_locking(lambda: recover_journals(Lake(tmp_path)))
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
    assert stored(tmp_path) == [(1, "p1")]


def test_a_new_batch_is_not_mistaken_for_an_abandoned_one(tmp_path, before_locking):
    def sweep():
        with Lake(tmp_path).write("run"):
            pass

    Lake(tmp_path).staging.mkdir(parents=True)
    before_locking(sweep)
    with Lake(tmp_path).write("run") as writer:
        sweep()
        assert {path.stem for path in Lake(tmp_path).staging.iterdir()} == {writer.name}
        assert len(list(Lake(tmp_path).staging.iterdir())) == 2


def test_a_recovery_by_another_process_is_waited_for(tmp_path, monkeypatch):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
    is_writing, may_write = threading.Event(), threading.Event()
    write = recovery._write_batch

    def slowly(*arguments):
        is_writing.set()
        may_write.wait(300)
        write(*arguments)

    monkeypatch.setattr(recovery, "_write_batch", slowly)
    other = threading.Thread(target=recover_journals, args=[Lake(tmp_path)])
    other.start()
    assert is_writing.wait(300)
    threading.Timer(0.3, may_write.set).start()
    assert recover_journals(Lake(tmp_path)) == []
    assert Lake(tmp_path).batch_names() == {journal.name}
    other.join()


def test_a_run_is_locked_before_its_plan_is_written(tmp_path):
    with run_lock(tmp_path, "mine", "r1"):
        (lock,) = (tmp_path / "journals").glob("*.lock")
        lock.write_bytes(b"")
        with pytest.raises(StoreBusy, match="another process"), run_lock(tmp_path, "mine", "r1"):
            pass


def test_only_one_process_can_execute_a_run(tmp_path):
    with run_lock(tmp_path, "mine", "r1"):
        with pytest.raises(StoreBusy, match=str(os.getpid())), run_lock(tmp_path, "mine", "r1"):
            pass
        with run_lock(tmp_path, "mine", "r2"):
            pass
    with run_lock(tmp_path, "mine", "r1"):
        pass


def test_no_key_is_written_to_a_journal(tmp_path):
    url = "http://user:hunter22@host/v1?api_key=planted-99&n=1"
    environment = {"MY_API_KEY": "planted-1234", "PROXY": url, "MONKEY": "planted banana"}
    mask = Mask([*secrets_of_environment(environment), *secrets_of_url(url)])
    text = f'echo {KEY} "planted-1234" hunter22 dXNlcjpodW50ZXIyMg== planted-99 planted banana'
    with Journal(tmp_path, RUN, mask=mask) as journal:
        journal.append([result(1, raw_output=text, tool_calls=[KEY])])
        journal.append(
            [Entry("resources", {"content_id": "s", "name": "n", "content": KEY.encode()})]
        )
        written = journal.path.read_text()
    (row,) = queried_store(tmp_path).sql("SELECT raw_output FROM results").fetchall()
    assert row[0] == 'echo (redacted) "(redacted)" (redacted) (redacted) (redacted) planted banana'
    for secret in (KEY, "planted-1234", "hunter22", "planted-99"):
        assert secret not in written


NAMES_OF_SECRETS = """
    PASSPHRASE PGPASS PGPASSWORD MYSQL_PWD SSHPASS GITHUB_PAT ACCESSKEY SECRETKEY CREDS DB_CREDS
    COOKIE SESSION_COOKIE DSN SENTRY_DSN OPENAI_APIKEY HUGGINGFACETOKEN JWT API_KEY2 API_KEY_2
    AWS_SECRET_ACCESS_KEY REDIS_AUTH accessToken Authorization x-api-key SECRET_KEY_BASE
"""
OTHER_NAMES = """
    PWD OLDPWD PATH MONKEY COMPASS BYPASS HOTKEY TOKENIZERS_PARALLELISM MAX_TOKENS GIT_AUTHOR_NAME
    SSH_AUTH_SOCK AWS_SHARED_CREDENTIALS_FILE PGPASSFILE XAUTHORITY XDG_SESSION_ID PATTERN
    COOKIE_DOMAIN AUTH_TYPE TOKEN_TYPE SECRETARY KEYTIMEOUT SESSION_MANAGER INIT_CWD
"""


def test_names_of_variables_with_secrets():
    for name in NAMES_OF_SECRETS.split():
        assert list(secrets_of_environment({name: "planted"})) == ["planted"], name
    for name in OTHER_NAMES.split():
        assert list(secrets_of_environment({name: "planted"})) == [], name


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("SESSION", "q7Rt2Wx9Lm4Zp8Kv3Ns6", ["q7Rt2Wx9Lm4Zp8Kv3Ns6"]),
        ("XDG_SESSION_TYPE", "wayland", []),
        ("DESKTOP_SESSION", "plasma-with-extras", []),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus,guid=4be21f09ac77", []),
        ("CONNECTION", "host=db user=x password=k3Jv9!qLmx7", ["k3Jv9!qLmx7"]),
        ("REMOTE", "https://q7Rt2Wx9Lm4Zp8Kv3Ns6@host/x", ["q7Rt2Wx9Lm4Zp8Kv3Ns6"]),
        ("REMOTE", "https://someone@host/x", []),
        ("BLOB_URL", "https://host/x?se=2026&sig=k3Jv9%2Bq", ["k3Jv9%2Bq", "k3Jv9+q"]),
    ],
)
def test_values_of_variables_that_are_secrets(name, value, secrets):
    assert list(dict.fromkeys(secrets_of_environment({name: value}))) == secrets


def test_a_key_is_masked_in_json_too(tmp_path):
    secret = 'pl"anted\\1 \N{LATIN SMALL LETTER A WITH DIAERESIS}'
    body = json.dumps({"error": secret})
    spelled = [body, json.dumps({"error": secret}, ensure_ascii=False), json.dumps([body])]
    with Journal(tmp_path, RUN, mask=Mask([secret])) as journal:
        journal.append([result(1, raw_output="\n".join(spelled))])
    (row,) = queried_store(tmp_path).sql("SELECT raw_output FROM results").fetchall()
    assert row[0].count("(redacted)") == 3
    assert "anted" not in row[0]


def begin(store):
    """Begin a run like `evalstore run`, with no calls to make."""
    plan = Plan(
        suite="mine", family="own", run_date="2026-01-01", task_set="mine", models=(), tasks=()
    )
    return new_run(store, plan, RunSettings())


def test_a_new_run_does_not_reuse_the_name_of_a_killed_one(tmp_path, monkeypatch):
    store, claim, names = queried_store(tmp_path), run_lock, []

    @contextmanager
    def claimed_just_after_a_kill(path, suite, run_id):
        if not names:  # the process that held the name was killed
            with Journal(path, Generation(suite, run_id)) as left:
                left.append([result(1)])
        names.append(run_id)
        with claim(path, suite, run_id):
            yield

    monkeypatch.setattr("runners.claim.run_lock", claimed_just_after_a_kill)
    with begin(store) as run:
        assert run.run_id == names[1] != names[0]
    assert store.sql("SELECT run_id, count(*) FROM results GROUP BY ALL").fetchall() == [
        (names[0], 1)
    ]


def test_a_run_whose_journal_cannot_be_recovered_is_not_resumed(tmp_path, monkeypatch):
    store = new_store(tmp_path, on_warning=lambda _: None)
    with begin(store) as run:
        run.execute({}, lambda *_: None)
    with Journal(tmp_path, Generation("mine", run.run_id)) as left:
        left.append([result(1)])

    def fail(*_arguments):
        raise OSError(errno.EIO, "Input/output error")

    store.recover_journals()
    with Journal(tmp_path, Generation("mine", run.run_id)) as left:
        left.append([result(2)])
    monkeypatch.setattr(recovery, "_write_batch", fail)
    with (
        pytest.raises(StoreBusy, match="journal could not be recovered; no calls were made"),
        resumed_run(store, run.run_id, None, RunSettings()),
    ):
        pass


def test_a_run_that_ends_during_the_resume_is_found(tmp_path, monkeypatch):
    store = new_store(tmp_path, on_warning=pytest.fail)
    with ExitStack() as stack:
        run = stack.enter_context(begin(store))
        look = claim.suites_of

        def look_and_end(*arguments):
            monkeypatch.setattr(claim, "suites_of", look)
            found = look(*arguments)
            run.execute({}, lambda *_: None)
            store.recover_journals()
            stack.close()
            return found

        monkeypatch.setattr(claim, "suites_of", look_and_end)
        with resumed_run(store, run.run_id, None, RunSettings()) as resumed:
            assert resumed.run_id == run.run_id


def test_a_run_cannot_be_resumed_while_it_is_forgotten(tmp_path, monkeypatch):
    store = new_store(tmp_path, on_warning=pytest.fail)
    with begin(store) as run:
        run.execute({}, lambda *_: None)
    store.recover_journals()

    def forget(*_arguments):
        with pytest.raises(StoreBusy), resumed_run(store, run.run_id, None, RunSettings()):
            pass
        return 1

    monkeypatch.setattr("warehouse.lake.forgetting.forget", forget)
    assert command(tmp_path, "forget", run.run_id, "--yes").code == 0
