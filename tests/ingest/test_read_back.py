"""Nothing lost: what a log holds is read back out of the warehouse's columns."""

import json

import pytest
from palindrome_cases import independent, older_logs, read_back, without_archive
from support import EXAMPLES, PALINDROME, bring_in, log, needs_reference, new_store, task, write_log


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


def test_examples_come_back_from_columns(store):
    logs = sorted((EXAMPLES / "benchmark_logs").glob("*.yaml"))
    bring_in(store, *logs)
    assert len(logs) == 16
    without_archive(store)
    assert_read_back(store, logs)


@needs_reference
def test_all_reference_logs_come_back_from_one_store(store):
    logs = sorted((PALINDROME / "benchmark_logs").glob("*.yaml"))
    summary = bring_in(store, PALINDROME / "benchmark_logs")
    assert len(summary.runs) == len(logs) > 0
    without_archive(store)
    assert_read_back(store, logs)


@needs_reference
def test_older_logs_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.provenance.LARGEST_KEPT_BYTES", 0)  # nothing is archived at all
    assert older_logs()
    for number, logs in enumerate(older_logs()):
        store = new_store(tmp_path / str(number))
        bring_in(store, *logs)
        assert_read_back(store, logs)


@needs_reference
def test_no_reference_log_needs_its_source_text_or_has_unknown_fields(store):
    bring_in(store, PALINDROME / "benchmark_logs")
    assert store.sql(
        "SELECT count(source), count(extra) FROM results UNION ALL "
        "SELECT count(source), count(extra) FROM runs"
    ).fetchall() == [(0, 0), (0, 0)]


@needs_reference
def test_yaml_styles_come_back_as_the_values_that_were_meant(store, tmp_path):
    cases = []
    for line in (PALINDROME / "yaml_style.jsonl").read_bytes().split(b"\n"):
        # The file was cut at U+0085, so that a line or two are no JSON.
        try:
            cases.append(json.loads(line))
        except ValueError:
            continue
    assert len(cases) > 40
    for number, case in enumerate(cases):
        for form in ("yaml", "yaml_after_reload_and_save"):
            text = case[form].replace("models/m-1", f"models/m{number}-{form}-1")
            (tmp_path / f"{number}-{form}.yaml").write_text(text, "utf-8", newline="")
    bring_in(store, tmp_path)
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
    "a number in a text's place": {"answer": 12},
    "a boolean in a text's place": {"answer": False},
    "null in every place": dict.fromkeys(["prompt", "answer", "is_correct", "duration_seconds"]),
    "a text in a number's place": {"duration_seconds": "4.1"},
    "a text in a boolean's place": {"is_correct": "true"},
    "a list in a text's place": {"answer": ["a", "b"], "prompt": {"a": "b"}},
    "a whole number of seconds": {"duration_seconds": 4},
    "a huge number": {"duration_seconds": 10**30, "metadata": {"input_tokens": 10**30}},
    "a number beyond 64 bits in an unknown field": {"big": 2**80, "exact": 0.1},
    "metadata that is no mapping": {"metadata": ["a", 1]},
    "metadata that is null": {"metadata": None},
    "empty metadata": {"metadata": {}},
    "unknown metadata": {"metadata": {"reasoning_tokens": 5, "input_tokens": 3}},
    "wrong metadata": {"metadata": {"input_tokens": 3.5, "cost_usd": "free", "cost_source": 1}},
    "a whole number with a point": {"metadata": {"input_tokens": 120.0}},
    "another time zone": {"timestamp": "2026-04-01T12:00:00+02:00"},
    "no time at all": {"timestamp": "eilen"},
    "a day as the time": {"timestamp": "2026-04-01"},
    "parts of a second": {"timestamp": "2026-04-01T12:00:00.123456Z"},
    "the edge of the calendar": {"timestamp": "0001-01-01T00:00:00+14:00"},
    "the other edge": {"timestamp": "9999-12-31T23:59:59-14:00"},
    "control characters": {"answer": "a\u0007b\u001b[31m\u0000\u2028\ufeff"},
    "line ends": {"answer": "a\r\nb\rc\n\n", "prompt": "\n x"},
    "beyond the first plane": {"answer": "😀 𝒳 \U0010ffff"},
    "empty texts": {"answer": "", "prompt": ""},
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_strange_task_comes_back(store, tmp_path, what):
    meant = log(tasks=[task(1), task(2, **STRANGE[what]), task(3)])
    bring_in(store, write_log(tmp_path / "log.yaml", meant))
    without_archive(store)
    assert read_back(store) == {run_id_of(meant): meant}


def test_a_count_written_with_a_point_counts(store, tmp_path):
    tokens = [120, 120.0, "120", 120.5, True, 1e300]
    tasks = [task(n, metadata={"input_tokens": value}) for n, value in enumerate(tokens)]
    bring_in(store, write_log(tmp_path / "log.yaml", log(tasks=tasks)))
    counted = store.sql("SELECT input_tokens FROM results ORDER BY seq").fetchall()
    assert counted == [(120,), (120,), (120,), (None,), (None,), (None,)]


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
def test_a_key_that_stands_twice_keeps_the_text_of_its_record(store, tmp_path, lines):
    path = tmp_path / "log.yaml"
    path.write_text(
        "date: '2026-04-01'\nmodel: models/m-1.yaml\nprompt_template: 'x {prompt}'\ntasks:\n"
        f"- prompt: p\n  is_correct: true\n  duration_seconds: 1.0\n  {lines}",
        "utf-8",
    )
    bring_in(store, path)
    [(source,)] = store.sql("SELECT source FROM results").fetchall()
    assert source is not None
    assert lines in source


@pytest.mark.parametrize("value", [".nan", "[.inf]", "{a: -.inf}"])
@pytest.mark.parametrize("key", ["own", "metadata"])
def test_numbers_that_json_lacks_keep_the_text_of_their_record(store, tmp_path, key, value):
    path = write_log(tmp_path / "log.yaml")
    path.write_text(path.read_text("utf-8").replace('"metadata": {', f'"{key}": {value}, "m": {{'))
    bring_in(store, path)
    rows = store.sql("SELECT source, extra FROM results").fetchall()
    assert len(rows) == 2
    for source, extra in rows:
        assert value in source
        json.loads(extra, parse_constant=pytest.fail)


def test_unknown_fields_of_the_root_come_back(store, tmp_path):
    meant = log(run_note="toinen kone", hosts=["a", 2, None], options={"x": {"y": 1.5}})
    bring_in(store, write_log(tmp_path / "log.yaml", meant))
    without_archive(store)
    assert read_back(store) == {run_id_of(meant): meant}


def test_a_root_that_does_not_fit_keeps_its_text(store, tmp_path):
    path = tmp_path / "log.yaml"
    path.write_text(
        "date: 2026-04-01\nmodel: 5\nown: .nan\ntasks:\n- prompt: p\n  answer: a\nafter: {b: 1}\n"
    )
    bring_in(store, path)
    [(source, extra)] = store.sql("SELECT source, extra FROM runs").fetchall()
    assert source == "date: 2026-04-01\nmodel: 5\nown: .nan\ntasks:\nafter: {b: 1}\n"
    assert json.loads(extra)["after"] == {"b": 1}
