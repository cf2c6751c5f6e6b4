"""Logs of lm-evaluation-harness: results and samples, in any order, whole, in part and broken."""

import json
import math
import re
import shutil
from itertools import permutations, product

import pytest
from helm_cases import request
from helm_cases import write_run as write_helm_run
from lm_eval_cases import TIME, generated, lines, results, sample, write_run
from support import digests, import_into, queried_store

from ingest.formats.tables.columns.confirmation import TableRequest, confirmed_specs
from ingest.formats.tables.tables import TableOption
from ingest.reconciliation import FileOutcome

SAMPLES = f"samples_capitals_{TIME}.jsonl"


def rows(store, query):
    return store.sql(query).fetchall()


def outcomes(summary):
    return dict(summary.outcomes)


def write_samples(folder, *samples, name=SAMPLES):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(lines(samples))
    return folder / name


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "org__m")


@pytest.mark.slow
def test_a_run_is_its_results_and_samples(store, run):
    summary = import_into(store, run[0].parent)
    assert (outcomes(summary), summary.n_results) == ({FileOutcome.IMPORTED: 1}, 15)
    [(run_id, models, started, ended, seed, n_results, n_tasks, commit)] = rows(
        store,
        "SELECT run_id, models, started_at, ended_at, seed, n_results, n_tasks, git_commit "
        "FROM runs",
    )
    assert (run_id, models, seed, n_results) == (TIME, ["org/m"], 7, 15)
    assert (str(started), (ended - started).total_seconds()) == ("2026-03-04 05:06:07.500000", 12.5)
    assert commit == "abc1234"
    assert n_tasks == 6 + 9  # of the two task sets
    assert rows(store, "SELECT task_set, pass_rate FROM leaderboard WHERE is_main ORDER BY 1") == [
        ("capitals", 0.5),
        ("rivers", 4 / 9),
    ]
    [(question, choices, target, prompt, parsed, passed)] = rows(
        store,
        """
        SELECT question, choices, target, r.prompt, parsed_output, objective_pass
        FROM tasks JOIN results AS r USING (suite, task_set, task_id, task_hash)
        WHERE task_set = 'capitals' AND task_id = '1'
        """,
    )
    assert (question, json.loads(choices), target) == (
        "Which is capitals 1?",
        ["Turku", "Oulu"],
        "Oulu",
    )
    assert prompt == "Which is capitals 1?\nAnswer:"
    assert json.loads(parsed) == sample(1)["resps"]
    assert passed is True


@pytest.mark.slow
def test_figures_are_recomputed(store, run):
    import_into(store, run[0].parent)
    audit = rows(store, "SELECT task_set, statistic, status, n FROM metric_audit ORDER BY ALL")
    assert audit == [
        ("capitals", "mean", "equal", 6),
        ("capitals", "stderr", "equal", 6),
        ("rivers", "mean", "equal", 9),
        ("rivers", "stderr", "equal", 9),
    ]


@pytest.mark.slow
def test_a_figure_that_does_not_follow_from_the_samples_differs(store, run):
    document = json.loads(run[0].read_text())
    document["results"]["capitals"]["acc,none"] += 0.01
    run[0].write_text(json.dumps(document))
    import_into(store, run[0].parent)
    assert rows(store, "SELECT task_set, statistic FROM checks.metric_mismatches") == [
        ("capitals", "mean")
    ]


def content(store):
    """Return what the store knows of its runs."""
    return [
        rows(
            store, "SELECT suite, run_id, started_at, ended_at, models, seed, n_results FROM runs"
        ),
        rows(store, "SELECT run_id, task_set, result_id, seq, model FROM results ORDER BY ALL"),
        rows(store, "SELECT result_id, metric, filter, value FROM lake.result_scores ORDER BY ALL"),
        rows(store, "SELECT reported_id, task_set, value FROM reported_metrics ORDER BY ALL"),
    ]


@pytest.mark.slow
def test_samples_before_results(tmp_path, run):
    whole, parts = queried_store(tmp_path / "whole"), queried_store(tmp_path / "parts")
    import_into(whole, run[0].parent)
    for n in (2, 0, 1):
        (tmp_path / str(n)).mkdir()
        import_into(parts, shutil.copy(run[n], tmp_path / str(n)))
    assert content(parts) == content(whole)


@pytest.mark.campaign
def test_the_order_of_files_does_not_matter(tmp_path, run):
    whole = queried_store(tmp_path / "whole")
    import_into(whole, run[0].parent)
    expected = digests(whole)
    for n, order in enumerate(permutations(run)):
        store = queried_store(tmp_path / f"store {n}")
        for m, path in enumerate(order):
            place = tmp_path / f"{n}-{m}"
            place.mkdir()
            shutil.copy(path, place)
            [outcome] = outcomes(import_into(store, place))
            assert outcome in {FileOutcome.IMPORTED, FileOutcome.GROWN}
        assert digests(store) == expected
        import_into(store, run[0].parent)
        assert digests(store) == expected
        assert outcomes(import_into(store, run[0].parent)) == {FileOutcome.UNCHANGED: 1}


@pytest.mark.campaign
def test_a_cut_file_then_the_whole(tmp_path, run):
    whole, parts = queried_store(tmp_path / "whole"), queried_store(tmp_path / "parts")
    import_into(whole, run[0].parent)
    text = run[2].read_text()
    for size in (len(text) // 3, len(text) // 2, len(text) - 20):
        run[2].write_text(text[:size])
        import_into(parts, run[2].parent)
    run[2].write_text(text)
    assert outcomes(import_into(parts, run[2].parent)) == {FileOutcome.GROWN: 1}
    without = ("main.quarantine", "main.files")
    assert digests(parts, without=without) == digests(whole, without=without)


@pytest.mark.slow
def test_naming_any_file_imports_the_run(store, run):
    assert outcomes(import_into(store, run[1])) == {FileOutcome.IMPORTED: 1}
    assert outcomes(import_into(store, run[2], run[0])) == {FileOutcome.UNCHANGED: 1}


@pytest.mark.slow
def test_several_runs_in_a_folder(store, tmp_path):
    other = TIME.replace("123456", "999999")
    files = write_run(tmp_path / "runs")
    write_run(tmp_path / "runs", time=other, model="org/n")
    # Its name has nothing in common with that of its samples but the time.
    files[0].rename(tmp_path / "runs" / f"my own name_{TIME}.json")
    import_into(store, tmp_path)
    assert rows(store, "SELECT run_id, models, n_results FROM runs ORDER BY ALL") == [
        (TIME, ["org/m"], 15),
        (other, ["org/n"], 15),
    ]


@pytest.mark.slow
def test_changed_samples_conflict(store, run):
    import_into(store, run[0].parent)
    run[1].write_text(lines(sample(i, resps=[["changed"]]) for i in range(6)))
    assert outcomes(import_into(store, run[0].parent)) == {FileOutcome.CONFLICT: 1}
    # A part of a run cannot replace all of it.
    assert outcomes(import_into(store, run[0].parent, replace=True)) == {FileOutcome.CONFLICT: 1}
    assert rows(store, "SELECT models, n_results FROM runs") == [(["org/m"], 15)]


@pytest.mark.slow
def test_filters_and_attempts(store, tmp_path):
    write_samples(
        tmp_path / "run",
        generated(0, filter_="strict", score=0.0),
        generated(1, filter_="strict"),
        generated(0, filter_="flexible"),
        generated(1, filter_="flexible"),
    )
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT task_id, attempt, raw_output, objective_pass, sent FROM results ORDER BY ALL",
    ) == [
        ("0", 1, "a", False, '{"until":["\\n"],"top_p":0.5}'),
        ("0", 2, "b", None, '{"until":["\\n"],"top_p":0.5}'),
        ("1", 1, "a", True, '{"until":["\\n"],"top_p":0.5}'),
        ("1", 2, "b", None, '{"until":["\\n"],"top_p":0.5}'),
    ]
    assert rows(
        store,
        """
        SELECT task_id, metric, s.filter, value, passed, s.answer
        FROM lake.result_scores AS s JOIN results AS r USING (run_id, result_id) ORDER BY ALL
        """,
    ) == [
        ("0", "exact_match", "flexible", 1.0, True, "a"),
        ("0", "exact_match", "strict", 0.0, False, "a"),
        ("1", "exact_match", "flexible", 1.0, True, "a"),
        ("1", "exact_match", "strict", 1.0, True, "a"),
    ]


def test_a_verdict_is_of_one_metric(store, tmp_path):
    """Where the first metric is between 0 and 1, the next would mix both in one pass rate."""
    scores = [(1.0, 0.0), (0.5, 1.0), (0, 1), (True, 0), (None, 1), ([1, [0]], 0)]
    metrics = ["exact_match", "acc"]
    write_samples(
        tmp_path / "run",
        *(
            {**sample(n), "metrics": metrics, "exact_match": first, "acc": second}
            for n, (first, second) in enumerate(scores)
        ),
    )
    import_into(store, tmp_path)
    passed = [True, None, False, True, True, False]
    found = rows(store, "SELECT objective_pass FROM results ORDER BY CAST(task_id AS INTEGER)")
    assert [row[0] for row in found] == passed


def test_older_and_chat_arguments(store, tmp_path):
    chat = json.dumps([{"role": "user", "content": 'Which is "capitals" 0? Ä'}], ensure_ascii=False)
    question = {"question": 'Which is "capitals" 0? Ä'}
    write_samples(
        tmp_path / "run",
        sample(0, arguments=[[chat, {"until": []}]], doc=question, resps=[["x"]], target="x"),
        sample(1, arguments=[["Which is capitals 1?", " a"], ["Which is capitals 1?", " b"]]),
        sample(2, arguments={"gen_args_0": {"arg_0": [chat], "arg_1": {}}}, doc=question),
        # The contexts differ: no choices are known, and all arguments are kept.
        sample(3, arguments=[["one", " c"], ["other", " c"]], doc={"sentence": "one or other"}),
    )
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT task_id, question, choices, target FROM tasks ORDER BY ALL",
    ) == [
        ("0", 'Which is "capitals" 0? Ä', None, "x"),
        ("1", "Which is capitals 1?", '["Turku","Oulu"]', "Oulu"),
        ("2", 'Which is "capitals" 0? Ä', None, "1"),
        ("3", None, None, "1"),
    ]
    assert rows(store, "SELECT prompt FROM results ORDER BY task_id") == [
        (chat,),
        ("Which is capitals 1?",),
        (chat,),
        ("one",),
    ]
    [(extra,)] = rows(store, "SELECT extra FROM results WHERE task_id = '3'")
    assert json.loads(extra)["arguments"] == [["one", " c"], ["other", " c"]]


@pytest.mark.slow
def test_nothing_is_lost(store, tmp_path):
    plain = sample(0, note={"deep": [1, 2.50]}, judged="truthful")
    odd = sample(1, acc=math.inf, doc={"q": "\ud800", "n": 12345678901234567890123})
    write_samples(tmp_path / "run", plain, odd)
    import_into(store, tmp_path)
    [(extra, task_extra, source), (_, _, odd_source)] = rows(
        store,
        """
        SELECT r.extra, t.extra, r.source FROM results AS r
        JOIN tasks AS t USING (suite, task_set, task_id) ORDER BY task_id
        """,
    )
    assert json.loads(task_extra) == {"doc": plain["doc"]}
    assert json.loads(extra) == {
        "doc_hash": "d",
        "prompt_hash": "p",
        "target_hash": "t",
        "continuations": [" Turku", " Oulu"],
        "note": {"deep": [1, 2.5]},
        "judged": "truthful",
    }
    assert source is None
    assert json.loads(odd_source) == odd


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "not a JSON object"),
        ('{"doc_id": 1', "not JSON"),
        ('{"doc_id": 1, "doc": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"doc": {}}', "no doc_id"),
        ('{"doc_id": {}}', "doc_id is neither a number nor text"),
        (json.dumps(sample(0, acc=1.0)), "repeats doc_id 0, filter none, of an earlier line"),
        (json.dumps({"doc_id": 1, **{f"k{n}": n for n in range(1001)}}), "1,002 fields"),
        ('{"doc_id": 1, "doc": "\udcff"}', "not UTF-8"),
        # Half of a surrogate pair, as bytes.
        ('{"doc_id": 1, "doc": "\udced\udca0\udc80"}', "not UTF-8"),
    ],
)
def test_a_line_that_cannot_be_used(store, tmp_path, line, reason):
    path = write_samples(tmp_path / "run", sample(0), sample(3))
    # The same line twice is one sample.
    text = path.read_text() * 2 + line + "\n" + lines([sample(5)])
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    summary = import_into(store, tmp_path)
    assert (summary.n_results, summary.n_quarantined) == (3, 1)
    [(number, why)] = rows(store, "SELECT line, reason FROM quarantine")
    assert number == 5
    assert why.startswith(reason)


def test_a_samples_file_with_a_broken_beginning(store, tmp_path):
    """Its name says what it is: the other lines are samples."""
    path = write_samples(tmp_path / "run", *map(sample, range(4)))
    path.write_bytes(path.read_bytes()[50:])
    summary = import_into(store, tmp_path)
    assert (summary.n_results, summary.n_quarantined) == (3, 1)
    [(line, reason)] = rows(store, "SELECT line, reason FROM quarantine")
    assert line == 1
    assert reason.startswith("not JSON")


def test_a_samples_file_in_another_encoding(store, tmp_path):
    path = write_samples(tmp_path / "run", sample(0))
    path.write_text(path.read_text(), "utf-16")
    summary = import_into(store, tmp_path)
    assert summary.n_results == 0
    assert summary.n_quarantined > 0
    path.write_bytes(b"")
    assert import_into(queried_store(tmp_path / "other"), path.parent).n_quarantined == 0


@pytest.mark.slow
def test_values_of_wrong_types(store, tmp_path):
    write_samples(
        tmp_path / "run",
        sample(0, arguments=5, resps="x", filtered_resps=None, filter=[1], metrics="acc"),
        sample(1, arguments=[], resps=[], filtered_resps=[], target={"a": [1]}, doc="text"),
        sample(2, acc=True),
        sample(3, acc="N/A"),
        sample(4, acc=None),
        sample(5, acc=10**400),
        sample(6, acc=math.nan),
        sample(7, acc=[1, "a"]),
        sample(2**63 - 1, metrics=[]),
    )
    summary = import_into(store, tmp_path)
    assert (summary.n_results, summary.n_quarantined) == (9, 0)
    assert rows(
        store,
        """
        SELECT task_id, value, left(s.text, 5) FROM lake.result_scores AS s
        JOIN results AS r USING (run_id, result_id) WHERE metric = 'acc' ORDER BY ALL
        """,
    ) == [
        ("0", 0.0, None),
        ("1", 1.0, None),
        ("2", 1.0, None),
        ("3", None, "N/A"),
        ("4", None, None),
        ("5", None, "10000"),
        ("6", None, "nan"),
        ("7", None, '[1,"a'),
    ]


@pytest.mark.slow
def test_a_name_that_a_line_repeats_has_its_last_value(store, tmp_path):
    path = write_samples(tmp_path / "run", sample(0))
    lasts = lines([sample(1)]).replace('{"doc_id": 1', '{"doc_id": 7, "doc_id": 1', 1)
    cut = lines([sample(2)]).replace("}\n", ",}\n")
    path.write_text(path.read_text() + lasts + cut)
    summary = import_into(store, tmp_path)
    assert (summary.n_results, summary.n_quarantined) == (2, 1)
    assert rows(store, "SELECT task_id FROM results ORDER BY ALL") == [("0",), ("1",)]
    [(line, reason, raw)] = rows(store, "SELECT line, reason, raw FROM lake.quarantine")
    assert (line, raw.decode()) == (3, cut.rstrip("\n"))
    assert reason.startswith("not JSON: ")


@pytest.mark.slow
def test_a_line_in_quarantine_is_as_the_file_has_it(store, tmp_path):
    path = write_samples(tmp_path / "run", sample(0))
    odd = '{"doc_id":  [1], "acc": NaN}'
    path.write_text(path.read_text() + odd + "\n")
    import_into(store, tmp_path)
    assert rows(store, "SELECT raw FROM lake.quarantine") == [(odd.encode(),)]


ODD_VALUES = [
    *(
        None,
        0,
        1.5,
        True,
        "",
        " ",
        "0",
        "NaN",
        '\0\n\x7f\x1f\u2028"\\/',
        [],
        {},
        ["a"],
        [["a", "b"]],
    ),
    *(
        [["a"], ["b"]],
        [[1]],
        [[None]],
        10**30,
        math.inf,
        2**63 - 1,
        ["exact_match"],
        {"choices": [1]},
    ),
    {"question": " Say 3 ", "options": ["a", 1]},
    {"question": "  ", "q": "Say", "choices": {"text": ["u", "v"]}},
    {"gen_args_0": {"arg_0": "p"}},
    {"gen_args_0": {"arg_1": {}, "arg_0": "p"}},
    {"gen_args_0": {"arg_0": "p", "arg_1": {}, "arg_2": 1}},
    {"gen_args_0": {"arg_0": "p", "arg_1": {}}, "gen_args_1": {"arg_0": "p", "arg_1": {}}},
    {"gen_args_0": {"arg_0": ["p"], "arg_1": {}}},
    {"gen_args_0": {"arg_0": "p", "arg_1": "c"}},
]


def odd_lines():
    """Return lines of plain samples, each with a field that is odd in another way."""
    plain = [generated(n, ["a"], filter_=f"f{n % 2}") for n in range(12)]
    fields = [*plain[0], "Exact_Match", "acc", "a'b\"c/~", "", "\0"]
    odd = [
        json.dumps({**generated(100 + n, ["a"]), field: value}, ensure_ascii=n % 2 == 0)
        for n, (field, value) in enumerate(product(fields, ODD_VALUES))
    ]
    text = json.dumps(generated(1000, ["a"]))
    return [
        *map(json.dumps, plain),
        *odd,
        *(text.replace("1000", f"{n}, {extra}", 1) for n, extra in enumerate(ODD_TEXTS, 1001)),
        *(text.replace("1.0}", f"{number}}}") for number in ("1e2", "1e999", "-0.0", "inf", "1,")),
        json.dumps(dict(reversed(generated(1100, ["a"]).items()))),
        *map(json.dumps, plain[:3]),
        "[]",
    ]


ODD_TEXTS = ['"doc_id": 7', '"note": 1', '"acc": 1', '"exact_match": 0', f'"x": {"[" * 3000}']


@pytest.mark.campaign
def test_samples_are_read_as_python_reads_json(tmp_path, monkeypatch):
    write_run(tmp_path / "org__m")
    path = tmp_path / "org__m" / f"samples_plain_{TIME}.jsonl"
    for kind, left_out in (("all", ()), ("older", ("metrics", "filter", "doc_hash"))):
        text = "".join(f"{line}\n" for line in odd_lines())
        for field in left_out:
            text = re.sub(rf'"{field}": (\[.*?\]|".*?"), ', "", text)
        path.write_text(text)
        found = []
        for name in ("fast", "exact"):
            with monkeypatch.context() as patch:
                if name == "exact":
                    patch.setattr("ingest.formats.lm_eval.sample_lines._NOT_JSON", "")
                store = queried_store(tmp_path / kind / name)
                summary = import_into(store, tmp_path / "org__m")
            found.append((summary.n_results, summary.n_quarantined, digests(store)))
        assert found[0] == found[1]
        assert summary.n_results > 300


@pytest.mark.slow
def test_groups_are_means_of_their_tasks(store, tmp_path):
    def figures(value, stderr):
        return {"alias": "g", "acc,none": value, "acc_stderr,none": stderr, "sample_count": {}}

    [path, *_] = write_run(tmp_path / "run")
    document = json.loads(path.read_text())
    # The scores of capitals are 0 1 0 1 0 1, those of rivers 0 1 0 1 0 1 0 1 0: their variances
    # add up to 6 / 4 + 20 / 9, and are divided by 15 - 2, then by 15.
    stderr = ((1.5 + 20 / 9) / 13 / 15) ** 0.5
    document["results"] |= {
        "by size": figures(7 / 15, stderr),
        "plain": figures((1 / 2 + 4 / 9) / 2, stderr),
    }
    document["group_subtasks"] = {"by size": ["inner"], "inner": ["capitals", "rivers"]}
    document["group_subtasks"]["plain"] = ["capitals", "rivers"]
    path.write_text(json.dumps(document))
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT task_group, statistic, status, n FROM metric_audit "
        "WHERE task_group IS NOT NULL ORDER BY ALL",
    ) == [
        ("by size", "mean", "equal", 15),
        ("by size", "stderr", "equal", 15),
        ("plain", "macro_mean", "equal", 15),
        ("plain", "stderr", "equal", 15),
    ]


@pytest.mark.slow
def test_a_group_without_its_tasks_cannot_be_recomputed(store, tmp_path):
    [path, *_] = write_run(tmp_path / "run")
    document = json.loads(path.read_text())
    document["results"]["g"] = {"alias": "g", "acc,none": 0.5}
    document["group_subtasks"] = {"g": ["absent"]}
    path.write_text(json.dumps(document))
    import_into(store, tmp_path)
    query = "SELECT metric, status, reason FROM metric_audit WHERE task_group = 'g'"
    reason = "the tasks of the group are not recorded"
    assert rows(store, query) == [("acc", "not recomputable", reason)]


@pytest.mark.slow
def test_statistics_other_than_the_mean(store, tmp_path):
    """A median as in `lm_eval.api.metrics`, errors drawn at random, and a mean over NaN."""
    scores = {"high": [4.0, 1.0, 3.0, 2.0], "odd": [1.0, math.nan, 1.0, 0.0]}
    configs = {"high": "median", "odd": "mean", "f1": "f1"}
    samples = [
        {
            **sample(n),
            "metrics": [*configs],
            **{name: values[n] for name, values in scores.items()},
            "f1": [1, n % 2],
        }
        for n in range(4)
    ]
    document = results({"capitals": [0.0, 1.0, 0.0, 1.0]})
    document["results"]["capitals"] = {
        "high,none": 3.0,
        "high_stderr,none": 0.7,
        "f1,none": 0.5,
        "f1_stderr,none": 0.1,
        "odd,none": math.nan,
        "odd_stderr,none": math.nan,
    }
    document["configs"]["capitals"]["metric_list"] = [
        {"metric": name, "aggregation": how} for name, how in configs.items()
    ]
    (tmp_path / f"results_{TIME}.json").write_text(json.dumps(document))
    (tmp_path / f"samples_capitals_{TIME}.jsonl").write_text(lines(samples))
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT metric, statistic, status, reason FROM metric_audit ORDER BY metric, statistic",
    ) == [
        ("f1", "stderr", "not recomputable", "random bootstrap"),
        ("f1", None, "not recomputable", "corpus metric"),
        ("high", "median_high", "equal", None),
        ("high", "stderr", "not recomputable", "random bootstrap"),
        ("odd", "mean", "equal", None),
        ("odd", "stderr", "equal", None),
    ]


@pytest.mark.slow
def test_error_of_a_plain_mean_since_0_4_13(store, tmp_path):
    """Version 0.4.13 has the error of independent tasks there, and still pools it elsewhere."""
    [path, *_] = write_run(tmp_path / "run")
    document = json.loads(path.read_text())
    squares = [document["results"][task]["acc_stderr,none"] ** 2 for task in ("capitals", "rivers")]
    value = (1 / 2 + 4 / 9) / 2
    for group, stderr in (("plain", sum(squares) ** 0.5 / 2), ("wrong", 0.2)):
        document["results"][group] = {"acc,none": value, "acc_stderr,none": stderr}
    document["group_subtasks"] = {name: ["capitals", "rivers"] for name in ("plain", "wrong")}
    path.write_text(json.dumps(document))
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT task_group, statistic, status FROM metric_audit "
        "WHERE task_group IS NOT NULL ORDER BY ALL",
    ) == [
        ("plain", "macro_mean", "equal"),
        ("plain", "stderr", "equal"),
        ("wrong", "macro_mean", "equal"),
        ("wrong", "stderr", "differs"),
    ]


@pytest.mark.slow
def test_results_without_samples(store, tmp_path):
    old = {"results": {"lambada": {"acc": 0.5, "acc_stderr": 0.01, "ppl": math.nan}}}
    for step in (1, 2):
        arguments = f"pretrained=org/p,revision=step{step}"
        document = {**old, "versions": {"lambada": 0}, "config": {"model_args": arguments}}
        (tmp_path / str(step)).mkdir()
        (tmp_path / str(step) / "eval.json").write_text(json.dumps(document))
    listed = {"results": [{"task_name": "bias", "prompt_name": "p", "em": 0.5, "em_stderr": 0.1}]}
    (tmp_path / "list.json").write_text(json.dumps({**listed, "versions": {}}))
    import_into(store, tmp_path)
    assert outcomes(import_into(store, tmp_path)) == {FileOutcome.UNCHANGED: 3}
    assert rows(store, "SELECT models, n_results FROM runs ORDER BY ALL") == [
        ([], 0),
        (["org/p@step1"], 0),
        (["org/p@step2"], 0),
    ]
    assert rows(
        store,
        """
        SELECT task_set, metric, statistic, reported_text, status, count(*) FROM metric_audit
        WHERE statistic IS DISTINCT FROM 'stderr' GROUP BY ALL ORDER BY ALL
        """,
    ) == [
        ("bias", "em", "mean", "0.5", "samples missing", 1),
        ("lambada", "acc", "mean", "0.5", "samples missing", 2),
        ("lambada", "ppl", None, "nan", "not recomputable", 2),
    ]


def test_a_results_file_that_is_none(store, tmp_path):
    for n, text in enumerate(
        (
            '{"results": {"alias": "_stderr"',
            '{"a": {"results": {"alias": "_stderr,"}}, "versions": 1}',
        )
    ):
        (tmp_path / f"{n}.json").write_text(text)
    summary = import_into(store, tmp_path)
    assert outcomes(summary) == {FileOutcome.QUARANTINED: 2}
    assert sorted(
        reason.split(":")[0] for (reason,) in rows(store, "SELECT reason FROM quarantine")
    ) == [
        "no results of tasks in it",
        "not JSON",
    ]


def test_secrets_are_reported_and_masked(store, tmp_path):
    key = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8t" * 2
    path = write_samples(tmp_path / "run", sample(0), sample(1, note=key))
    summary = import_into(store, tmp_path, redact=True)
    assert summary.secrets.total() == 1
    assert key not in str(rows(store, "FROM results") + rows(store, "FROM tasks"))
    assert key in path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("is_early", [True, False])
def test_blocks_of_any_size_give_the_same(tmp_path, monkeypatch, is_early):
    from ingest.formats.lm_eval import sample_lines, samples

    many = [generated(n % 50, filter_=f"f{n // 50}") for n in range(150)]
    many[70:70] = [generated(n, ["a"], filter_="none") for n in range(90)]
    write_samples(tmp_path / "run", *many)
    one, small = queried_store(tmp_path / "one"), queried_store(tmp_path / "small")
    import_into(one, tmp_path / "run")
    monkeypatch.setattr(samples, "_BLOCK_BYTES", 3000)
    # Streams of all blocks or of some; of each, some lines at a time.
    monkeypatch.setattr("warehouse.engine.connection.RETURNS_FIRST_ROWS_EARLY", is_early)
    monkeypatch.setattr(samples, "_STREAM_BYTES", 10_000)
    monkeypatch.setattr(sample_lines, "_LINES_AT_ONCE", 3)
    monkeypatch.setattr(sample_lines, "_STEPS", (16, 4, 1))
    monkeypatch.setattr(sample_lines, "_STEP_BYTES", 4000)
    import_into(small, tmp_path / "run")
    assert content(one) == content(small)
    assert rows(small, "SELECT count(*), count(DISTINCT task_id) FROM results") == [(190, 90)]


@pytest.mark.campaign
@pytest.mark.parametrize("indent", [2, None])
def test_a_list_of_samples_is_read_as_lines_are(tmp_path, monkeypatch, indent):
    # Version 0.4.0 names neither time nor filter, nor what is a metric.
    unknown = ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash")
    samples = [sample(n, text="[ü]\n{") for n in range(9)]
    samples = [{k: v for k, v in each.items() if k not in unknown} for each in samples]
    contents = {"lines": lines(samples), "list": json.dumps(samples, indent=indent)}
    monkeypatch.setattr("ingest.formats.lm_eval.samples._BLOCK_BYTES", 3000)
    found = {}
    for name, text in contents.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pretrained__m_capitals.jsonl").write_text(text, "utf-8")
        store = queried_store(tmp_path / f"store {name}")
        summary = import_into(store, tmp_path / name)
        assert (summary.n_results, summary.n_quarantined) == (9, 0)
        found[name] = digests(store, without=("main.files",))
    assert found["list"] == found["lines"]


@pytest.mark.slow
def test_filters_that_a_list_does_not_name(store, tmp_path):
    made = [generated(n, filter_="f", score=float(n > 0)) for n in range(3)]
    made += [generated(n, ("b", "a"), filter_="f", score=1.0) for n in range(3)]
    for each in made:
        del each["filter"]
        each["resps"] = [["a"]]
    (tmp_path / "samples.jsonl").write_text(json.dumps(made, indent=2))
    summary = import_into(store, tmp_path)
    assert (summary.n_results, summary.n_quarantined) == (3, 0)
    scores = """
        SELECT filter, sum(value), list(answer) FROM result_scores
        WHERE metric = 'exact_match' GROUP BY ALL ORDER BY filter NULLS FIRST
    """
    assert store.sql(scores).fetchall() == [
        (None, 2.0, ["a", "a", "a"]),
        ("2", 3.0, ["b", "b", "b"]),
    ]
    passed = "SELECT count(*) FROM verdicts WHERE passed"
    assert store.sql(passed).fetchall() == [(2,)]


def test_a_list_that_was_cut_off_keeps_its_first_samples(store, tmp_path):
    text = json.dumps([sample(n) for n in range(3)], indent=2)
    (tmp_path / "capitals.jsonl").write_text(text[: text.rindex("acc")])
    import_into(store, tmp_path / "capitals.jsonl")
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(2,)]
    [(line, reason)] = store.sql("SELECT line, reason FROM quarantine").fetchall()
    assert line == 3
    assert reason.startswith("not JSON")


def test_a_model_by_its_arguments(store, tmp_path):
    document = results({"capitals": [0.0, 1.0]}, model="")
    document["config"]["model_args"] = {"model": "gpt-x", "n": 1}
    (tmp_path / f"any_{TIME}.json").write_text(json.dumps(document))
    import_into(store, tmp_path)
    assert rows(store, "SELECT models FROM runs") == [(["gpt-x"],)]


@pytest.mark.slow
def test_the_same_item_in_another_tool(store, tmp_path):
    asked = request(0)
    asked["instance"]["input"]["text"] = "Which is capitals 1?\r\n"
    write_samples(tmp_path / "run", sample(1), sample(2))
    write_helm_run(tmp_path / "helm", n=1, requests=[asked])
    table = tmp_path / "table.csv"
    table.write_text(
        "model,task,question,choices,target,correct\n"
        'm,a, Which is capitals 1?,"[""Turku"",""Oulu""]",B,1\n'
    )
    import_into(store, tmp_path / "run", tmp_path / "helm")
    specs = confirmed_specs(store.lake, [table], TableRequest(is_confirmed=True))
    import_into(store, table, format_options=(TableOption(specs),))
    [(n, suites)] = rows(
        store,
        "SELECT count(*), list(DISTINCT suite ORDER BY suite) FROM tasks "
        "GROUP BY item_hash HAVING count(*) > 1",
    )
    assert (n, suites) == (3, ["helm", "lm-eval", "table"])
