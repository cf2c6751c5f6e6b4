"""`text_hash` tells texts apart that DuckDB's own hash takes for each other."""

import re

import pytest
from support import ROOT

NAMES = (
    "'subset_' || (n // 200) || '_doc_' || (n % 200)",
    "'arena/core/t' || n // 9 || '/m-' || n % 9",
)
# What a hash may be of besides texts: numbers, truth values, lists, and words of our own.
PLAIN = {
    *("entry", "series", "raw.series", "position", "is_replay", "n_trials", "n_trials_passed"),
    *("is_first_passed", "n_attempts", "listed", "test", "n_tasks", "n_better_a", "n_better_b"),
    *("scale", "averaged.differences", "units", "bounded_test", "n_asked", "bounded_better_a"),
    *("bounded_better_b", "bounded_differences", "bounded_sizes", "setups.series"),
    *("compared.subject", "task", "scored", "scored.entry", "scored.n_attempts", "scored.scored"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_with_numbers_have_different_hashes(store, name):
    [(n_distinct,)] = store.sql(
        f"SELECT count(DISTINCT text_hash({name})) FROM range(200_000) AS t(n)"
    ).fetchall()
    assert n_distinct == 200_000


@pytest.mark.slow
def test_comparisons_take_no_task_for_another(store):
    for model in ("a", "b"):
        for n_run in (1, 2):
            with store.record(suite="own", run_id=f"{model}{n_run}", model=model) as run:
                for n in range(2_500):
                    task = f"subset_{n // 200}_doc_{n % 200}"
                    run.log(task_id=task, prompt=task, output=task, passed=n % 3 > n_run % 2)
    [(n_paired,)] = store.sql("SELECT n_tasks FROM paired_comparisons").fetchall()
    drifts = store.sql("SELECT DISTINCT n_tasks FROM drift").fetchall()
    assert (n_paired, drifts) == (2_500, [(2_500,)])


def test_no_view_hashes_a_text_by_itself():
    found = []
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        text = re.sub(r"--[^\n]*", "", path.read_text("utf-8"))
        for match in re.finditer(r"(?<![\w.])hash\(", text):
            found += [(path.stem, each) for each in parts(text[match.end() :])]
    assert len(found) > 20
    others = [each for each in found if not re.match(r"(text_hash|task_number)\(", each[1])]
    assert {each for _, each in others} - PLAIN == {"text", "'...' || text", "'.....' || text"}


def parts(text):
    """Return the arguments of a call whose opening bracket is before a text."""
    depth, found = 0, [""]
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            break
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [each.strip() for each in found]
