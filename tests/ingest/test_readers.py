"""Toy formats, each registered in one line: a small file, a folder, a stream of any size."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from inspect import signature

import pyarrow.parquet as pq
import pytest
from support import ROOT, command, import_into

import ingest.readers
from ingest.format import Reader, small_file
from ingest.formats.common.lines import line_blocks
from ingest.readers import READERS
from ingest.reading import Block, Candidate, Reading, Reject, Stream
from ingest.reconciliation import FileOutcome
from warehouse.core.errors import BadInput, EvalstoreError
from warehouse.core.formats.secrets import find_secrets, lines_of
from warehouse.core.formats.yaml.fields import Violation
from warehouse.core.hashing import content_hash

SUITE = "toy"


def task_row(name):
    return {
        "content_id": content_hash("toy task", name),
        "suite": SUITE,
        "task_set": "toys",
        "task_set_hash": "1",
        "seq": 1,
        "task_id": name,
        "task_hash": content_hash(name),
    }


def read_tasks(file, _context):
    return Reading("toy tasks", rows={"tasks": [task_row(n) for n in json.loads(file.data)]})


def side_row(table, name):
    """A score or message whose id is not unique among tables."""
    own = {"result_scores": {"metric": "m", "value": 1.0}, "messages": {"seq": 1, "text": "m"}}
    return {"content_id": name, "result_id": name, **own[table]}


def read_folder(path, context):
    """A run whose results are files: `<task>.txt`; `<id>.<table>` are rows of other tables."""
    reading = Reading("toy folder", run=(SUITE, path.name))
    for file in filter(None, map(context.read, sorted(path.glob("*.txt")))):
        reading.files.append(file)
        key = {"suite": SUITE, "run_id": path.name, "content_id": content_hash(file.name)}
        row = {**key, "task_id": file.path.stem, "raw_output": file.data.decode()}
        reading.rows.setdefault("results", []).append({**row, "seq": len(reading.files)})
    for table in ("result_scores", "messages"):
        for file in filter(None, map(context.read, sorted(path.glob(f"*.{table}")))):
            reading.files.append(file)
            key = {"suite": SUITE, "run_id": path.name, "content_id": file.path.stem}
            reading.rows.setdefault(table, []).append({**key, **side_row(table, file.path.stem)})
    header = {"suite": SUITE, "run_id": path.name, "content_id": content_hash(path.name)}
    reading.rows["runs"] = [header]
    yield reading


def read_stream(path, _context):
    """A log of lines `<run> <task> <answer>`; each line also gives a task and an artifact.

    A line `<run> <table> +<id>` is a row of that table.
    """

    def blocks():
        for lines in line_blocks(path):
            for n, line in enumerate(bytes(lines.data).decode().splitlines(), lines.first_line):
                yield block_of(n, line)

    def block_of(n, line):
        run_id, _, text = line.partition(" ")
        task, _, answer = text.partition(" ")
        if not answer:
            return Block(path=path, run_id=None, rejects=[Reject("no answer", n)])
        if answer.startswith("+"):
            return Block(path=path, run_id=run_id, rows={task: [side_row(task, answer)]})
        row = {"content_id": content_hash(line), "task_id": task}
        result = {**row, "seq": n, "raw_output": answer}
        text_row = {**row, "kind": "note", "name": task, "content": answer.encode()}
        broken = [Violation(n, "answer", "shout", "is shouted")] if answer.isupper() else []
        return Block(
            path=path,
            run_id=run_id,
            rows={"results": [result], "artifacts": [text_row], "tasks": [task_row(task)]},
            violations=broken,
            secrets=lines_of(line.encode(), find_secrets(line.encode()), n),
        )

    tables = ("results", "artifacts", "tasks", "result_scores", "messages")
    stream = Stream(paths=(path,), tables=tables, blocks=blocks)
    yield Reading("toy stream", run=(SUITE, path.stem), stream=stream)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    added = (
        Reader("toy tasks", lambda c: c.head.startswith(b'["toy'), small_file(read_tasks)),
        Reader("toy folder", lambda c: c.inside("toy").is_file, read_folder),
        Reader("toy stream", lambda c: c.path.suffix == ".toy", read_stream),
    )
    monkeypatch.setattr(ingest.readers, "READERS", (*added, *READERS))


def outcomes(summary):
    return dict(summary.outcomes)


def test_a_declined_file_is_named_and_does_not_fail_the_import(store, tmp_path, monkeypatch):
    def read(path, context):
        context.decline(path, "an index of toys")
        return ()

    added = Reader("toy index", lambda c: c.path.name == "toys.json", read)
    monkeypatch.setattr(ingest.readers, "READERS", (added, *READERS))
    (tmp_path / "toys.json").write_text("{}")
    summary = import_into(store, tmp_path)
    assert outcomes(summary) == {FileOutcome.DECLINED: 1}
    assert summary.messages == [f"{tmp_path / 'toys.json'}: not imported: an index of toys"]
    assert command(store.path, "import", tmp_path).code == 0


@pytest.mark.slow
def test_a_stream_without_rows_is_a_run_if_it_says_so(store, tmp_path, monkeypatch):
    def read(path, _context):
        stream = Stream(paths=(path,), tables=("results",), blocks=lambda: iter(()), is_run=True)
        header = {"suite": SUITE, "run_id": "empty", "config": "{}"}
        yield Reading("toy header", run=(SUITE, "empty"), rows={"runs": [header]}, stream=stream)

    added = Reader("toy header", lambda c: c.path.suffix == ".toyhead", read)
    monkeypatch.setattr(ingest.readers, "READERS", (added, *READERS))
    (tmp_path / "a.toyhead").write_text("x")
    for outcome in (FileOutcome.IMPORTED, FileOutcome.UNCHANGED):
        assert outcomes(import_into(store, tmp_path)) == {outcome: 1}
    assert rows(store, "run_id, config", "runs") == [("empty", "{}")]


def rows(store, columns, table):
    return store.sql(f"SELECT {columns} FROM lake.{table} ORDER BY ALL").fetchall()


def toy_log(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_shipped_readers_have_names_and_claim_no_missing_file(tmp_path):
    assert len({reader.format for reader in READERS}) == len(READERS)
    missing = Candidate(tmp_path / "nothing")
    assert not any(reader.claims(missing) for reader in READERS)


def test_every_late_function_exists():
    places = []
    for path in (ROOT / "ingest/formats").glob("*/recognition.py"):
        source = path.read_text("utf-8")
        places += re.findall(r'Late\("([\w.]+)"\)\.(\w+)', source)
        for variable, module in re.findall(r'^(\w+) = Late\("([\w.]+)"\)$', source, re.MULTILINE):
            names = re.findall(rf"\b{variable}\.(\w+)", source)
            assert names
            places += [(module, name) for name in names]
    assert len(places) >= len(READERS)
    for module, name in places:
        function = getattr(import_module(f"ingest.formats.{module}"), name)
        is_claim = name.startswith("is_")
        assert len(signature(function).parameters) == (1 if is_claim else 2), (module, name)


@pytest.mark.slow
def test_an_import_loads_the_readers_that_it_needs():
    program = """
import sys
from pathlib import Path
from ingest.readers import reader_of
from ingest.reading import Candidate
print(reader_of(Candidate(Path("examples/openclaw/runs/20260302_091500"))).format)
names = [name for name in sys.modules if name.startswith("ingest.formats.")]
print(sorted(name for name in names if name.count(".") == 3 and "recognition" not in name))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found, modules = ran.stdout.splitlines()
    assert found == "openclaw run"
    assert modules == "['ingest.formats.openclaw.layout']"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted as on Linux")
def test_an_import_starts_no_threads_for_linear_algebra():
    program = """
import os
import ingest.command
ingest.command._load_numpy()
print(len(os.listdir("/proc/self/task")), "OPENBLAS_NUM_THREADS" in os.environ)
"""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert ran.stdout.split() == ["1", "False"]


def test_a_small_file(store, tmp_path):
    (tmp_path / "a.json").write_text('["toy1", "toy2"]')
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "a.json").write_text('["toy1", "toy2"]')
    summary = import_into(store, tmp_path)
    assert outcomes(summary) == {FileOutcome.IMPORTED: 1, FileOutcome.UNCHANGED: 1}
    assert rows(store, "task_id", "tasks") == [("toy1",), ("toy2",)]
    assert outcomes(import_into(store, tmp_path)) == {FileOutcome.UNCHANGED: 2}


@pytest.mark.slow
def test_a_folder(store, tmp_path):
    run = tmp_path / "in" / "r1"
    run.mkdir(parents=True)
    (run / "toy").touch()
    (run / "t1.txt").write_text("yes")
    assert outcomes(import_into(store, tmp_path / "in")) == {FileOutcome.IMPORTED: 1}
    (run / "t2.txt").write_text("no")
    assert outcomes(import_into(store, tmp_path / "in")) == {FileOutcome.GROWN: 1}
    assert rows(store, "run_id, task_id, raw_output", "results") == [
        ("r1", "t1", "yes"),
        ("r1", "t2", "no"),
    ]


@pytest.mark.slow
def test_rows_of_two_tables_may_have_one_id(store, tmp_path):
    run = tmp_path / "in" / "r1"
    run.mkdir(parents=True)
    (run / "toy").touch()
    (run / "t1.txt").write_text("yes")
    (run / "same.result_scores").touch()
    stream = toy_log(tmp_path / "in" / "s.toy", "s t1 yes", "s result_scores +same")
    assert outcomes(import_into(store, tmp_path / "in")) == {FileOutcome.IMPORTED: 2}
    (run / "same.messages").touch()
    toy_log(stream, "s t1 yes", "s result_scores +same", "s messages +same")
    assert outcomes(import_into(store, tmp_path / "in")) == {FileOutcome.GROWN: 2}
    for table in ("result_scores", "messages"):
        assert rows(store, "run_id, content_id", table) == [("r1", "same"), ("s", "+same")]


@pytest.mark.slow
def test_a_stream_fills_any_table_and_is_recorded_like_any_file(store, tmp_path):
    key = "sk-" + "a1b2c3d4" * 4
    path = toy_log(tmp_path / "a.toy", "r t1 yes", "broken", "r t2 NO", f"s t1 {key}")
    summary = import_into(store, path)
    assert outcomes(summary) == {FileOutcome.IMPORTED: 1}
    assert (summary.n_results, summary.n_quarantined, summary.n_violations) == (3, 1, 1)
    assert any("line 4: looks like an OpenAI key" in message for message in summary.messages)
    assert rows(store, "run_id, task_id, seq", "results") == [
        ("r", "t1", 1),
        ("r", "t2", 3),
        ("s", "t1", 4),
    ]
    assert rows(store, "run_id, name, decode(content)", "artifacts")[:2] == [
        ("r", "t1", "yes"),
        ("r", "t2", "NO"),
    ]
    assert rows(store, "DISTINCT task_id", "tasks") == [("t1",), ("t2",)]
    assert rows(store, "run_id, source_rows", "runs") == [("r", 2), ("s", 1)]
    assert rows(store, "line, reason", "quarantine") == [(2, "no answer")]
    assert rows(store, "run_id, line, rule", "violations") == [("r", 3, "shout")]
    [(sha256, content)] = rows(store, "sha256, content", "files")
    assert content == path.read_bytes()
    assert rows(store, "DISTINCT file_sha256", "results") == [(sha256,)]


@pytest.mark.slow
def test_a_stream_that_grows_conflicts_or_replaces(store, tmp_path):
    path = toy_log(tmp_path / "a.toy", "r t1 yes", "r t2 no")
    import_into(store, path)
    assert outcomes(import_into(store, path)) == {FileOutcome.UNCHANGED: 1}
    toy_log(path, "r t1 yes", "r t2 no", "r t3 new")
    assert outcomes(import_into(store, path)) == {FileOutcome.GROWN: 1}
    toy_log(path, "r t1 yes")
    assert outcomes(import_into(store, path)) == {FileOutcome.UNCHANGED: 1}
    toy_log(path, "r t1 yes", "r t4 other")
    assert outcomes(import_into(store, path)) == {FileOutcome.CONFLICT: 1}
    assert outcomes(import_into(store, path, replace=True)) == {FileOutcome.REPLACED: 1}
    shown = store.sql("SELECT task_id, raw_output FROM results ORDER BY ALL").fetchall()
    assert shown == [("t1", "yes"), ("t4", "other")]


@pytest.mark.slow
def test_a_part_of_a_run_is_compared_with_the_same_part_only(store, tmp_path, monkeypatch):
    def read_part(path, _context):
        lines = path.read_text().split()
        rows = [{"content_id": line, "task_id": line, "seq": n} for n, line in enumerate(lines, 1)]
        stream = Stream(
            paths=(path,),
            tables=("results",),
            blocks=lambda: iter([Block(path=path, run_id="r", rows={"results": rows})]),
            parts=frozenset({path.stem}),
        )
        yield Reading("toy part", run=(SUITE, "r"), stream=stream)

    reader = Reader("toy part", lambda c: c.path.suffix == ".part", read_part)
    monkeypatch.setattr(ingest.readers, "READERS", (reader,))

    def imported(name, text):
        (tmp_path / name).write_text(text)
        return outcomes(import_into(store, tmp_path / name))

    assert imported("a.part", "a1 a2") == {FileOutcome.IMPORTED: 1}
    assert imported("b.part", "b1") == {FileOutcome.GROWN: 1}
    assert imported("b.part", "b1 b2") == {FileOutcome.GROWN: 1}
    assert imported("a.part", "a1") == {FileOutcome.UNCHANGED: 1}
    assert imported("a.part", "a2 a3") == {FileOutcome.CONFLICT: 1}
    assert rows(store, "task_id", "results") == [("a1",), ("a2",), ("b1",), ("b2",)]


@pytest.mark.slow
def test_new_rows_of_an_uncompared_table_are_growth(store, tmp_path, monkeypatch):
    """As if a later version of a reader found more in the same results."""
    path = toy_log(tmp_path / "a.toy", "r t1 yes")
    without = [
        block.rows["results"] for block in next(iter(read_stream(path, None))).stream.blocks()
    ]

    def only_results(path, context):
        reading = next(iter(read_stream(path, context)))
        block = Block(path=path, run_id="r", rows={"results": without[0]})
        reading.stream = Stream(paths=(path,), tables=("results",), blocks=lambda: iter([block]))
        yield reading

    first = Reader("toy stream", lambda c: c.path.suffix == ".toy", only_results)
    with monkeypatch.context() as patch:
        patch.setattr(ingest.readers, "READERS", (first, *READERS))
        import_into(store, path)
    assert rows(store, "name", "artifacts") == []
    again = toy_log(tmp_path / "b.toy", "r t1 yes")
    assert outcomes(import_into(store, again)) == {FileOutcome.GROWN: 1}
    assert rows(store, "name", "artifacts") == [("t1",)]
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(1,)]


def test_headers_and_other_rows_outside_a_stream(store, tmp_path, monkeypatch):
    def read(path, context):
        (reading,) = read_stream(path, context)
        runs = [{"suite": SUITE, "run_id": name, "label": f"label {name}"} for name in ("r", "s")]
        note = {"suite": SUITE, "run_id": "s", "content_id": "1" * 32, "kind": "note", "name": "n"}
        note["content"] = b"x"
        reading.rows = {"runs": runs, "artifacts": [note], "tasks": [task_row("t9")]}
        yield reading

    reader = Reader("toy stream", lambda c: c.path.suffix == ".toy", read)
    monkeypatch.setattr(ingest.readers, "READERS", (reader, *READERS))
    path = toy_log(tmp_path / "a.toy", "r t1 yes", "s t1 yes", "q t1 yes")
    import_into(store, path)
    assert rows(store, "run_id, label, source_rows", "runs") == [
        ("q", None, 1),
        ("r", "label r", 1),
        ("s", "label s", 1),
    ]
    assert rows(store, "run_id, name", "artifacts")[-2:] == [("s", "n"), ("s", "t1")]
    assert ("t9",) in rows(store, "task_id", "tasks")
    assert outcomes(import_into(store, path)) == {FileOutcome.UNCHANGED: 1}


def test_small_blocks_become_one_row_group(store, tmp_path):
    import_into(store, toy_log(tmp_path / "a.toy", *[f"r t{n} yes" for n in range(50)]))
    (batch,) = store.lake.batch_names()
    file = pq.ParquetFile(store.lake.path / batch / "results.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (50, 1)


def test_a_misspelt_column_of_a_stream_is_refused(store, tmp_path, monkeypatch):
    def read(path, context):
        (reading,) = read_stream(path, context)
        block = Block(path=path, run_id="q", rows={"results": [{"content_id": "1", "anwser": "x"}]})
        reading.stream = Stream(paths=(path,), tables=("results",), blocks=lambda: iter([block]))
        yield reading

    wrong = Reader("toy stream", lambda c: c.path.suffix == ".toy", read)
    monkeypatch.setattr(ingest.readers, "READERS", (wrong, *READERS))
    with pytest.raises(EvalstoreError, match="did you mean 'answer'"):
        import_into(store, toy_log(tmp_path / "a.toy", "x"))


@pytest.mark.slow
def test_strict_as_and_redact_apply_to_streams(store, tmp_path):
    bad = toy_log(tmp_path / "bad.toy", "r t1 NO")
    assert outcomes(import_into(store, bad, strict=True)) == {FileOutcome.REFUSED: 1}
    with pytest.raises(BadInput, match="several"):
        import_into(store, toy_log(tmp_path / "two.toy", "r t yes", "s t yes"), run_as="x")
    import_into(store, toy_log(tmp_path / "one.toy", "r t yes"), run_as="x", redact=True)
    assert rows(store, "run_id", "runs") == [("x",)]
    binary = tmp_path / "binary.toy"
    binary.write_bytes(b"q t yes\0\n")
    import_into(store, binary, redact=True)
    assert rows(store, "content IS NULL", "files") == [(False,), (True,)]


def test_a_stream_whose_file_cannot_be_read_is_quarantined(store, tmp_path, monkeypatch):
    def read(path, _context):
        stream = Stream(paths=(path / "gone",), tables=("results",), blocks=lambda: iter(()))
        yield Reading("toy", run=(SUITE, "r"), stream=stream)

    gone = Reader("toy", lambda c: c.path.suffix == ".toy", read)
    monkeypatch.setattr(ingest.readers, "READERS", (gone, *READERS))
    path = toy_log(tmp_path / "a.toy")
    (tmp_path / "b.json").write_text('[{"id": "A", "prompt": "x"}]')
    summary = import_into(store, tmp_path)
    assert outcomes(summary) == {FileOutcome.QUARANTINED: 1, FileOutcome.IMPORTED: 1}
    assert str(path) in summary.messages[0]
