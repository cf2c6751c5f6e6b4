"""Run folders of HELM: whole, in part and broken."""

import json
import math
import shutil

import pytest
from helm_cases import NAME, entry, request, stat, write_run
from support import digests, import_into, queried_store

from ingest.formats.common import elements
from ingest.formats.common.elements import BrokenElementsError, Elements
from ingest.formats.helm.requests import instance_key
from ingest.reconciliation import FileOutcome


def rows(store, query):
    return store.sql(query).fetchall()


def outcomes(summary):
    return dict(summary.outcomes)


def test_a_run(store, tmp_path):
    write_run(tmp_path / "out" / "runs" / "v1" / NAME)
    summary = import_into(store, tmp_path)
    assert (outcomes(summary), summary.n_results) == ({FileOutcome.IMPORTED: 1}, 4)
    assert rows(store, "SELECT run_id, models, n_results, task_set, temperature FROM runs") == [
        (f"v1/{NAME}", ["org/m"], 4, "trivia:subject=towns,method=multiple_choice_joint", 0.0)
    ]
    assert rows(
        store,
        "SELECT task_id, attempt, answer, raw_output, latency_ms, is_cached, success "
        "FROM results ORDER BY task_id",
    ) == [
        ("id0", 1, "Turku", " A", None, True, True),
        ("id1", 1, "Oulu", " B", 1250, False, True),
        ("id2", 1, "Turku", " A", 2250, False, True),
        ("id3", 1, "Oulu", " B", 3250, False, True),
    ]
    assert rows(store, "SELECT question, choices, target FROM tasks ORDER BY task_id LIMIT 1") == [
        ("Which town is 0?", '["Turku","Oulu"]', "Oulu")
    ]
    assert rows(store, "SELECT metric, filter, mean, n_tasks FROM metrics WHERE mean < 1") == [
        ("exact_match", "test", 0.5, 4),
        ("passed", None, 0.5, 4),
    ]
    assert rows(
        store,
        "SELECT DISTINCT value, passed FROM result_scores WHERE metric = 'passed' ORDER BY value",
    ) == [(0.0, False), (1.0, True)]


def test_one_option_is_no_choice(store, tmp_path):
    requests = [request(0), request(1, output_mapping={"A": "Turku"})]
    write_run(tmp_path / NAME, 2, requests=requests)
    import_into(store, tmp_path)
    assert rows(store, "SELECT task_id, choices FROM tasks ORDER BY task_id") == [
        ("id0", '["Turku","Oulu"]'),
        ("id1", None),
    ]


@pytest.mark.slow
def test_figures_are_recomputed(store, tmp_path):
    write_run(tmp_path / NAME)
    import_into(store, tmp_path)
    assert rows(
        store, "SELECT metric, statistic, status, reason FROM metric_audit ORDER BY seq"
    ) == [
        ("exact_match", "mean", "equal", None),
        ("num_instances", "count", "equal", None),
        ("exact_match", "mean", "equal", None),
        ("ece", "mean", "not recomputable", "no scores of that name"),
        ("idle", "mean", "not recomputable", "the log has no value"),
    ]


@pytest.mark.slow
def test_figures_of_a_run_without_samples(store, tmp_path):
    folder = write_run(tmp_path / NAME)
    for name in ("scenario_state", "per_instance_stats"):
        (folder / f"{name}.json").unlink()
    import_into(store, folder)
    assert rows(
        store, "SELECT DISTINCT status, reason FROM metric_audit WHERE metric = 'exact_match'"
    ) == [("samples missing", "the store has none")]


@pytest.mark.slow
def test_figures_of_sums(store, tmp_path):
    scores = [(-3.0, 2, 8), (-1.0, 3, 4)]
    entries = [
        entry(
            n,
            stat("logprob", logprob),
            stat("num_perplexity_tokens", tokens),
            stat("num_bytes", size),
        )
        for n, (logprob, tokens, size) in enumerate(scores)
    ]
    # The log-probabilities add up to -4, the tokens to 5, the bytes to 12.
    stats = [
        stat("perplexity", math.exp(4 / 5)),
        stat("bits_per_byte", 4 / 12 / math.log(2)),
        stat("logprob_per_byte", -4 / 12),
    ]
    write_run(tmp_path / NAME, n=2, entries=entries, stats=stats)
    import_into(store, tmp_path)
    assert rows(store, "SELECT statistic, status FROM metric_audit ORDER BY seq") == [
        ("perplexity", "equal"),
        ("bits", "equal"),
        ("ratio", "equal"),
    ]


@pytest.mark.slow
def test_perturbed_instances_are_tasks_of_their_own(store, tmp_path):
    changed = {"name": "typos", "robustness": True}
    perturbed = request(0)
    perturbed["instance"] = {**perturbed["instance"], "perturbation": changed}
    scores = [stat("exact_match", 1.0, perturbation=changed)]
    other = {"instance_id": "id0", "train_trial_index": 0, "perturbation": changed}
    write_run(
        tmp_path / NAME,
        n=1,
        requests=[request(0), perturbed],
        entries=[entry(0), {**other, "stats": scores}],
        data_augmenter_spec={"perturbation_specs": [{}]},
    )
    import_into(store, tmp_path)
    assert rows(
        store,
        """
        SELECT task_id = 'id0', metric, value FROM lake.result_scores AS s
        JOIN results AS r USING (run_id, result_id) WHERE metric IN ('exact_match', 'passed')
        ORDER BY ALL
        """,
    ) == [(False, "exact_match", 1.0), (True, "exact_match", 0.0), (True, "passed", 0.0)]
    assert rows(store, "SELECT status, reason FROM metric_audit ORDER BY seq LIMIT 3") == [
        ("equal", None),
        ("equal", None),
        # Not the 1 of the perturbed instance: the least of the two.
        ("equal", None),
    ]


def test_failed_calls_annotations_and_chats(store, tmp_path):
    failed = request(0)
    failed["result"] = {**failed["result"], "success": False, "error": "Content blocked"}
    judged = request(1, annotations={"safety": {"score": 1.0, "reasoning": "fine"}})
    judged["request"] = {
        **judged["request"],
        "prompt": "",
        "messages": [{"role": "user", "content": "Hi"}],
    }
    write_run(tmp_path / NAME, n=2, requests=[failed, judged])
    import_into(store, tmp_path)
    assert rows(
        store, "SELECT availability_status, success, failure_type FROM results ORDER BY 1"
    ) == [
        ("error", False, "Content blocked"),
        ("ok", True, None),
    ]
    assert rows(store, "SELECT judge, document FROM lake.judgements") == [
        ("safety", '{"score":1.0,"reasoning":"fine"}')
    ]
    assert rows(store, "SELECT role, text FROM messages") == [("user", "Hi")]


@pytest.mark.slow
def test_a_call_from_the_cache_counts_in_each_task_set(store, tmp_path):
    other = NAME.replace(",method", ",data_augmentation=canonical,method")
    for suite, name, n in (("v1", NAME, 4), ("v1", other, 4), ("v2", NAME, 5)):
        write_run(tmp_path / "runs" / suite / name, n, name=name)
    import_into(store, tmp_path)
    counts = "SELECT task_set, count(*) FROM verdicts WHERE duplicate_of IS NULL GROUP BY ALL"
    assert sorted(n for _, n in rows(store, counts)) == [4, 5]
    copies = "SELECT run_id, duplicate_of, count(*) FROM checks.duplicate_calls GROUP BY ALL"
    assert rows(store, copies) == [(f"v2/{NAME}", f"v1/{NAME}", 4)]


@pytest.mark.slow
def test_files_that_come_later(tmp_path):
    folder = write_run(tmp_path / "whole" / NAME)
    whole, parts = queried_store(tmp_path / "one"), queried_store(tmp_path / "two")
    import_into(whole, folder)
    part = tmp_path / "part" / NAME
    part.mkdir(parents=True)
    shutil.copy(folder / "run_spec.json", part)
    for name in ("stats.json", "scenario_state.json", "per_instance_stats.json", "scenario.json"):
        shutil.copy(folder / name, part)
        import_into(parts, part)
    query = "SELECT * EXCLUDE (batch, file_sha256) FROM {} ORDER BY ALL"
    for view in ("results", "result_scores", "metric_audit", "tasks", "leaderboard"):
        names = query if view not in {"metric_audit", "leaderboard"} else "FROM {}"
        assert rows(parts, names.format(view)) == rows(whole, names.format(view))
    assert outcomes(import_into(parts, folder)) == {FileOutcome.UNCHANGED: 1}


@pytest.mark.campaign
def test_a_run_without_its_requests(tmp_path):
    folder = write_run(
        tmp_path / "runs" / "v1" / NAME, entries=[*map(entry, range(4)), extra_entry(3)]
    )
    whole, parts = queried_store(tmp_path / "one"), queried_store(tmp_path / "two")
    import_into(whole, folder)
    state = (folder / "scenario_state.json").read_text()
    (folder / "scenario_state.json").unlink()
    summary = import_into(parts, folder)
    assert (summary.n_results, summary.n_quarantined) == (4, 0)
    for query in (
        "SELECT metric, statistic, status, reason FROM metric_audit ORDER BY seq",
        "SELECT metric, filter, mean, n_tasks FROM metrics ORDER BY ALL",
        "SELECT model, metric, pass_rate, n_tasks, n_unanswered FROM leaderboard ORDER BY ALL",
        "SELECT metric, filter, value FROM result_scores ORDER BY ALL",
    ):
        assert rows(parts, query) == rows(whole, query)
    assert rows(parts, "SELECT DISTINCT status FROM metric_audit WHERE metric = 'exact_match'") == [
        ("equal",)
    ]
    assert outcomes(import_into(parts, folder)) == {FileOutcome.UNCHANGED: 1}
    # The answers come later: they are other results of the same tasks.
    (folder / "scenario_state.json").write_text(state)
    assert outcomes(import_into(parts, folder)) == {FileOutcome.CONFLICT: 1}
    assert outcomes(import_into(parts, folder, replace=True)) == {FileOutcome.REPLACED: 1}
    query = "SELECT * EXCLUDE (batch, file_sha256, generation) FROM results ORDER BY ALL"
    assert rows(parts, query) == rows(whole, query)


def extra_entry(n):
    """Return other statistics of an instance, as of a run with judges."""
    made = entry(n)
    return {**made, "stats": [stat("safety_score", 0.5)]}


def test_each_request_of_language_modeling_without_its_text(store, tmp_path):
    adapter = {"method": "language_modeling", "model": "org/m"}
    entries = [entry(0), entry(0), entry(1)]
    folder = write_run(tmp_path / NAME, entries=entries, adapter_spec=adapter)
    (folder / "scenario_state.json").unlink()
    assert import_into(store, folder).n_results == 3


@pytest.mark.campaign
def test_a_cut_file_then_the_whole(tmp_path):
    folder = write_run(tmp_path / NAME)
    whole, parts = queried_store(tmp_path / "one"), queried_store(tmp_path / "two")
    import_into(whole, folder)
    for name in ("scenario_state.json", "per_instance_stats.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text[: len(text) * 2 // 3])
        assert import_into(parts, folder).n_quarantined >= 1
        (folder / name).write_text(text)
    import_into(parts, folder)
    without = ("main.quarantine", "main.files")
    assert digests(parts, without=without) == digests(whole, without=without)


def test_other_answers_of_the_same_run_conflict_or_replace(store, tmp_path):
    folder = write_run(tmp_path / NAME)
    import_into(store, folder)
    state = (folder / "scenario_state.json").read_text()
    (folder / "scenario_state.json").write_text(state.replace('" A"', '" B"'))
    assert outcomes(import_into(store, folder)) == {FileOutcome.CONFLICT: 1}
    assert outcomes(import_into(store, folder, replace=True)) == {FileOutcome.REPLACED: 1}
    assert rows(store, "SELECT DISTINCT answer FROM results") == [("Oulu",)]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("run_spec", '{"adapter_spec": 1, "scenario_spec"', "run_spec.json: not JSON"),
        ("stats", "{}", "stats.json: no list in it"),
        ("stats", '[{"name": 1}]', "stats.json: a statistic without a name"),
        ("stats", "[" * 100_000, "stats.json: nested too deeply"),
        ("scenario_state", "[]", "the rest of the file cannot be read: no JSON object"),
        ("scenario_state", '{"a": 1}', "the rest of the file cannot be read: no list"),
        (
            "scenario_state",
            '{"request_states": [5, {"instance": {}}]}',
            "request 1: a request without",
        ),
        ("scenario_state", '{"request_states": [{"a": ' + "[" * 100_000, "the rest of the file"),
        ("scenario_state", '{"request_states": [{} {}]}', "request 1: a request without"),
        ("per_instance_stats", "{}", "the rest of the file cannot be read: no JSON list"),
        (
            "per_instance_stats",
            '[7, {"instance_id": "id0", "stats": [{}]}]',
            "entry 2: a statistic",
        ),
        (
            "per_instance_stats",
            "[] []",
            "the rest of the file cannot be read: not JSON: text after",
        ),
    ],
)
def test_a_file_that_cannot_be_used(store, tmp_path, name, text, reason):
    folder = write_run(tmp_path / NAME)
    (folder / f"{name}.json").write_text(text)
    summary = import_into(store, tmp_path)
    assert summary.n_quarantined >= 1
    assert any(why.startswith(reason) for (why,) in rows(store, "SELECT reason FROM quarantine"))


@pytest.mark.slow
def test_values_of_wrong_types(store, tmp_path):
    odd = [
        request(0, request=5, result=[], output_mapping=3, annotations=7, train_trial_index="x"),
        request(
            1, request={"prompt": 5, "messages": [3]}, result={"completions": [4], "cached": 1}
        ),
        request(2, result={"request_time": 10**400, "request_datetime": -(10**30), "success": "x"}),
        request(3, extra=math.nan, note="\ud800"),
        request(3, extra=math.nan, note="\ud800"),
    ]
    odd[2]["instance"] = {"id": 2, "references": [1, {"output": 5, "tags": 6}], "input": []}
    entries = [entry(1, {"name": {"name": "x"}, "count": "a"}, stat("y", math.inf))]
    stats = [stat("z", math.nan), {"name": {"name": "w"}, "mean": [1]}]
    write_run(tmp_path / NAME, requests=odd, entries=entries, stats=stats)
    summary = import_into(store, tmp_path)
    assert (summary.n_results, summary.n_quarantined) == (4, 0)
    assert rows(store, "SELECT metric, reported_text FROM metric_audit ORDER BY seq") == [
        ("z", "nan"),
        ("w", "[1]"),
    ]
    [(source,)] = rows(store, "SELECT source FROM results WHERE source IS NOT NULL")
    assert json.loads(source)["note"] == "\ud800"


@pytest.mark.parametrize(
    ("trial", "number"), [(2**31 - 2, 2**31 - 2), (2**31 - 1, 0), (-1, 0), ("1", 0), (None, 0)]
)
def test_a_trial_without_a_number_that_fits_is_the_first(trial, number):
    """The attempt is one more, in 32 bits."""
    assert instance_key("id0", None, trial) == ("id0", "", number)


@pytest.mark.slow
def test_tables_and_summaries_of_a_suite(store, tmp_path):
    suite = tmp_path / "runs" / "v1"
    (suite / "groups" / "json").mkdir(parents=True)
    header = [{"value": "Model", "markdown": False}, {"value": "EM"}, {"value": "other"}]
    cells = [[{"value": "M"}, {"value": 0.5}, {"value": None}], [{"value": "N"}, {"value": "x"}]]
    table = {"title": "T", "header": header, "rows": [*cells, 5, []]}
    (suite / "groups" / "json" / "t_t.json").write_text(json.dumps(table))
    (suite / "groups" / "t.json").write_text(json.dumps([table]))
    (suite / "groups_metadata.json").write_text('{"display_name": 1, "taxonomy": 2}')
    (suite / "summary.json").write_text('{"suites": ["v1"]}')
    summary = import_into(store, tmp_path)
    assert outcomes(summary) == {FileOutcome.IMPORTED: 1, FileOutcome.DECLINED: 3}
    assert rows(
        store, "SELECT report, seq, model, metric, value, text FROM published ORDER BY 2"
    ) == [
        ("v1/t_t", 1, "M", "EM", 0.5, None),
        ("v1/t_t", 2, "N", "EM", None, "x"),
    ]
    assert (
        rows(store, "SELECT status, reason FROM metric_audit")
        == [("not recomputable", "the report names no run")] * 2
    )


@pytest.mark.parametrize("size", [1, 7, 64, 2**20])
def test_elements_of_a_list(tmp_path, monkeypatch, size):
    monkeypatch.setattr(elements, "_BLOCK_BYTES", size)
    monkeypatch.setattr(elements, "_SEARCHED_CHARACTERS", size)
    document = {"a": [1, {"b": 2}], "é": '\\"]', "list": [{"x": "ü,]"}, 12, -1.5e3, None, [[]], ""]}
    path = tmp_path / "a.json"
    for indent in (None, 1):
        path.write_text(json.dumps(document, indent=indent, ensure_ascii=False), "utf-8")
        listed = Elements(path, "list")
        found = [(each, json.loads(listed.raw())) for each in listed.read()]
        assert found == [(each, each) for each in document["list"]]
        whole = path.read_text("utf-8")
        path.write_text(whole[: whole.index("null")], "utf-8")
        part = []
        with pytest.raises(BrokenElementsError):
            part.extend(Elements(path, "list").read())
    path.write_text("[]")
    assert list(Elements(path).read()) == []


@pytest.mark.parametrize("size", [5, 2**20])
@pytest.mark.parametrize("indent", [None, 1])
def test_secrets_in_elements(tmp_path, monkeypatch, size, indent):
    monkeypatch.setattr(elements, "_BLOCK_BYTES", size)
    monkeypatch.setattr(elements, "_SEARCHED_CHARACTERS", size)
    key = "sk-" + "a1b2c3d4" * 4
    document = {"first": f"use {key}", "list": [{"a": 1}, {"b": f"é {key}"}, {"c": 2}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document, indent=indent), "utf-8")
    lines = [1, 1] if indent is None else [2, 8]
    listed = Elements(path, "list")
    assert list(listed.read()) == document["list"]
    assert listed.take_secrets() == [(line, "OpenAI key") for line in lines]
    masked = Elements(path, "list", is_masked=True)
    found = [(each, json.loads(masked.raw())) for each in masked.read()]
    assert found == [(each, each) for each in [{"a": 1}, {"b": "é (redacted)"}, {"c": 2}]]


def verdicts(store):
    return [
        passed for (passed,) in rows(store, "SELECT passed FROM verdicts ORDER BY run_id, task_id")
    ]


@pytest.mark.slow
def test_exact_match_is_the_verdict(store, tmp_path):
    write_run(tmp_path / "exact" / NAME)
    same = [entry(n, stat("quasi_exact_match", float(n % 2))) for n in range(4)]
    write_run(tmp_path / "same" / NAME, name=f"a-{NAME}", entries=same)
    import_into(store, tmp_path)
    assert verdicts(store) == [False, True, False, True] * 2
    assert rows(store, "SELECT DISTINCT verdict_source FROM verdicts") == [("computed",)]
    # One row of the board for each task set, with a rate.
    assert rows(
        store, "SELECT DISTINCT metric, pass_rate FROM leaderboard WHERE metric = 'passed'"
    ) == [("passed", 0.5)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        (stat("quasi_exact_match", 1.0), "exact_match and quasi_exact_match differ in its run"),
        (stat("f1_score", 0.5), "its run is also scored by f1_score"),
        (stat("num_output_tokens", 7), None),
        (stat("inference_idealized_runtime", 0.5), None),
        (stat("toxic_frac", 0.0), None),
        (stat("quasi_exact_match", 1.0, perturbation={"name": "typos"}), None),
    ],
)
def test_scores_that_leave_the_verdict_open(store, tmp_path, extra, reason):
    # The first answer is wrong; what is open about it is open about the run.
    write_run(tmp_path / NAME, entries=[entry(0, extra), entry(1), entry(2), entry(3)])
    import_into(store, tmp_path)
    known = [False, True, False, True]
    assert verdicts(store) == (known if reason is None else [None] * 4)
    assert rows(store, "SELECT DISTINCT violation FROM scores.helm_verdicts") == [(reason,)]
    assert rows(store, "SELECT mean FROM metrics WHERE metric = 'passed'") == [(0.5,)]
