"""Every trial and figure of the reference logs of Harbor and ATIF, as their oracle has them."""

import json
from collections import defaultdict

import pytest
from peers import query, same
from support import digests, import_into, new_store
from trials import TRIALS, needs_trials, reference_rows

from ingest.formats.common.fields import iso_moment

pytestmark = [needs_trials, pytest.mark.slow]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    found = {}
    for form in ("harbor", "atif"):
        found[form] = new_store(tmp_path_factory.mktemp(form) / "store")
        summary = import_into(found[form], TRIALS / form)
        assert summary.n_quarantined == 0
        found[form].sync()
    return found


@pytest.fixture(scope="module")
def trials(stores):
    rows = [row for store in stores.values() for row in query(store, "FROM trials")]
    by_id = {row["trial_id"]: row for row in rows}
    assert len(by_id) == len(rows)
    return by_id


def expected_tokens(row):
    """Return input and output tokens and cost; zeros that mean "unknown" are none."""
    names = ("input_tokens", "output_tokens", "cost_usd")
    return tuple(row[name] for name in names) if row["tokens_known"] else (None, None, None)


def test_every_trial_of_a_job(trials):
    rows = [row for row in reference_rows("harbor", "trial") if "atif" not in row]
    assert len(rows) == 52
    for row in rows:
        trial = trials[row["trial_id"]]
        assert (trial["task_id"], trial["agent"], trial["agent_version"], trial["passed"]) == (
            row["task_id"],
            row["agent"],
            row["agent_version"],
            row["passed"],
        )
        assert trial["model"] == (row["models"] or [None])[0]
        assert trial["task_set"] == row["source"]
        assert trial["recorded_end"] == row["failure"]
        assert trial["n_steps"] == row["n_steps"]
        # As tokens do, calls of tools cover sub-agents, too: the relay has one with a call.
        n_more = 1 if row["agent"] == "relay-agent" else 0
        assert trial["n_tool_calls"] == (row["n_tool_calls"] and row["n_tool_calls"] + n_more)
        tokens = (trial["input_tokens"], trial["output_tokens"], trial["cost_usd"])
        assert all(map(same, tokens, expected_tokens(row))), row["file"]
        assert trial["cached_tokens"] == (row["cached_tokens"] if row["tokens_known"] else None)
        assert trial["started_at"] == iso_moment(row["started_at"])
        assert trial["ended_at"] == iso_moment(row["ended_at"])


def test_rewards_and_phases(stores):
    scores = defaultdict(dict)
    for row in query(
        stores["harbor"],
        "FROM result_scores JOIN trials USING (suite, run_id, result_id) "
        "SELECT trial_id, metric, value WHERE check_class = 'reward'",
    ):
        scores[row["trial_id"]][row["metric"]] = row["value"]
    phases = {
        row["trial_id"]: {each["name"]: each for each in json.loads(row["phases"])}
        for row in query(stores["harbor"], "FROM results SELECT trial_id, phases")
    }
    for row in reference_rows("harbor", "trial"):
        if "atif" not in row:
            assert scores.get(row["trial_id"]) == row["rewards"]
            for name, times in row["phases"].items():
                if times is not None:
                    assert phases[row["trial_id"]][name] == {
                        "name": name,
                        "started_at": times["started_at"],
                        "ended_at": times["finished_at"],
                    }


def test_every_trajectory_that_stands_alone(trials):
    rows = reference_rows("atif", "trial")
    assert len(rows) == 14
    for row in rows:
        trial = trials[row["trial_id"]]
        assert (trial["agent"], trial["agent_version"]) == (row["agent"], row["agent_version"])
        assert trial["passed"] is row["passed"]
        # Copied context does not count; the oracle counts elements.
        assert trial["n_steps"] == row["n_steps"] - row["atif"]["n_copied"], row["file"]
        if not row["atif"]["n_copied"]:
            assert trial["n_tool_calls"] == row["n_tool_calls"]
        tokens = (trial["input_tokens"], trial["output_tokens"], trial["cost_usd"])
        assert all(map(same, tokens, expected_tokens(row))), row["file"]


def test_every_trajectory_by_its_steps(stores):
    found = defaultdict(list)
    for form, store in stores.items():
        for row in query(
            store,
            "FROM steps JOIN trials USING (suite, run_id, result_id) "
            "SELECT trial_id, trajectory, steps.kind, steps.parent_id, steps.is_copied, "
            "steps.input_tokens, steps.output_tokens, steps.cached_tokens, steps.cost_usd",
        ):
            found[form, row["trial_id"], row["trajectory"]].append(row)
    by_trial = {row["file"]: row for row in reference_rows("harbor", "trial") if "atif" not in row}
    n_checked = 0
    for form in stores:
        for row in (each for each in reference_rows(form, "trial") if "atif" in each):
            file, _, inside = row["file"].partition("#sub")
            trial = (
                by_trial[f"{file.removesuffix('agent/trajectory.json')}result.json"]["trial_id"]
                if form == "harbor"
                else row["trial_id"]
            )
            steps = found[form, trial, row["trial_id"] if inside else None]
            own = [step for step in steps if step["parent_id"] is None]
            atif = row["atif"]
            assert len(own) == atif["n_steps"]
            assert sum(step["is_copied"] for step in own) == atif["n_copied"]
            assert sum(step["kind"] == "tool" for step in steps) == atif["n_tool_calls"]
            names = ("input_tokens", "output_tokens", "cached_tokens", "cost_usd")
            sums = ("sum_prompt", "sum_completion", "sum_cached", "sum_cost")
            for name, total in zip(names, sums, strict=True):
                values = [step[name] for step in own if step[name] is not None]
                assert same(sum(values) if values else None, atif[total])
            n_checked += 1
    assert n_checked == 30


@pytest.mark.slow
@pytest.mark.parametrize("form", ["harbor", "atif"])
def test_every_figure(stores, form):
    audit = defaultdict(list)
    for row in query(stores[form], "FROM metric_audit"):
        audit[row["metric"].rpartition("/")[2].replace(": ", "/")].append(row)
    for figure in reference_rows(form, "figure"):
        key = figure["figure"]
        if key.startswith("total_"):
            file = figure["file"].rpartition("/")[2].partition(".json")
            inside = "" if file[2] in {"#parent", "#child"} else file[2]
            key = f"{file[0]}.json{inside}/{key}"
        rows = [row for row in audit[key] if same(row["reported"], figure["value"])]
        assert rows, figure
        if figure["recomputable"]:
            assert any(row["status"] == "equal" for row in rows), figure
        else:
            assert all(row["status"] == "not recomputable" and row["reason"] for row in rows)
    assert "differs" not in {row["status"] for rows in audit.values() for row in rows}


@pytest.mark.slow
def test_in_halves_and_in_any_order(tmp_path):
    job = TRIALS / "harbor" / "jobs-0.24.0" / "mixed-agents"
    parts = [*sorted(path for path in job.iterdir() if path.is_dir()), job / "result.json"]
    whole, halves = new_store(tmp_path / "whole"), new_store(tmp_path / "halves")
    import_into(whole, job)
    for path in (parts[::-2], parts[::2], [job]):
        import_into(halves, *path)
    import_into(halves, *parts[-2::-2])
    whole.sync()
    halves.sync()
    assert digests(whole) == digests(halves)
