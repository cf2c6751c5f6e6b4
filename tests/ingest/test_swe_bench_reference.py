"""SWE-bench: every trial and figure of the reference rows, from one import of its folder."""

from collections import Counter

import pytest
from support import import_into, new_store
from trials import TRIALS, needs_trials, reference_rows

from ingest.reconciliation import FileOutcome

FOLDER = TRIALS / "swe-bench"
FINAL = "backspacevenkat+polydev-swe-bench/FINAL_RESULTS.json"

pytestmark = [needs_trials, pytest.mark.slow]

# Where a column should hold something else than the reference rows:
# trial_id      they repeat it where a file repeats an instance; ours have a number then
# task_id       NULL in rows of bare messages, where ours is the name of the file
# input_tokens  of tool rows without those from and for the cache
# tokens, cost  zeros where nothing was counted; ours are NULL
# models        labels too; ours are systems, their models only where an agent records one
# figures       of lists of resolved instances only: those are no trials, so nothing is recomputed
NO_TRIAL = "SWE-agent+SWE-agent/trajectories/demonstrations/function_calling_simple.traj"
# A prediction beside its trajectory is kept with that trial.
WITH_TRAJECTORY = "all_preds.jsonl"
CLASSES = {"FAIL_TO_PASS": "fail_to_pass", "PASS_TO_PASS": "pass_to_pass"}


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("swe-bench") / "store")
    summary = import_into(store, FOLDER)
    assert summary.n_quarantined == 0
    assert summary.outcomes[FileOutcome.DECLINED] == 1
    return store


@pytest.fixture(scope="module")
def trials(imported):
    """The trials by file and id."""
    names = (
        "trial_id, task_id, system, agent, agent_version, model, passed, n_steps, n_tool_calls, "
        "n_tool_errors, input_tokens, cached_tokens, output_tokens, cost_usd, recorded_end"
    )
    rows = imported.sql(
        f"""
        SELECT path, result_id, {", ".join(f"trials.{name.strip()}" for name in names.split(","))},
            epoch(trials.started_at), epoch(trials.ended_at), duration_ms, r.raw_output
        FROM trials
        JOIN lake.results AS r ON r.content_id = result_id AND r.run_id = trials.run_id
        JOIN (SELECT DISTINCT sha256, path FROM lake.files) AS f ON f.sha256 = r.file_sha256
        """
    ).fetchall()
    columns = ["path", "result_id", *(name.strip() for name in names.split(","))]
    columns += ["started_at", "ended_at", "duration_ms", "raw_output"]
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    return {(row["path"].removeprefix(f"{FOLDER}/"), row["trial_id"]): row for row in found}


def expected_rows():
    """Yield the reference rows with our ids."""
    seen = Counter()
    for row in reference_rows("swe-bench", "trial"):
        key = row["file"], row["trial_id"]
        seen[key] += 1
        number = seen[key]
        yield row, row["trial_id"] if number == 1 else f"{row['trial_id']}#{number}"


def is_elsewhere(row):
    return row["file"] == NO_TRIAL or (
        row["file"].endswith(WITH_TRAJECTORY) and "gpt4__swe-bench-dev" in row["file"]
    )


def test_every_trial(trials):
    wanted = {
        (row["file"], trial_id): row for row, trial_id in expected_rows() if not is_elsewhere(row)
    }
    assert trials.keys() == wanted.keys()
    for key, row in wanted.items():
        ours = trials[key]
        assert ours["passed"] == row["passed"], key
        assert ours["task_id"] == row["task_id"] or row["task_id"] is None, key
        for name in ("n_steps", "n_tool_calls", "n_tool_errors", "agent", "agent_version"):
            assert row[name] is None or ours[name] == row[name], (key, name)
        assert ours["recorded_end"] == row["failure"], key


def test_tokens_and_cost(trials):
    for row, trial_id in expected_rows():
        if is_elsewhere(row):
            continue
        ours, key = trials[row["file"], trial_id], (row["file"], trial_id)
        tokens = row["input_tokens"], row["output_tokens"]
        if not row["tokens_known"]:
            tokens = None, None
        elif row["kind"] == "tool_row":
            tokens = tokens[0] + row["cache_read"] + row["cache_write"], tokens[1]
            assert ours["cached_tokens"] == row["cache_read"]
        assert (ours["input_tokens"], ours["output_tokens"]) == tokens, key
        cost = row["cost_usd"] or None
        assert ours["cost_usd"] == pytest.approx(cost, abs=1e-9), key
        if row.get("duration_s") is not None:
            assert ours["duration_ms"] == pytest.approx(row["duration_s"] * 1000), key


def test_models_and_labels(trials):
    recorded = {"tool_row", "custom traj summary", "mini-swe-agent-1.1"}
    for row, trial_id in expected_rows():
        if is_elsewhere(row) or not row["models"]:
            continue
        ours = trials[row["file"], trial_id]
        is_recorded = row["kind"] in recorded
        assert row["models"] == [ours["model" if is_recorded else "system"]]


def test_patches(trials):
    for row, trial_id in expected_rows():
        if row["kind"].startswith("prediction") and not is_elsewhere(row):
            assert len(trials[row["file"], trial_id]["raw_output"]) == row["patch_chars"]


def test_tests_are_checks_and_make_up_the_verdict(imported, trials):
    counts = {
        (result, name, passed): n
        for result, name, passed, n in imported.sql(
            """
            SELECT result_id, coalesce(extra ->> '$.class', check_class), passed, count(*)
            FROM lake.result_scores GROUP BY ALL
            """
        ).fetchall()
    }
    n_reports = 0
    for row, trial_id in expected_rows():
        if "tests" not in row:
            continue
        n_reports += 1
        result = trials[row["file"], trial_id]["result_id"]
        for test_class, (n_passed, n_failed) in row["tests"].items():
            name = CLASSES.get(test_class, test_class)
            found = [counts.get((result, name, passed), 0) for passed in (True, False)]
            assert found == [n_passed, n_failed]
    assert n_reports == 25
    different = """
        SELECT result_id FROM trials JOIN lake.result_scores AS s USING (result_id) WHERE s.counts
        GROUP BY result_id HAVING bool_and(s.passed) != any_value(trials.passed)
    """
    assert imported.sql(different).fetchall() == []


def test_every_figure(imported):
    audited = {
        (run_id, metric): found
        for run_id, metric, *found in imported.sql(
            "SELECT run_id, metric, reported, recomputed, reason FROM metric_audit"
        ).fetchall()
    }
    runs = {
        "claude-haiku-4-5-20251001.validation-baseline-eval.json": "validation-baseline-eval",
        "claude-haiku-4.5.claude-haiku-4.5-full.json": "claude-haiku-4.5-full",
        "Subset.swe_bench_verified__test__polydev_v3_mcp.json": "polydev_v3_mcp",
        "FINAL_RESULTS.json": "FINAL_RESULTS",
    }
    n_figures = 0
    for row in reference_rows("swe-bench", "figure"):
        run_id = runs.get(row["file"].rpartition("/")[2])
        # Those without a run are verdicts of single instances, and rates that no file states.
        if run_id is None or row["figure"] == "hybrid.resolved as union of both":
            continue
        n_figures += 1
        reported, recomputed, reason = audited[run_id, row["figure"]]
        assert reported == pytest.approx(row["value"], abs=1e-9)
        if row["recomputable"] and row["file"] != FINAL:
            assert recomputed == pytest.approx(row["recomputed"], abs=1e-9)
            assert reason is None
        else:
            # Ids of resolved instances alone are no trials: all of them would have passed.
            assert recomputed is None
            assert reason is not None
    assert n_figures == 28


def test_rates_that_no_file_states(imported):
    """The share of a map's verdicts, and the number that a tool says it resolved."""
    rates = dict(
        imported.sql("SELECT run_id, avg(passed::INT) FROM trials GROUP BY run_id").fetchall()
    )
    assert rates["claude-45sonnet-10132025"] == pytest.approx(0.436986301369863)
    assert rates["claude-4sonnet-10132025"] == pytest.approx(0.42704626334519574)
    assert rates["swebench-2026-03-22"] == pytest.approx(0.73)
