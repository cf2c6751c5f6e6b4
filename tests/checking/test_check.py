"""`evalstore check`: correct data passes; every fault is found, and nothing else."""

import json
import re
import shutil
from html.parser import HTMLParser

import duckdb
import pytest
from rendering import HOSTILE, UNSEEN
from support import ROOT, command, import_into, log, new_store, write_log

from tools.generate_docs import DOCS
from warehouse.analysis.checking import evaluation, frames, gx, shipped
from warehouse.analysis.checking.check import CheckedRelation, ExpectationResult, run_checks
from warehouse.analysis.checking.expectations import Expectation, Relation, read_relations
from warehouse.app.output.check_page import page
from warehouse.core.errors import BadInput
from warehouse.core.schemas import BY_NAME, TABLES
from warehouse.core.text.formatting import human, visible_lines
from warehouse.engine.connection import open_for_writing
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.batch import Generation

EXAMPLES = [ROOT / "examples" / name for name in ("palindrome", "openclaw", "posters")]


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("clean") / "store")
    import_into(store, *EXAMPLES)
    store.sync()
    return store


@pytest.fixture
def copy(clean, tmp_path):
    shutil.copytree(clean.path, tmp_path / "store")
    return new_store(tmp_path / "store")


def change(store, *statements):
    """Change the warehouse directly, which no command does."""
    with duckdb.connect(str(store.warehouse)) as connection:
        for statement in statements:
            connection.execute(statement)


def problems(checked, severity="critical"):
    """Return the failures: relation and column (or type), with the number of rows."""
    return {
        (each.relation.name, ", ".join(o.expectation.columns) or o.expectation.type): o.n_offending
        for each in checked
        for o in each.results
        if not o.passed and o.expectation.severity == severity
    }


OURS = shipped.shipped_relations()


def only(*names):
    """Return our relations of these names."""
    relations = [relation for relation in OURS if relation.name in names]
    assert len(relations) == len(names)
    return relations


def own(text):
    return read_relations(text.encode(), "own.yaml")


# --- a correct store, and one in which every expectation is violated once


@pytest.mark.campaign
def test_a_clean_store_passes(clean):
    checked = run_checks(clean, OURS)
    assert problems(checked) == {}
    warned = {name for name, _ in problems(checked, "warning")}
    assert warned >= {"verdict_drift", "checks.violations", "checks.unresolved_models"}
    names = [each.relation.name for each in checked]
    assert len(names) == len(set(names))
    assert {f"lake.{table.name}" for table in TABLES} <= set(names)
    assert {f.qualified for f in shipped_sql() if f.folder == "checks"} <= set(names)


NO_ROWS = "expect_table_row_count_to_equal"
QUIET_RUN = "20260303_140000"  # its folder has no summary, which every change would contradict
CALL = f"""(
    SELECT content_id FROM lake.results
    WHERE run_id = '{QUIET_RUN}' AND availability_status {{}} 'ok'
    ORDER BY content_id LIMIT 1 OFFSET {{}}
)"""
PALINDROME = "(SELECT min(content_id) FROM lake.results WHERE suite = 'palindrome')"
# A change of the store, and the expected failures: relation, column or type, number of rows.
BREAKS = [
    (
        "UPDATE lake.results SET e2e_ms = -5, ttft_ms = NULL WHERE content_id = "
        + CALL.format("<>", 0),
        {("values of lake.results", "e2e_ms"): 1},
    ),
    (
        "UPDATE lake.results SET availability_status = 'okay' WHERE content_id = "
        + CALL.format("<>", 1),
        {
            ("values of lake.results", "availability_status"): 1,
            ("openclaw_summary", "n_total, n_of_all_statuses"): 1,
        },
    ),
    (
        "UPDATE lake.results SET failure_type = 'odd', tool_call_count = 7 WHERE content_id = "
        + CALL.format("=", 2),
        {("checks.contradictory_outcomes", NO_ROWS): 2},
    ),
    (
        "UPDATE lake.results SET started_at = ended_at + INTERVAL 1 SECOND WHERE content_id = "
        + CALL.format("=", 0),
        {("checks.time_order", NO_ROWS): 1},
    ),
    (
        "UPDATE lake.results SET file_sha256 = 'gone', batch = 'gone' WHERE content_id = "
        + CALL.format("=", 1),
        {("checks.broken_references", NO_ROWS): 2},
    ),
    (
        f"UPDATE lake.results SET duration_seconds = -1 WHERE content_id = {PALINDROME}",
        {("amounts of results", "is_duration"): 1},
    ),
    (
        """INSERT INTO lake.results FROM lake.results
        WHERE content_id = (SELECT max(content_id) FROM lake.results WHERE suite = 'palindrome')""",
        {("lake.results", "suite, run_id, content_id"): 2},
    ),
    (
        """UPDATE lake.results SET is_replaced = true
        WHERE content_id = (SELECT min(content_id) FROM lake.results WHERE suite = 'palindrome')""",
        {
            ("every result counts once", "n_kept, n_results"): 1,
            # Of the copied row, too: pass rates are of sums that sync keeps.
            ("every result counts once", "n_results, n_counted_or_left_out"): 2,
        },
    ),
    (
        f"UPDATE lake.runs SET versions = '{{broken' WHERE run_id = '{QUIET_RUN}'",
        {("JSON of lake.runs", "versions"): 1},
    ),
    (
        """UPDATE lake.runs SET recorded_summary = regexp_replace(
            recorded_summary, '"n_ok": ?\\d+', '"n_ok":99') WHERE recorded_summary IS NOT NULL""",
        {("checks.summary_mismatches", NO_ROWS): 1},
    ),
    (
        """UPDATE lake.runs SET template_hash = NULL
        WHERE content_id = (SELECT max(content_id) FROM lake.runs WHERE suite = 'palindrome')""",
        {("palindrome runs", "template_hash"): 1},
    ),
    (
        """UPDATE lake.tasks SET task_set = NULL
        WHERE content_id = (SELECT min(content_id) FROM lake.tasks WHERE suite = 'openclaw')""",
        {("lake.tasks", "task_set"): 1},
    ),
    (
        """UPDATE lake.files SET size_bytes = -1
        WHERE content_id = (SELECT min(content_id) FROM lake.files)""",
        {("values of lake.files", "size_bytes"): 1, ("kept files", "is_whole"): 1},
    ),
    (
        """UPDATE lake.annotations SET label = 'gold'
        WHERE content_id = (SELECT min(content_id) FROM lake.annotations WHERE kind = 'human')""",
        {("checks.unproven_gold", NO_ROWS): 1},
    ),
    (
        """UPDATE scores.poster_prediction_scores SET app_quality = 101, label = 'gold'
        WHERE (model, task_id) = (
            SELECT min((model, task_id)) FROM scores.poster_prediction_scores
        )""",
        {("poster_scores", "app_quality"): 1, ("label of a poster", "n_labels"): 1},
    ),
    (
        """UPDATE lake.judgements SET overall_score = 200
        WHERE content_id = (SELECT min(content_id) FROM lake.judgements)""",
        {("values of lake.judgements", "overall_score"): 1},
    ),
]


@pytest.fixture(scope="module")
def broken(clean, tmp_path_factory):
    """Return the output and the page of a check of a store with all of `BREAKS` in it."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copytree(clean.path, folder / "store")
    change(new_store(folder / "store"), *(statement for statement, _ in BREAKS))
    ended = command(folder / "store", "check", "--format", "json", "--html", folder / "page.html")
    return ended, json.loads(ended.out), (folder / "page.html").read_text("utf-8")


def failed(document):
    return {
        (batch["name"], ", ".join(columns_of(e["kwargs"])) or e["type"]): e
        for batch in document["batches"]
        for e in batch["expectations"]
        if not e["passed"] and e["severity"] == "critical"
    }


def columns_of(kwargs):
    return Expectation("", kwargs).columns


@pytest.mark.slow
def test_each_fault_is_found_and_nothing_else(broken):
    _, document, _ = broken
    wanted = {name: n for _, names in BREAKS for name, n in names.items()}
    assert {name: e["n_offending"] for name, e in failed(document).items()} == wanted


@pytest.mark.slow
def test_sample_rows_are_the_offending_ones(broken):
    found = failed(broken[1])

    def sample(*name):
        return found[name]["sample"]

    assert [row["e2e_ms"] for row in sample("values of lake.results", "e2e_ms")] == [-5]
    [status] = sample("values of lake.results", "availability_status")
    assert (status["run_id"], status["availability_status"]) == (QUIET_RUN, "okay")
    [parts] = sample("openclaw_summary", "n_total, n_of_all_statuses")
    assert parts["n_total"] == parts["n_of_all_statuses"] + 1
    first, second = sample("lake.results", "suite, run_id, content_id")
    assert first == second
    [mismatch] = sample("checks.summary_mismatches", NO_ROWS)
    assert (mismatch["field"], mismatch["recorded"]) == ("n_ok", "99")
    assert {row["refers_to"] for row in sample("checks.broken_references", NO_ROWS)} == {
        "batch",
        "file",
    }


@pytest.mark.slow
def test_failures_exit_with_1_and_are_on_the_page(broken):
    ended, document, html = broken
    assert ended.code == 1
    assert f"{document['n_failed']} critical expectations not met" in ended.err
    assert (document["format"], document["passed"]) == (1, False)
    shown = Elements(html).text
    for (name, _), expectation in failed(document).items():
        assert name in shown
        for value in expectation["sample"][0].values():
            assert value is None or human(value) in shown


# --- relations and frames


@pytest.mark.slow
def test_a_value_of_a_lake_table_is_checked(store):
    with store.lake.write("import") as writer:
        common = {"suite": "own", "run_id": "r", "generation": "root"}
        writer.add(BY_NAME["runs"], [{**common, "content_id": "run"}])
        rows = [{**common, "content_id": f"c{n}", "seq": n, "task_id": "t"} for n in range(3)]
        writer.add(BY_NAME["results"], rows)
        writer.commit(generations=[Generation("own", "r", "root", None)])
    checked = run_checks(store, only("values of lake.results"))
    assert problems(checked) == {("values of lake.results", "seq"): 1}
    [result] = [o for o in checked[0].results if not o.passed]
    assert result.sample == ({"suite": "own", "run_id": "r", "content_id": "c0", "seq": 0},)


@pytest.mark.slow
def test_a_pass_rate_without_missing_verdicts_has_no_bounds(store, tmp_path):
    import_into(store, write_log(tmp_path / "1.yaml", log([1, 2])))
    boards = store.sql("SELECT pass_rate IS NULL, min_pass_rate FROM leaderboard").fetchall()
    assert boards == [(False, None)]
    assert problems(run_checks(store, only("leaderboard"))) == {}


@pytest.mark.slow
def test_merged_or_forgotten_batches_are_not_missing(copy, monkeypatch):
    monkeypatch.setattr(shipped, "shipped_relations", list)
    import_into(copy, write_log(copy.path.parent / "1.yaml", log([1])), run_as="mine")
    assert command(copy.path, "compact").code == 0
    assert command(copy.path, "check").code == 0
    assert command(copy.path, "forget", "mine", "--yes").code == 0
    assert command(copy.path, "check").code == 0


@pytest.mark.slow
def test_an_amount_that_is_not_a_number_is_found(copy):
    change(copy, f"UPDATE lake.results SET cost_usd = 'nan' WHERE content_id = {PALINDROME}")
    checked = run_checks(copy, only("amounts of results"))
    assert problems(checked) == {("amounts of results", "is_cost"): 1}


@pytest.mark.campaign
def test_a_damaged_batch_is_missing(copy, monkeypatch):
    monkeypatch.setattr(shipped, "shipped_relations", list)
    assert command(copy.path, "check").code == 0
    with copy.lake.write("import") as writer:
        writer.add(BY_NAME["quarantine"], [{"content_id": "q", "path": "p", "reason": "r"}])
        batch = writer.commit()
    copy.lake.file(batch, "quarantine").write_bytes(b"no Parquet")
    ended = command(copy.path, "check")
    assert ended.code == 1
    assert "batches not loaded: 1 row, none expected\n" in ended.out
    assert ended.out.count(batch.name) == 1
    assert ended.err.count("left out") == 1


@pytest.mark.slow
def test_a_missing_file_of_a_loaded_batch_is_counted(copy, monkeypatch):
    monkeypatch.setattr(shipped, "shipped_relations", list)
    next((copy.path / "lake").glob("*/results.parquet")).unlink()
    ended = command(copy.path, "check")
    assert re.search(r"^batches not loaded +0 +1  ok$", ended.out, re.MULTILINE)
    assert re.search(r"^unreadable files +1 +1  1 FAILED$", ended.out, re.MULTILINE)


@pytest.mark.slow
def test_our_own_run_without_settings_is_found(copy):
    change(copy, "UPDATE lake.runs SET origin = 'runner' WHERE suite = 'posters'")
    [checked] = run_checks(copy, only("runs of our own runner"))
    assert problems([checked]) == {("runs of our own runner", NO_ROWS): 1}
    assert checked.results[0].sample[0]["missing"] == "temperature"


@pytest.mark.slow
def test_a_sync_can_write_during_evaluation(copy, monkeypatch):
    def during_sync(evaluate):
        def evaluated(prepared, frame):
            with open_for_writing(copy.warehouse, wait_seconds=0):
                evaluations.append(prepared)
                return evaluate(prepared, frame)

        return evaluated

    evaluations = []
    monkeypatch.setattr(gx, "evaluate", during_sync(gx.evaluate))
    assert problems(run_checks(copy, only("runs"))) == {}
    assert evaluations


ALIKE = """
- name: low
  query: FROM (VALUES (1e0, 0.5e0, 'x'), (2e0, 1.5e0, 'y'), (3e0, 3.5e0, NULL)) t (n, share, word)
  key: [n]
  expectations:
    - expect_column_values_to_be_between: {column: share, min_value: 0, max_value: 1}
    - expect_column_values_to_be_between: {column: n, min_value: 0, max_value: 1}
    - expect_column_values_to_be_in_set: {column: word, value_set: [x, y, z]}
    - expect_column_pair_values_a_to_be_greater_than_b: {column_A: n, column_B: share}
- name: high
  query: FROM (VALUES ('a', 0.25e0, 5e0), ('b', 0.75e0, 0e0), ('c', 7.5e0, 0e0)) AS t (id, rate, n)
  key: [id]
  expectations:
    - expect_column_values_to_be_between: {column: rate, min_value: 0, max_value: 1}
    - expect_column_values_to_be_in_set: {column: id, value_set: [x, y, z]}
    - expect_column_pair_values_a_to_be_greater_than_b: {column_A: rate, column_B: n}
    - expect_column_values_to_be_between: {column: id, min_value: 0, max_value: 1}
"""


def evaluated(monkeypatch):
    """Return a list to which the frame of each evaluation will be added."""
    evaluations = []
    inner = gx.evaluate

    def evaluate(prepared, frame):
        evaluations.append(frame)
        return inner(prepared, frame)

    monkeypatch.setattr(gx, "evaluate", evaluate)
    return evaluations


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 1000])
def test_alike_expectations_are_evaluated_as_one(clean, few, monkeypatch):
    """Each finds its own rows, as it does alone."""
    monkeypatch.setattr(frames, "FEW_ROWS", few)
    monkeypatch.setattr(evaluation, "FEW_ROWS", few)
    evaluations = evaluated(monkeypatch)
    low, high = run_checks(clean, own(ALIKE))
    # As one: three numbers, two words, two pairs. Alone: words as numbers.
    assert len(evaluations) == (8 if few == 0 else 4)
    assert [o.n_offending for o in low.results] == [2, 2, 0, 1]
    assert [o.n_offending for o in high.results] == [1, 3, 1, None]
    assert "of the same type" in high.results[-1].error
    assert low.results[0].sample == ({"n": 2, "share": 1.5}, {"n": 3, "share": 3.5})
    assert [row["id"] for row in high.results[0].sample] == ["c"]
    assert [row["id"] for row in high.results[2].sample] == ["a"]


@pytest.mark.slow
def test_few_rows_are_evaluated_together(clean, monkeypatch):
    """A call takes milliseconds, however few the rows are."""
    evaluations = evaluated(monkeypatch)
    checked = run_checks(clean, only("leaderboard", "tool_tiers"))
    assert problems(checked) == {}
    assert len(evaluations) < sum(len(each.results) for each in checked) / 2


FRAMES = """
- name: numbers
  query: |
    SELECT i AS n, i // 2 AS half, CASE WHEN i < 6 THEN i END AS part, 9007199254740993 + i AS big,
        TIMESTAMP '2026-01-01' + to_days(i::INTEGER) AS day, [i] AS list
    FROM range(10) AS numbers (i)
  key: [n]
  expectations:
    - expect_column_values_to_be_between: {column: half, max_value: 3}
    - expect_column_values_to_be_between: {column: half, max_value: 3, mostly: 0.8}
    - expect_column_values_to_be_between: {column: half, max_value: 3, mostly: 0.9}
    - expect_column_values_to_be_between: {column: big, min_value: 9007199254740994}
    - expect_column_values_to_be_between: {column: day, min_value: "2026-01-03"}
    - expect_column_values_to_not_be_null: {column: part}
    - expect_column_values_to_be_null: {column: part}
    - expect_column_values_to_be_unique: {column: half}
    - expect_compound_columns_to_be_unique: {column_list: [n, half]}
    - expect_column_pair_values_to_be_equal: {column_A: n, column_B: half}
    - expect_column_values_to_be_increasing: {column: half, strictly: true}
    - expect_column_mean_to_be_between: {column: n, max_value: 4}
    - expect_column_median_to_be_between: {column: n, min_value: 4.5, max_value: 4.5}
    - expect_column_values_to_not_be_null: {column: list}
    - expect_table_row_count_to_be_between: {min_value: 11}
    - expect_table_columns_to_match_set: {column_set: [n, half, part, big, day, list]}
    - expect_column_to_exist: {column: nowhere}
    - expect_column_values_to_match_regex: {column: half, regex: "["}
"""


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 1000])
def test_a_small_frame_gives_the_same_result_as_all_rows(clean, few, monkeypatch):
    monkeypatch.setattr(frames, "FEW_ROWS", few)
    monkeypatch.setattr(evaluation, "FEW_ROWS", few)
    [checked] = run_checks(clean, own(FRAMES))
    assert checked.n_rows == 10
    said = [(o.passed, o.n_offending) for o in checked.results]
    # half is 0 0 1 1 2 2 3 3 4 4
    assert said == [
        (False, 2), (True, 0), (False, 2), (False, 1), (False, 2), (False, 4), (False, 6),
        (False, 10), (True, 0), (False, 9), (False, 5), (False, None), (True, 0), (True, 0),
        (False, None), (True, 0), (False, None), (False, None),
    ]  # fmt: skip
    by_column = {o.expectation.type: o for o in checked.results}
    assert by_column["expect_column_mean_to_be_between"].observed == "4.5"
    assert by_column["expect_column_values_to_match_regex"].error
    assert [row["n"] for row in checked.results[0].sample] == [8, 9]
    assert [row["n"] for row in checked.results[5].sample] == [6, 7, 8, 9]


# --- users' expectations


@pytest.mark.parametrize("end", ["", ";", "; -- all", " -- all\n;\n-- of; them\n", ";;\n"])
def test_a_query_may_end_with_semicolons_and_comments(clean, end):
    text = f"- name: own\n  query: {json.dumps('SELECT 1 AS n' + end)}\n  expectations:\n"
    relations = own(text + "    - expect_column_values_to_be_in_set: {column: n, value_set: [2]}\n")
    assert problems(run_checks(clean, relations)) == {("own", "n"): 1}


@pytest.mark.slow
def test_examples_in_docs_and_help_work(copy, tmp_path, monkeypatch):
    [text] = re.findall(r"```yaml\n(.*?)```", (DOCS / "checks.md").read_text(), re.DOTALL)
    (tmp_path / "release.yaml").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shipped, "shipped_relations", lambda: only("runs"))
    page = (DOCS / "commands.md").read_text("utf-8")
    examples = re.findall(r"^    evalstore (check(?! {3}).*)$", page, re.MULTILINE)
    plain, machine, named, gate, own_only = examples
    ended = command(copy.path, *plain.split())
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "8 of 8 expectations met")
    assert "All expectations are met" in (copy.path / "check.html").read_text("utf-8")
    assert json.loads(command(copy.path, *machine.split()).out)["passed"]
    ended = command(copy.path, *gate.split())
    assert ended.code == 1, ended.err
    assert "FAILED  release candidates: pass_rate_low" in ended.out
    assert "page: release.html" in ended.err
    assert "release candidates" in (tmp_path / "release.html").read_text("utf-8")
    ended = command(copy.path, *own_only.split())
    assert "runs   " not in ended.out
    assert "FAILED  release candidates: pass_rate_low" in ended.out
    monkeypatch.undo()
    assert command(copy.path, *named.split()).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- view: runs\n  query: FROM runs\n", ":1: a relation needs either"),
        ("- query: FROM runs\n  expectations: []\n", ":1: name: missing"),
        ("- view: runs\n", ":1: expectations: missing"),
        ("- view: runs\n  expectations: []\n", ":2: expectations: must be a list"),
        (
            "- view: runs\n  exptations: []\n  expectations:\n    - a: {}\n",
            ":2: exptations: unknown key",
        ),
        ("- view: runs\n  view: runs\n", ":2: view: duplicate key"),
        ("- view: [runs]\n", ":1: view: must be text"),
        ("- runs\n", ":1: a relation must be a mapping"),
        ("view: runs\n", ":1: the file: must be a list"),
        ("- view: runs\n  key: [{a: 1}]\n  expectations:\n    - a: {}\n", ":2: key: must be"),
        ("- view: runs\n  expectations:\n    - a: {}\n      b: {}\n", ":3: an expectation is one"),
        ("- view: runs\n  expectations:\n    - a: {severity: high}\n", ":3: severity: 'high' is"),
        ("- view: runs\n  expectations: [\n", "own.yaml: line 3"),
        ("- &a [*a]\n", "own.yaml: line 1"),
        ("#" * 2**21, "more than the 1,048,576 accepted"),
    ],
)
def test_a_malformed_file_is_refused_with_line_and_key(text, message):
    with pytest.raises(BadInput) as error:
        own(text)
    assert message in str(error.value)
    assert str(error.value).startswith("own.yaml")


@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        (
            "expect_column_value_to_be_between: {column: seed}",
            ":4: expect_column_value_to_be_b",
        ),
        (
            "expect_column_values_to_be_unique: {column: sed}",
            "unknown column 'sed'; the columns",
        ),
        (
            "expect_column_values_to_be_unique:\n        {column: seed,\n        rows: 2}",
            ":6: expec",
        ),
        ("expect_column_values_to_be_between: {column: seed}", "min_value and max_value cannot"),
        ("expect_column_values_to_be_unique: {column: seed, row_condition: x}", "into the query"),
        ("expect_column_max_to_be_between: {column: started_at, max_value: soon}", "not a date or"),
        ("unexpected_rows_expectation: {unexpected_rows_query: x}", "unknown expectation"),
    ],
)
def test_an_invalid_expectation_is_refused_with_its_line(clean, expectation, message):
    text = f"- view: runs\n  key: [run_id]\n  expectations:\n    - {expectation}\n"
    with pytest.raises(BadInput) as error:
        run_checks(clean, own(text))
    assert message in str(error.value)
    assert str(error.value).startswith("own.yaml:")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT nothing",
        "SELECT 1; SELECT 2",
        "DROP TABLE lake.runs",
        "FROM read_csv('/etc/passwd')",
    ],
)
def test_a_query_cannot_change_the_store(clean, query):
    text = f"- name: q\n  query: {query}\n  expectations:\n    - {NO_ROWS}: {{value: 0}}\n"
    with pytest.raises(BadInput, match=r"^own\.yaml:1: q: "):
        run_checks(clean, own(text))


@pytest.mark.parametrize(
    "rest",
    [
        f"expectations:\n    - {NO_ROWS}: {{value: 0}}",
        "expectations:\n    - expect_column_values_to_not_be_null: {column: suite}",
        "expectations:\n    - expect_column_to_exist: {column: suite}",
        f"key: [suite]\n  expectations:\n    - {NO_ROWS}: {{value: 0}}",
    ],
)
def test_a_wrong_query_is_named_whatever_is_expected_of_it(clean, rest):
    text = f"- name: q\n  query: FROM runs WHERE suit = 'x'\n  {rest}\n"
    with pytest.raises(BadInput, match=r'^own\.yaml:1: q: .*"suit" not found'):
        run_checks(clean, own(text))


# --- the command


def test_misuse_exits_with_2_before_any_check(clean, tmp_path):
    (tmp_path / "bad.yaml").write_text("- view: runs\n", "utf-8")
    for arguments in (
        ["--expectations", tmp_path / "none.yaml"],
        ["--expectations", tmp_path / "bad.yaml"],
        ["--format", "xml"],
        ["--no-builtin"],
        ["--only", "leaderbord"],
    ):
        ended = command(clean.path, "check", *arguments)
        assert (ended.code, ended.out) == (2, "")
        assert "Traceback" not in ended.err
    ended = command(tmp_path / "nowhere", "check")
    assert (ended.code, "no store here" in ended.err) == (2, True)


@pytest.mark.slow
def test_only_what_was_named_is_checked(clean, tmp_path):
    named = ["--only", "leaderboard", "--only", "lake.runs", "--format", "json"]
    ended = command(clean.path, "check", *named)
    assert {batch["name"] for batch in json.loads(ended.out)["batches"]} == {
        "leaderboard",
        "lake.runs",
    }
    own_file = tmp_path / "own.yaml"
    own_file.write_text(f"- view: costs\n  expectations: [{NO_ROWS}: {{value: 0}}]\n", "utf-8")
    ended = command(
        clean.path, "check", "--expectations", own_file, "--no-builtin", "--format", "json"
    )
    assert ended.code == 1
    assert {batch["name"] for batch in json.loads(ended.out)["batches"]} == {"costs"}
    misspelt = command(clean.path, "check", "--only", "leaderbord")
    assert "did you mean 'leaderboard'" in misspelt.err


def test_warnings_exit_with_0(clean, monkeypatch):
    monkeypatch.setattr(shipped, "shipped_relations", lambda: only("verdict_drift"))
    ended = command(clean.path, "check")
    assert ended.code == 0
    assert "warning  verdict_drift: 2 rows, none expected" in ended.out
    assert "Nothing failed" in (clean.path / "check.html").read_text("utf-8")
    (clean.path / "check.html").unlink()


@pytest.mark.slow
def test_forgetting_a_run_removes_the_page(copy):
    (copy.path / "check.html").write_text("sample rows", "utf-8")
    assert command(copy.path, "forget", QUIET_RUN, "--yes").code == 0
    assert not (copy.path / "check.html").exists()


def test_every_check_has_a_severity():
    severities = {f.name: f.severity for f in shipped_sql() if f.folder == "checks"}
    assert set(severities.values()) == {"critical", "warning"}
    assert not any(f.severity for f in shipped_sql() if f.folder != "checks")


# --- the page


class Elements(HTMLParser):
    """Collects what could run or load something."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


HARMLESS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "dl", "div",
    "dt", "dd", "details", "summary", "span", "table", "thead", "tbody", "tr", "th", "td", "ul",
    "li", "code",
}  # fmt: skip


def test_the_page_escapes_hostile_text():
    evil = f"{HOSTILE}<img src=x onerror=alert(1)>\"'&ไทย"
    expectation = Expectation("expect_" + evil, {"column": evil}, description=evil)
    results = (
        ExpectationResult(
            expectation=expectation, passed=False, n_offending=1, sample=({evil: evil, "n": None},)
        ),
        ExpectationResult(expectation=expectation, passed=False, error=evil),
        ExpectationResult(expectation=expectation, passed=False, observed=evil),
    )
    relation = Relation(name=evil, query=evil, expectations=(expectation,) * 3, about=evil)
    text = page([CheckedRelation(relation, 1, results)])
    elements = Elements(text)
    assert elements.tags <= HARMLESS
    assert elements.attributes <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "open", "dir", "data-name",
        "tabindex",
    }  # fmt: skip
    assert not UNSEEN.search(text)
    assert visible_lines(evil) in elements.text
    assert "default-src 'none'" in text
    assert not re.search(r"https?:|url\(|@import", text)
