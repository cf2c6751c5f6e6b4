"""Kinds of secrets: each is found in any context, and masked so that its file stays valid."""

import json
from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from secret_cases import HARMLESS, cases
from support import ROOT

from warehouse.core.formats.masking import Mask
from warehouse.core.formats.secrets import (
    article,
    describe,
    find_secrets,
    lines_of,
    mask,
    may_hold_secrets,
    open_key,
    redact,
)

CASES = cases()
# Long enough to be searched like a large input.
FILLER = "Nothing to see on this line, {at all}.\n" * 300


def core(secret):
    """Return the part of a secret that is the same in every spelling."""
    return max(secret.replace("\n", " ").split(), key=len)


def around(text):
    """Return a text in each context in which logs contain it, by name."""
    prose = f"no access with {text} today"
    places = {
        "line": text,
        "prose": prose,
        "end of a sentence": f"see {text}.",
        "list": f"[{text}, x]",
        "quotes": f"see `{text}`",
    }
    places |= {f"JSON {name}": json.dumps({"a": f"b\n{each}"}) for name, each in places.items()}
    places["JSON in JSON"] = json.dumps({"raw": json.dumps({"a": f"b\n{text}\tc"})})
    places["JSON in ASCII"] = json.dumps({"a": f"ä{text}ä"})
    places["YAML"] = yaml.safe_dump({"a": prose, "b": [{"c": f"é {text}"}]}, width=10**6)
    places["YAML block"] = "a: |\n" + "".join(f"  {line}\n" for line in prose.split("\n"))
    return places


@pytest.mark.parametrize("name", CASES)
def test_each_kind_is_found_in_every_context(name):
    case = CASES[name]
    for place, text in around(case.text).items():
        for before in ("", FILLER):
            masked = redact((before + text).encode()).decode()
            assert core(case.secret) not in masked, place
            assert masked.startswith(before)
            assert "(redacted)" in masked


@pytest.mark.parametrize("name", CASES)
def test_masked_files_stay_valid(name):
    for place, text in around(CASES[name].text).items():
        masked = redact(text.encode()).decode()
        if place.startswith("JSON"):
            assert json.loads(masked).keys() == json.loads(text).keys()
        if place == "JSON in JSON":
            assert json.loads(json.loads(masked)["raw"])["a"].endswith("\tc")
        if place.startswith("YAML"):
            assert yaml.safe_load(masked).keys() == yaml.safe_load(text).keys()


@pytest.mark.parametrize("name", CASES)
def test_masking_is_idempotent(name):
    for text in around(CASES[name].text).values():
        once = redact(text.encode())
        assert find_secrets(once) == []
        assert redact(once) == once


@pytest.mark.parametrize("name", CASES)
def test_masking_keeps_lines(name):
    for text in around(CASES[name].text).values():
        assert redact(text.encode()).count(b"\n") == text.count("\n")


@pytest.mark.parametrize("name", HARMLESS)
def test_values_that_are_not_secrets(name):
    for text in around(HARMLESS[name]).values():
        for before in ("", FILLER):
            assert find_secrets((before + text).encode()) == []


def test_other_seeds_give_the_same_result():
    missed = Counter()
    for seed in range(2, 12):
        for name, case in cases(seed).items():
            missed[name] += core(case.secret) in redact(case.text.encode()).decode()
    assert not +missed


def test_a_secret_has_a_position_a_line_and_a_kind():
    text = f"a\n\nb {CASES['GitHub'].text}, {CASES['JWT'].text}\n".encode()
    secrets = find_secrets(text)
    assert lines_of(text, secrets) == [(3, "GitHub token"), (3, "JWT")]
    assert lines_of(text, secrets, 10) == [(12, "GitHub token"), (12, "JWT")]
    assert text[secrets[0].start : secrets[0].end].decode() == CASES["GitHub"].text
    assert mask(text, secrets) == b"a\n\nb (redacted), (redacted)\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("OpenAI", "OpenAI key"),
        ("Anthropic", "Anthropic key"),
        ("GitHub, fine-grained", "GitHub token"),
        ("AWS, temporary", "AWS key"),
        ("AWS secret", "AWS secret key"),
        ("bearer", "bearer token"),
        ("basic", "Authorization header"),
        ("database URL", "URL password"),
        ("OpenSSH key", "private key"),
        ("variable with a password", "possible secret"),
        ("JSON api_key", "possible secret"),
    ],
)
def test_kinds_have_names(name, kind):
    [secret] = find_secrets(CASES[name].text.encode())
    assert secret.kind == kind


def test_a_known_format_takes_precedence_over_a_secret_name():
    [secret] = find_secrets(f'{{"api_key": "{CASES["Groq"].secret}"}}'.encode())
    assert secret.kind == "Groq key"


def test_kinds_are_counted_in_words():
    assert describe(Counter({"JWT": 1, "OpenAI key": 1200})) == "1,200 OpenAI keys, 1 JWT"
    assert [article(kind) for kind in ("OpenAI key", "JWT")] == ["an OpenAI key", "a JWT"]


@pytest.mark.parametrize("newline", ["\n", "\\n", "\\\\n", "\r\n"])
def test_a_private_key_is_masked_with_any_line_ends(newline):
    lines = CASES["RSA key"].secret.split("\n")
    masked = redact(f'x: "{newline.join(lines)}" y'.encode()).decode()
    assert not any(line in masked for line in lines)
    assert masked.endswith('(redacted)" y')


def test_a_truncated_private_key_is_masked():
    lines = CASES["RSA key"].secret.split("\n")
    for part in (lines[:4], lines[2:]):
        masked = redact("\n".join(["a", *part, "b c"]).encode()).decode().split("\n")
        assert masked == ["a", *["(redacted)"] * len(part), "b c"]


def test_names_of_private_keys_are_not_private_keys():
    text = "-----BEGIN PRIV" + "ATE KEY-----\n...\n-----END PRIV" + "ATE KEY-----"
    assert find_secrets(text.encode()) == []


def test_an_open_private_key_starts_on_a_line():
    lines = CASES["RSA key"].secret.split("\n")
    whole = bytearray("\n".join(["a", *lines, "b"]).encode())
    assert open_key(whole, len(whole)) == len(whole)
    assert open_key(whole, len(whole) - 60) == 2


def test_each_occurrence_of_a_secret_counts():
    text = f"{CASES['GitHub'].text} and {CASES['GitHub'].text}"
    assert len(find_secrets(text.encode())) == 2


def test_any_bytes_can_be_searched():
    secret = CASES["GitHub"].text.encode()
    for before in (b"\xff\xfe ", FILLER.encode() + b"\xff\x00 "):
        assert redact(before + secret) == before + b"(redacted)"


@given(st.text(alphabet="key:='\"\\ntokensecret (redacted)sk-A1b2_.,@/{}\n", max_size=200))
def test_nothing_is_found_in_masked_text(text):
    once = redact(text.encode())
    assert redact(once) == once


@given(st.data())
def test_several_texts_are_masked_as_each_of_them(data):
    mask = Mask(["planted-1234"])
    known = [
        *(case.text for case in CASES.values()),
        "planted-1234",
        "planted",
        FILLER,
        "password:",
    ]
    texts = []
    for text in data.draw(st.lists(st.sampled_from(known), max_size=4)):
        cut = data.draw(st.integers(0, len(text)))
        texts += data.draw(st.sampled_from([[text], [text[:cut], text[cut:]], [f"\n{text}\n"]]))
    assert mask.texts(texts) == [mask.text(text) for text in texts]


@pytest.mark.slow
@given(st.data())
def test_large_inputs_are_searched_like_small_ones(data):
    picked = data.draw(st.lists(st.sampled_from(sorted(CASES)), max_size=4))
    ends = st.sampled_from(["", "\n", " ", ", ", "{", '"'])
    text = "".join(CASES[name].text + data.draw(ends) for name in picked).encode()
    filler = FILLER.encode()
    moved = [
        (s.start - len(filler), s.end - len(filler), s.kind) for s in find_secrets(filler + text)
    ]
    assert moved == [(s.start, s.end, s.kind) for s in find_secrets(text)]


def test_no_text_with_a_secret_is_passed_over():
    texts = [place.encode() for case in CASES.values() for place in around(case.text).values()]
    found = [text for text in texts if find_secrets(text)]
    assert len(found) > 0.9 * len(texts)
    assert all(may_hold_secrets(found))


@pytest.mark.parametrize(
    "text",
    [
        'password = "aB3,x;y\'z,4!"',
        "api_key\v=\va1B2c3D4e5F6g7H8",
        "bearer\vAbC123dEf456GhI789jKl",
        "curl\v-u joe:k3Jv9-qLmx7",
        "sshpass\v-p k3Jv9-qLmx7",
        "https://joe:@@k3Jv9@example.org",
        '{"KTY": "oct", "d": "' + "aB3-" * 12 + '"}',
        "MTk4NjIyNDgzNDcxOTI1MjQ-.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        "fm2_" + "aB,3" * 15,
        "webhook.office.com/webhookb2/" + "aB@3" * 16,
    ],
)
def test_a_secret_with_unusual_characters_is_not_passed_over(text):
    assert find_secrets(text.encode())
    assert may_hold_secrets([text.encode()]) == [True]
    assert find_secrets(f"{FILLER}{text}".encode())


@pytest.mark.slow
@given(st.data())
def test_no_text_with_a_damaged_secret_is_passed_over(data):
    texts = []
    for case in data.draw(st.lists(st.sampled_from(sorted(CASES)), min_size=1, max_size=8)):
        text = CASES[case].text
        for _ in range(data.draw(st.integers(0, 3))):
            at = data.draw(st.integers(0, len(text)))
            dropped = data.draw(st.integers(0, 1))
            text = text[:at] + data.draw(st.sampled_from(" \v\n,;@-.'\"=:")) + text[at + dropped :]
        texts.append(text.encode())
    for text, may_hold in zip(texts, may_hold_secrets(texts), strict=True):
        assert may_hold or not find_secrets(text)


def test_most_texts_are_passed_over():
    assert may_hold_secrets([FILLER.encode(), b""]) == [False, False]


def test_a_made_up_password_stays_in_the_answer():
    answer = 'PASSWORD = "k3Jv9-qLmx7"'
    assert "k3Jv9" not in redact(answer.encode()).decode()
    assert Mask().text(answer) == answer
    assert Mask().text("sk-" + "proj-" + "Ab3dEf6hIj9kLm2nOp5q" * 2) == "(redacted)"


def test_ordinary_records_pass_the_gate():
    """The others are searched in full, which takes most of the time of an import."""
    logs = (ROOT / "examples" / "openclaw").rglob("results.jsonl")
    lines = [line for log in logs for line in log.read_bytes().splitlines()]
    unanswered = [b'{"pass": false, "violation": null}', b'{"objective_pass":null,"auth": false}']
    assert len(lines) > 10
    lines += unanswered
    suspects = [line for line, may in zip(lines, may_hold_secrets(lines), strict=True) if may]
    assert all(b'"key_rule_' in line for line in suspects)  # begins as some keys do


@pytest.mark.parametrize("name", ["cache_key", "primary_key", "foreign_key", "sort_key"])
def test_keys_of_caches_and_tables_are_no_secrets(name):
    assert not find_secrets(f"{name}: 9f86d081884c7d659a2feaa0c55ad015".encode())
    assert find_secrets(b"signing_key: 9f86d081884c7d659a2feaa0c55ad015")
