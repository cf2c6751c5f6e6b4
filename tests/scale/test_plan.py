"""The plan of shards: which runs are computed together."""

import hashlib

from warehouse.core.in_memory import open_in_memory
from warehouse.engine.scale import plan
from warehouse.engine.scale.plan import Planner
from warehouse.lake.batch import Batch, BatchFile, Generation


def batch(name, runs, n_rows=1000, **fields):
    return Batch(
        name=name,
        created_at="2026-01-01T00:00:00+00:00",
        command="import",
        version="0",
        files={"results": BatchFile(n_rows, ""), "tasks": BatchFile(7, "")},
        generations=tuple(Generation("mine", run) for run in runs),
        **fields,
    )


def planned(batches, former=None, n_shards=None, path=None):
    """Return the planner, and the runs and folders of each shard by its name."""
    with open_in_memory() as connection:
        planner = Planner(connection)
        for each in batches:
            planner.add(each, 1000)
        planner.plan("new", former and str(former), n_shards)
        if path is not None:
            planner.write(path)
        shards = {
            shard.name: ({run for _, run in shard.runs}, set(shard.folders))
            for shard in planner.shards(planner.suites())
        }
        return shards, planner.kept(), planner.is_any_gone()


def test_every_run_is_in_one_shard_with_all_its_batches():
    batches = [batch(f"b{n:02}", [f"r{n % 5}", f"r{n % 3}-x"]) for n in range(20)]
    for n_shards in (None, 1, 2, 7, 100):
        shards, _, _ = planned(batches, n_shards=n_shards)
        runs = [run for of_shard, _ in shards.values() for run in of_shard]
        assert sorted(runs) == sorted({f"r{n}" for n in range(5)} | {f"r{n}-x" for n in range(3)})
        assert len(shards) <= (n_shards or 1)
        for of_shard, folders in shards.values():
            wanted = {b.name for b in batches if of_shard & {g.run_id for g in b.generations}}
            assert folders == wanted


def test_large_runs_have_a_shard_each_and_small_ones_share_one():
    large = [batch(f"a{n}", [f"large{n}"], plan._ROWS) for n in range(2)]
    small = [batch(f"b{n:03}", [f"small{n}"], plan._ROWS // 50) for n in range(100)]
    shards, _, _ = planned([*small, *large])
    sizes = sorted(len(runs) for runs, _ in shards.values())
    assert sizes == [1, 1, 50, 50]


def test_replaced_batches_do_not_count_and_parts_do():
    parts = tuple(batch(f"b{n}", [f"r{n}"], merged_into="m") for n in range(3))
    merged = batch("m", [], 3000, parts=parts, replaces=("b0", "b1", "b2"))
    shards, _, _ = planned([*(batch(f"b{n}", [f"r{n}"]) for n in range(3)), merged])
    assert list(shards.values()) == [({"r0", "r1", "r2"}, {"m"})]


def test_shards_of_unchanged_runs_are_kept(tmp_path):
    path = tmp_path / "plan.parquet"
    batches = [batch(f"b{n}", [f"r{n}"]) for n in range(8)]
    first, kept, is_gone = planned(batches, n_shards=4, path=path)
    assert (len(first), kept, is_gone) == (4, set(), False)
    # A merge moves rows to another folder, and changes none.
    parts = tuple(batch(f"b{n}", [f"r{n}"], merged_into="m") for n in range(8))
    merged = [*batches, batch("m", [], 8000, parts=parts, replaces=[b.name for b in batches])]
    shards, kept, is_gone = planned(merged, path)
    assert kept == first.keys() == shards.keys()
    assert {folder for _, folders in shards.values() for folder in folders} == {"m"}
    # A run grows, one is new, one is forgotten.
    more = [*batches[1:], batch("b8", ["r8"]), batch("b9", ["r7"])]
    shards, kept, is_gone = planned(more, path)
    unchanged = {name for name, (runs, _) in first.items() if not runs & {"r0", "r7"}}
    assert (kept, is_gone) == (unchanged, True)
    assert {name: shards[name][0] for name in kept} == {name: first[name][0] for name in kept}
    assert {r for runs, _ in shards.values() for r in runs} == {f"r{n}" for n in range(1, 9)}


def test_shards_are_read_in_pieces(monkeypatch):
    batches = [batch(f"b{n}", [f"r{n}"]) for n in range(8)]
    whole, _, _ = planned(batches, n_shards=8)
    monkeypatch.setattr(plan, "_SHARDS_AT_ONCE", 3)
    pieces, _, _ = planned(batches, n_shards=8)
    assert pieces == whole
    assert sorted(run for runs, _ in pieces.values() for run in runs) == [f"r{n}" for n in range(8)]


def test_the_plan_has_a_hash_of_each_run(tmp_path):
    path = tmp_path / "plan.parquet"
    planned([batch(f"b{n}", [f"r{n}"]) for n in range(3)], path=path)
    with open_in_memory() as connection:
        rows = connection.execute("SELECT run_id, content FROM read_parquet($1)", [str(path)])
        contents = dict(rows.fetchall())
    # Of the batch and the generation, so that a later version finds it unchanged.
    assert contents == {f"r{n}": hashlib.md5(f"b{n} root ".encode()).hexdigest() for n in range(3)}


def test_many_small_shards_are_put_together(tmp_path):
    path = tmp_path / "plan.parquet"
    batches = [batch(f"b{n:02}", [f"r{n}"]) for n in range(plan._MOST_SMALL + 1)]
    first, _, _ = planned(batches, n_shards=len(batches), path=path)
    assert len(first) == len(batches)
    shards, kept, _ = planned(batches, path)
    assert (len(shards), kept) == (1, set())


def test_an_empty_lake_has_no_shards():
    assert planned([])[0] == {}


def test_batches_of_equal_runs_give_equal_shards():
    n = 2_000
    shards, _, _ = planned(batch(f"b{i:06}", [f"r{i}"], 10_000) for i in range(n))
    assert sum(len(runs) for runs, _ in shards.values()) == n
    per_shard = plan._ROWS // 10_000
    assert n / per_shard <= len(shards) <= n / per_shard + 2
