"""The YAML reader: values, lines, agreement with independent readers, and hostile input."""

import io
import json
import math
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from support import PALINDROME, needs_reference

from warehouse.core.formats.yaml import composer, documents
from warehouse.core.formats.yaml.documents import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    YamlError,
    load,
    parse,
    slice_text,
    text_lines,
    value_of,
)

FILES = sorted(PALINDROME.rglob("*.yaml"))


def texts_of(node):
    """Return the document with every scalar as text, like PyYAML's BaseLoader."""
    if isinstance(node, ScalarNode):
        return node.text
    if isinstance(node, MappingNode):
        return {key: texts_of(item) for key, item in node.items}
    return [texts_of(item) for item in node.items]


@pytest.mark.slow
@needs_reference
def test_reference_files_agree_with_independent_readers():
    for file in FILES:
        data = file.read_bytes()
        node = parse(data)
        assert texts_of(node) == yaml.load(data, yaml.BaseLoader), file.name
        if "older_logs/153089b4" not in str(file):  # its bare date is a date for ruamel
            assert value_of(node) == YAML(typ="safe", pure=True).load(data), file.name


@needs_reference
def test_reference_records_keep_their_text():
    for file in FILES:
        node = parse(file.read_bytes())
        for task in dict(node.items).get("tasks", SequenceNode([], 1, 1)).items:
            text = slice_text(text_lines(file.read_bytes()), task)
            assert text.lstrip().startswith("- ")
            assert load(text.encode()) == [value_of(task)], (file.name, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nULL", "nULL"),
        ("true", True), ("false", False), ("True", "True"), ("TRUE", "TRUE"), ("FALSE", "FALSE"),
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("y", "y"),
        ("0", 0), ("-12", -12), ("+7", 7), ("007", 7), ("0o17", 15), ("0x1F", 31),
        ("-0x1F", "-0x1F"), ("0b11", "0b11"), ("1_000", "1_000"), ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("1.5", 1.5), ("-.5", -0.5), ("1.", 1.0), ("1e3", 1000.0), ("1E-2", 0.01), ("1e", "1e"),
        (".", "."), ("+", "+"), ("-", [None]), ("-x", "-x"), ("1.2.3", "1.2.3"), ("٣", "٣"),
        (".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf), ("inf", "inf"),
        ("2024-12-01", "2024-12-01"), ("2024-12-01T00:00:00Z", "2024-12-01T00:00:00Z"),
        ("<<", "<<"), ("=", "="), ("'12'", "12"), ('"true"', "true"), ("''", ""),
        ("!!str 12", "12"), ("!!str", ""), ("!!int 12", 12), ('!!int "12"', 12),
        ("!!float 1.5", 1.5),
        ("!!bool true", True), ("!!null ~", None), ("!!seq [1]", [1]), ("!!map {a: 1}", {"a": 1}),
        ("1" * 4_300, int("1" * 4_300)), ("1" * 4_301, "1" * 4_301),
    ],
)  # fmt: skip
def test_scalars_have_their_yaml_1_2_values(text, value):
    read = load(f"- {text}\n".encode())[0]
    assert type(read) is type(value)
    assert read == value


def test_nan_is_read():
    assert math.isnan(load(b"[.nan]")[0])


def test_keys_keep_their_text_and_duplicates_are_recorded():
    node = parse(b"1: a\ntrue: b\n~: c\n<<: {d: 1}\n1: e\n? 2\n: f\n&k key: g\n*k : h\n")
    assert node.duplicates == [("1", 5), ("key", 9)]
    value = {"1": "e", "true": "b", "~": "c", "<<": {"d": 1}, "2": "f", "key": "h"}
    assert value_of(node) == value


def test_nodes_know_their_lines():
    node = parse(
        b"# first\na: 1\nb:\n  - x: |\n      one\n      two\n    y: >-\n      long\n      line\n"
        b'  - {p: 1,\n     q: [2,\n   3]}\n  # end\nc: "d\n  e"\nd:\ne: plain\n  goes on\n'
    )
    lines = {key: (item.line, item.end_line) for key, item in node.items}
    assert lines == {"a": (2, 2), "b": (4, 12), "c": (14, 15), "d": (16, 16), "e": (17, 18)}
    first, second = dict(node.items)["b"].items
    assert (first.line, first.end_line) == (4, 9)
    assert (second.line, second.end_line) == (10, 12)
    assert (node.line, node.end_line) == (2, 18)


def test_an_alias_has_its_own_last_line():
    node = parse(b"a: &x\n  - 1\n  - 2\nb:\n  c: *x\n")
    assert [(item.line, item.end_line) for _, item in node.items] == [(1, 3), (5, 5)]


def test_lines_agree_with_splitlines_for_every_line_end():
    data = "a: 1\r\nb: 'x\u2028 y'\rc: |\n  z".encode()
    node = parse(b"\xef\xbb\xbf" + data)
    lines = text_lines(b"\xef\xbb\xbf" + data)
    assert [slice_text(lines, item) for _, item in node.items] == [
        "a: 1\r\n",
        "b: 'x\u2028 y'\r",
        "c: |\n  z",
    ]


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(JSON_LIKE)
def test_what_ruamel_writes_reads_back(value):
    stream = io.BytesIO()
    writer = YAML(typ="safe", pure=True)
    writer.allow_unicode = False  # otherwise it writes NEL, LS and PS unescaped, as line breaks
    writer.default_flow_style = False  # libyaml rejects an unquoted leading colon inside brackets
    writer.width = 4096
    writer.dump({"value": value}, stream)
    assert load(stream.getvalue()) == YAML(typ="safe", pure=True).load(stream.getvalue())


@settings(max_examples=500, deadline=None)
@given(
    st.binary(max_size=200) | st.text("&*a:-[]{}!|>'\"#%\n\t ?,\\u0", max_size=60).map(str.encode)
)
def test_any_input_is_read_or_refused(data):
    try:
        value = load(data)
    except YamlError:
        return
    json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the document is empty"),
        (b"# only a comment\n", "the document is empty"),
        (b"a: 1\n---\nb: 2\n", "line 2, column 1: a second document"),
        (b"--- a\n--- b\n", "line 2, column 1: a second document"),
        (b"a: !!python/object:os.system {}\n", "line 1, column 4: the tag .*/object:os.system"),
        (b"a: !!python/object/apply:os.system [ls]\n", "tag .* is not accepted"),
        (b"a: !!binary aGk=\n", "tag .*binary' is not accepted"),
        (b"a: !own x\n", "the tag '!own' is not accepted"),
        (b"a: ! x\n", "the tag '!' is not accepted"),
        (b"a: !%1bred x\n", r"the tag '!\\x1b"),
        (b"a: *" + b"x" * 1_000_000, r"\*x{60} is not defined"),
        (b"a: !!set {x}\n", "tag .*set' is not accepted"),
        (b"a: !!int x\n", "does not match its tag"),
        (b"!!seq {}\n", "tag .*seq' is not accepted"),
        (b"%TAG !e! tag:x,2000:\n---\na: 1\n", "line 1, column 5: %TAG"),
        (b"%YAML 1.2\n%TAG !e! tag:x,2000:\n---\na: 1\n", "line 2, column 5: %TAG"),
        (b"%YAML 3.0\n---\na: 1\n", "incompatible YAML"),
        (b"a: 1\nb: x\x00y\n", r"line 2, column \d: control character U\+0000"),
        (b"a: \x1b[31mred\n", r"line 1, column \d: control character U\+001B"),
        (b"a: 1\nb: \xff\n", r"line 2, column \d: not UTF-8"),
        (b"a: \xed\xa0\xbd\n", "line 1, .*not UTF-8"),
        ("a: 1\n".encode("utf-16"), "UTF-16 or UTF-32"),
        ("a: 1\n".encode("utf-16-le"), "control character"),
        ("a: 1\n".encode("utf-32"), "UTF-16 or UTF-32"),
        (b'a: "\\ud83d"\n', "line 1, .*lone surrogates"),
        (b'a: "\\ud83d\\ude00"\n', "line 1, .*write the character itself"),
        (b"a: *x\n", r"line 1, column 4: \*x is not defined"),
        (b"a: &x [*x]\n", r"line 1, column 8: \*x contains itself"),
        (b"&x a: *y\n", r"\*y is not defined"),
        (b"? [a]\n: b\n", "list or mapping as a key"),
        (b"a: &x [1]\n*x : b\n", "list or mapping as a key"),
        (b"a: b: c\n", r"line 1, column 5: not valid YAML: mapping values .*quote text"),
        (b"a:\n\tb: 1\n", "line 2, .*not tabs"),
        (b'a: "open\n', "close the quote"),
        (b"a: [1\n", "line 2, .*check the indent"),
        (b"a: '1\n---\n'", "unexpected document indicator"),
        (b"[" * 100_000, "line 1, column 65: nested more than 64"),
        (b"{a: " * 100_000, "nested more than 64"),
        (b"- " * 100_000, "nested more than 64"),
        (b"? " * 100_000, "as a key"),
        (b"\n".join(b" " * i + b"a:" for i in range(500)), "nested more than 64"),
    ],
    ids=lambda part: repr(part)[:40],
)  # fmt: skip
def test_hostile_or_broken_input_is_refused_with_a_message(data, message):
    with pytest.raises(YamlError, match=message):
        parse(data)


def test_errors_have_line_and_column():
    with pytest.raises(YamlError) as caught:
        parse(b"a: 1\nb: !x y\n")
    assert (caught.value.line, caught.value.column) == (2, 4)


def test_alias_bombs_are_refused():
    levels = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    nine = [b", ".join([b"*a%d" % i] * 9) for i in range(12)]
    levels += [b"a%d: &a%d [%s]" % (i + 1, i + 1, nine[i]) for i in range(11)]
    with pytest.raises(YamlError, match=r"aliases .* expand to too much"):
        parse(b"\n".join(levels))
    with pytest.raises(YamlError, match=r"aliases .* expand to too much"):
        parse(b"- &a " + b"x" * 100_000 + b"\n- *a" * 20)


def test_aliases_do_not_nest_deeper_than_allowed():
    deep = b"- &a0 " + b"[" * 40 + b"]" * 40 + b"\n"
    with pytest.raises(YamlError, match=r"nested more than 64 levels deep by \*a0"):
        parse(deep + b"- " + b"[" * 40 + b"*a0" + b"]" * 40)


def test_plain_aliases_are_read():
    assert load(b"a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n")["d"] == [{"b": [1]}, {"b": [1]}]


def test_sizes_are_bounded(monkeypatch):
    with pytest.raises(YamlError, match="12 bytes, more than the 10 accepted"):
        parse(b"a: 123456789", max_bytes=10)
    with pytest.raises(YamlError, match="more than the 67,108,864 accepted"):
        parse(b"a: " + b"x" * 100_000_000)
    monkeypatch.setattr(composer, "MAX_NODES", 1_000)
    with pytest.raises(YamlError, match="more than 1,000 values"):
        parse(b"- 1\n" * 1_001)


def test_a_long_line_is_read_in_linear_time():
    start = time.process_time()
    assert len(load(b"a: " + b"x y " * 2_000_000)["a"]) == 7_999_999
    assert time.process_time() - start < 60


@pytest.mark.parametrize("whitespace", [b" ", b"\n", b"\n ", "\u2028".encode()])
def test_whitespace_that_would_take_libyaml_hours_is_refused(whitespace):
    data = b'a: "x' + whitespace * 1_000_000 + b"b " * 1_000_000 + b'"'
    with pytest.raises(YamlError, match="spaces in a row"):
        parse(data)


def test_whitespace_in_small_files_and_short_runs_in_large_ones_is_read():
    assert load(b"a: |\n  x" + b" " * 100_000 + b"\n")["a"] == "x" + " " * 100_000 + "\n"
    assert documents.MAX_WHITESPACE_WORK // documents.MAX_BYTES > 5_000


def test_a_million_tag_directives_are_refused_quickly():
    directives = b"".join(b"%%TAG !a%d! x\n" % i for i in range(100_000))
    with pytest.raises(YamlError, match="%TAG directives"):
        parse(directives + b"---\na: 1\n")
    assert load(b"a: |\n  %TAG is text here\nb: x %TAG\n")["b"] == "x %TAG"
