"""The scan of a large JSON object, next to a parser of the whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.common import json_spans
from ingest.formats.common.json_spans import file_spans, head_keys

TEXTS = st.text(st.sampled_from('ab"\\{}[],:/\n é'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)
LISTS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3) | VALUES, max_size=5)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("spans") / "object.json"


def check_spans(path, document, block, **style):
    """Compare what is found in blocks of a size with the members and elements of a parser."""
    data = json.dumps(document, **style).encode()
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_spans, "BLOCK_BYTES", block)
        found = file_spans(path, {"samples"})
    assert found.problem == ""
    parsed = {}
    for start, end in found.members.values():
        parsed |= json.loads(b"{" + data[start:end] + b"}")
    assert parsed == document
    assert found.lists.keys() == {"samples"}
    spans = found.lists["samples"]
    objects = [
        json.loads(data[spans.places[2 * n] : spans.places[2 * n + 1]])
        for n in range(spans.n_objects)
    ]
    assert objects == [each for each in document["samples"] if isinstance(each, dict)]
    assert spans.n_elements == len(document["samples"])
    assert head_keys(data) == list(document)


@pytest.mark.slow
@given(
    document=OBJECTS,
    samples=LISTS,
    style=st.fixed_dictionaries(
        {"indent": st.sampled_from([None, 0, 2]), "ensure_ascii": st.booleans()}
    ),
    block=st.integers(1, 40),
)
def test_members_and_elements_are_those_of_a_parser(path, document, samples, style, block):
    check_spans(path, document | {"samples": samples}, block, **style)


@pytest.mark.parametrize("samples", [[], [1], [{}, [{"a": []}], {"b": {"c": "]}"}}], ["a", {}]])
def test_blocks_may_end_anywhere(path, samples):
    # Runs of backslashes and quotes, nested lists, and members after the list.
    document = {
        "a": ['"', "\\", '\\"', '\\\\"{'],
        '"\\': {"b": [[]]},
        "samples": samples,
        "c": "\\",
    }
    for block in range(1, 20):
        check_spans(path, document, block)
        check_spans(path, document, block, indent=0)


def test_brackets_that_do_not_match_begin_and_end_no_object(path):
    path.write_text('{"samples": [{"a": 1}, [1}]}')
    spans = file_spans(path, {"samples"}).lists["samples"]
    assert spans.places.tolist() == [13, 21]


@given(cut=st.integers(0, 200))
def test_a_cut_object_is_said_to_be_cut(path, cut):
    data = json.dumps({"eval": {"a": ["}", "\\"]}, "samples": [{"b": [{}]}, {"c": 1}]}).encode()
    path.write_bytes(data[:cut])
    found = file_spans(path, {"samples"})
    assert bool(found.problem) == (cut < len(data))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "not a JSON object"),
        ("{} x", "more text after the end of the object"),
        ("\ufeff {}\n ", ""),
    ],
)
def test_other_texts_are_described(path, text, problem):
    path.write_text(text, "utf-8")
    assert file_spans(path, ()).problem == problem
