"""`evalstore tag`: what was set last is set, however the lake came about."""

import itertools
import json
import random
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from support import (
    PATIENT,
    ROOT,
    command,
    environment,
    import_into,
    new_store,
    traces,
    write_log,
)

from warehouse.core.schemas import TAGS
from warehouse.engine import tags
from warehouse.engine.tags import TagChange, tag, tags_of

RUN, OTHER = ("palindrome", "2026-04-01/models/kokeilu-1.yaml"), ("palindrome", "other")


def with_two_runs(store, folder):
    import_into(store, write_log(folder / "logs" / "2026-04-01-m.yaml"))
    other = write_log(folder / "logs" / "2026-04-02-m.yaml", numbers=(3,))
    import_into(store, other, run_as="other")
    return store


@pytest.fixture
def tagged(store, tmp_path):
    """Return a store with two runs."""
    return with_two_runs(store, tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """Return a store with two runs, one of them tagged, that no test changes."""
    folder = tmp_path_factory.mktemp("unchanged")
    store = with_two_runs(new_store(folder / "store"), folder)
    change(store, OTHER, release="1")
    return store


@pytest.fixture
def clock(monkeypatch):
    """Return a list of the moments that the next changes are made at; the last one stays."""
    moments = [datetime(2026, 4, 1, tzinfo=UTC)]

    class Clock:
        @staticmethod
        def now(_zone):
            return moments.pop(0) if len(moments) > 1 else moments[0]

    monkeypatch.setattr(tags, "datetime", Clock)
    return moments


def change(store, run=RUN, **values):
    return tag(store, run, [TagChange(name, value) for name, value in values.items()])


def unaware(store, moment, value, name="v"):
    """Add a change made without knowledge of any other."""
    with store.lake.write("tag") as writer:
        rows = tags._rows(RUN, [TagChange(name, value)], {})
        writer.add(TAGS, [{**row, "tagged_at": moment} for row in rows])
        writer.commit()


@pytest.mark.slow
def test_tags_are_set_changed_and_removed(tagged):
    assert change(tagged, release="1.4", baseline="yes") == 2
    assert tags_of(tagged, RUN) == {"baseline": "yes", "release": "1.4"}
    assert change(tagged, release="1.5") == 1
    assert change(tagged, baseline=None) == 1
    assert tags_of(tagged, RUN) == {"release": "1.5"}
    assert tags_of(tagged, OTHER) == {}
    assert change(tagged, baseline="again") == 1
    assert tags_of(tagged, RUN) == {"baseline": "again", "release": "1.5"}
    query = "SELECT run_id, tags FROM runs ORDER BY run_id"
    expected = [(RUN[1], {"baseline": "again", "release": "1.5"}), ("other", {})]
    assert tagged.sql(query).fetchall() == expected
    assert tagged.sql("SELECT count(*) FROM lake.tags").fetchall() == [(5,)]


@pytest.mark.slow
def test_a_change_that_is_in_force_adds_nothing(tagged):
    change(tagged, v="1")
    before = tagged.lake.batch_names()
    assert change(tagged, v="1") == 0
    assert tagged.lake.batch_names() == before


@pytest.mark.campaign
@pytest.mark.parametrize("step_seconds", [0, -1, 1])
def test_the_last_change_counts_whatever_the_clock_says(tagged, clock, step_seconds):
    clock += [clock[0] + timedelta(seconds=step_seconds * n) for n in range(1, 8)]
    for value in "badecf":  # neither the order of texts nor that of their hashes
        change(tagged, v=value)
        assert tags_of(tagged, RUN) == {"v": value}
    change(tagged, v=None)
    assert tags_of(tagged, RUN) == {}


@pytest.mark.slow
def test_changes_made_at_once_are_ordered_by_time(tagged, clock):
    for seconds, value in ((2, "late"), (1, "early")):
        unaware(tagged, clock[0] + timedelta(seconds=seconds), value)
    assert tags_of(tagged, RUN) == {"v": "late"}
    clock[0] -= timedelta(days=1)
    change(tagged, v="aware of both")
    assert tags_of(tagged, RUN) == {"v": "aware of both"}


@pytest.mark.campaign
def test_changes_made_in_the_same_microsecond_have_one_winner(tmp_path, clock):
    winners = set()
    for n, values in enumerate(itertools.permutations("abc")):
        store = new_store(tmp_path / str(n))
        import_into(store, write_log(tmp_path / "logs" / "2026-04-01-m.yaml"))
        for value in values:
            unaware(store, clock[0], value)
        winners.add(tags_of(store, RUN)["v"])
    assert len(winners) == 1


@pytest.mark.campaign
def test_any_history_gives_the_same_tags_after_compaction_and_a_rebuild(tagged, clock):
    order = random.Random(23)
    model = {}
    for step in range(30):
        name, value = order.choice("ab"), order.choice(["1", "2", None])
        clock[0] += timedelta(seconds=order.choice([-5, 0, 5]))
        if value is not None or name in model:
            change(tagged, **{name: value})
            model = {k: v for k, v in {**model, name: value}.items() if v is not None}
        if step % 10 == 9:
            command(tagged.path, "compact")
            tagged.sync(rebuild=step == 29)
        assert tags_of(tagged, RUN) == model


@pytest.mark.slow
def test_batches_of_another_store_keep_the_last_tags(tagged, tmp_path, clock):
    change(tagged, v="here", w="here")
    copy = new_store(tmp_path / "copy")
    shutil.copytree(tagged.lake.path, copy.lake.path)
    clock[0] += timedelta(days=1)
    change(copy, v="there")
    clock[0] += timedelta(days=1)
    change(tagged, w="later")
    for batch in copy.lake.batch_names() - tagged.lake.batch_names():
        shutil.copytree(copy.lake.path / batch, tagged.lake.path / batch)
    assert tags_of(tagged, RUN) == {"v": "there", "w": "later"}


@pytest.mark.slow
def test_a_new_generation_keeps_the_tags(tagged, tmp_path):
    change(tagged, v="1")
    other = write_log(tmp_path / "new" / "2026-04-01-m.yaml", numbers=(7, 8))
    import_into(tagged, other, replace=True)
    query = f"SELECT generation = 'root' FROM runs WHERE run_id = '{RUN[1]}'"
    assert tagged.sql(query).fetchall() == [(False,)]
    assert tags_of(tagged, RUN) == {"v": "1"}


@pytest.mark.slow
@pytest.mark.parametrize("compacted", [False, True])
def test_forget_removes_the_tags_too(tagged, compacted):
    change(tagged, v="zebrafish")
    change(tagged, OTHER, v="kept")
    change(tagged, v=None)
    if compacted:
        command(tagged.path, "compact")
    assert command(tagged.path, "forget", RUN[1], "--yes").code == 0
    assert tagged.sql("SELECT run_id, value FROM lake.tags").fetchall() == [("other", "kept")]
    assert tags_of(tagged, OTHER) == {"v": "kept"}
    assert traces(tagged, "zebrafish") == []
    with pytest.raises(Exception, match="was forgotten in the meantime"):
        change(tagged, v="2")


@pytest.mark.slow
def test_processes_that_tag_at_once_lose_no_tag(tagged):
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                *PATIENT,
                "--store",
                tagged.path,
                "tag",
                RUN[1],
                f"own-{n}=yes",
                f"shared={n}",
            ],
            env=environment(),
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]
    for process in processes:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err.decode()
    found = tags_of(tagged, RUN)
    assert found.pop("shared") in set("0123")
    assert found == {f"own-{n}": "yes" for n in range(4)}
    change(tagged, shared="last")
    assert tags_of(tagged, RUN)["shared"] == "last"


@pytest.mark.slow
def test_secrets_are_masked(tagged, monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "correct-horse-battery")
    change(tagged, v="uses correct-horse-battery")
    assert tags_of(tagged, RUN) == {"v": "uses (redacted)"}


# --- the command


@pytest.mark.slow
def test_the_command_sets_lists_and_removes(tagged):
    def run(*arguments):
        return command(tagged.path, "tag", RUN[1], *arguments)

    assert run("release=1.4", "note=a = b").err == f"changed 2 tags of {RUN[1]}\n"
    assert run("release=1.4", "note=c").err == f"changed 1 tag of {RUN[1]}; 1 as before\n"
    listed = json.loads(run("--format", "json").out)
    assert {row["name"]: row["value"] for row in listed} == {"note": "c", "release": "1.4"}
    assert run("note=", "--remove", "release").code == 0
    assert json.loads(run("--format", "json").out) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["othr", "a=1"], "there is no run 'othr'; did you mean 'other'?"),
        (["other", "a"], "'a' is not a tag: write name=value, or name= to remove it"),
        (["other", "a b=1"], "'a b' cannot be the name of a tag"),
        (["other", "=1"], "'' cannot be the name of a tag"),
        (["other", "a=1\n2"], "the value of tag 'a' must be one line"),
        (["other", "a=" + "x" * 1001], "at most 1,000 characters"),
        (["other", "a=1", "a=2"], "tag 'a' is given more than once"),
        (["other", "--remove", "relase"], "no tag 'relase'; did you mean 'release'?"),
        (["other", "b=1", "zzz="], "no tag 'zzz'; its tags are: release"),
        ([RUN[1], "zzz="], "no tag 'zzz'; it has no tags"),
        (["other", "a=1", "--suite", "x"], "error: the store has no runs of suite 'x'"),
    ],
)
def test_mistakes_are_explained_and_change_nothing(unchanged, arguments, message):
    before = unchanged.lake.batch_names()
    ended = command(unchanged.path, "tag", *arguments)
    assert (ended.code, message in ended.err) == (2, True), ended.err
    assert unchanged.lake.batch_names() == before


@pytest.mark.slow
def test_a_run_of_several_suites_needs_the_suite(tagged):
    with tagged.record(suite="mine", model="m", run_id="other") as run:
        run.log(task_id="t", output="x", passed=True)
    ended = command(tagged.path, "tag", "other", "a=1")
    assert (ended.code, "choose one with --suite" in ended.err) == (2, True)
    assert command(tagged.path, "tag", "other", "a=1", "--suite", "mine").code == 0
    assert tags_of(tagged, ("mine", "other")) == {"a": "1"}
    assert tags_of(tagged, OTHER) == {}
