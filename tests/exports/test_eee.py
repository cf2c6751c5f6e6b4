"""Exports of any suite as every_eval_ever: valid, of the same figures, and importable again."""

import json
import math
from collections import Counter

import pytest
from helm_cases import entry, stat, write_run
from inspect_cases import IDS, figures, header, sample, write_eval
from jsonschema import Draft7Validator
from large_logs import write_helm, write_openai_evals
from support import REFERENCE, command, digests, files_in, import_into, needs_reference, new_store

PEERS = REFERENCE / "peers"
SCHEMAS = PEERS / "eee" / "schemas"


def documents(folder):
    """Return the aggregates of a folder, and the samples of all of them."""
    aggregates = [
        json.loads(p.read_text("utf-8")) for p in sorted(folder.rglob("*.json")) if p.is_file()
    ]
    lines = [
        json.loads(line)
        for path in sorted(folder.rglob("*_samples.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return aggregates, lines


def assert_valid(folder):
    aggregates, lines = documents(folder)
    for name, given in (("eval", aggregates), ("instance_level_eval", lines)):
        validator = Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))
        for document in given:
            problems = [error.message for error in validator.iter_errors(document)]
            assert not problems, (problems, document)
    return aggregates, lines


def scored(value, **fields):
    return {"scores": {"match": {"value": value, "answer": "Paris"}}, **fields}


@pytest.fixture
def store(store, tmp_path):
    """Return a store with a run of two epochs."""
    values = {"a/1": "CI", 2: "CC", "ä 3": "II", 4: "PC"}
    samples = [
        sample(name, epoch, **scored(value))
        for name, letters in values.items()
        for epoch, value in enumerate(letters, 1)
    ]
    head = {**header(epochs=2), "results": figures(value=0.5625)}
    import_into(store, write_eval(tmp_path / "log.eval", head, samples))
    return store


@pytest.mark.slow
def test_an_aggregate_has_the_figures_of_metrics(store, tmp_path):
    assert command(store.path, "export", "eee", "--to", tmp_path / "out").code == 0
    [aggregate], lines = documents(tmp_path / "out")
    assert aggregate["evaluation_id"] == "inspect/mockllm_model (temperature 0.5)/E1"
    assert aggregate["eval_library"] == {"name": "inspect_ai", "version": "0.3.285"}
    found = {
        result["evaluation_result_id"]: result["score_details"]["score"]
        for result in aggregate["evaluation_results"]
    }
    # match: (0.5 + 1 + 0 + 0.75) / 4; a partial answer did not pass: (0.5 + 1 + 0 + 0.5) / 4
    assert found == {"match": 0.5625, "passed": 0.5}
    details = aggregate["detailed_evaluation_results"]
    assert details["total_rows"] == len(lines) == 16
    assert (tmp_path / "out" / details["file_path"]).is_file()
    passed = [line for line in lines if line["evaluation_result_id"] == "passed"]
    assert [(line["sample_id"], line["evaluation"]["is_correct"]) for line in passed] == [
        *(("a/1", True), ("2", True), ("ä 3", False), ("4", False)),
        *(("a/1", False), ("2", True), ("ä 3", False), ("4", True)),
    ]
    assert passed[0]["token_usage"] == {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
    assert sum("token_usage" in line for line in lines) == 8
    assert passed[1]["input"]["reference"] == ["Paris"]


@pytest.mark.slow
def test_an_export_comes_back_with_the_same_figures_and_bytes(store, tmp_path):
    command(store.path, "export", "eee", "--to", tmp_path / "out")
    again = new_store(tmp_path / "again")
    import_into(again, tmp_path / "out")
    assert again.sql("SELECT DISTINCT status FROM metric_audit").fetchall() == [("equal",)]
    attempts = "SELECT task_id, attempt, passed FROM verdicts {} ORDER BY ALL"
    of_verdict = "SEMI JOIN (FROM result_scores WHERE scorer = 'passed') AS s USING (result_id)"
    assert (
        again.sql(attempts.format(of_verdict)).fetchall()
        == store.sql(attempts.format("")).fetchall()
    )
    same = "SELECT item_hash FROM result_items GROUP BY ALL ORDER BY ALL"
    assert again.sql(same).fetchall() == store.sql(same).fetchall()
    command(store.path, "export", "eee", "--to", tmp_path / "twice")
    assert files_in(tmp_path / "twice") == files_in(tmp_path / "out")
    third = new_store(tmp_path / "third")
    import_into(third, tmp_path / "twice")
    assert digests(third) == digests(again)


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_helm, write_openai_evals])
def test_a_verdict_that_is_only_a_score_is_exported(tmp_path, write):
    store = new_store(tmp_path / "other")
    n = write(tmp_path / "runs" / "log", 20_000)
    import_into(store, tmp_path / "runs")
    done = command(store.path, "export", "eee", "--to", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    [aggregate], lines = documents(tmp_path / "out")
    passed = [line for line in lines if line["evaluation_result_id"].startswith("passed")]
    assert [line["evaluation"]["is_correct"] for line in passed] == [at % 2 == 1 for at in range(n)]
    [figure] = [
        result["score_details"]["score"]
        for result in aggregate["evaluation_results"]
        if result["evaluation_result_id"].startswith("passed")
    ]
    assert math.isclose(figure, (n // 2) / n)


@pytest.mark.slow
def test_a_sample_is_one_line_however_lines_are_split(store, tmp_path):
    answer = "Paris\x85\u2028\u2029\x0b\nLyon"
    given = sample(1, scores={"match": {"value": "C", "answer": answer, "explanation": answer}})
    import_into(store, write_eval(tmp_path / "b.eval", header(eval_id="E2"), [given]))
    command(store.path, "export", "eee", "--run", "E2", "--to", tmp_path / "out")
    [path] = (tmp_path / "out").rglob("*_samples.jsonl")
    lines = list(map(json.loads, path.read_text("utf-8").splitlines()))
    assert [line["evaluation_result_id"] for line in lines] == ["passed", "match"]
    assert all(answer == line["answer_attribution"][0]["extracted_value"] for line in lines)


@pytest.mark.slow
def test_results_without_a_score_are_counted(store, tmp_path):
    head = {**header(eval_id="E2"), "results": None}
    import_into(store, write_eval(tmp_path / "b.eval", head, [sample(2, scores={})]))
    done = command(store.path, "export", "eee", "--run", "E2", "--to", tmp_path / "out")
    assert done.code == 1
    assert "E2: 1 result not exported: without a score" in done.err
    assert not list((tmp_path / "out").rglob("*_samples.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "E"], "there is no run 'E'"),
        (["--suite", "none"], "the store has no none runs"),
    ],
)
def test_unknown_runs_are_named(store, tmp_path, arguments, message):
    done = command(store.path, "export", "eee", *arguments, "--to", tmp_path / "out")
    assert (done.code, message in done.err) == (2, True), done.err


@pytest.mark.slow
def test_names_lead_nowhere(store, tmp_path):
    for number, name in enumerate(["../../x", "..", "a\\..\\b", "/etc", ".", "x" * 500]):
        head = header(eval_id=f"N{number}", task=name, model=f"{name}/{name}")
        import_into(store, write_eval(tmp_path / f"{number}.eval", head, [sample()]))
    assert command(store.path, "export", "eee", "--to", tmp_path / "out").code == 0
    outside = [
        path for path in files_in(tmp_path) if path.parts[0] != "store" and path.suffix != ".eval"
    ]
    assert len(outside) == 12  # six aggregates, each with its samples
    assert all(path.parts[:2] == ("out", "data") and len(path.parts) == 6 for path in outside)


@pytest.mark.slow
@needs_reference
def test_exports_of_examples_are_valid(examples, store, tmp_path):
    for number, each in enumerate((examples, store)):
        folder = tmp_path / f"out{number}"
        assert command(each.path, "export", "eee", "--to", folder).code in {0, 1}
        aggregates, lines = assert_valid(folder)
        assert aggregates
        assert lines


@pytest.mark.campaign
@needs_reference
@pytest.mark.parametrize("peer", ["inspect", "eee"])
def test_exports_of_other_tools_logs_are_valid_and_stable(tmp_path, peer):
    store = new_store(tmp_path / "store")
    import_into(store, PEERS / peer)
    command(store.path, "export", "eee", "--to", tmp_path / "out")
    aggregates, _ = assert_valid(tmp_path / "out")
    scores = [r["score_details"]["score"] for a in aggregates for r in a["evaluation_results"]]
    assert len(scores) > 100
    assert all(map(math.isfinite, scores))
    first = assert_comes_back(tmp_path)
    assert_valid(tmp_path / "again")
    assert not first.sql("FROM metric_audit WHERE status = 'differs'").fetchall()


def assert_comes_back(tmp_path):
    """Check that an export that was imported is exported as it was; return what was imported."""
    first, second = new_store(tmp_path / "first"), new_store(tmp_path / "second")
    assert import_into(first, tmp_path / "out").n_quarantined == 0
    command(first.path, "export", "eee", "--to", tmp_path / "again")
    assert files_in(tmp_path / "again") == files_in(tmp_path / "out")
    import_into(second, tmp_path / "again")
    assert digests(second) == digests(first)
    return first


@pytest.mark.campaign
@needs_reference
@pytest.mark.parametrize(
    "sources",
    [
        ["palindrome", "openclaw"],
        ["posters"],
        ["peers/bfcl/claude_small", "peers/bfcl/glyphh", "peers/openai-evals"],
        ["peers/lm-eval", "peers/promptfoo/generated-0.123.1"],
        ["peers/helm/9bce4136"],
    ],
    ids=lambda sources: sources[0],
)
def test_exports_of_all_suites_come_back_with_equal_digests(tmp_path, sources):
    store = new_store(tmp_path / "store")
    import_into(store, *(REFERENCE / source for source in sources))
    assert command(store.path, "export", "eee", "--to", tmp_path / "out").code in {0, 1}
    assert_comes_back(tmp_path)


@pytest.mark.campaign
def test_sets_that_are_scored_in_part_come_back(tmp_path):
    store = new_store(tmp_path / "store")
    for number, letters in enumerate(["CI  ", "    ", "CCP "]):
        scores = [{"scores": {}} if letter == " " else scored(letter) for letter in letters]
        samples = [sample(name, **score) for name, score in zip(IDS, scores, strict=True)]
        head = header(eval_id=f"E{number}", task=f"set {number % 2}", model=f"m/{number}")
        head["results"] |= figures()
        import_into(store, write_eval(tmp_path / f"{number}.eval", head, samples))
    # Of four requests the statistics of two, of which one has no exact match.
    entries = [entry(1), {"instance_id": "id2", "train_trial_index": 0, "stats": [stat("f1", 0.5)]}]
    write_run(tmp_path / "runs" / "v1" / "run", entries=entries)
    import_into(store, tmp_path / "runs")
    done = command(store.path, "export", "eee", "--to", tmp_path / "out")
    assert done.code == 1
    assert "9 results were left out" in done.err
    _, lines = documents(tmp_path / "out")
    found = {(line["evaluation_id"], line["sample_id"]) for line in lines}
    assert len(found) == 5 + 2
    first = assert_comes_back(tmp_path)
    assert not first.sql("FROM metric_audit WHERE status = 'differs'").fetchall()


@pytest.mark.slow
def test_results_of_several_task_sets_have_ids_of_their_own(tmp_path):
    store = new_store(tmp_path / "own")
    rows = [f"r,m,{name},{n},{n > 0}" for name in ("easy", "hard") for n in range(3)]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(["run_id,model,task_set,task_id,passed", *rows]))
    assert command(store.path, "import", table, "--yes").code == 0
    assert command(store.path, "export", "eee", "--to", tmp_path / "out").code == 0
    [aggregate], lines = documents(tmp_path / "out")
    ids = [result["evaluation_result_id"] for result in aggregate["evaluation_results"]]
    assert ids == ["easy/passed", "hard/passed"]
    assert {(x["evaluation_name"], x["evaluation_result_id"]) for x in lines} == {
        ("easy", "easy/passed"), ("hard", "hard/passed")
    }  # fmt: skip


@needs_reference
@pytest.mark.campaign
@pytest.mark.parametrize("tool", ["eee", "helm", "inspect", "openai-evals", "promptfoo"])
def test_exports_of_real_logs_come_back_whole(tool, tmp_path):
    store, again = new_store(tmp_path / "store"), new_store(tmp_path / "again")
    command(store.path, "import", PEERS / tool, "--yes")
    command(store.path, "export", "eee", "--to", tmp_path / "out")
    assert command(again.path, "import", tmp_path / "out").code == 0
    files = [path for path in (tmp_path / "out").rglob("*.json") if path.is_file()]
    results = [json.loads(path.read_text("utf-8"))["evaluation_results"] for path in files]
    if tool != "eee":  # whose files may have none
        for of_file in results:
            assert len({result["evaluation_result_id"] for result in of_file}) == len(of_file)
    exported = Counter(
        result["score_details"]["score"] for of_file in results for result in of_file
    )
    values = again.sql("SELECT value FROM reported_metrics").fetchall()
    assert Counter(value for (value,) in values) == exported
    assert "differs" not in dict(again.sql("SELECT status, 1 FROM metric_audit").fetchall())
    if tool != "eee":  # in whose files a verdict is a part of each score
        verdicts = "SELECT passed, count(*) FROM verdicts {} WHERE passed IS NOT NULL GROUP BY 1"
        only = "SEMI JOIN (FROM result_scores WHERE contains(scorer, 'passed')) USING (result_id)"
        came = dict(again.sql(verdicts.format(only)).fetchall())
        assert came[True] == dict(store.sql(verdicts.format("")).fetchall())[True]
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_dir() and not any(p.iterdir())] == []
