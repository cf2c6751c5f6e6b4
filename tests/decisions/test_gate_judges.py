"""The gate on metrics that are a judge's opinion: what labels show of the judge."""

import json
from datetime import datetime

import pytest
from gate_cases import decide, drop, only, run_rows
from support import REFERENCE, add_rows, command, new_store

from warehouse.analysis.decisions.gate.ci_reports import (
    github_report,
    junit_report,
    markdown_report,
)
from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.reports import json_report, text_report
from warehouse.analysis.decisions.gate.rules import Rule

N = 60
RUNS = ("m-base", "m-same")
GOOD = [n % 30 == 0 for n in range(N)]
STRADDLING = [n % 6 == 0 for n in range(N)]
BAD = [n % 2 == 0 for n in range(N)]
PASSED = frozenset({Outcome.PASSED})


def said(run_id, task, rater, kind, value, **fields):
    """Return a rating of the answer to a task, as a row of `ratings`."""
    return {
        "suite": "mine",
        "run_id": run_id,
        "generation": "root",
        "seq": task + 1,
        "content_id": f"{run_id} {rater} {task}",
        "task_set": "mine",
        "task_id": f"t{task}",
        "result_id": f"{run_id} {task} 0",
        "criterion": "helpful",
        "rater": rater,
        "rater_kind": kind,
        "value": float(value),
        "status": "ok",
        "scale_low": 0.0,
        "scale_high": 1.0,
        **fields,
    }


def labels_of(errors, at="2026-03-02", kind="human", **fields):
    """Return labels of the candidate's answers: a person's, who differs from the judge at times."""
    at = at and datetime.fromisoformat(at)
    rows = [
        said("m-same", n, "ann", kind, (n % 3 > 0) != error, rated_at=at)
        for n, error in enumerate(errors)
    ]
    of = {"run_id": "labels", "rated_suite": "mine", "rated_run_id": "m-same", **fields}
    return [{**row, **of} for row in rows]


def judged_runs():
    """Return two runs whose answers the judge rates alike."""
    runs = [run_rows(model, [1] * N) for model in ("m/base", "m/same")]
    ratings = [said(run, n, "j", "judge", n % 3 > 0) for run in RUNS for n in range(N)]
    results = [result for _, of_run in runs for result in of_run]
    return {"runs": [run for run, _ in runs], "results": results, "ratings": ratings}


def labelled(rows):
    header = {"suite": "mine", "run_id": "labels", "content_id": "labels", "generation": "root"}
    return {"runs": [header], "ratings": rows}


@pytest.fixture(scope="module")
def labelled_store(tmp_path_factory):
    """Return the store of the judged runs with these labels, which tests only read."""
    stores = {}

    def found(labels=()):
        if repr(labels) not in stores:
            store = stores[repr(labels)] = new_store(tmp_path_factory.mktemp("judged") / "store")
            add_rows(store.lake, **judged_runs())
            if labels:
                add_rows(store.lake, **labelled(labels))
        return stores[repr(labels)]

    return found


@pytest.fixture
def verdict_of(labelled_store):
    """Return the verdict about a store with these labels."""

    def found(labels=(), *rules, **fields):
        return decide(labelled_store(labels), *(rules or [drop(metric="helpful")]), **fields)

    return found


@pytest.mark.slow
def test_a_good_judge_is_stated_with_its_figures(verdict_of):
    decision = only(verdict_of(labels_of(GOOD), min_judge_kappa=0.6, max_judge_age_days=30))
    assert decision.outcome is Outcome.PASSED
    [judge] = decision.judges
    assert (judge["judge"], judge["other"], judge["n_items"]) == ("j", "people", N)
    assert judge["agreement_rate"] == pytest.approx(58 / 60)
    assert 0.6 < judge["kappa_low"] < judge["kappa"] < judge["kappa_high"] <= 1
    assert (judge["newest_label_at"], judge["age_days"]) == (
        datetime.fromisoformat("2026-03-02"),
        30,
    )
    assert decision.texts[1] == (
        "judge j agrees with people on 96.7 % of 60 labelled answers, kappa with quadratic weights "
        f"{judge['kappa']:.2f} (95 % interval {judge['kappa_low']:.2f} to "
        f"{judge['kappa_high']:.2f}); newest label of 2026-03-02, 30 days before the candidate"
    )


@pytest.mark.slow
def test_a_judge_below_the_minimum_fails_whatever_it_says(verdict_of):
    decision = only(verdict_of(labels_of(BAD), min_judge_kappa=0.6))
    assert decision.outcome is Outcome.FAILED
    assert "; failed: judge j: its kappa, at most 0." in decision.reason
    assert decision.reason.endswith(", is below min_judge_kappa (0.6)")


@pytest.mark.slow
def test_an_interval_with_the_minimum_inside_is_inconclusive(verdict_of):
    decision = only(verdict_of(labels_of(STRADDLING), min_judge_kappa=0.6))
    [judge] = decision.judges
    assert judge["kappa_low"] < 0.6 < judge["kappa_high"]
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert "judge j: its kappa is not shown to be min_judge_kappa (0.6) or more" in decision.reason


@pytest.mark.slow
def test_a_rule_has_a_minimum_of_its_own(verdict_of):
    rules = [drop(metric="helpful", min_judge_kappa=least) for least in (0.1, 0.99)]
    rules.append(drop(metric="helpful", min_judge_kappa=0.1, max_judge_age_days=9))
    verdict = verdict_of(labels_of(STRADDLING), *rules, min_judge_kappa=0.6)
    outcomes = [each.outcome for each in verdict.decisions]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "why"), [("2026-03-01", "too old"), (None, "of unknown age"), ("2026-03-02", None)]
)
def test_labels_that_are_too_old_are_inconclusive(verdict_of, at, why):
    decision = only(verdict_of(labels_of(GOOD, at), max_judge_age_days=30))
    assert decision.outcome is (Outcome.INCONCLUSIVE if why else Outcome.PASSED)
    words = f"judge j: its newest label is {why}: max_judge_age_days is 30"
    assert (words in decision.reason) == (why is not None)


@pytest.mark.slow
def test_a_newer_label_is_after_the_candidate(verdict_of):
    decision = only(verdict_of(labels_of(GOOD, "2026-04-11"), max_judge_age_days=0))
    assert decision.outcome is Outcome.PASSED
    assert decision.texts[1].endswith("newest label of 2026-04-11, 10 days after the candidate")


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, Outcome.PASSED),
        ({"require_calibrated": True}, Outcome.INCONCLUSIVE),
        ({"min_judge_kappa": 0.0}, Outcome.INCONCLUSIVE),
        ({"max_judge_age_days": 1e9}, Outcome.INCONCLUSIVE),
    ],
)
def test_without_labels_the_judge_is_uncalibrated(verdict_of, fields, outcome):
    decision = only(verdict_of(**fields))
    assert decision.outcome is outcome
    assert decision.texts[1] == (
        "uncalibrated judge j: no label of people, and no gold, is on any answer that it judged"
    )


@pytest.mark.slow
def test_a_few_labels_do_not_calibrate_a_judge(verdict_of):
    decision = only(verdict_of(labels_of(GOOD[:5]), require_calibrated=True))
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert decision.reason.endswith(
        "; inconclusive: judge j: its labels give no interval of kappa; label more of its answers"
    )
    assert "(too few tasks for an interval)" in decision.texts[1]


@pytest.mark.slow
def test_labels_that_are_all_the_same_have_no_kappa(verdict_of):
    same = labels_of(GOOD)
    decision = only(verdict_of([{**row, "value": 1.0} for row in same], require_calibrated=True))
    assert decision.outcome is Outcome.INCONCLUSIVE
    assert "of 60 labelled answers, kappa is not defined; newest" in decision.texts[1]


@pytest.mark.slow
def test_whoever_labelled_more_answers_counts(verdict_of):
    gold = [
        {**row, "rater": "key", "content_id": row["content_id"] + "k"} for row in labels_of(BAD)
    ]
    gold = [{**row, "rater_kind": "gold"} for row in gold]
    [judge] = only(verdict_of([*labels_of(GOOD[:20]), *gold])).judges
    assert (judge["other"], judge["n_items"]) == ("gold", N)


@pytest.mark.slow
def test_a_judge_whose_ratings_are_a_run_of_their_own(store):
    rows = judged_runs()
    ratings = [
        {**row, "suite": "ratings", "run_id": "judged", "rated_suite": "mine", "rated_run_id": run}
        for row in rows.pop("ratings")
        for run in [row["run_id"]]
    ]
    add_rows(store.lake, **rows)
    header = {"suite": "ratings", "run_id": "judged", "content_id": "j", "generation": "root"}
    add_rows(store.lake, runs=[header], ratings=ratings)
    add_rows(store.lake, **labelled(labels_of(GOOD)))
    [judge] = only(decide(store, drop(metric="helpful"), require_calibrated=True)).judges
    assert (judge["judge"], judge["n_items"]) == ("j", N)


@pytest.mark.slow
def test_labels_of_some_answers_are_not_decided_themselves(verdict_of):
    verdict = verdict_of(labels_of(GOOD))
    assert only(verdict).scorer == "j"
    assert any("people labelled 60 answers by helpful" in note for note in verdict.notes)


@pytest.mark.slow
def test_labels_of_all_answers_are_decided_too(verdict_of):
    baseline = [
        {**row, "content_id": f"{row['content_id']} base", "rated_run_id": "m-base",
         "result_id": row["result_id"].replace("m-same", "m-base")}
        for row in labels_of(GOOD)
    ]  # fmt: skip
    verdict = verdict_of([*labels_of(GOOD), *baseline])
    assert [each.scorer for each in verdict.decisions] == ["j", "people"]


@pytest.mark.slow
def test_labels_by_another_criterion_do_not_count(verdict_of):
    decision = only(verdict_of(labels_of(GOOD, criterion="polite")))
    assert decision.texts[1].startswith("uncalibrated judge j: ")


@pytest.mark.parametrize("report", [text_report, json_report, junit_report, markdown_report])
@pytest.mark.parametrize("fields", [{}, {"require_calibrated": True}])
def test_every_report_says_that_a_judge_is_uncalibrated(verdict_of, report, fields):
    verdict = verdict_of(**fields)
    text = report(verdict)
    if report is json_report:
        [decision] = json.loads(text)["decisions"]
        [judge] = decision["judges"]
        assert (judge["judge"], judge["other"], judge["kappa"]) == ("j", None, None)
    else:
        assert "uncalibrated judge j" in text
    assert "uncalibrated judge j" in github_report(verdict)


def test_the_report_of_a_judge_fits_80_columns(verdict_of):
    text = text_report(verdict_of(labels_of(STRADDLING), min_judge_kappa=0.6), width=80)
    assert text.splitlines()[3:] == [
        "inconclusive  max_drop 0.02 of helpful (mine, j)",
        "              the same as the baseline on 60 tasks (95 % interval of the drop",
        "              -5.97 to 5.97; 0 passed by the baseline only, 0 by the candidate",
        "              only): the data do not show a drop of more than 2 points (p = 1);",
        "              80 % power to detect a drop of 16.3 points; inconclusive: judge j:",
        "              its kappa is not shown to be min_judge_kappa (0.6) or more; label",
        "              more of its answers",
        "              judge j agrees with people on 83.3 % of 60 labelled answers, kappa",
        "              with quadratic weights 0.57 (95 % interval 0.32 to 0.76); newest",
        "              label of 2026-03-02, 30 days before the candidate",
        "gate inconclusive: 1 not decided",
    ]


@pytest.mark.slow
def test_names_of_judges_are_shown_safely(store):
    rows = judged_runs()
    name = "j\x1b[31m\n| <b>"
    for row in rows["ratings"]:
        row["rater"] = name
    add_rows(store.lake, **rows)
    verdict = decide(store, drop(metric="helpful"))
    for report in (text_report, json_report, junit_report, markdown_report, github_report):
        assert "\x1b" not in report(verdict)
    assert "<b>" not in markdown_report(verdict) + junit_report(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("is_labels_first", [False, True])
def test_the_order_of_imports_does_not_matter(store, is_labels_first):
    batches = [judged_runs(), labelled(labels_of(STRADDLING))]
    for rows in reversed(batches) if is_labels_first else batches:
        add_rows(store.lake, **rows)
        store.sync()
    decision = only(decide(store, drop(metric="helpful"), min_judge_kappa=0.6))
    [judge] = decision.judges
    assert (judge["n_items"], judge["age_days"], round(judge["kappa"], 2)) == (N, 30, 0.57)


@pytest.mark.slow
def test_a_verdict_of_a_suites_own_judge_is_a_judges(store):
    """The judge decides the first ten tasks only; rules about others are not about it."""
    rows = judged_runs()
    del rows["ratings"]
    of_judge = [row for row in rows["results"] if row["seq"] < 10]
    rows["judgements"] = [
        {
            **{name: row[name] for name in ("suite", "run_id", "generation", "model", "task_id")},
            "content_id": f"{row['content_id']} said",
            "result_id": row["content_id"],
            "judge": "gpt",
            "document": '{"passed": true, "reason": "fine"}',
        }
        for row in of_judge
    ]
    for row in rows["results"]:
        row["scorer"] = "judge gpt" if row in of_judge else "exact"
    add_rows(store.lake, **rows)
    verdict = decide(
        store,
        drop(),
        Rule(kind="must_pass", tasks=("t3", "t30")),
        Rule(kind="must_pass", tasks=("t30",)),
        Rule(kind="max_cost_per_passed_usd", limit=1.0),
        Rule(kind="max_p95_ms", limit=1e6),
        require_calibrated=True,
    )
    names = [[judge["judge"] for judge in each.judges] for each in verdict.decisions]
    assert names == [["gpt"], ["gpt"], [], ["gpt"], []]
    assert [each.outcome in PASSED for each in verdict.decisions] == [
        False,
        False,
        True,
        False,
        True,
    ]


def test_what_is_demanded_of_a_judge_where_there_is_none_is_said(verdict_of):
    verdict = verdict_of((), drop(), drop(min_judge_kappa=0.6), require_calibrated=True)
    outcomes = [each.outcome for each in verdict.decisions]
    assert outcomes == [Outcome.PASSED, Outcome.INCONCLUSIVE]
    assert "the store knows of no judge of this metric" in verdict.decisions[1].reason
    assert verdict.notes == (
        "require_calibrated: no rule is on a metric whose judge the store knows",
    )


@pytest.mark.slow
def test_labels_of_people_calibrate_a_scorer_of_inspect(store):
    rows = judged_runs()
    del rows["ratings"]
    for row in (*rows["runs"], *rows["results"]):
        row["suite"] = "inspect"
    rows["result_scores"] = [
        {
            "suite": "inspect",
            "run_id": row["run_id"],
            "generation": "root",
            "content_id": f"{row['content_id']} {scorer}",
            "result_id": row["content_id"],
            "scorer": scorer,
            "metric": scorer,
            "value": float(row["seq"] % 3 > 0),
        }
        for row in rows["results"]
        for scorer in ("model_graded_qa", "match")
    ]
    for row in rows["results"]:
        row["scorer"] = "model_graded_qa"
    add_rows(store.lake, **rows)
    of = {"suite": "inspect", "rated_suite": "inspect", "criterion": "model_graded_qa"}
    header = {"suite": "inspect", "run_id": "labels", "content_id": "labels", "generation": "root"}
    add_rows(store.lake, runs=[header], ratings=labels_of(GOOD, **of))
    rules = [drop(metric=metric) for metric in ("model_graded_qa", "passed", "match")]
    verdict = decide(store, *rules, suite="inspect")
    found = [[(j["judge"], j["n_items"]) for j in each.judges] for each in verdict.decisions]
    assert found == [[("model_graded_qa", N)], [("model_graded_qa", N)], []]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "suite", "judges"),
    [
        (
            "promptfoo/generated-0.123.1/a.json",
            "promptfoo",
            {
                "passed": ["llm-rubric"],
                "score": ["llm-rubric"],
                "rubric": ["llm-rubric"],
                "dist": [],
            },
        ),
        (
            "helm",
            "helm",
            {
                "harm_bench_score": ["harm_bench claude", "harm_bench gpt"],
                "harm_bench_gpt_score": ["harm_bench gpt"],
                "art_claude_score": ["anthropic_red_team claude"],
                "num_output_tokens": [],
                "passed": [],
            },
        ),
    ],
)
def test_judges_of_other_tools_are_known_where_the_log_names_them(tmp_path, folder, suite, judges):
    logs = REFERENCE / "peers" / folder
    if not logs.exists():
        pytest.skip("needs the real logs")
    store = new_store(tmp_path / "store")
    assert command(tmp_path / "store", "import", str(logs)).code in {0, 1}
    found = {}
    called = "SELECT DISTINCT model || '@run:' || run_id, metric FROM result_scores JOIN results"
    rows = store.sql(
        f"{called} USING (suite, run_id, result_id) WHERE suite = $suite", {"suite": suite}
    ).fetchall()
    with store.reading():  # kept open: there are many
        for model, metric in rows:
            if metric in judges:
                rule = Rule(kind="min_value", limit=0.0, metric=metric)
                verdict = decide(store, rule, candidate=model, baseline=None, suite=suite)
                names = {judge["judge"] for each in verdict.decisions for judge in each.judges}
                found[metric] = sorted({*found.get(metric, ()), *names})
    assert found == judges


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ((), (0, "kappa with quadratic weights 0.57")),
        (("--require-calibrated",), (0, "kappa with quadratic weights 0.57")),
        (("--min-judge-kappa", "0.99"), (1, "is below min_judge_kappa (0.99)")),
        (("--min-judge-kappa", "0.6"), (3, "not shown to be min_judge_kappa (0.6) or more")),
        (("--max-judge-age-days", "29"), (3, "too old: max_judge_age_days is 29")),
    ],
)
@pytest.mark.parametrize("is_file", [False, True])
def test_options_of_the_command(labelled_store, tmp_path, options, ends, is_file):
    """Options go before what the file says, for single rules too."""
    store = labelled_store(labels_of(STRADDLING))
    sides = ["--candidate", "m/same", "--baseline", "m/base"]
    rules = tmp_path / "rules.yaml"
    least = "min_judge_kappa: 0.1, max_judge_age_days: 90"
    rules.write_text(f"rules: [{{metric: helpful, max_drop: 0.02, {least}}}]")
    limits = [rules] if is_file else ["--metric", "helpful", "--max-drop", "0.02"]
    ended = command(store.path, "gate", *limits, *sides, *options)
    assert ended.code == ends[0]
    assert ended.err.startswith("mine/mine: people labelled 60 answers by helpful")
    assert ends[1] in " ".join(ended.out.split())
    if options:
        misplaced = ["--max-p95-ms", "9", "--candidate", "m/same", *options]
        ended = command(store.path, "gate", *misplaced)
        assert ended.code == 2
        assert "only with one of max_cost_per_passed_usd, max_drop" in ended.err
