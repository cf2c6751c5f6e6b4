"""`evalstore horizon`: what its figures are of, and what it says where there are none."""

import json

import pytest
from preferences import imported, write_lines
from support import NO_REFERENCE, REFERENCE, add_rows, command, new_store

FOLDER = REFERENCE / "items" / "metr"
KEY = {"suite": "own", "run_id": "r", "generation": "root"}
FAMILIES = 8
MINUTES = (0.5, 2, 8, 32)
TINY = "p50, p80, p50_low, p80_low, p80_high extrapolated: its tasks take 0.5 to 32 minutes"


def result(model, family, minutes, passed, **columns):
    return {
        **KEY,
        "content_id": f"{model} {family} {minutes} {columns}",
        "seq": 1,
        "model": model,
        "task_set": "core",
        "task_id": f"{family} {minutes}",
        "success": True,
        "objective_pass": passed,
        **columns,
    }


def results(model, passes, families=FAMILIES, **columns):
    """Return results of a model that passes what `passes` says of a family and minutes."""
    return [
        result(model, family, minutes, passes(family, minutes), **columns)
        for family in range(families)
        for minutes in MINUTES
    ]


def tasks(extra='{{"human_minutes": {}}}'):
    return [
        {
            "content_id": f"task {family} {minutes}",
            "suite": "own",
            "task_set": "core",
            "task_set_hash": "h",
            "seq": 1,
            "task_id": f"{family} {minutes}",
            "task_hash": f"{family} {minutes}",
            "cluster": f"family {family}",
            "extra": extra.format(minutes),
        }
        for family in range(FAMILIES)
        for minutes in MINUTES
    ]


def strong(family, minutes):
    return minutes < 32 if family % 2 else minutes < 8


def horizon(tmp_path, rows, *options, task_rows=None, **tables):
    store = new_store(tmp_path / "store")
    runs = [{**KEY, "run_id": run, "content_id": run} for run in {row["run_id"] for row in rows}]
    tables = {"tasks": tasks() if task_rows is None else task_rows, **tables}
    add_rows(store.lake, runs=runs, results=rows, **tables)
    store.sync()
    return command(store.path, "horizon", "own", *options)


@pytest.mark.slow
def test_an_unknown_run_is_named(tmp_path):
    ended = horizon(tmp_path, results("strong", strong), "--run", "rr")
    assert (ended.code, ended.err) == (2, "error: --run: own has no run 'rr'; did you mean 'r'?\n")


def rows_of(ended):
    return {row["model"]: row for row in json.loads(ended.out)}


@pytest.mark.slow
def test_horizons_and_what_stands_in_their_place(tmp_path):
    ended = horizon(
        tmp_path,
        [
            *results("strong", strong),
            *results("weak", lambda family, minutes: minutes < (2 if family % 2 else 8)),
            *results("tiny", lambda family, minutes: minutes == 0.5 and family == 0),
            *results("none", lambda *_: False),
            *results("all", lambda *_: True),
            *results("odd", lambda _, minutes: minutes > 2),
            *results("unjudged", lambda *_: None),
            *results("few", strong, families=2),
        ],
        *("--format", "json"),
    )
    rows = rows_of(ended)
    assert list(rows)[:4] == ["few", "strong", "weak", "tiny"]
    found = rows["strong"]
    assert 8 < found["p50_minutes"] < 16
    assert found["p50_low"] < found["p50_minutes"] < found["p50_high"]
    assert found["p80_minutes"] < found["p50_minutes"]
    assert (found["n_tasks"], found["n_families"], found["remark"]) == (32, 8, None)
    assert rows["tiny"]["p50_minutes"] < 0.5
    assert rows["tiny"]["remark"] == TINY
    said = {
        "none": (0, "passed no result: 0 by convention"),
        "all": (None, "passed every result: beyond 32 minutes"),
        "odd": (None, "no horizon: longer tasks are not passed less often"),
        "unjudged": (None, "no result has a verdict"),
    }
    assert {name: (rows[name]["p50_minutes"], rows[name]["remark"]) for name in said} == said
    assert rows["few"]["p50_low"] is None
    assert rows["few"]["remark"] == "no interval below 6 families of tasks"
    assert "weights that sum to 1" in " ".join(ended.err.split())


@pytest.mark.slow
def test_an_interval_has_no_end_where_too_many_draws_have_no_horizon(tmp_path):
    noise = results("noise", lambda family, minutes: (minutes < 8) == (family < 5))
    nearly = results("nearly", lambda family, minutes: (family, minutes) not in {(1, 32), (2, 8)})
    rows = rows_of(horizon(tmp_path, [*noise, *nearly], "--format", "json"))
    assert (rows["noise"]["p50_low"], rows["noise"]["p50_high"]) == (None, None)
    assert "an end is unknown: too many draws have no horizon" in rows["noise"]["remark"]
    # In some draws it passed everything: they have the longest horizons of all.
    assert rows["nearly"]["p50_high"] is None
    assert rows["nearly"]["p50_low"] is not None


@pytest.mark.slow
def test_minutes_of_a_result_come_before_those_of_its_task(tmp_path):
    longer = [
        {**row, "extra": f'{{"human_minutes": {4 * float(row["task_id"].split()[1])}}}'}
        for row in results("longer", strong)
    ]
    rows = rows_of(horizon(tmp_path, [*results("m", strong), *longer], "--format", "json"))
    ratio = rows["longer"]["p50_minutes"] / rows["m"]["p50_minutes"]
    assert ratio == pytest.approx(4, rel=1e-3)


@pytest.mark.slow
def test_minutes_may_be_in_the_metadata_of_a_task(tmp_path):
    facts = tasks('{{"metadata": {{"human_minutes": "{}"}}}}')
    ended = horizon(tmp_path, results("m", strong), "--format", "json", task_rows=facts)
    assert 8 < rows_of(ended)["m"]["p50_minutes"] < 16


@pytest.mark.slow
def test_unanswered_calls_fail_and_copies_and_people_do_not_count(tmp_path):
    failed = [
        {**row, "success": False, "objective_pass": None, "availability_status": "error"}
        for row in results("m", strong)
        if row["task_id"].endswith(" 32")
    ]
    answered = [row for row in results("m", strong) if not row["task_id"].endswith(" 32")]
    others = results("other", strong)
    person = results("ann", strong, system="ann")
    system = {**KEY, "content_id": "s", "system": "ann", "agent": "human"}
    rows = rows_of(
        horizon(
            tmp_path, [*answered, *failed, *others, *person], "--format", "json", systems=[system]
        )
    )
    assert set(rows) == {"m", "other"}
    assert (rows["m"]["n_results"], rows["m"]["n_unjudged"]) == (32, 0)
    assert rows["m"]["p50_minutes"] == rows["other"]["p50_minutes"]


@pytest.mark.slow
def test_runs_that_count_together_are_named_and_one_can_be_chosen(tmp_path):
    second = results("m", lambda *_: False, run_id="s")
    rows = [*results("m", strong), *second]
    ended = horizon(tmp_path, rows, "--format", "json")
    assert rows_of(ended)["m"]["remark"].endswith("; 2 runs count together: r, s")
    chosen = command(tmp_path / "store", "horizon", "own", "--run", "r", "--format", "json")
    assert rows_of(chosen)["m"]["n_results"] == 32
    assert rows_of(chosen)["m"]["remark"] is None


@pytest.mark.slow
def test_what_cannot_be_fitted_is_said(tmp_path):
    ended = horizon(tmp_path, results("m", strong), task_rows=tasks('{{"human_minutes": -{}}}'))
    assert ended.code == 2
    assert "no result of suite 'own' is of a task with `human_minutes`" in " ".join(
        ended.err.split()
    )
    other = command(tmp_path / "store", "horizon", "owm")
    assert other.code == 2


@pytest.mark.slow
def test_recorded_weights_have_to_be_recorded(tmp_path):
    ended = horizon(tmp_path, results("m", strong), "--weights", "recorded")
    assert ended.code == 2
    assert "`m` has results without a weight" in " ".join(ended.err.split())


@pytest.mark.slow
def test_model_names_are_shown_as_text(tmp_path):
    ended = horizon(tmp_path, results("\x1b[31mred", lambda *_: True))
    assert "\x1b" not in ended.out + ended.err


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_REFERENCE)
def test_published_horizons_are_next_to_ours(tmp_path):
    store = imported(tmp_path, FOLDER)
    options = ("--weights", "recorded", "--regularisation", "0.1", "--format", "json")
    rows = rows_of(command(store.path, "horizon", "metr", *options))
    assert len(rows) == 9
    for row in rows.values():
        assert row["p50_minutes"] == pytest.approx(row["published_p50_minutes"], rel=2e-3)
    assert rows["GPT 2"]["remark"].startswith("p50, p80, ")


@pytest.mark.slow
def test_a_published_horizon_may_be_of_the_recorded_model(tmp_path):
    lines = [
        {
            "task_id": f"f{family}/t{minutes}",
            "task_family": f"f{family}",
            "alias": "Model A",
            "model": "model_a",
            "score_binarized": int(strong(family, minutes)),
            "human_minutes": minutes,
        }
        for family in range(FAMILIES)
        for minutes in MINUTES
    ]
    results_file = tmp_path / "benchmark_results.yaml"
    results_file.write_text(
        "benchmark_name: H\nresults:\n  model_a:\n    metrics:\n"
        "      p50_horizon_length: {estimate: 11.5}\n",
        "utf-8",
    )
    store = imported(tmp_path, write_lines(tmp_path / "runs.jsonl", *lines), results_file)
    rows = rows_of(command(store.path, "horizon", "metr", "--format", "json"))
    assert rows["Model A"]["published_p50_minutes"] == 11.5
