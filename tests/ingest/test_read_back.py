"""Nothing is lost: a log can be reconstructed from the columns of the warehouse."""

import json

import pytest
from palindrome_cases import independent, older_logs, read_back, remove_archive
from support import (
    EXAMPLES,
    PALINDROME,
    import_into,
    log,
    needs_reference,
    new_store,
    task,
    write_log,
)


def run_id_of(document):
    return f"{document['date']}/{document['model']}"


def assert_read_back(store, paths):
    assert store.sql("SELECT count_if(is_kept) FROM files").fetchall() == [(0,)]
    found = read_back(store)
    for path in paths:
        meant = independent(path.read_text("utf-8"))
        back = found.pop(run_id_of(meant))
        assert list(back) == list(meant), path.name
        assert [list(task) for task in back["tasks"]] == [list(task) for task in meant["tasks"]]
        assert back == meant, path.name
    assert not found


@pytest.mark.slow
def test_examples_are_reproduced_from_columns(store):
    logs = sorted((EXAMPLES / "benchmark_logs").glob("*.yaml"))
    import_into(store, *logs)
    assert len(logs) == 16
    remove_archive(store)
    assert_read_back(store, logs)


@pytest.mark.slow
@needs_reference
def test_all_reference_logs_are_reproduced_from_one_store(store):
    logs = sorted((PALINDROME / "benchmark_logs").glob("*.yaml"))
    summary = import_into(store, PALINDROME / "benchmark_logs")
    assert len(summary.runs) == len(logs) > 0
    remove_archive(store)
    assert_read_back(store, logs)


@pytest.mark.slow
@needs_reference
def test_older_logs_are_reproduced(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.provenance.LARGEST_KEPT_BYTES", 0)  # nothing is archived
    assert older_logs()
    for number, logs in enumerate(older_logs()):
        store = new_store(tmp_path / str(number))
        import_into(store, *logs)
        assert_read_back(store, logs)


@pytest.mark.slow
@needs_reference
def test_no_reference_log_needs_its_source_text_or_has_unknown_fields(store):
    import_into(store, PALINDROME / "benchmark_logs")
    assert store.sql(
        "SELECT count(source), count(extra) FROM results UNION ALL "
        "SELECT count(source), count(extra) FROM runs"
    ).fetchall() == [(0, 0), (0, 0)]


@pytest.mark.slow
@needs_reference
def test_yaml_styles_are_read_as_the_intended_values(store, tmp_path):
    cases = []
    for line in (PALINDROME / "yaml_style.jsonl").read_bytes().split(b"\n"):
        # The file was split at U+0085, so that one or two lines are not JSON.
        try:
            cases.append(json.loads(line))
        except ValueError:
            continue
    assert len(cases) > 40
    for number, case in enumerate(cases):
        for form in ("yaml", "yaml_after_reload_and_save"):
            text = case[form].replace("models/m-1", f"models/m{number}-{form}-1")
            (tmp_path / f"{number}-{form}.yaml").write_text(text, "utf-8", newline="")
    import_into(store, tmp_path)
    found = read_back(store)
    for number, case in enumerate(cases):
        for form in ("yaml", "yaml_after_reload_and_save"):
            back = found[f"2025-11-28/models/m{number}-{form}-1.yaml"]
            meant = independent(case[form])
            assert {**back, "model": "models/m-1.yaml"} == meant
            [task] = back["tasks"]
            if case["kind"] == "answer" and case["lossless"]:
                assert task["answer"] == case["value"]
            if case["kind"] == "prompt_template":
                assert back["prompt_template"] == case["value"]


STRANGE = {
    "an unknown field": {"reasoning": "näin", "tags": ["a", {"b": [1, 2.5, None, True]}]},
    "a number in a text field": {"answer": 12},
    "a boolean in a text field": {"answer": False},
    "null in every field": dict.fromkeys(["prompt", "answer", "is_correct", "duration_seconds"]),
    "a text in a numeric field": {"duration_seconds": "4.1"},
    "a text in a boolean field": {"is_correct": "true"},
    "a list in a text field": {"answer": ["a", "b"], "prompt": {"a": "b"}},
    "a whole number of seconds": {"duration_seconds": 4},
    "a huge number": {"duration_seconds": 10**30, "metadata": {"input_tokens": 10**30}},
    "a number beyond 64 bits in an unknown field": {"big": 2**80, "exact": 0.1},
    "metadata that is not a mapping": {"metadata": ["a", 1]},
    "metadata that is null": {"metadata": None},
    "empty metadata": {"metadata": {}},
    "unknown metadata": {"metadata": {"reasoning_tokens": 5, "input_tokens": 3}},
    "wrong metadata": {"metadata": {"input_tokens": 3.5, "cost_usd": "free", "cost_source": 1}},
    "a whole number with a decimal point": {"metadata": {"input_tokens": 120.0}},
    "another time zone": {"timestamp": "2026-04-01T12:00:00+02:00"},
    "not a time": {"timestamp": "eilen"},
    "a date as the time": {"timestamp": "2026-04-01"},
    "fractions of a second": {"timestamp": "2026-04-01T12:00:00.123456Z"},
    "the edge of the calendar": {"timestamp": "0001-01-01T00:00:00+14:00"},
    "the other edge": {"timestamp": "9999-12-31T23:59:59-14:00"},
    "control characters": {"answer": "a\u0007b\u001b[31m\u0000\u2028\ufeff"},
    "line ends": {"answer": "a\r\nb\rc\n\n", "prompt": "\n x"},
    "outside the basic multilingual plane": {"answer": "😀 𝒳 \U0010ffff"},
    "empty texts": {"answer": "", "prompt": ""},
}


@pytest.mark.slow
def test_odd_tasks_are_reproduced(store, tmp_path):
    documents = {
        what: log(tasks=[task(1), task(2, **fields), task(3)], model=f"models/{number}.yaml")
        for number, (what, fields) in enumerate(STRANGE.items())
    }
    for what, document in documents.items():
        write_log(tmp_path / "logs" / f"{what}.yaml", document)
    import_into(store, tmp_path / "logs")
    remove_archive(store)
    found = read_back(store)
    assert len(found) == len(documents)
    for what, document in documents.items():
        assert found[run_id_of(document)] == document, what


@pytest.mark.slow
def test_a_count_with_a_decimal_point_counts(store, tmp_path):
    tokens = [120, 120.0, "120", 120.5, True, 1e300]
    tasks = [task(n, metadata={"input_tokens": value}) for n, value in enumerate(tokens)]
    import_into(store, write_log(tmp_path / "log.yaml", log(tasks=tasks)))
    counted = store.sql("SELECT input_tokens FROM results ORDER BY seq").fetchall()
    assert counted == [(120,), (120,), (120,), (None,), (None,), (None,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        "answer: eka\n  answer: toka\n",
        "own: eka\n  own: toka\n",
        "metadata: {cost_usd: 1, cost_usd: 2}\n",
        "own: {deep: 1, deep: 2}\n",
        "own: [1, {deep: 1, deep: 2}]\n",
        "metadata: {own: {deep: 1, deep: 2}}\n",
        "metadata: [{deep: 1, deep: 2}]\n",
    ],
)
def test_a_duplicate_key_keeps_the_text_of_its_record(store, tmp_path, lines):
    path = tmp_path / "log.yaml"
    path.write_text(
        "date: '2026-04-01'\nmodel: models/m-1.yaml\nprompt_template: 'x {prompt}'\ntasks:\n"
        f"- prompt: p\n  is_correct: true\n  duration_seconds: 1.0\n  {lines}",
        "utf-8",
    )
    import_into(store, path)
    [(source,)] = store.sql("SELECT source FROM results").fetchall()
    assert source is not None
    assert lines in source


@pytest.mark.slow
@pytest.mark.parametrize("value", [".nan", "[.inf]", "{a: -.inf}"])
@pytest.mark.parametrize("key", ["own", "metadata"])
def test_numbers_that_json_lacks_keep_the_text_of_their_record(store, tmp_path, key, value):
    path = write_log(tmp_path / "log.yaml")
    path.write_text(path.read_text("utf-8").replace('"metadata": {', f'"{key}": {value}, "m": {{'))
    import_into(store, path)
    rows = store.sql("SELECT source, extra FROM results").fetchall()
    assert len(rows) == 2
    for source, extra in rows:
        assert value in source
        json.loads(extra, parse_constant=pytest.fail)


@pytest.mark.slow
def test_unknown_root_fields_are_reproduced(store, tmp_path):
    meant = log(run_note="toinen kone", hosts=["a", 2, None], options={"x": {"y": 1.5}})
    import_into(store, write_log(tmp_path / "log.yaml", meant))
    remove_archive(store)
    assert read_back(store) == {run_id_of(meant): meant}


def test_a_root_that_columns_cannot_hold_keeps_its_text(store, tmp_path):
    path = tmp_path / "log.yaml"
    path.write_text(
        "date: 2026-04-01\nmodel: 5\nown: .nan\ntasks:\n- prompt: p\n  answer: a\nafter: {b: 1}\n"
    )
    import_into(store, path)
    [(source, extra)] = store.sql("SELECT source, extra FROM runs").fetchall()
    assert source == "date: 2026-04-01\nmodel: 5\nown: .nan\ntasks:\nafter: {b: 1}\n"
    assert json.loads(extra)["after"] == {"b": 1}
