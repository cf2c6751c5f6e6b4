"""What makes the search for secrets fast passes over nothing that its expressions match."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_cases import cases

from warehouse.core.formats.secrets import search
from warehouse.core.formats.secrets.assignments import _BEGINNINGS, _NAME
from warehouse.core.formats.secrets.contexts import contexts
from warehouse.core.formats.secrets.secret import started

ESCAPES = r"(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-F]{2})"


@pytest.mark.slow
@given(st.data())
def test_the_prefix_of_every_token_is_seen(data):
    prefix, kinds = data.draw(st.sampled_from(sorted(search._rules().items())))
    _, pattern = data.draw(st.sampled_from(kinds))
    token = data.draw(st.from_regex(re.compile(pattern.pattern), fullmatch=True))
    before = data.draw(st.sampled_from([b"", b"see ", b'"a\\n', b"a=%3D"]))
    text = before + token + data.draw(st.sampled_from([b"", b".", b' or"']))
    assert prefix in search._present_prefixes(text, 0, len(text))


def test_prefixes_without_the_rest_of_a_token_are_passed_over():
    text = b"Keys begin with sk-proj-, ghp_ or AKIA, as in `key_id`, api-version and sk-learn."
    assert search._present_prefixes(text, 0, len(text)) == set()


@given(st.from_regex(re.compile(_NAME.pattern, re.IGNORECASE), fullmatch=True))
def test_every_name_of_a_secret_begins_as_expected(name):
    assert _BEGINNINGS.match(name.lower())


def test_many_texts_are_searched_as_each_of_them():
    secrets = [case.secret for case in cases().values()]
    chance = random.Random(5)
    texts = [b"", b"x" * 20_000, b"{" * 20_000]
    for n in range(24):
        words = ["word ", "\n", "{", '"key": ', "ä"] * 5 + [f" {each} " for each in secrets]
        length = chance.choice([3, 300, 3000])
        text = "".join(chance.choices(words, [20] * 25 + [0.1] * len(secrets), k=length))
        texts.append((text + "\n" * (n % 2)).encode())
    found = search.find_secrets_in(texts)
    assert found == [search.find_secrets(text) for text in texts]
    large = [len(text) > search.SEARCHED_WHOLE for text in texts]
    assert any(each for each, is_large in zip(found, large, strict=True) if is_large)
    assert any(each for each, is_large in zip(found, large, strict=True) if not is_large)


@pytest.mark.parametrize(("prefix", "word"), [("ghp_", "A-Za-z0-9_-"), ("AKIA", "A-Za-z0-9_+/-")])
@given(pieces=st.lists(st.sampled_from([*"aF0-/+_ ", "\\n", "\\u00e4", "%3D", "#"]), max_size=9))
def test_a_literal_is_found_where_a_secret_may_start(prefix, word, pieces):
    text = "".join(pieces).replace("#", prefix)
    plain = re.finditer(rf"(?:(?<![{word}])|{ESCAPES}){prefix}", text)
    found = re.finditer(started(prefix), text)
    assert [match.span() for match in found] == [match.span() for match in plain]


def test_the_expressions_of_contexts_have_no_placeholder_left():
    for context in contexts():
        shape = context.shape.pattern if context.shape is not None else b""
        for expression in (context.pattern.pattern, context.gate.encode(), shape):
            assert not re.search(rb"<[A-Z][A-Z0-9_]+>", expression)
            re.compile(expression)
