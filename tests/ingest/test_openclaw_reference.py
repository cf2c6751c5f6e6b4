"""Runs written by the original harness: imported, recomputed and exported."""

import json

import pytest
from openclaw_cases import (
    FOLDER,
    has_rule_the_original_ignores,
    is_refused_before_a_run,
    read_cases,
)
from support import digests, import_into, needs_reference, new_store

from exports.openclaw.run_folder import export_openclaw
from ingest.formats.openclaw.prompts import PromptsOption
from warehouse.core.formats.snapshots import parse_snapshot

RUNS = FOLDER / "runs"
NAMES = sorted(path.name for path in RUNS.iterdir()) if RUNS.is_dir() else []
# A line of this run was truncated after its summary had been written.
CUT = "r09_truncated"
# Written by evalstore, or documented to vary.
NOT_COMPARED = {"generated_at", "run_dir"}


def agrees(expected, actual):
    """Return whether values are equal to the last bit, ignoring additional keys of objects."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and agrees(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(map(agrees, expected, actual))
    return expected == actual


def empty_archive(store):
    """Remove what an export must not copy from the warehouse."""
    import duckdb

    store.sync()
    with duckdb.connect(str(store.warehouse)) as connection:
        connection.execute("UPDATE lake.files SET content = NULL")
        connection.execute("UPDATE lake.runs SET recorded_summary = NULL")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("openclaw") / "store")
    import_into(store, RUNS)
    return store


@pytest.fixture(scope="module")
def exported(store, tmp_path_factory):
    empty_archive(store)
    folder = tmp_path_factory.mktemp("out")
    export_openclaw(store, folder, None)
    return folder / "runs"


def objects(path, without=()):
    lines = path.read_bytes().split(b"\n")
    return [
        json.dumps(json.loads(line))
        for number, line in enumerate(lines, 1)
        if line and number not in without
    ]


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_reproduced(exported, name):
    for path in sorted((RUNS / name).iterdir()):
        back = exported / name / path.name
        if path.name == "results.jsonl":
            assert objects(back) == objects(path, without={8} if name == CUT else ())
        elif path.name in {"config.json", "inventory.json"}:
            assert json.loads(back.read_bytes()) == json.loads(path.read_bytes())
        elif path.name.startswith("resources_"):
            assert back.read_bytes() == path.read_bytes()
        elif name != CUT and path.name == "summary.json":
            expected = json.loads(path.read_bytes())
            assert agrees(
                {key: value for key, value in expected.items() if key not in NOT_COMPARED},
                json.loads(back.read_bytes()),
            )
        elif name != CUT and path.name == "summary.md":
            assert back.read_text("utf-8").startswith(path.read_text("utf-8"))


@pytest.mark.slow
@needs_reference
def test_recorded_verdicts_and_tools_equal_ours(store):
    assert store.sql("FROM verdict_drift WHERE suite = 'openclaw'").fetchall() == []
    assert store.sql("FROM tool_drift").fetchall() == []
    (n_computed,) = store.sql("SELECT count(computed) FROM verdicts").fetchall()[0]
    assert n_computed > 200


@pytest.mark.slow
@needs_reference
def test_the_truncated_line_is_in_quarantine_with_its_position(store):
    ((line, offset, raw),) = store.sql(
        "SELECT line, byte_offset, raw FROM lake.quarantine"
    ).fetchall()
    whole = (RUNS / CUT / "results.jsonl").read_bytes()
    assert line == 8
    assert whole[offset : offset + len(raw)] == raw
    assert whole.split(b"\n")[line - 1] == raw


@pytest.mark.campaign
@needs_reference
def test_an_exported_run_imports_as_the_same(exported, tmp_path):
    first = new_store(tmp_path / "first")
    prompts = (PromptsOption(FOLDER / "prompts" / "prompts_v1.json"),)
    import_into(first, RUNS, format_options=prompts)
    again = new_store(tmp_path / "again")
    import_into(again, exported, format_options=prompts)
    # The format lacks broken lines, other files, and the figures of the original.
    audit = {"main.reported_metrics", "main.metric_audit", "main.summary_audit"}
    audit |= {"checks.summary_mismatches"}
    without = {"main.files", "main.quarantine"} | audit
    assert digests(again, without=without) == digests(first, without=without)


@pytest.mark.slow
@needs_reference
def test_the_audit_finds_only_the_truncated_run(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, RUNS)
    runs = store.sql("SELECT DISTINCT run_id FROM summary_audit WHERE NOT agrees").fetchall()
    assert runs == [(CUT,)]


@pytest.mark.slow
def test_summaries_agree_in_every_field_of_the_original(tmp_path):
    cases = read_cases("summaries")
    for case in cases:
        write_case(tmp_path / "runs" / f"case{case['id']}", case)
    store = new_store(tmp_path / "store")
    import_into(store, tmp_path / "runs")
    export_openclaw(store, tmp_path / "out", None)
    for case in cases:
        folder = tmp_path / "out" / "runs" / f"case{case['id']}"
        expected = {k: v for k, v in case["summary"].items() if k not in NOT_COMPARED}
        assert agrees(expected, json.loads((folder / "summary.json").read_bytes())), case["id"]
        table = case["summary_md"].replace(case["run_basename"], f"case{case['id']}")
        assert (folder / "summary.md").read_text("utf-8").startswith(table), case["id"]


def write_case(folder, case):
    folder.mkdir(parents=True)
    rows = [{**row, "run_id": folder.name} for row in case["rows"]]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows] + case["raw_lines_inserted"]
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    for name, text in case["resources"].items():
        (folder / name).write_text(text, "utf-8")
    config = {"run_id": folder.name, "prompts_path": "", "targets": [], "timeout_s": 300}
    (folder / "config.json").write_text(json.dumps(config))
    inventory = {"host": {}, "claude_version": "", **(case["inventory"] or {})}
    (folder / "inventory.json").write_text(json.dumps(inventory))


def test_snapshots_are_parsed_like_the_original():
    for case in read_cases("summaries"):
        for group in case["summary"]["models"]:
            for phase in ("before", "after"):
                expected = group[f"resources_{phase}"]
                if expected is not None:
                    text = case["resources"][expected["path"]]
                    assert parse_snapshot(expected["path"], text.encode()) == expected


@pytest.mark.slow
def test_percentiles_in_sql_equal_the_original(store):
    cases = [case for case in read_cases("percentiles") if "raises" not in case]
    rows = store.sql(
        "SELECT linear_percentile(list_sort(amounts), p / 100) FROM ("
        "SELECT unnest($amounts::DOUBLE[][]) AS amounts, unnest($p::DOUBLE[]) AS p)",
        {"amounts": [case["values"] for case in cases], "p": [case["p"] for case in cases]},
    ).fetchall()
    assert [percentile for (percentile,) in rows] == [case["result"] for case in cases]


def test_tiers_in_sql_equal_the_original(store):
    expected = {}
    for case in read_cases("tiers"):
        if case["fn"] == "classify":
            expected[case["rate_pct"]] = case["tier"]
        for model, report in case.get("report", {}).items():
            used = [row["tool_use_success"] for row in case["rows"] if row["model"] == model]
            expected[sum(used) / len(used) * 100] = report["tier"]
    rows = store.sql(
        "SELECT rate, tool_tier(rate / 100) FROM (SELECT unnest($rates::DOUBLE[]) AS rate)",
        {"rates": list(expected)},
    ).fetchall()
    assert len(rows) == len(expected)
    for rate, tier in rows:
        assert expected[rate].startswith(f"Tier {tier} "), rate


def test_tiers_begin_at_50_and_80_percent(store):
    rates = {0: 3, 49.999: 3, 50: 2, 79.99: 2, 80: 1, 100: 1}
    rows = store.sql(
        "SELECT rate, tool_tier(rate / 100) FROM (SELECT unnest($rates::DOUBLE[]) AS rate)",
        {"rates": list(rates)},
    ).fetchall()
    assert dict(rows) == rates


def test_tools_in_sql_equal_the_original(store):
    cases = [
        case for case in read_cases("tools") if "raises" not in case and is_storable(case["output"])
    ]
    rows = store.sql(
        "SELECT openclaw_tools(output) FROM (SELECT unnest($outputs::VARCHAR[]) AS output)",
        {"outputs": [case["output"] for case in cases]},
    ).fetchall()
    assert [tools for (tools,) in rows] == [case["tool_calls"] for case in cases]


def test_verdicts_in_sql_equal_the_original(store):
    cases = [
        case
        for case in read_cases("validators")
        if "raises" not in case
        and is_storable(case["output"])
        and is_storable(case["violation"] or "")
        and not has_rule_the_original_ignores(case["validator"])
    ]
    rows = store.sql(
        """
        SELECT verdict.objective_pass, verdict.violation
        FROM (
            SELECT openclaw_verdict(output, validator) AS verdict
            FROM (SELECT unnest($outputs) AS output, unnest($validators) AS validator)
        )
        """,
        {
            "outputs": [case["output"] for case in cases],
            "validators": [json.dumps(case["validator"]) for case in cases],
        },
    ).fetchall()
    wrong = [
        case["id"]
        for case, row in zip(cases, rows, strict=True)
        if row != (case["objective_pass"], case["violation"])
        # The original judges a text that does not reach the broken part of a validator.
        and not (
            str(row[1]).startswith("invalid_validator: ")
            and is_refused_before_a_run(case["validator"])
        )
    ]
    assert not wrong


def is_storable(text):
    """Return whether a column can hold a text: it is not None and has no lone surrogate."""
    return text is not None and text == text.encode("utf-8", "replace").decode()
