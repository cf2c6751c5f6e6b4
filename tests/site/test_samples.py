"""The data of the sample browser: the pieces, parsed again, hold what the views hold."""

import json
import random
import re

import pytest
from peers import PEERS, needs_peers
from rendering import HOSTILE
from support import add_rows, import_into

from exports.site.samples.browser import number_runs, run_folder, run_pieces, shared_pieces
from exports.site.samples.pieces import PIECE_CHARACTERS, Pieces, piece
from exports.site.samples.query import number_samples, samples
from exports.site.samples.runs import RUN_FIELDS, sampled_runs
from warehouse.core.schemas import BY_NAME
from warehouse.lake.batch import Generation

CALL = re.compile(r"evalstore\.piece\(\"([\w./-]+)\",'((?:[^'\\]|\\.)*)'\);\n", re.ASCII)
ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|x[0-9a-f]{2}|.)")
CHARS = {"n": "\n", "r": "\r", "'": "'", "\\": "\\"}


def parsed(path, data):
    """Return what a page gets of a piece, which must be one call with one string."""
    name, text = CALL.fullmatch(data.decode()).groups()
    assert name == path
    assert not set("<\n\r\u2028\u2029") & set(text)
    code = lambda found: CHARS.get(found[1]) or chr(int(found[1][1:], 16))  # noqa: E731
    return json.loads(ESCAPE.sub(code, text))


def all_pieces(connection, *, only_failed=False):
    runs = sampled_runs(connection)
    number_runs(connection, runs, only_failed=only_failed)
    yield from shared_pieces(connection, runs)
    for _, pieces in run_pieces(connection, runs):
        yield from pieces


def data_of(store, *, only_failed=False):
    with store.reading() as connection:
        pieces = list(all_pieces(connection, only_failed=only_failed))
    assert len({path for path, _ in pieces}) == len(pieces)
    return {path: parsed(path, data) for path, data in pieces}


def samples_of(data, folder, kind):
    """Return the rows or records of a run, as dictionaries by number."""
    run = data[f"{folder}/run.js"]
    names = run["row_fields" if kind == "rows" else "record_fields"]
    found = {}
    for at, start in enumerate(run[kind]):
        values = data[f"{folder}/{kind}-{at:04}.js"]
        assert values[0][0] == start
        for number, *rest in values:
            fields, more = (rest[0], None) if kind == "rows" else rest
            if more is not None:
                first, n_pieces, n_characters = more
                parts = [data[f"{folder}/long-{first + n:04}.js"] for n in range(n_pieces)]
                assert len("".join(parts)) == n_characters
                fields = json.loads("".join(parts))
            found[number] = dict(zip(names, fields, strict=True))
    return found


def record(store, suite="own", run_id="r", model="m", results=()):
    with store.record(suite=suite, model=model, run_id=run_id) as run:
        for result in results:
            run.log(**result)


# --- pieces


def test_any_text_comes_out_of_a_piece_as_it_went_in():
    rng = random.Random(5)
    chars = "'\\<>\"\n\r\u2028\u2029\u202eaä\0ก😀/"
    for _ in range(200):
        text = "".join(rng.choices(chars, k=rng.randrange(40)))
        assert parsed(*piece("a/b.js", json.dumps(text, ensure_ascii=False))) == text
    assert parsed(*piece("a.js", json.dumps("</script><!--"))) == "</script><!--"


def test_pieces_are_of_bounded_size_and_know_where_they_start():
    rng = random.Random(7)
    values = [json.dumps("x" * rng.randrange(1, PIECE_CHARACTERS // 3)) for _ in range(40)]
    pieces = Pieces("rows")
    written = [each for n, value in enumerate(values) for each in pieces.add(2 * n, value)]
    written += pieces.end()
    found = [parsed(*each) for each in written]
    assert [value for part in found for value in part] == [json.loads(v) for v in values]
    assert all(len(data) <= PIECE_CHARACTERS + 100 for _, data in written)
    lengths = [sum(len(p) for p in found[:n]) for n in range(len(found))]
    assert pieces.starts == [2 * length for length in lengths]


# --- data


@pytest.mark.slow
def test_the_score_of_a_row_is_of_its_verdict_and_cut_texts_say_so(store):
    run = {"suite": "chat", "run_id": "r", "generation": "root"}
    texts = {"prompt": "p" * 121, "raw_output": "a" * 201}
    named = [("batch_size", 1.0, None), ("exact_match", 0.0, False), ("a", None, True)]
    scores = [
        {**run, "content_id": m, "result_id": "x", "metric": m, "value": value, "passed": passed}
        for m, value, passed in named
    ]
    add_rows(
        store.lake,
        runs=[{**run, "content_id": "run"}],
        results=[{**run, "content_id": "x", "seq": 1, "task_id": "t", "success": True, **texts}],
        result_scores=scores,
    )
    [row] = samples_of(data_of(store), run_folder("chat", "r"), "rows").values()
    assert (row["score_name"], row["score"]) == ("exact_match", 0.0)
    assert (row["prompt"], row["answer"]) == ("p" * 120 + "…", "a" * 200 + "…")


@pytest.mark.slow
def test_records_and_rows_hold_what_the_views_hold(store):
    add_chat(store)
    data = data_of(store)
    folder = run_folder("chat", "r")
    [row] = samples_of(data, folder, "rows").values()
    [sample] = samples_of(data, folder, "records").values()
    assert (row["model"], row["task_id"], row["attempt"]) == ("example/a", "t", 1)
    assert (row["answer"], row["prompt"], row["passed"]) == (
        "Helsinki",
        "Capital of Finland?",
        True,
    )
    assert (row["score_name"], row["score"]) == ("style", 0.5)
    assert [task["reference"] for task in sample["tasks"]] == ["Helsinki"]
    assert {s["metric"]: s["value"] for s in sample["scores"]} == {"passed": 1.0, "style": 0.5}
    assert [m["text"] for m in sample["messages"]] == [f"x{n}" for n in range(60)]
    [(_, *results)] = store.sql("SELECT 1, * FROM results").fetchall()
    columns = [name for name, *_ in store.sql("DESCRIBE results").fetchall()]
    values = dict(zip(columns, results, strict=True))
    assert values.pop("batch")  # another one in a store with the same logs
    for name, value in values.items():
        assert sample[name] == in_json(value), name


def in_json(value):
    """Return a value as a record holds it: integers that JavaScript cannot hold as text."""
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    return value if isinstance(value, (int, float, list, type(None))) else str(value)


def add_chat(store):
    shared = {"suite": "chat", "run_id": "r", "generation": "root"}
    task = {"suite": "chat", "task_set": "s", "task_id": "t", "seq": 1, "reference": "Helsinki"}
    call = {"task_set": "s", "task_id": "t", "model": "example/a", "seq": 1, "e2e_ms": 2**60}
    call |= {"raw_output": "Helsinki", "objective_pass": True, "prompt": "Capital of Finland?"}
    message = {"result_id": "c", "role": "user"}
    score = {"result_id": "c", "metric": "style", "value": 0.5}
    rows = {
        "runs": [{**shared, "content_id": "h"}],
        "results": [{**shared, **call, "content_id": "c", "cost_usd": 0.1}],
        "tasks": [
            {**task, "content_id": f"k{n}", "task_set_hash": f"v{n}", "task_hash": f"h{n}"}
            for n in range(2)
        ],
        "result_scores": [{**shared, **score, "content_id": "s"}],
        "messages": [
            {**shared, **message, "content_id": f"m{n}", "seq": n, "text": f"x{n}"}
            for n in range(60)
        ],
    }
    add_rows(store.lake, **rows)


@pytest.mark.slow
def test_hostile_and_extreme_values_come_back_as_they_are(store):
    long = "a<b>\u2028'" * 120_000
    record(
        store,
        run_id=HOSTILE,
        model=HOSTILE,
        results=[
            {"task_id": HOSTILE, "output": HOSTILE + "</script>", "passed": False},
            {"task_id": "long", "output": long, "scores": {"a": float("inf"), "b": 0.1 + 0.2}},
            {"task_id": "__proto__", "output": '{"__proto__": 1}', "latency_ms": 1.5},
        ],
    )
    data = data_of(store)
    [folder] = [path.removesuffix("/run.js") for path in data if path.endswith("/run.js")]
    assert re.fullmatch(r"samples/[a-z0-9._-]+", folder)
    records = list(samples_of(data, folder, "records").values())
    assert [r["raw_output"] for r in records] == [HOSTILE + "</script>", long, '{"__proto__": 1}']
    assert {s["metric"]: (s["value"], s["text"]) for s in records[1]["scores"]}["b"][0] == 0.1 + 0.2
    assert [s["value"] for s in records[1]["scores"] if s["metric"] == "a"] == [None]
    rows = list(samples_of(data, folder, "rows").values())
    assert rows[0]["task_id"] == HOSTILE
    assert rows[1]["answer"] == f"{long[:200]}…"


@pytest.mark.slow
def test_failed_samples_keep_their_numbers(store):
    results = [
        {"task_id": "a", "output": "x", "passed": True},
        {"task_id": "b", "output": "x", "passed": False},
        {"task_id": "c", "output": "x"},
        {"task_id": "d", "failure": "timeout"},
    ]
    record(store, results=results)
    record(store, run_id="fine", results=results[:1])
    everything = samples_of(data_of(store), run_folder("own", "r"), "rows")
    assert {n: row["task_id"] for n, row in everything.items()} == dict(enumerate("abcd"))
    failed = data_of(store, only_failed=True)
    rows = samples_of(failed, run_folder("own", "r"), "rows")
    assert {n: row["task_id"] for n, row in rows.items()} == {1: "b", 3: "d"}
    assert rows[3]["failure"] is not None
    assert samples_of(failed, run_folder("own", "fine"), "rows") == {}
    assert failed[f"{run_folder('own', 'fine')}/run.js"]["n_samples"] == 1


@pytest.mark.slow
def test_the_list_of_runs_has_each_run_with_its_counts_and_tags(store, cli):
    results = [{"task_id": "a", "output": "x", "passed": n > 0, "attempt": n + 1} for n in range(3)]
    record(store, results=[*results, {"task_id": "b", "output": "x"}])  # one is not judged
    record(store, run_id="r2", model="n", results=results[:1])
    record(store, run_id="r3", results=[{"task_id": "b", "output": "x"}])
    record(store, run_id="r4", results=[{"task_id": "b", "failure": "timeout"}])
    cli("tag", "r", "release=1.2")
    data = data_of(store)
    assert data["samples/runs.js"] == {"n_runs": 4, "n_pieces": 1, "fields": list(RUN_FIELDS)}
    first, second, *unjudged = (
        dict(zip(RUN_FIELDS, run, strict=True)) for run in data["samples/runs-0000.js"]
    )
    assert (first["n_samples"], first["n_passed"], first["n_failed"]) == (4, 2, 1)
    # None is not 0: nobody judged them.
    counts = [[run[f"n_{name}"] for name in ("unanswered", "passed", "failed")] for run in unjudged]
    assert counts == [[0, None, None], [1, None, None]]
    assert first["tags"] == [["release", "1.2"]]
    assert (second["models"], second["task_sets"]) == (["n"], ["own"])
    assert first["folder"] == run_folder("own", "r")


def test_an_empty_store_has_an_empty_list(store):
    assert data_of(store) == {
        "samples/runs.js": {"n_runs": 0, "n_pieces": 0, "fields": list(RUN_FIELDS)}
    }


@pytest.mark.slow
def test_the_same_store_gives_the_same_bytes(examples):
    def written():
        with examples.reading() as connection:
            return list(all_pieces(connection, only_failed=False))

    assert written() == written()


@pytest.mark.slow
def test_samples_of_more_than_one_query_come_in_order(store):
    for name in ("b", "a"):
        results = [{"task_id": f"t{n}", "output": "x" * n} for n in range(30)]
        record(store, run_id=name, results=results)
    with store.reading() as connection:
        runs = [("own", "a"), ("own", "b")]
        number_samples(connection, runs, only_failed=False)
        assert [each[:3] for each in samples(connection, runs, samples_at_once=7)] == [
            ("own", name, n) for name in "ab" for n in range(30)
        ]


# --- items


def add_items(store, samples, date="2026-01-01"):
    """Add samples: (suite, run, task set, task, question, model); equal questions are one item."""
    runs = dict.fromkeys((suite, run) for suite, run, *_ in samples)
    shared = [{"suite": suite, "run_id": run, "generation": "root"} for suite, run in runs]
    tasks = dict.fromkeys((suite, *rest[1:4]) for suite, *rest in samples)
    with store.lake.write("import") as writer:
        writer.add(
            BY_NAME["runs"],
            [{**run, "content_id": str(n), "run_date": date} for n, run in enumerate(shared)],
        )
        names = ("suite", "task_set", "task_id", "question")
        writer.add(
            BY_NAME["tasks"],
            [
                {**dict(zip(names, task, strict=True)), "content_id": f"t{n}", "seq": n}
                | {"task_hash": f"h{n}", "task_set_hash": "v"}
                for n, task in enumerate(tasks)
            ],
        )
        writer.add(
            BY_NAME["results"],
            [
                {"suite": suite, "run_id": run, "generation": "root", "content_id": f"c{n}"}
                | {"seq": n, "task_set": task_set, "task_id": task, "model": model}
                | {"raw_output": f"{model} says {n}"}
                for n, (suite, run, task_set, task, _, model) in enumerate(samples)
            ],
        )
        writer.commit(generations={Generation(*run, "root", None): None for run in runs})


def items_of(data):
    """Return the samples of each item of the index: sets of (run, number), with their number."""
    if "samples/items.js" not in data:
        return {}
    about = data["samples/items.js"]
    found = {}
    for at, start in enumerate(about["starts"]):
        entries = data[f"samples/items-{at:04}.js"]
        assert entries[0][0] == start
        for item, n, held in entries:
            named = [dict(zip(about["fields"], each, strict=True)) for each in held]
            found[item] = (n, named)
    assert list(found) == sorted(found)
    return found


@pytest.mark.slow
def test_index_has_the_samples_of_each_item_asked_as_several_tasks(store):
    rng = random.Random(11)
    questions = {}
    samples = []
    for _ in range(120):
        suite, task_set, task = rng.choice("ab"), rng.choice("st"), str(rng.randrange(6))
        question = questions.setdefault((suite, task_set, task), f"Q{rng.randrange(14)}")
        run, model = rng.choice("xyz"), rng.choice("mn")
        samples.append((suite, run, task_set, task, question, model))
    add_items(store, samples)
    data = data_of(store)
    rows = {
        (path.split("/")[1], number): row
        for path in data
        if path.endswith("/run.js")
        for number, row in samples_of(data, path.removesuffix("/run.js"), "rows").items()
    }
    # By the definition: the first sample of each run, model and task, of items with several tasks.
    expected, first = {}, {}
    for n, sample in enumerate(samples):
        first.setdefault(sample, n)
    for (suite, run, task_set, task, question, model), n in first.items():
        asked = {key for key, each in questions.items() if each == question}
        if len(asked) > 1:
            entry = (suite, run, task_set, task, model, f"{model} says {n}")
            expected.setdefault(question, set()).add(entry)
    found = {}
    for item, (n, entries) in items_of(data).items():
        assert n == len(entries)
        of_item = set()
        for each in entries:
            row = rows[each["run"], each["number"]]
            assert row["item"] == item
            assert (row["task_set"], row["task_id"]) == (each["task_set"], each["task_id"])
            keys = ("suite", "run_id", "task_set", "task_id", "model")
            of_item.add((*(each[key] for key in keys), row["answer"]))
        found[item] = of_item
    assert len(expected) > 3
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected.values()))
    n_shared = sum(questions[s[0], s[2], s[3]] in expected for s in samples)
    assert sum(row["item"] is not None for row in rows.values()) == n_shared


@pytest.mark.slow
def test_index_is_bounded_and_has_each_task(store):
    many = [("a", f"r{n:03}", "s", "1", "Q", "m") for n in range(230)]
    add_items(store, [*many, ("b", "one", "s", "x", "Q", "m")])
    [(n, entries)] = items_of(data_of(store)).values()
    assert (n, len(entries)) == (231, 200)
    assert [each["run_id"] for each in entries if each["suite"] == "b"] == ["one"]
    assert entries[0]["run_id"] == "r229"


@pytest.mark.slow
def test_item_of_one_task_has_no_index(store):
    add_items(store, [("a", run, "s", "1", "Q", "m") for run in ("r", "q")])
    data = data_of(store)
    assert not any("items" in path for path in data)
    assert {row["item"] for row in samples_of(data, run_folder("a", "r"), "rows").values()} == {
        None
    }


@pytest.mark.campaign
@needs_peers
def test_reference_data_come_back_from_the_pieces(store):
    import_into(store, PEERS)
    data = data_of(store)
    query = """
        SELECT suite, run_id, raw_output, passed
        FROM results JOIN verdicts USING (suite, run_id, result_id)
        ORDER BY suite, run_id, results.seq, result_id
    """
    expected = store.sql(query).fetchall()
    found = []
    for path, run in data.items():
        if path.endswith("/run.js"):
            for sample in samples_of(data, run["folder"], "records").values():
                values = (run["suite"], run["run_id"], sample["raw_output"], sample["passed"])
                found.append(values)
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert found == expected
