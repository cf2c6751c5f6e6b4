"""Lines of results.jsonl: kept exactly, or quarantined with their position."""

import json
import random
from contextlib import closing
from itertools import accumulate
from operator import itemgetter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_cases import (
    RECORD,
    as_bytes,
    event,
    exported_lines,
    line,
    write_lines,
    write_run,
)
from secret_cases import cases
from support import digests, import_into, new_store

from ingest.formats.common.repeats import SeenHashes
from ingest.formats.openclaw.fields import FIELDS, KEYS
from ingest.formats.openclaw.log import LogReader
from ingest.formats.openclaw.numbering import numbered_blocks
from ingest.formats.openclaw.record import UnreadableLineError, read_record
from warehouse.core.formats.secrets import find_secrets


def read(path):
    with closing(LogReader()) as reader:
        return list(reader.read(path))


def as_rows(results):
    """Return the rows of a table, or of a list that stands for one."""
    return results.to_pylist() if isinstance(results, pa.Table) else results


def result_rows(blocks):
    """Return the results of some blocks with all columns, whether they are tables or lists."""
    names = ("content_id", *(field.column for field in FIELDS), "record_keys", "extra", "source")
    return [
        row
        for block in blocks
        for row in (
            [{"line": at, **{name: each.get(name) for name in names}} for at, each in block.results]
            if isinstance(block.results, list)
            else block.results.to_pylist()
        )
    ]


def numbered(path, run_id):
    """Read a log's results and events by run, with their places."""
    with closing(LogReader()) as reader:
        blocks = list(numbered_blocks(reader.read(path), path=path, run_id=run_id))
    rows = [row for block in blocks for row in as_rows(block.rows.get("results", []))]
    events = [event for block in blocks for event in block.rows.get("events", [])]
    return [sorted(part, key=itemgetter("run_id", "seq")) for part in (rows, events)]


def results(path):
    return result_rows(read(path))


def test_keys_are_those_of_the_specification():
    assert tuple(RECORD) == KEYS


def test_a_fitting_line_is_parsed_by_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "ingest.formats.openclaw.log.read_record", lambda *_: pytest.fail("does not fit")
    )
    monkeypatch.setattr("ingest.formats.openclaw.log._SMALL_BYTES", 0)
    (row,) = results(write_lines(tmp_path / "r.jsonl", line()))
    assert row["source"] is row["extra"] is row["record_keys"] is None
    assert row["raw_output"] == RECORD["raw_output"]
    assert json.loads(row["parsed_output"]) == RECORD["parsed_output"]


texts = st.text(max_size=30) | st.sampled_from(['"', "\\", "\x00", "\x1f", "\x7f", "\u2028", "😀"])
numbers = st.integers(-(2**70), 2**70) | st.floats()
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
records = st.fixed_dictionaries(
    {},
    optional={
        "raw_output": texts | values,
        "parsed_output": values,
        "e2e_ms": numbers | st.integers(-(10**18), 10**18),
        "started_at_ms": numbers | st.integers(0, 2**43),
        "success": values,
        "tool_calls": st.lists(texts, max_size=3) | values,
        "thinking_level": texts | st.none(),
        "run_id": texts,
        "additional": values,
    },
)


@pytest.fixture(scope="module")
def read_as_large():
    """Return a function that reads a log of any size by columns, as if it were large."""

    def read(path):
        # Only for this call: a patch for the module would also change its other tests.
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("ingest.formats.openclaw.log._SMALL_BYTES", 0)
            return list(reader.read(path))

    with closing(LogReader()) as reader:
        yield read


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "r.jsonl"


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(records, min_size=1, max_size=8), st.booleans())
def test_both_ways_of_reading_a_line_agree(read_as_large, path, changes, is_ascii):
    lines = [json.dumps({**RECORD, **change}, ensure_ascii=is_ascii) for change in changes]
    path.write_bytes(b"".join(text.encode("utf-8", "surrogatepass") + b"\n" for text in lines))
    (block,) = read_as_large(path)
    assert not block.rejects
    with_care = [read_record(text.encode("utf-8", "surrogatepass"), 1).row for text in lines]
    for fast, careful in zip(block.results.to_pylist(), with_care, strict=True):
        for field in FIELDS:
            ours, theirs = fast[field.column], careful.get(field.column)
            if field.type == "JSON" and ours is not None:
                ours, theirs = json.loads(ours), json.loads(theirs)
            assert ours == theirs, field
        assert (fast["source"] is None) == (careful.get("source") is None)
        assert fast["content_id"] == careful["content_id"]


ODD = {
    "a float in an integer column": line(e2e_ms=1.9),
    "a whole float": line(e2e_ms=2.0),
    "true for a number": line(input_tokens=True),
    "a number beyond 64 bits": line(e2e_ms=2**80),
    "NaN": line(parsed_output={"x": float("nan")}),
    "Infinity": line(e2e_ms=float("inf")),
    "a lone surrogate": json.dumps({**RECORD, "raw_output": "\ud800"}),
    "duplicate keys": line()[:-1] + ', "model": "other"}',
    "duplicate keys inside": line(parsed_output=None).replace(
        '"parsed_output": null', '"parsed_output": {"a": 1, "a": 2}'
    ),
    "a missing key": json.dumps({k: v for k, v in RECORD.items() if k != "violation"}),
    "an additional key": line(cost_usd=0.25),
    "another order of keys": json.dumps(dict(reversed(RECORD.items()))),
    "text for a boolean": line(success="yes"),
    "a number for text": line(raw_output=5),
    "tools that are not a list": line(tool_calls="free"),
    "another spacing": json.dumps(RECORD, separators=(",", ":")),
    "escapes": json.dumps(RECORD),
    "a NUL": line(raw_output="a\x00b"),
    "an unknown provider": line(provider="carrier_pigeon"),
    "a time after year 9999": line(started_at_ms=10**17),
    "a time before year 1": line(started_at_ms=-(10**14) + 1),
    "a time before the epoch": line(started_at_ms=-1, ended_at_ms=-(10**13) + 1),
    "only nulls": json.dumps(dict.fromkeys(RECORD, None) | {"record_type": "result"}),
    "a number with an exponent": line(parsed_output=0).replace(
        '"parsed_output": 0', '"parsed_output": 1.60e1'
    ),
    "deep nesting": line(parsed_output=[[[[[[1]]]]]]),
}


@pytest.mark.slow
def test_small_and_large_logs_are_read_alike(tmp_path, monkeypatch):
    numbers = [0.5, -0.0, 1e16, 1.5e-7, 2**60, [1.25, {"a": 3e5}], "3e5", True, "\x1f\x00"]
    lines = [line(parsed_output=each) for each in numbers]
    log = write_lines(tmp_path / "r.jsonl", line(), *lines, *ODD.values(), "no JSON")
    event = json.dumps({"record_type": "event", "event": "start"})
    others = [write_lines(tmp_path / f"{n}.jsonl", each) for n, each in enumerate([*lines, event])]
    small = [result_rows(read(path)) for path in (log, *others)]
    monkeypatch.setattr("ingest.formats.openclaw.log._SMALL_BYTES", 0)
    large = [result_rows(read(path)) for path in (log, *others)]
    assert small == large


@pytest.fixture(scope="module")
def odd_lines(tmp_path_factory):
    """Import a log of all odd lines and return the exported lines, by name."""
    folder = tmp_path_factory.mktemp("odd")
    store = new_store(folder / "store")
    import_into(store, write_lines(folder / "r.jsonl", line(), *ODD.values()))
    _, *lines = exported_lines(store, folder)
    return dict(zip(ODD, lines, strict=True))


@pytest.mark.parametrize("name", ODD)
def test_an_odd_line_is_reproduced(odd_lines, name):
    assert json.dumps(pairs(odd_lines[name])) == json.dumps(pairs(ODD[name]))


def pairs(text):
    """Read JSON, keeping duplicate keys and the order of keys."""
    return json.loads(text, object_pairs_hook=lambda items: [list(item) for item in items])


BROKEN = {
    "cut": line()[:-40],
    "not JSON": "Traceback (most recent call last):",
    "a trailing comma": '{"record_type": "result",}',
    "a leading zero": '{"record_type": "result", "e2e_ms": 01}',
    "not UTF-8": b'{"record_type": "result", "model": "\xff"}',
    "a raw surrogate": b'{"record_type": "result", "model": "\xed\xa0\x80"}',
    "not an object": "[1, 2]",
    "a control character": '{"record_type": "result", "model": "a\x01b"}',
    "two records on a line": line() + line(),
    "too deep": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_rejected_with_its_position(read_as_large, tmp_path, broken):
    first, last = line(prompt_id="A"), line(prompt_id="Ö")
    (block,) = read_as_large(write_lines(tmp_path / "r.jsonl", "", first, broken, last))
    (reject,) = block.rejects
    assert (reject.line, reject.byte_offset) == (3, 1 + len(as_bytes(first)) + 1)
    assert reject.raw == as_bytes(broken)
    assert [row["task_id"] for row in block.results.to_pylist()] == ["A", "Ö"]


@pytest.mark.slow
def test_broken_lines_are_quarantined_with_their_positions(store, tmp_path):
    good = [line(prompt_id=f"P{n}") for n in range(len(BROKEN))]
    lines = [text for pair in zip(good, BROKEN.values(), strict=True) for text in pair]
    summary = import_into(store, write_lines(tmp_path / "r.jsonl", *lines))
    assert (summary.n_results, summary.n_quarantined) == (len(BROKEN), len(BROKEN))
    ends = [*accumulate(len(as_bytes(text)) + 1 for text in lines)]
    kept = store.sql("SELECT line, byte_offset, raw FROM lake.quarantine ORDER BY line").fetchall()
    assert kept == [(n, ends[n - 2], as_bytes(lines[n - 1])) for n in range(2, len(lines) + 1, 2)]
    assert exported_lines(store, tmp_path) == good


NOT_UTF8 = [
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"\x80",
    b"\xc3",
]


def test_lines_that_are_not_utf8_do_not_fit(tmp_path):
    good = [line(raw_output=text) for text in ("\ud7ff", "\ue000", "\U0010ffff", "é")]
    bad = [as_bytes(line(raw_output="@@")).replace(b"@@", raw) for raw in NOT_UTF8]
    (block,) = read(write_lines(tmp_path / "r.jsonl", *good, *bad))
    assert len(block.results) == len(good)
    assert [reject.line for reject in block.rejects] == [*range(5, 5 + len(bad))]
    assert all("not UTF-8" in reject.reason for reject in block.rejects)


def test_a_key_is_found_after_any_text(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.formats.openclaw.log._SMALL_BYTES", 0)
    key = "s" + "k-" + "a1" * 10
    texts = [key, f"ä{key}", f"a {key}", "Bearer " + "c" * 24, "sk-no"]
    expected = [
        n for n, text in enumerate(texts, 1) if find_secrets(as_bytes(line(raw_output=text)))
    ]
    assert expected == [1, 2, 3, 4]
    (block,) = read(write_lines(tmp_path / "r.jsonl", *[line(raw_output=text) for text in texts]))
    assert [line for line, _ in block.secrets] == expected


def test_secrets_at_the_border_of_a_block_are_masked(tmp_path, monkeypatch):
    private = cases()["RSA key"].secret.split("\n")
    token = cases()["GitHub"].secret
    lines = [line(raw_output=f"use {token}"), *private, line(raw_output=token), line(), token]
    path = write_lines(tmp_path / "r.jsonl", *lines)
    n_borders = set()
    # A block is larger than any key.
    for size in range(len("\n".join(private)) + 1, path.stat().st_size + 2, 150):
        monkeypatch.setattr("ingest.formats.common.lines._BLOCK_BYTES", size)
        with closing(LogReader()) as reader:
            blocks = list(reader.read(path, redact=True))
        n_borders.add(len(blocks))
        kept = repr([block.results.to_pylist() for block in blocks])
        kept += repr([reject.raw for block in blocks for reject in block.rejects])
        assert not [secret for secret in (token, *private[1:-1]) if secret in kept]
        assert [n for block in blocks for n, _ in block.secrets] == [
            1,
            2,
            len(lines) - 2,
            len(lines),
        ]
    assert len(n_borders) > 1


def test_a_begun_log_is_continued_and_an_abandoned_one_restarted(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.formats.common.lines._BLOCK_BYTES", 1000)
    path = write_lines(tmp_path / "r.jsonl", *[line(e2e_ms=n) for n in range(50)])
    with closing(LogReader()) as lines:
        for leave in (lambda: None, lines.abandon):
            lines.begin(path)
            leave()
            read = [row["e2e_ms"] for row in result_rows(lines.read(path))]
            assert read == [*range(50)]


def test_broken_lines_are_reported_briefly(store, tmp_path):
    summary = import_into(store, write_lines(tmp_path / "r.jsonl", line(), *["x"] * 200))
    assert summary.n_quarantined == 200
    assert len(summary.messages) < 60
    assert store.sql("SELECT count(*) FROM quarantine").fetchall() == [(200,)]


@pytest.mark.slow
def test_other_line_ends_byte_order_marks_and_empty_lines(store, tmp_path):
    path = tmp_path / "r.jsonl"
    text = f"\ufeff{line()}\r\n\r\n  \n{line(prompt_id='P1')}"
    path.write_bytes(text.encode())
    assert import_into(store, path).n_results == 2
    assert exported_lines(store, tmp_path) == [line(), line(prompt_id="P1")]


def test_blocks_are_joined_without_a_seam(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.formats.common.lines._BLOCK_BYTES", 1000)
    lines = [line(prompt_id=f"P{n}", raw_output="ä" * (n * 37 % 1500)) for n in range(50)]
    lines[20:20] = ["broken", event()]
    path = write_lines(tmp_path / "r.jsonl", *lines)
    blocks = read(path)
    assert len(blocks) > 20
    rows = result_rows(blocks)
    assert [row["task_id"] for row in rows] == [f"P{n}" for n in range(50)]
    assert [row["line"] for row in rows] == [*range(1, 21), *range(23, 53)]
    (reject,) = [reject for block in blocks for reject in block.rejects]
    assert (reject.line, path.read_bytes()[reject.byte_offset :][:6]) == (21, b"broken")


@pytest.mark.slow
def test_small_and_large_logs_are_numbered_alike(tmp_path, monkeypatch):
    chance = random.Random(7)
    made = [
        lambda: line(run_id=chance.choice("xyz"), prompt_id=chance.choice("AB")),
        lambda: line(run_id=None),
        lambda: line(parsed_output=1e300),  # is read by columns, whatever the log's size
        lambda: event(chance.choice("ab")),
        lambda: json.dumps({"record_type": "event", "event": "e", "run_id": chance.choice("xw")}),
        lambda: "broken",
        str,
    ]
    paths = []
    for n in range(40):
        chosen = [chance.choice(made)() for _ in range(chance.randrange(12))]
        path = write_lines(tmp_path / f"{n}.jsonl", *chosen)
        if n % 2:
            path.write_bytes(path.read_bytes().removesuffix(b"\n"))
        paths.append(path)

    def rows():
        for path in paths:
            results, events = numbered(path, run_id="z")
            yield [{name: row[name] for name in row if row[name] is not None} for row in results]
            yield events

    small = list(rows())
    monkeypatch.setattr("ingest.formats.openclaw.log._SMALL_BYTES", 0)
    assert small == list(rows())
    assert {row["content_id"] for part in small[::2] for row in part if "-" in row["content_id"]}


def test_a_line_over_the_limit_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.formats.common.lines._BLOCK_BYTES", 1000)
    monkeypatch.setattr("ingest.formats.common.lines._LONGEST_LINE_BYTES", 5000)
    path = write_lines(
        tmp_path / "r.jsonl", line(), line(raw_output="a" * 50_000), line(model="last")
    )
    blocks = read(path)
    rejects = [reject for block in blocks for reject in block.rejects]
    assert [(reject.line, reject.raw) for reject in rejects] == [(2, None)]
    rows = result_rows(blocks)
    assert [(row["line"], row["model"]) for row in rows] == [(1, "m:1b"), (3, "last")]


def test_events_keep_their_place_and_belong_to_the_next_result(tmp_path):
    path = write_lines(
        tmp_path / "r.jsonl",
        event("a"),
        line(run_id="x"),
        event("b"),
        event("c"),
        line(run_id="y"),
        line(run_id="x"),
        event("d"),
    )
    results, events = numbered(path, run_id="x")
    assert [(e["event"], e["run_id"], e["seq"]) for e in events] == [
        ("a", "x", 1),
        ("d", "x", 4),
        ("b", "y", 1),
        ("c", "y", 2),
    ]
    assert [(row["run_id"], row["seq"]) for row in results] == [("x", 2), ("x", 3), ("y", 3)]


def test_repeated_records_are_numbered_by_their_order(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", *[line()] * 3, event(), event(), line(prompt_id="P1"))
    results, events = numbered(path, run_id="r")
    ids = [row["content_id"] for row in results]
    assert len(set(ids)) == 4
    assert ids[1:3] == [f"{ids[0]}-2", f"{ids[0]}-3"]
    (first, second) = [event["content_id"] for event in events]
    assert second == f"{first}-2"


@given(st.lists(st.lists(st.integers(0, 40), max_size=20), max_size=12))
def test_seen_hashes_are_a_set(parts):
    import numpy as np

    seen, known = SeenHashes(), set()
    for part in parts:
        expected = []
        for value in part:
            expected.append(value in known)
            known.add(value)
        assert seen.add(np.array(part, np.uint64)).tolist() == expected


def test_an_unreadable_line_has_a_reason():
    with pytest.raises(UnreadableLineError, match="not JSON: Expecting value"):
        read_record(b"nonsense", 1)


def test_secrets_are_reported_and_masked(store, tmp_path):
    secret = "sk-" + "a1b2c3d4" * 4
    path = write_lines(tmp_path / "r.jsonl", line(), line(raw_output=f"bad key {secret}"))
    other = new_store(tmp_path / "other")
    messages = import_into(other, path).messages
    assert any("line 2: looks like an OpenAI key" in message for message in messages)
    import_into(store, path, redact=True)
    assert store.sql("SELECT raw_output FROM results ORDER BY seq").fetchall()[1] == (
        "bad key (redacted)",
    )
    stored = [path.read_bytes() for path in store.lake.path.rglob("*.parquet")]
    assert not any(secret.encode() in data for data in stored)
    files = store.sql("SELECT content FROM lake.files").fetchall()
    assert all(content is None or secret.encode() not in content for (content,) in files)


WRONG_TYPES = {
    "e2e_ms": (10.5, "an integer of 64 bits, not 10.5"),
    "ttft_ms": (2**63, "an integer of 64 bits or null, not 9223372036854775808"),
    "input_tokens": (True, "an integer of 64 bits or null, not true"),
    "objective_pass": ("yes", 'a boolean or null, not "yes"'),
    "success": (1, "a boolean, not 1"),
    "tool_use_success": (None, "a boolean, not null"),
    "model": (["m"], 'a string, not ["m"]'),
    "thinking_level": (2, "a string or null, not 2"),
    "raw_output": ({"a": "x" * 99}, 'a string, not {"a": "' + "x" * 53 + "…"),
    "tool_calls": (["free", 1], 'a list of strings, not ["free", 1]'),
    "started_at_ms": (
        10**17,
        f"an integer, milliseconds since 1970 in the years 1 to 9999, not {10**17}",
    ),
}


@pytest.mark.slow
def test_values_of_the_wrong_type_are_violations(store, tmp_path):
    wrong = {field: value for field, (value, _) in WRONG_TYPES.items()}
    lines = [line(), line(**wrong), line(run_id="other", e2e_ms="7")]
    path = write_lines(tmp_path / "r.jsonl", *lines)
    summary = import_into(store, path)
    assert summary.n_violations == len(WRONG_TYPES) + 1
    found = store.sql(
        "SELECT run_id, line, field, rule, message FROM checks.violations ORDER BY line, field"
    ).fetchall()
    assert found == [
        *(("r", 2, f, "type", f"{f} must be {m}") for f, (_, m) in sorted(WRONG_TYPES.items())),
        ("other", 3, "e2e_ms", "type", 'e2e_ms must be an integer of 64 bits, not "7"'),
    ]
    before = digests(store)
    import_into(store, path)
    assert digests(store) == before


def test_a_log_of_wrong_types_that_is_known_from_its_folder(store, tmp_path):
    folder = write_run(tmp_path / "r", line(e2e_ms=1.5))
    import_into(store, folder)
    import_into(store, folder / "results.jsonl")
    n_batches = len(list(store.lake.path.iterdir()))
    import_into(store, folder / "results.jsonl")
    assert len(list(store.lake.path.iterdir())) == n_batches


def test_types_of_a_run_under_another_id(store, tmp_path):
    import_into(store, write_lines(tmp_path / "r.jsonl", line(e2e_ms=1.5)), run_as="new")
    assert store.sql("SELECT run_id FROM checks.violations").fetchall() == [("new",)]


def test_strict_refuses_a_line_of_wrong_types(store, tmp_path):
    path = write_lines(tmp_path / "r.jsonl", line(objective_pass="yes"))
    import_into(store, path, strict=True)
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(0,)]


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt_name": None},
        {"parsed_output": "text of an original run"},
        {"e2e_ms": 2.0},
        {"raw_output": "\ud800"},
        {"unknown": 1},
    ],
)
def test_what_originals_write_is_no_violation(store, tmp_path, fields):
    text = json.dumps({**RECORD, **fields})
    assert import_into(store, write_lines(tmp_path / "r.jsonl", text)).n_violations == 0


def test_an_empty_log_has_the_tables_columns(tmp_path, monkeypatch):
    assert read(write_lines(tmp_path / "r.jsonl")) == []
    assert result_rows(read(write_lines(tmp_path / "r.jsonl", ""))) == []
    monkeypatch.setattr("ingest.formats.openclaw.log._SMALL_BYTES", 0)
    assert pa.types.is_timestamp(
        read(write_lines(tmp_path / "r.jsonl", ""))[0].results["ended_at"].type
    )
