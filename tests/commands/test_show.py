"""`evalstore show`: blocks, filters, and what it says about rankings that are empty."""

import json
import re

import pytest
from support import add_rows, command, import_into, new_store, write_log

from exports.site.pages import overview, suite
from exports.site.site import opened_site
from tools.screens import shown_on_terminal

REHEARSALS = "rehearsals, whose answers came from a file"
REHEARSAL = {"provider": "replay", "objective_pass": True}
TRIAL = {"trial_id": "t"}


@pytest.fixture
def space(tmp_path, monkeypatch):
    """An empty workspace."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([REHEARSAL], f"all runs are {REHEARSALS}: no ranking counts them"),
        ([TRIAL], "no answer has a verdict or a score, so there is nothing to rank"),
        ([{}], "no answer has a verdict or a score, so there is nothing to rank"),
        ([TRIAL, REHEARSAL], "no answer has a verdict or a score but those of rehearsals, which"),
        ([{"objective_pass": False}, TRIAL], None),
        ([{"content_id": "scored"}], None),
    ],
)
def test_a_ranking_without_figures_says_why(space, answers, reason):
    store = new_store(space / "store")
    run = {"suite": "own", "run_id": "r", "generation": "root", "content_id": "r", "model": "m"}
    rows = [
        {**run, "content_id": str(n), "seq": n, "task_id": "t", "answer": "x"} | answer
        for n, answer in enumerate(answers)
    ]
    score = {**run, "content_id": "s", "result_id": "scored", "metric": "style", "value": 0.0}
    del score["model"]
    add_rows(store.lake, runs=[run], results=rows, result_scores=[score])
    for words in ("leaderboard", "leaderboard --suite own", "leaderboard_pooled"):
        said = command("store", "show", *words.split()).err
        assert (reason or "") in said
        assert ("no answer has" in said or REHEARSALS in said) == (reason is not None), words
    assert REHEARSALS not in command("store", "show", "replay_leaderboard").err
    with opened_site(store, [overview.PAGE_TYPE, suite.PAGE_TYPE], samples="none") as site:
        pages = [page for kind in site.types for page in site.pages(kind)]
    texts = [page.data.decode() for page in pages if page.path in {"index.html", "suites/own.html"}]
    said_on_pages = re.split(", so|: no|, which", reason or "", maxsplit=1)[0]
    assert len(texts) == 2
    for text in texts:
        assert said_on_pages.lower() in text.lower()
        assert ("no answer has" in text.lower() or REHEARSALS in text) == (reason is not None)


@pytest.mark.slow
def test_a_ranking_of_real_calls_says_nothing(space):
    import_into(new_store(space / "store"), write_log(space / "2026-04-01-kokeilu.yaml"))
    for ranking in ("leaderboard", "leaderboard_pooled"):
        assert command("store", "show", ranking).err == ""


@pytest.mark.slow
def test_a_ranking_says_how_many_models_it_lacks(space):
    path = space / "results_2026-04-02T10-00-00.json"
    figures = {"results": {"arc": {"acc,none": 0.5}}, "configs": {"arc": {}}, "n-shot": {"arc": 0}}
    path.write_text(json.dumps(figures | {"model_name": "vendor/quiet"}), "utf-8")
    import_into(new_store(space / "store"), path, write_log(space / "2026-04-01-kokeilu.yaml"))
    shown = command("store", "show", "leaderboard")
    assert "vendor/quiet" not in shown.out
    assert shown.err.startswith("of 1 model logs only report figures, which are not ranked")
    assert "vendor/quiet" in command("store", "show", "reported_leaderboard").out


@pytest.mark.slow
def test_a_ranking_leads_to_the_ranks_of_suites_with_votes_only(space):
    store = new_store(space / "store")
    import_into(store, write_log(space / "2026-04-01-kokeilu.yaml"))
    pair = {"model_a": "x", "model_b": "y", "rater_kind": "human", "criterion": "overall"}
    vote = {**pair, "task_id": "t", "outcome": "a", "status": "ok", "generation": "root", "seq": 1}
    votes = [
        {**vote, "suite": suite, "run_id": "v", "content_id": suite, **more}
        for suite, more in {"arena": {}, "palindrome": {}, "same": {"model_b": "x"}}.items()
    ]
    key = ("suite", "run_id", "generation")
    runs = [{name: vote[name] for name in key} | {"content_id": "run"} for vote in votes]
    add_rows(store.lake, runs=runs, preferences=votes)
    store.sync()
    note = (
        "models of arena are compared by votes on answers that the store lacks: "
        "`evalstore rank arena` ranks them"
    )
    shown = command("store", "show", "leaderboard")
    assert shown.err.splitlines() == [note]
    assert "arena" not in shown.out
    assert note in command("store", "show", "leaderboard", "--suite", "arena").err
    assert note not in command("store", "show", "leaderboard", "--suite", "palindrome").err
    assert note not in command("store", "show", "pass_rates").err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ([], "no task set has scores on the leaderboard"),
        (["a,m"], "only one task set has scores on the leaderboard"),
        (["a,m", "b,n"], "none of the 2 task sets shares models with another"),
        (["a,m", "b,m"], None),
    ],
)
def test_without_a_pair_of_task_sets_the_reason_is_said(space, asked, reason):
    store = new_store(space / "store")
    if asked:
        lines = [f"{set_and_model},t,true" for set_and_model in asked]
        (space / "own.csv").write_text("\n".join(["task_set,model,task,passed", *lines]), "utf-8")
        assert command(store.path, "import", "--yes", "--suite", "own", "own.csv").code == 0
    said = " ".join(command(store.path, "show", "suite_agreement").err.split())
    assert ("it takes two sets" in said) == (reason is not None)
    assert (reason or "") in said


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Return a store with two task sets: two models were asked the first, one the second."""
    folder = tmp_path_factory.mktemp("sets")
    store = new_store(folder / "store")
    path = folder / "sets.csv"
    asked = {"rhymes-of-spring": ("vendor/good", "vendor/poor"), "b": ("x",)}
    lines = [
        f"{task_set},{model},{task},{str(model != 'vendor/poor').lower()}"
        for task_set, models in asked.items()
        for model in models
        for task in range(20)
    ]
    path.write_text("\n".join(["task_set,model,task,passed", *lines]), "utf-8")
    assert command(store.path, "import", "--yes", "--suite", "own", path).code == 0
    with store.reading():  # to open it takes longer than most queries
        yield store.path


def test_a_terminal_has_a_block_for_each_task_set(sets):
    lines = shown_on_terminal(sets, ["show", "leaderboard"], 80).splitlines()
    assert lines[0] == "own · b · passed"
    assert lines[5] == "own · rhymes-of-spring · passed"
    assert [line.split()[0] for line in lines[8:10]] == ["vendor/good", "vendor/poor"]
    assert not {"task_set", "metric"} & set(lines[6].split())
    assert "unknown in all rows: total_cost_usd, cost_per_passed_usd" in lines


def test_task_sets_with_a_row_each_are_one_table(sets):
    lines = shown_on_terminal(sets, ["show", "leaderboard", "--limit", "2"], 80).splitlines()
    assert lines[0].split()[0] == "task_set"
    assert [line.split()[0] for line in lines[2:4]] == ["b", "rhymes-of-spring"]


@pytest.mark.parametrize(
    ("view", "options", "n_rows"),
    [
        ("leaderboard", ["--suite", "own"], 3),
        ("leaderboard", ["--task-set", "rhymes-of-spring"], 2),
        ("leaderboard", ["--task-set", "rhymes-of-spring", "--model", "vendor/poor"], 1),
        ("leaderboard", ["--task-set", "b", "--model", "vendor/poor"], 0),
        ("paired_comparisons", ["--model", "vendor/poor"], 1),
        ("paired_comparisons", ["--model", "x"], 0),
        ("runs", ["--model", "vendor/good"], 1),
        ("results", ["--suite", "own", "--limit", "3"], 3),
    ],
)
def test_rows_are_chosen(sets, view, options, n_rows):
    done = command(sets, "show", view, *options, "--format", "jsonl")
    assert (done.code, len(done.out.splitlines())) == (0, n_rows)


@pytest.mark.parametrize(
    ("view", "options", "message"),
    [
        ("leaderboard", ["--suite", "won"], "no runs of suite 'won'; did you mean 'own'?"),
        ("leaderboard", ["--model", "vendor/god"], "of model 'vendor/god'; did you mean"),
        ("leaderboard", ["--task-set", "c"], "of task set 'c'; `evalstore show leaderboard`"),
        ("tasks", ["--model", "x"], "--model: the view tasks has no such column"),
    ],
)
def test_names_that_choose_nothing_are_said(sets, view, options, message):
    done = command(sets, "show", view, *options)
    assert done.code == 2
    assert message in done.err
