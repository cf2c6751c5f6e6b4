"""The runs behind a gate: anchors, baselines of several runs, confirmed failures."""

import json
import xml.etree.ElementTree as ET
from datetime import UTC, datetime

import numpy as np
import pytest
from gate_cases import decide, drop, only, run_rows, write
from support import command, kept_open, new_store

from warehouse.analysis.decisions.gate.ci_reports import markdown_report
from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.reports import heading, text_report
from warehouse.analysis.decisions.gate.rules import Rule
from warehouse.analysis.decisions.gate.words import p_words
from warehouse.core.errors import BadInput
from warehouse.core.schemas import TAGS
from warehouse.engine.statistics.bounded_means import excess_of_bounded_means
from warehouse.engine.statistics.score_test import excess_of_proportions

N = 100


def rows(run_id, day, n_lost, *, first_lost=0, model="bot", n_tasks=N, changed=0):
    """Return a run that lost some tasks in a row; the content of the first may have changed."""
    passed = [0 if first_lost <= n < first_lost + n_lost else 1 for n in range(n_tasks)]
    run, results = run_rows(model, passed, run_id=run_id)
    for n, row in enumerate(results):
        row["content_id"] = f"{row['content_id']} {model}"
        row["task_hash"] = f"{n} 2" if n < changed else f"{n} 1"
    return run | {"run_date": f"2026-04-{day:02}"}, results


def store_of(folder, *runs, **tags):
    """Return a store of runs, with the runs of each tag `of=NAME`."""
    store = new_store(folder / "store")
    write(store, *runs)
    rows_of_tags = [
        {
            "content_id": f"tag {run_id}",
            "suite": "mine",
            "run_id": run_id,
            "name": "of",
            "value": name,
            "tagged_at": datetime(2026, 5, 1, tzinfo=UTC),
        }
        for name, run_ids in tags.items()
        for run_id in run_ids
    ]
    with store.lake.write("tag") as writer:
        writer.add(TAGS, rows_of_tags)
        writer.commit()
    return store


@pytest.fixture(scope="module")
def eroded(tmp_path_factory):
    """Return a store in which each of ten merges loses 2 of 100 tasks."""
    runs = [rows(f"r{day}", day, 2 * day) for day in range(1, 11)]
    folder = tmp_path_factory.mktemp("eroded")
    tags = {"start": ["r1"], "main": ["r7", "r8", "r9"], "all": ["r10"]}
    yield from kept_open(store_of(folder, *runs, **tags))


def test_an_anchor_finds_what_each_merge_hides(eroded):
    fields = {"candidate": "run:r10", "baseline": "tag:of=main"}
    assert decide(eroded, drop(), **fields).exit_code == 0
    verdict = decide(eroded, drop(), anchor="tag:of=start", **fields)
    near, far = verdict.decisions
    assert (verdict.exit_code, near.outcome, far.outcome) == (1, "passed", "failed")
    assert (near.against, far.against, far.baseline_run_ids) == ("baseline", "anchor", ("r1",))
    assert far.p_value == excess_of_proportions(18, 0, N, 0.02)
    # Holm over both: the smaller p twice.
    assert (far.p_adjusted, near.p_adjusted) == (2 * far.p_value, near.p_value)
    assert far.reason.startswith("18 points below the anchor on 100 tasks (")
    assert "18 passed by the anchor only" in far.reason
    assert [heading(verdict, each) for each in verdict.decisions] == [
        "max_drop 0.02 of passed (mine)",
        "max_drop 0.02 of passed (mine), against the anchor",
    ]


def test_an_anchor_that_is_the_baseline_costs_no_power(eroded):
    alone = decide(eroded, drop(), candidate="run:r10", baseline="run:r1")
    verdict = decide(eroded, drop(), candidate="run:r10", baseline="run:r1", anchor="tag:of=start")
    assert only(verdict).p_adjusted == only(alone).p_adjusted
    assert verdict.notes == ("mine/mine: the anchor and the baseline are the same runs",)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"anchor": "tag:of=old"}, "there is no anchor: tag:of=old: no run has this tag"),
        (
            {"max_anchor_days": 8},
            "the anchor is 9 days older than the candidate, more than max_anchor_days (8)",
        ),
    ],
)
def test_an_anchor_without_a_say_is_inconclusive(eroded, fields, reason):
    fields = {"candidate": "run:r10", "baseline": "run:r9", "anchor": "run:r1", **fields}
    verdict = decide(eroded, drop(), **fields)
    assert verdict.exit_code == 3
    assert verdict.decisions[1].reason.startswith(reason)


@pytest.mark.slow
@pytest.mark.parametrize(("changed", "code"), [(50, 1), (51, 3)])
def test_an_anchor_counts_by_its_unchanged_tasks(tmp_path, changed, code):
    worse = {"changed": changed, "first_lost": 60}
    store = store_of(
        tmp_path, rows("r1", 1, 0), rows("r2", 2, 14, **worse), rows("r3", 3, 15, **worse)
    )
    verdict = decide(store, drop(), candidate="run:r3", baseline="run:r2", anchor="run:r1")
    assert (verdict.exit_code, verdict.decisions[1].n_changed) == (code, changed)
    if code == 3:
        assert verdict.decisions[1].reason == (
            "the candidate has values of 49 of the anchor's 100 tasks (49 %), less than half; name "
            "a newer anchor; 51 tasks have other content than in the anchor"
        )


@pytest.mark.slow
def test_a_baseline_of_several_runs_is_pooled(eroded):
    fields = {"candidate": "run:r10", "baseline": "tag:of=main"}
    decision = only(decide(eroded, drop(), baseline_runs=3, **fields))
    assert decision.baseline_run_ids == ("r7", "r8", "r9")
    drops = np.repeat([0, 1 / 3, 2 / 3, 1, 0], [14, 2, 2, 2, N - 20])
    assert decision.drop == pytest.approx(drops.mean())
    assert decision.p_value == pytest.approx(
        excess_of_bounded_means(drops, 0.02, largest=1.0), abs=1e-12
    )
    assert only(decide(eroded, drop(), **fields)).baseline_run_ids == ("r9",)
    verdict = decide(eroded, drop(), baseline_runs=5, **fields)
    assert verdict.notes == (
        "mine/mine: the baseline has 3 of baseline_runs (5) that asked as many tasks",
    )
    with pytest.raises(BadInput, match="baseline_runs: 'run:r9' is one run"):
        decide(eroded, drop(), candidate="run:r10", baseline="run:r9", baseline_runs=2)


@pytest.mark.slow
def test_only_runs_of_as_many_tasks_are_pooled(tmp_path):
    store = store_of(
        tmp_path,
        rows("r1", 1, 5),
        rows("r2", 2, 5),
        rows("smoke", 3, 0, n_tasks=5),
        rows("r4", 4, 5),
        main=["r1", "r2", "smoke"],
    )
    decision = only(
        decide(store, drop(), candidate="run:r4", baseline="tag:of=main", baseline_runs=3)
    )
    assert decision.baseline_run_ids == ("r1", "r2")


def test_a_run_that_has_the_tag_is_not_compared_with_itself(eroded):
    decision = only(decide(eroded, drop(), candidate="run:r9", baseline="tag:of=main"))
    assert (decision.candidate_run_ids, decision.baseline_run_ids) == (("r9",), ("r8",))


def test_the_output_names_the_runs_of_tags(eroded, tmp_path):
    fields = {"candidate": "tag:of=all", "baseline": "tag:of=main", "anchor": "run:r1"}
    verdict = decide(eroded, drop(), baseline_runs=2, **fields)
    assert text_report(verdict, width=80).splitlines()[:3] == [
        "tag:of=all against tag:of=main and the anchor run:r1",
        "              tag:of=all is run r10",
        "              tag:of=main is runs r8, r9",
    ]
    assert "tag:of=main is runs r8, r9" in markdown_report(verdict)
    options = [part for name, text in fields.items() for part in (f"--{name}", text)]
    options += ["--max-drop", "0.02", "--baseline-runs", "2", "--junit", str(tmp_path / "gate.xml")]
    ended = command(eroded.path, "gate", *options, "--suite", "mine", "--format", "json")
    document = json.loads(ended.out)
    assert (document["anchor"], document["baseline_runs"]) == ("run:r1", 2)
    assert [each["baseline_run_ids"] for each in document["decisions"]] == [["r8", "r9"], ["r1"]]
    root = ET.parse(tmp_path / "gate.xml").getroot()
    assert "tag:of=main is runs r8, r9" in root.find("testsuite/system-out").text


# --- failures that more runs confirm


@pytest.mark.slow
def test_a_failure_waits_for_more_runs_whatever_the_rules_say(tmp_path):
    store = store_of(tmp_path, rows("base", 1, 0), rows("next", 2, 10), main=["base"], new=["next"])
    verdict = decide(
        store,
        drop(),
        candidate="tag:of=new",
        baseline="tag:of=main",
        confirm=1,
        on_inconclusive="warn",
    )
    decision = only(verdict)
    assert (verdict.exit_code, decision.outcome) == (3, Outcome.INCONCLUSIVE)
    assert (decision.more_candidate_runs, decision.more_baseline_runs) == (1, 1)
    assert decision.reason.endswith(
        "the drop is larger than the 2 points allowed (p = 0.0024); to confirm it, make more runs: "
        "1 of the baseline (with tag:of=main) and 1 of the candidate (with tag:of=new)"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("further", "code", "words"),
    [
        ({"n_lost": 12}, 1, "the first run alone fails, too"),
        ({"n_lost": 0}, 0, "the first run alone fails"),
    ],
)
@pytest.mark.parametrize("by", [pytest.param("run", marks=pytest.mark.slow), "tag"])
def test_more_runs_decide_a_failure(tmp_path, by, further, code, words):
    store = store_of(
        tmp_path,
        rows("base-1", 1, 0),
        rows("base-2", 2, 2, first_lost=90),
        rows("next-1", 3, 10, model="new"),
        rows("next-2", 4, **further, model="new"),
        rows("smoke", 5, 0, n_tasks=5, model="new"),
        main=["base-1", "base-2"],
        new=["next-1", "next-2", "smoke"],
    )
    candidate = "run:next-1" if by == "run" else "tag:of=new"
    baseline = "run:base-1" if by == "run" else "tag:of=main"
    verdict = decide(store, drop(), candidate=candidate, baseline=baseline, confirm=1)
    decision = only(verdict)
    assert verdict.exit_code == code
    # By its tag, the last run of the baseline decides first, which lost two tasks.
    p_value = excess_of_proportions(10, 0 if by == "run" else 2, N, 0.02)
    assert decision.reason.endswith(f"; {words} ({p_words(p_value)})")
    assert decision.candidate_run_ids == ("next-1", "next-2")
    assert decision.baseline_run_ids == ("base-1", "base-2")
    drops = -np.repeat([0, 0.5, 0], [90, 2, N - 92])
    drops[:10] += 0.5
    drops[: further["n_lost"]] += 0.5
    assert decision.p_value == pytest.approx(
        excess_of_bounded_means(drops, 0.02, largest=1.0), abs=1e-12
    )


@pytest.mark.slow
def test_later_runs_of_one_model_are_the_candidates(tmp_path):
    store = store_of(
        tmp_path, rows("base", 1, 0), rows("next-1", 2, 10), rows("next-2", 3, 10), rows("x", 4, 0)
    )
    decision = only(decide(store, drop(), candidate="run:next-1", baseline="run:base", confirm=1))
    assert (decision.more_candidate_runs, decision.more_baseline_runs) == (0, 1)
    assert decision.reason.endswith(
        "make more runs: 1 of the baseline (tag it and run base alike, and name it by "
        "tag:NAME=VALUE)"
    )


@pytest.mark.slow
def test_a_repeated_run_does_not_replace_the_one_that_failed(tmp_path):
    store = store_of(
        tmp_path, rows("base", 1, 0), rows("next-1", 2, 20), rows("next-2", 3, 0),
        main=["base"], new=["next-1", "next-2"],
    )  # fmt: skip
    verdict = decide(store, drop(), candidate="tag:of=new", baseline="tag:of=main", confirm=1)
    assert (verdict.exit_code, only(verdict).candidate_run_ids) == (3, ("next-1",))
    # And what passes needs no more runs.
    fields = {"candidate": "tag:of=new", "baseline": "tag:of=main"}
    assert decide(store, drop(0.5), confirm=1, **fields).exit_code == 0


@pytest.mark.slow
def test_costs_are_confirmed_by_the_candidate_alone(tmp_path):
    dear, cheap = rows("next-1", 1, 0), rows("next-2", 2, 0)
    for row in dear[1]:
        row["cost_usd"] = 0.02
    store = store_of(tmp_path, dear)
    rule = Rule(kind="max_cost_per_passed_usd", limit=0.016)
    fields = {"candidate": "run:next-1", "baseline": None, "confirm": 1}
    waiting = only(decide(store, rule, **fields))
    assert (waiting.more_candidate_runs, waiting.more_baseline_runs) == (1, 0)
    assert waiting.reason.endswith("make more runs: 1 of the candidate (after run next-1)")
    write(store, cheap)
    store.sync()
    decided = only(decide(store, rule, **fields))
    assert (decided.outcome, decided.candidate_value) == (Outcome.PASSED, pytest.approx(0.015))
    assert decided.reason.endswith("; the first run alone fails")


@pytest.mark.slow
def test_costs_are_those_of_the_run_that_counts(tmp_path):
    full, smoke = rows("full", 1, 0), rows("smoke", 2, 0, n_tasks=50)
    for row in smoke[1]:
        row["cost_usd"] = 1.0
    store = store_of(tmp_path, full, smoke, new=["full", "smoke"])
    rule = Rule(kind="max_cost_per_passed_usd", limit=0.02)
    decision = only(decide(store, rule, candidate="tag:of=new", baseline=None))
    assert decision.candidate_run_ids == ("full",)
    assert (decision.outcome, decision.candidate_value) == ("passed", pytest.approx(0.01))


@pytest.mark.parametrize(
    ("rule", "fields", "message"),
    [
        (drop(), {"candidate": "bot"}, "confirm: 'bot' is a model: name the candidate by run"),
        (drop(), {"proves": True}, "confirm: does not go with prove"),
        (drop(), {"candidate": "tag:of=main"}, "3 runs have this tag, more than confirm"),
        (Rule(kind="min_value", limit=0.5), {}, "confirm: only with one of max_cost_per_passed"),
        (Rule(kind="min_value", limit=0.5), {"anchor": "run:r1", "confirm": 0}, "anchor: only"),
    ],
)
def test_what_does_not_go_together_is_refused(eroded, rule, fields, message):
    fields = {"candidate": "run:r10", "baseline": "run:r1", "confirm": 1, **fields}
    with pytest.raises(BadInput, match=message):
        decide(eroded, rule, **fields)


def test_the_command_and_the_file_say_the_same(eroded, tmp_path):
    keys = {"anchor": "tag:of=start", "max_anchor_days": 8, "baseline_runs": 2, "confirm": 1}
    text = "".join(f"{key}: {value}\n" for key, value in keys.items())
    text += "candidate: run:r10\nbaseline: tag:of=main\nsuite: mine\nrules: [{max_drop: 0.02}]\n"
    (tmp_path / "rules.yaml").write_text(text)
    ended = command(eroded.path, "gate", tmp_path / "rules.yaml", "--format", "json")
    options = [
        part for key, value in keys.items() for part in (f"--{key}".replace("_", "-"), str(value))
    ]
    options += ["--candidate", "run:r10", "--baseline", "tag:of=main", "--suite", "mine"]
    other = command(eroded.path, "gate", *options, "--max-drop", "0.02", "--format", "json")
    assert (ended.code, other.code, ended.out) == (3, 3, other.out)
    assert {key: json.loads(ended.out)[key] for key in keys} == keys
