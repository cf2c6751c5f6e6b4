"""Items: the same question has the same hash, whichever tool recorded it."""

import json
import unicodedata
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import REFERENCE, add_rows, needs_reference

PEERS = REFERENCE / "peers"
# The same evaluation: by the tool that ran it, and converted by every_eval_ever.
LOG = "2025-09-15T15-04-34-04-00_popularity_jKN69eAYYpZFAZhRgMAztp"
# Not beyond the BMP: DuckDB and Python may know different versions of Unicode.
CHARACTERS = st.characters(
    max_codepoint=0xFFFF, exclude_categories=["Cs", "Cn"], exclude_characters="\r"
)
TEXTS = st.text(CHARACTERS, max_size=20)
FORMS = st.sampled_from(["NFC", "NFD"])
WHITESPACE = st.sampled_from(["", " ", "\n", "\r\n", "\t", "\xa0", "\u2028"])


def item_hashes(con, items):
    """Return the hashes of items (question, choices, target, image) by one query."""
    columns = [list(column) for column in zip(*items, strict=True)]
    query = (
        "SELECT item_hash(question, image, choices, target) FROM (SELECT unnest($1::VARCHAR[]), "
        "unnest($2::VARCHAR[]), unnest($3::VARCHAR[]), unnest($4::VARCHAR[])) "
        "AS items(question, choices, target, image)"
    )
    return [value for (value,) in con.execute(query, columns).fetchall()]


def item(question, choices=None, target=None, image=None):
    return (
        question,
        json.dumps(choices) if choices is not None else None,
        json.dumps(target) if isinstance(target, list) else target,
        image,
    )


@pytest.mark.parametrize("text", ["x", " x", "x\n", "\u2028 x", "x\u3000\xa0", "\r\nx\t"])
def test_whitespace_at_either_end_is_no_part_of_a_text(con, text):
    assert con.execute("SELECT item_text($1)", [text]).fetchall() == [("x",)]


@given(st.lists(st.tuples(TEXTS, WHITESPACE, WHITESPACE, FORMS), min_size=1))
@settings(deadline=None, max_examples=10)
def test_copies_of_a_text_are_one_item(con, texts):
    copies = [
        (text, unicodedata.normalize(form, before + text.replace("\n", "\r\n") + after))
        for text, before, after, form in texts
    ]
    ours = [make(text) for make in (item, as_choice) for text, _ in copies]
    theirs = [make(copy) for make in (item, as_choice) for _, copy in copies]
    assert item_hashes(con, ours) == item_hashes(con, theirs)


def as_choice(text):
    return item("Q", [text], [text])


@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1), st.randoms())
@settings(deadline=None, max_examples=10)
def test_right_answers_have_no_order(con, lists, random):
    ours = [item("Q", None, answers) for answers in lists]
    theirs = [item("Q", None, random.sample(answers, len(answers))) for answers in lists]
    assert item_hashes(con, ours) == item_hashes(con, theirs)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("A", "red"),
        ("C", "B"),
        (["C", "A"], ["red", "B"]),
        ("B", "B"),  # a choice, and therefore not the letter of another
        (["red"], "red"),
        ([], None),
        ("", None),
    ],
)
def test_a_letter_stands_for_its_choice(con, target, text):
    choices = ["red", "green", "B"]
    ours, theirs = item_hashes(con, [item("Q", choices, target), item("Q", choices, text)])
    assert ours == theirs


def test_other_items_have_other_hashes(con):
    items = [
        item("Q"),
        item("q"),
        item("Q  Q"),
        item("Q Q"),
        item("Q", image="i"),
        item(None, image="i"),
        item(None, image="Q"),
        item("Q", ["a", "b"]),
        item("Q", ["b", "a"]),
        item("Q", ["a,b"]),
        item("Q", None, ["a", "b"]),
        item("Q", ["a", "b"], "a"),
        item("Q", ["a", "b"], "D"),  # there is no fourth choice
        item("Q", ["a", "b"], "1"),  # from 0 or from 1?
        item("Q", None, "[1, 2]"),  # a list, but not of texts
        item("Q", None, ["1", "2"]),
    ]
    hashes = item_hashes(con, items)
    assert len(set(hashes)) == len(items)
    assert None not in hashes


def test_an_item_without_question_and_image_has_no_hash(con):
    items = [item(None, ["a"], "a"), item(" \n", ["a"], "a")]
    assert item_hashes(con, items) == [None, None]


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '["\\ud800"]', "["])
def test_text_that_only_looks_like_a_list_is_hashed(con, text):
    items = [item(text, None, text), item(f"{text}\n", None, f" {text}")]
    ours, theirs = item_hashes(con, items)
    assert ours == theirs


@pytest.mark.slow
@needs_reference
def test_two_tools_logs_of_one_question_have_one_hash(store):
    inspect = {row["task_id"]: row for row in inspect_tasks()}
    eee = {row["task_id"]: row for row in eee_tasks()}
    assert len(inspect) == len(eee) > 1
    calls = [
        {
            "suite": row["suite"],
            "run_id": "r",
            "generation": "root",
            "content_id": row["content_id"],
            "seq": row["seq"],
            "model": "m",
            "task_set": row["task_set"],
            "task_id": row["task_id"],
            "task_hash": row["task_hash"],
        }
        for row in [*inspect.values(), *eee.values()]
        if row["task_id"] != "1"
    ]
    runs = [
        {"suite": suite, "run_id": "r", "generation": "root", "content_id": suite}
        for suite in ("inspect", "eee")
    ]
    add_rows(store.lake, tasks=[*inspect.values(), *eee.values()], results=calls, runs=runs)
    n = len(inspect)
    assert store.sql("FROM shared_tasks").fetchall() == [
        ("eee", "popularity", "inspect", "popularity", n, n, n, 1.0, 1.0, 1)
    ]
    assert store.sql(
        "SELECT count(*), count(DISTINCT item_hash), count(DISTINCT task_id) FROM result_items"
    ).fetchall() == [(2 * (n - 1), n - 1, n - 1)]


def inspect_tasks():
    with zipfile.ZipFile(PEERS / "inspect" / f"{LOG}.eval") as log:
        for name in log.namelist():
            if name.startswith("samples/"):
                sample = json.loads(log.read(name))
                yield task("inspect", sample["id"], sample["input"], sample["target"])


def eee_tasks():
    [path] = (PEERS / "eee" / "converted" / LOG).rglob("*_samples.jsonl")
    for line in path.read_text("utf-8").splitlines():
        sample = json.loads(line)
        record = sample["input"]
        yield task("eee", sample["sample_id"], record["raw"], json.dumps(record["reference"]))


def task(suite, task_id, question, target):
    return {
        "content_id": f"{suite} {task_id}",
        "suite": suite,
        "task_set": "popularity",
        "task_set_hash": suite,
        "seq": int(task_id),
        "task_id": str(task_id),
        "task_hash": f"{suite} {task_id}",
        "question": question,
        "target": target,
    }
