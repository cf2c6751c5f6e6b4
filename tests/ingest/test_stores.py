"""`evalstore import OTHER_STORE`: the result is as if the logs had been imported into one store."""

import json
import random
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from openclaw_cases import event, line, write_run
from support import SECRET, command, digests, import_into, log, new_store, task, traces, write_log

from ingest.stores.copy import copy_store
from warehouse.core.schemas import LAKE_FORMAT
from warehouse.lake.batch import Generation
from warehouse.lake.compaction import merge_small
from warehouse.lake.journal.journal import Entry, Journal

# Which of the shorter versions of a log are kept depends on the order in which they come.
OF_FILES = ("main.files", "checks.violations")


@pytest.fixture
def stores(tmp_path):
    """Return a function that makes a store of a name."""
    return lambda name: new_store(tmp_path / name)


def content(store):
    """Return the rows of the lake's tables in the warehouse, without where they came from."""
    left_out = "'batch', 'path', 'file_sha256', 'source_name', 'call_hash'"
    tables = ("runs", "results", "tasks", "files", "violations")
    with store.reading() as connection:
        return [
            connection.execute(
                f"SELECT COLUMNS(lambda name: name NOT IN ({left_out})) "
                f"FROM lake.{table} ORDER BY ALL"
            ).fetchall()
            for table in tables
        ]


def run_of(name):
    """Return the id of the run that `write` writes."""
    return f"2026-04-01/models/{name}.yaml"


def write(tmp_path, name, numbers, **fields):
    """Write the log of a run with the tasks of these numbers."""
    tasks = [task(n, **fields) for n in numbers]
    return write_log(tmp_path / f"{name}.yaml", log(tasks=tasks, model=f"models/{name}.yaml"))


def take(store, other, *options):
    return command(store.path, "import", other.path, *options)


@pytest.mark.slow
def test_two_stores_equal_one_that_imported_all_logs(stores, tmp_path):
    ours, theirs, both = stores("ours"), stores("theirs"), stores("both")
    one, two = write(tmp_path, "one", [1, 2]), write(tmp_path, "two", [3, 4, 5])
    write_run(tmp_path / "r", line(), event())
    import_into(ours, one)
    import_into(theirs, one)  # the same log: a batch of its own
    import_into(theirs, two, tmp_path / "r")
    import_into(both, one, two, tmp_path / "r")
    ended = take(ours, theirs)
    assert (ended.code, ended.err) == (0, "")
    assert ended.lines["batches"] == "2 new, 0 known"
    assert ended.lines["runs"] == "2"
    assert ended.lines["unchanged"] == "1"
    assert digests(ours) == digests(both)


def test_a_second_import_changes_nothing(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1, 2]))
    take(ours, theirs)
    names = ours.lake.batch_names()
    ended = take(ours, theirs)
    assert ended.lines["batches"] == "0 new, 1 known"
    assert ended.lines["results"] == "0 new"
    assert ours.lake.batch_names() == names


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(6))
def test_any_history_of_both_gives_one_content(stores, tmp_path, seed):
    choice, length = random.Random(seed), {}
    ours, theirs, both = stores("ours"), stores("theirs"), stores("both")
    for _ in range(6):
        # Any of three runs grows, now here and now there, and never shrinks.
        name = choice.choice("abc")
        length[name] = length.get(name, 0) + choice.randint(0, 2)
        path = write(tmp_path, name, range(length[name] + 1))
        store = choice.choice([ours, theirs])
        import_into(store, path)
        import_into(both, path)
        if choice.random() < 0.4:
            merge_small(choice.choice([ours, theirs]).lake)
        if choice.random() < 0.4:
            assert take(ours, theirs).code == 0
    assert take(ours, theirs).code == 0
    expected = digests(both, without=OF_FILES)
    assert digests(ours, without=OF_FILES) == expected
    ours.sync(rebuild=True)
    assert digests(ours, without=OF_FILES) == expected
    assert take(theirs, ours).code == 0
    assert digests(theirs, without=OF_FILES) == expected


@pytest.mark.slow
@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_grown_log_adds_its_rows(stores, tmp_path, is_compacted):
    ours, theirs, both = stores("ours"), stores("theirs"), stores("both")
    short = write(tmp_path, "one", [1, 2])
    import_into(ours, short)
    import_into(both, short)
    long = write(tmp_path, "one", [1, 2, 3])
    import_into(theirs, long)
    import_into(both, long)
    if is_compacted:
        import_into(theirs, write(tmp_path, "two", [7]))
        import_into(both, tmp_path / "two.yaml")
        merge_small(theirs.lake)
    ended = take(ours, theirs)
    assert ended.code == 0
    assert content(ours) == content(both)
    # Imported once more, from the store and from the log, nothing is new.
    names = ours.lake.batch_names()
    assert take(ours, theirs).code == 0
    assert import_into(ours, long).outcomes == {"unchanged": 1}
    assert ours.lake.batch_names() == names


@pytest.mark.slow
def test_a_conflict_is_refused_and_the_rest_imported(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(ours, write(tmp_path, "one", [1, 2]))
    before = content(ours)
    import_into(theirs, write(tmp_path, "one", [2, 3]))
    import_into(theirs, write(tmp_path, "two", [5]))
    ended = take(ours, theirs)
    assert ended.code == 2
    assert (
        "conflicts with run 2026-04-01/models/one.yaml: it lacks 1 of the store's records and has 1"
        in ended.err
    )
    assert "not everything was imported: 1 conflicting; the rest was" in ended.err
    runs = "SELECT run_id, count(*) FROM results GROUP BY ALL ORDER BY ALL"
    assert ours.sql(runs).fetchall() == [(run_of("one"), 2), (run_of("two"), 1)]
    assert content(ours) != before
    # Again: still a conflict. With `--replace`, the run is that of the other store.
    assert take(ours, theirs).code == 2
    assert take(ours, theirs, "--replace").code == 0
    assert ours.sql("SELECT task_id FROM results ORDER BY ALL").fetchall() == (
        theirs.sql("SELECT task_id FROM results ORDER BY ALL").fetchall()
    )
    names = ours.lake.batch_names()
    assert take(ours, theirs).code == 0
    assert ours.lake.batch_names() == names


@pytest.mark.slow
def test_a_replacement_there_of_what_is_here_is_taken(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(ours, write(tmp_path, "one", [1, 2]))
    take(theirs, ours)
    import_into(theirs, write(tmp_path, "one", [2, 3]), replace=True)
    assert take(ours, theirs).code == 0
    assert content(ours) == content(theirs)
    # The other way round, the store that is behind brings nothing.
    behind = stores("behind")
    import_into(behind, write(tmp_path, "one", [2]))
    assert take(ours, behind).code == 0
    assert content(ours) == content(theirs)


@pytest.mark.slow
def test_replace_leaves_runs_that_are_only_behind(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(ours, write(tmp_path, "one", [1, 2]))
    import_into(theirs, write(tmp_path, "one", [1]))
    assert take(ours, theirs, "--replace").code == 0
    assert ours.sql("SELECT count(*) FROM results").fetchall() == [(2,)]


@pytest.mark.slow
@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_forgotten_run_returns_only_with_restore(stores, tmp_path, is_compacted):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]))
    secret = write(tmp_path, "secret", [9], answer=SECRET)
    import_into(theirs, secret)
    if is_compacted:
        merge_small(theirs.lake)
    take(ours, theirs)
    whole = content(ours)
    command(ours.path, "forget", run_of("secret"), "--yes")
    fresh = stores("fresh")
    shutil.copytree(ours.path / "lake", fresh.path / "lake", dirs_exist_ok=True)
    for store in (ours, fresh):
        ended = take(store, theirs)
        assert ended.code == 0
        expected = f"not copied: {run_of('secret')}; `--restore` brings them back"
        assert f"forgotten here and {expected}" in ended.err
        store.sync(rebuild=True)
        assert not traces(store, SECRET)
    # A batch with it that was not here before, under another name of the run.
    other = stores("other")
    import_into(other, secret, run_as="renamed")
    assert "not copied: renamed" in take(ours, other).err
    assert not traces(ours, SECRET)
    assert take(ours, theirs, "--restore").code == 0
    assert content(ours) == whole
    names = ours.lake.batch_names()
    assert take(ours, theirs).err == ""
    assert ours.lake.batch_names() == names
    assert import_into(ours, secret).outcomes == {"unchanged": 1}


@pytest.mark.slow
def test_tags_come_with_their_runs_and_stay_away_with_forgotten_ones(stores, tmp_path):
    ours, theirs, fresh = stores("ours"), stores("theirs"), stores("fresh")
    import_into(theirs, write(tmp_path, "one", [1]), write(tmp_path, "two", [2]))
    take(ours, theirs)
    command(ours.path, "forget", run_of("two"), "--yes")
    for name in ("one", "two"):
        assert command(theirs.path, "tag", run_of(name), f"release={name}").code == 0
    for store, expected in ((ours, ["one"]), (fresh, ["one", "two"])):
        assert take(store, theirs).code == 0
        tags = store.sql("SELECT value FROM run_tags ORDER BY ALL").fetchall()
        assert [value for (value,) in tags] == expected


@pytest.mark.slow
def test_a_run_forgotten_there_is_kept_and_reported(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    one = write(tmp_path, "one", [1])
    import_into(theirs, one)
    take(ours, theirs)
    before = content(ours)
    command(theirs.path, "forget", run_of("one"), "--yes")
    ended = take(ours, theirs)
    assert (ended.code, content(ours)) == (0, before)
    assert "forgotten there but still here: 2026-04-01/models/one.yaml;" in ended.err
    # An empty store learns that it was forgotten: the log does not bring it back unnoticed.
    empty = stores("empty")
    import_into(theirs, write(tmp_path, "two", [2]))
    merge_small(theirs.lake)
    take(empty, theirs)
    assert import_into(empty, one).outcomes == {"forgotten": 1}


def test_a_damaged_batch_is_refused(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]))
    [file] = theirs.path.glob("lake/*/results.parquet")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    ended = take(ours, theirs)
    assert ended.code == 2
    assert f"{file}: SHA-256 is" in ended.err
    assert ours.lake.batch_names() == set()


def test_a_newer_store_is_refused(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]))
    [file] = theirs.path.glob("lake/*/batch.json")
    document = json.loads(file.read_bytes()) | {"schema_version": LAKE_FORMAT + 1}
    file.write_text(json.dumps(document))
    ended = take(ours, theirs)
    assert ended.code == 2
    assert "upgrade it" in ended.err
    assert ours.lake.batch_names() == set()


@pytest.mark.slow
def test_unfinished_runs_are_reported(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]))
    with Journal(theirs.path, Generation("mine", "r1")) as journal:
        header = Entry("runs", {"content_id": "run", "origin": "runner"})
        fields = {"content_id": "c", "seq": 1, "prompt": "p"}
        journal.append([header, Entry("results", fields)])
        ended = take(ours, theirs)
    assert "unfinished runs not copied: 1;" in ended.err
    assert ours.sql("SELECT run_id FROM runs").fetchall() == [(run_of("one"),)]
    theirs.recover_journals()
    assert take(ours, theirs).lines["runs"] == "1"
    assert content(ours) == content(theirs)


def test_the_store_itself_and_options_for_logs_are_refused(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(ours, write(tmp_path, "one", [1]))
    import_into(theirs, tmp_path / "one.yaml")
    assert "this is the store itself" in take(ours, ours).err
    assert "--redact: only for logs" in take(ours, theirs, "--redact").err
    assert "--as: only for logs" in take(ours, theirs, "--as", "x").err


@pytest.mark.slow
def test_stores_and_logs_together(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]))
    ended = command(ours.path, "import", write(tmp_path, "two", [2]), theirs.path)
    assert ended.code == 0
    assert ours.sql("SELECT run_id FROM runs ORDER BY ALL").fetchall() == [
        (run_of("one"),),
        (run_of("two"),),
    ]


@pytest.mark.slow
def test_a_killed_import_leaves_nothing_and_is_repeated(stores, tmp_path, monkeypatch):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]), write(tmp_path, "two", [2]))

    class Killed(BaseException):
        pass

    def kill(*_arguments, **_named):
        raise Killed

    for place in (
        "warehouse.lake.writer.write_durably",
        "warehouse.lake.writer.BatchWriter._parquet",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, kill)
            with pytest.raises(Killed):
                take(ours, theirs)
        assert ours.lake.batch_names() == set()
    assert take(ours, theirs).code == 0
    assert content(ours) == content(theirs)


def test_two_imports_of_a_store_at_once_hold_it_once(stores, tmp_path):
    ours, theirs = stores("ours"), stores("theirs")
    import_into(theirs, write(tmp_path, "one", [1]))
    with ThreadPoolExecutor(4) as pool:
        copies = list(pool.map(lambda _: copy_store(ours.lake, theirs.path), range(4)))
    assert sorted(each.n_new for each in copies) == [0, 0, 0, 1]
    assert len(ours.lake.current()) == 1
