"""OpenClaw runs coming in: again, grown, contradicting, under other names, with their prompts."""

import json
import os
import shutil

import pytest
from openclaw_cases import (
    CONFIG,
    INVENTORY,
    PROMPTS,
    RECORD,
    SNAPSHOT,
    SNAPSHOT_NAME,
    event,
    exported_lines,
    line,
    write_lines,
    write_run,
)
from support import bring_in, command, digests, new_store

from exports.openclaw.run_folder import export_openclaw
from ingest.formats.openclaw.prompts import PromptsOption
from ingest.reconciliation import FileOutcome
from warehouse.errors import BadInput


def outcomes(summary):
    return {outcome: n for outcome, n in summary.outcomes.items() if n}


def n_results(store):
    return store.sql("SELECT run_id, count(*) FROM results GROUP BY 1 ORDER BY 1").fetchall()


def test_the_same_again_changes_nothing(store, tmp_path):
    folder = write_run(tmp_path / "runs" / "r")
    assert outcomes(bring_in(store, folder)) == {FileOutcome.IMPORTED: 1}
    assert outcomes(bring_in(store, tmp_path / "runs")) == {FileOutcome.UNCHANGED: 1}
    # The log alone says nothing that the folder did not.
    assert outcomes(bring_in(store, folder / "results.jsonl")) == {FileOutcome.UNCHANGED: 1}
    assert len(store.lake.batch_names()) == 1


def test_a_log_that_grew_adds_its_new_lines(store, tmp_path):
    folder = write_run(tmp_path / "r", line(), event())
    bring_in(store, folder)
    write_run(folder, line(), event(), line(), line(prompt_id="P9"), event())
    summary = bring_in(store, folder)
    assert (outcomes(summary), summary.n_results) == ({FileOutcome.GROWN: 1}, 2)
    assert n_results(store) == [("r", 3)]
    assert exported_lines(store, tmp_path) == [
        line(),
        event(),
        line(),
        line(prompt_id="P9"),
        event(),
    ]
    assert outcomes(bring_in(store, folder)) == {FileOutcome.UNCHANGED: 1}


def test_a_part_first_and_then_the_whole_is_in_order(store, tmp_path):
    lines = [line(prompt_id=f"P{n}") for n in range(5)]
    bring_in(store, write_lines(tmp_path / "part.jsonl", *lines[3:]))
    bring_in(store, write_lines(tmp_path / "whole.jsonl", *lines))
    assert exported_lines(store, tmp_path) == lines


def test_a_snapshot_taken_again_is_kept_beside_the_first(store, tmp_path):
    folder = write_run(tmp_path / "r")
    bring_in(store, folder)
    (folder / SNAPSHOT_NAME).write_bytes(b"# free -h\nMem: 8Gi 7Gi 2Gi 3Gi 4Gi 5Gi\n")
    assert outcomes(bring_in(store, folder)) == {FileOutcome.GROWN: 1}
    rows = store.sql("SELECT invocation, is_latest FROM snapshots ORDER BY 1").fetchall()
    assert rows == [(1, False), (2, True)]
    export_openclaw(store, tmp_path / "out", "r")
    assert (
        (tmp_path / "out/runs/r" / SNAPSHOT_NAME)
        .read_bytes()
        .startswith(b"# free -h\nMem: 8Gi 7Gi")
    )


def test_a_contradicting_log_is_refused_renamed_or_replaces(store, tmp_path):
    bring_in(store, write_lines(tmp_path / "a.jsonl", line(), line(prompt_id="P1")))
    other = write_lines(tmp_path / "b.jsonl", line(), line(prompt_id="P2"))
    refused = bring_in(store, other)
    assert outcomes(refused) == {FileOutcome.CONFLICT: 1}
    assert "--replace" in refused.messages[0]
    assert n_results(store) == [("r", 2)]
    assert outcomes(bring_in(store, other, run_as="second")) == {FileOutcome.IMPORTED: 1}
    assert n_results(store) == [("r", 2), ("second", 2)]
    assert outcomes(bring_in(store, other, replace=True)) == {FileOutcome.REPLACED: 1}
    assert exported_lines(store, tmp_path) == [line(), line(prompt_id="P2")]


def test_a_log_of_several_runs_becomes_several_runs(store, tmp_path):
    lines = [line(run_id=name, prompt_id=f"P{n}") for n in range(3) for name in ("a", "b")]
    path = write_lines(tmp_path / "all.jsonl", *lines)
    bring_in(store, path)
    assert n_results(store) == [("a", 3), ("b", 3)]
    assert exported_lines(store, tmp_path, "b") == lines[1::2]
    with pytest.raises(BadInput, match="this log has several"):
        bring_in(store, path, run_as="one")


def test_two_logs_of_a_run_in_one_import_are_one(store, tmp_path):
    write_lines(tmp_path / "logs" / "1.jsonl", line())
    write_lines(tmp_path / "logs" / "2.jsonl", line(), line(prompt_id="P1"))
    summary = bring_in(store, tmp_path / "logs")
    assert outcomes(summary) == {FileOutcome.IMPORTED: 1, FileOutcome.GROWN: 1}
    assert n_results(store) == [("r", 2)]


def test_duplicate_cells_all_count(store, tmp_path):
    bring_in(store, write_lines(tmp_path / "r.jsonl", line(), line(), line(e2e_ms=300)))
    assert store.sql("SELECT n_total, p50_ms FROM openclaw_summary").fetchall() == [(3, 100.0)]


def test_a_row_without_a_run_belongs_to_the_folders(store, tmp_path):
    nameless = {key: value for key, value in RECORD.items() if key != "run_id"}
    bring_in(store, write_run(tmp_path / "r", json.dumps(nameless)))
    assert n_results(store) == [("r", 1)]
    assert exported_lines(store, tmp_path) == [json.dumps(nameless, ensure_ascii=False)]


def test_documents_come_back_and_a_broken_one_is_quarantined(store, tmp_path):
    config = {**CONFIG, "nested": {"ä": [1, 2.5, None]}, "big": 2**70}
    folder = write_run(tmp_path / "r", config=config, summary={"models": []})
    (folder / "inventory.json").write_text('{"run_id": "r", "nan": NaN}')
    export_openclaw_of(store, folder, tmp_path)
    out = tmp_path / "out/runs/r"
    assert json.loads((out / "config.json").read_text("utf-8")) == config
    assert "NaN" in (out / "inventory.json").read_text("utf-8")
    assert (out / SNAPSHOT_NAME).read_bytes() == SNAPSHOT
    (folder / "summary.json").write_text("{")
    assert bring_in(store, folder).n_quarantined == 1


def export_openclaw_of(store, path, tmp_path):
    bring_in(store, path)
    return export_openclaw(store, tmp_path / "out", "r")


def summary_of(store, path, tmp_path):
    bring_in(store, path)
    export_openclaw(store, tmp_path / "out", None)
    return json.loads((tmp_path / "out" / "runs" / "r" / "summary.json").read_bytes())


def test_the_mean_of_whole_milliseconds_is_exact(store, tmp_path):
    # A decimal with 15 places holds neither of them to the last bit.
    lines = [line(model="one", e2e_ms=299277), line(e2e_ms=1), line(e2e_ms=10**17)]
    groups = summary_of(store, write_lines(tmp_path / "r.jsonl", *lines), tmp_path)["models"]
    assert [group["latency_ms"]["mean"] for group in groups] == [(1 + 10**17) / 2, 299277.0]


def test_groups_whose_levels_sort_alike_have_an_order(store, tmp_path):
    lines = [line(model=f"{n}", thinking_level=level) for n in range(9) for level in ("None", None)]
    groups = summary_of(store, write_lines(tmp_path / "r.jsonl", *lines), tmp_path)["models"]
    assert [group["thinking_level"] for group in groups] == [None, "None"] * 9


def test_what_a_bare_log_never_had_is_marked(store, tmp_path):
    exported = export_openclaw_of(store, write_lines(tmp_path / "r.jsonl", line()), tmp_path)
    assert len(exported.notes) == 2
    config = json.loads((tmp_path / "out/runs/r/config.json").read_bytes())
    assert config == {"reconstructed": True, "run_id": "r"}
    before = digests(store)
    bring_in(store, tmp_path / "out")
    assert store.sql("SELECT count(config) FROM runs").fetchall() == [(0,)]
    assert digests(store)["main.openclaw_summary"] == before["main.openclaw_summary"]


def test_the_same_data_give_the_same_bytes(store, tmp_path):
    bring_in(store, write_run(tmp_path / "r"))
    export_openclaw(store, tmp_path / "one", None)
    store.sync(rebuild=True)
    export_openclaw(store, tmp_path / "two", None)
    for path in (tmp_path / "one/runs/r").iterdir():
        assert path.read_bytes() == (tmp_path / "two/runs/r" / path.name).read_bytes()
    summary = json.loads((tmp_path / "one/runs/r/summary.json").read_bytes())
    assert summary["run_dir"] == "runs/r"
    assert summary["generated_at"] == "2026-02-14T00:00:48.669000+00:00"


@pytest.mark.parametrize("place", ["prompts.json", "prompts/prompts.json", "tasks/prompts.json"])
def test_prompts_are_found_beside_the_runs(store, tmp_path, place):
    folder = write_run(tmp_path / "project" / "runs" / "r")
    path = tmp_path / "project" / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(PROMPTS))
    bring_in(store, folder)
    rows = store.sql("SELECT task_id, recorded, computed FROM verdicts ORDER BY seq").fetchall()
    assert rows == [("P0", True, None), ("P1", True, False)]
    assert store.sql("SELECT DISTINCT task_set FROM results").fetchall() == [("prompts",)]


def test_a_config_cannot_choose_a_file_outside_the_project(store, tmp_path):
    (tmp_path / "secret.json").write_text(json.dumps(PROMPTS))
    for named in ("../../../secret.json", str(tmp_path / "secret.json"), "\0", "x" * 5000):
        folder = write_run(tmp_path / "p" / "runs" / "r", config={**CONFIG, "prompts_path": named})
        bring_in(store, folder)
    assert store.sql("SELECT count(*) FROM tasks").fetchall() == [(0,)]


def test_prompts_given_later_are_those_of_the_run(store, tmp_path):
    path = write_lines(tmp_path / "r.jsonl", line(), line(prompt_id="P1", prompt_name="two"))
    bring_in(store, path)
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(0,)]
    assert store.sql("SELECT DISTINCT tier_basis FROM tool_use").fetchall() == [("recorded",)]
    prompts = tmp_path / "mine.json"
    prompts.write_text(json.dumps(PROMPTS))
    options = {"format_options": (PromptsOption(prompts),)}
    assert outcomes(bring_in(store, path, **options)) == {FileOutcome.GROWN: 1}
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(1,)]
    assert store.sql("SELECT DISTINCT tier_basis FROM tool_use").fetchall() == [("expected",)]
    assert outcomes(bring_in(store, path, **options)) == {FileOutcome.UNCHANGED: 1}


def test_the_stores_own_prompts_serve_a_config_that_names_them(store, tmp_path):
    bring_in(store, write_run(tmp_path / "runs" / "r"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "prompts.json").write_text(json.dumps(PROMPTS))
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(0,)]
    bring_in(store, tmp_path / "elsewhere")
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(1,)]


@pytest.mark.parametrize("text", ["{}", "[1]", "not JSON", "[" * 100_000])
def test_a_prompt_file_that_is_none_is_refused(store, tmp_path, text):
    path = write_lines(tmp_path / "r.jsonl", line())
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(BadInput, match="cannot be used as a prompt file"):
        bring_in(store, path, format_options=(PromptsOption(tmp_path / "p.json"),))


def test_what_is_wrong_in_a_prompt_file_is_told_with_file_and_prompt(store, tmp_path):
    prompts = [
        {"id": "A", "prompt": "x", "validator": {"type": "regex_fullmatch", "pattern": "("}},
        {"id": "B", "prompt": "x", "validator": {"type": "nonsense"}},
    ]
    (tmp_path / "p.json").write_text(json.dumps(prompts))
    summary = bring_in(store, tmp_path / "p.json")
    assert [text.split(": ")[1] for text in summary.violations] == ["prompt A", "prompt B"]
    assert all("p.json" in text for text in summary.violations)


def test_a_hostile_pattern_ends_in_a_timeout_that_is_data(store, tmp_path):
    prompts = [
        {"id": "P0", "prompt": "x", "validator": {"type": "regex_fullmatch", "pattern": "(a+)+b"}}
    ]
    (tmp_path / "p.json").write_text(json.dumps(prompts))
    bring_in(
        store,
        write_lines(tmp_path / "r.jsonl", line(raw_output="a" * 40)),
        format_options=(PromptsOption(tmp_path / "p.json"),),
    )
    row = store.sql("SELECT objective_pass, violation FROM scores.openclaw_verdicts").fetchall()
    assert row == [(None, "regex_timeout")]


def test_strict_refuses_a_log_with_broken_lines(store, tmp_path):
    path = write_lines(tmp_path / "r.jsonl", line(), "broken")
    assert outcomes(bring_in(store, path, strict=True)) == {FileOutcome.REFUSED: 1}
    assert not store.lake.batch_names()


def test_runs_are_told_by_their_content(store, tmp_path):
    write_run(tmp_path / "in" / "deep" / "er" / "any name")
    shutil.copy(tmp_path / "in/deep/er/any name/results.jsonl", tmp_path / "in" / "copy.jsonl")
    write_lines(tmp_path / "in" / "other.jsonl", '{"text": "record_type result"}')
    (tmp_path / "in" / "config.json").write_text("{}")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "in" / "pipe.jsonl")
    summary = bring_in(store, tmp_path / "in")
    assert n_results(store) == [("r", 2)]
    assert outcomes(summary)[FileOutcome.IMPORTED] == 1


def test_a_run_without_results_is_a_run(store, tmp_path):
    folder = write_run(tmp_path / "r")
    (folder / "results.jsonl").unlink()
    export_openclaw_of(store, folder, tmp_path)
    assert (tmp_path / "out/runs/r/results.jsonl").read_bytes() == b""
    assert store.sql("SELECT run_id, n_results FROM runs").fetchall() == [("r", 0)]


def test_a_run_that_has_but_a_config_comes_back(store, tmp_path):
    other = [line(run_id="other"), line(run_id="other", prompt_id="P1")]
    bring_in(store, write_run(tmp_path / "r", *other, inventory=None))
    export_openclaw(store, tmp_path / "out", None)
    again = new_store(tmp_path / "again")
    bring_in(again, tmp_path / "out")
    assert n_runs(again) == n_runs(store) == [("other", 2), ("r", 0)]


def n_runs(store):
    return store.sql("SELECT run_id, n_results FROM runs ORDER BY run_id").fetchall()


def test_half_a_surrogate_pair_comes_back_as_its_escape(store, tmp_path):
    config = {**CONFIG, "prompts_path": "../\ud800.json", "\udfff": ["\ud800"]}
    inventory = {**INVENTORY, "ollama_store_du": "94G\ud800"}
    folder = write_run(tmp_path / "runs" / "r", config=config, inventory=inventory)
    export_openclaw_of(store, folder, tmp_path)
    out = tmp_path / "out" / "runs" / "r"
    assert json.loads((out / "config.json").read_text("utf-8")) == config
    assert json.loads((out / "inventory.json").read_text("utf-8")) == inventory
    assert "94G\ufffd" in (out / "summary.md").read_text("utf-8")


def test_a_document_with_a_mark_and_what_columns_do_not_hold_comes_back(store, tmp_path):
    folder = write_run(tmp_path / "r")
    config = {**CONFIG, "zahl": float("inf")}
    (folder / "config.json").write_text("\ufeff" + json.dumps(config), "utf-8")
    export_openclaw_of(store, folder, tmp_path)
    assert json.loads((tmp_path / "out/runs/r/config.json").read_text("utf-8")) == config


ODD_PROMPTS = {
    "no id": {"id": None, "prompt": "x"},
    "tools that are a text": {"id": "P0", "prompt": "x", "expected_tool_calls": "free"},
    "tools that are a number": {"id": "P0", "prompt": "x", "expected_tool_calls": 5},
}


@pytest.mark.parametrize("prompt", ODD_PROMPTS.values(), ids=ODD_PROMPTS)
def test_an_odd_prompt_leaves_the_run_in_order(store, tmp_path, prompt):
    folder = write_run(tmp_path / "runs" / "r")
    (tmp_path / "prompts.json").write_text(json.dumps([prompt, PROMPTS[1]]))
    assert bring_in(store, folder).n_violations
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(1,)]
    assert store.sql("SELECT count(*) FROM tool_checks").fetchall() == [(2,)]
    assert store.sql("FROM tool_drift").fetchall() == []


def test_tokens_beyond_all_counting_leave_the_costs_in_order(store, tmp_path):
    bring_in(store, write_lines(tmp_path / "r.jsonl", line(input_tokens=2**63 - 1), line()))
    assert store.sql("SELECT n_results, input_tokens FROM costs").fetchall() == [(2, None)]


@pytest.mark.parametrize("name", ["..", "a/b", ".", "a\\b"])
def test_a_runs_name_never_leads_out_of_the_folder(store, tmp_path, name):
    bring_in(store, write_lines(tmp_path / "r.jsonl", line(run_id=name)))
    with pytest.raises(BadInput, match="cannot name a folder"):
        export_openclaw(store, tmp_path / "out", name)


def test_memory_and_places_hold_for_many_lines(store, tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.formats.common.lines._BLOCK_BYTES", 20_000)
    lines = [line(prompt_id=f"P{n % 12}", e2e_ms=n) for n in range(2000)]
    for at in (7, 500, 1999):
        lines[at] = f"broken {at}"
    summary = bring_in(store, write_lines(tmp_path / "r.jsonl", *lines))
    assert (summary.n_results, summary.n_quarantined) == (1997, 3)
    rows = store.sql("SELECT line, decode(raw) FROM lake.quarantine ORDER BY 1").fetchall()
    assert rows == [(8, "broken 7"), (501, "broken 500"), (2000, "broken 1999")]
    whole = [text for text in lines if not text.startswith("broken")]
    assert exported_lines(store, tmp_path) == whole


def test_compare_tells_two_providers_of_a_model_apart(store, tmp_path):
    sides = [("ollama_openai", True), ("openai_responses", False)]
    lines = [
        line(provider=provider, model="m", prompt_id=f"P{n}", objective_pass=passed, run_id="r")
        for provider, passed in sides
        for n in (0, 1)
    ]
    bring_in(store, write_run(tmp_path / "r", *lines))
    shown = json.loads(command(store.path, "compare", "m", "m", "--format", "json").out)
    assert [(row["provider_a"], row["provider_b"], row["n_only_a"]) for row in shown] == [
        ("ollama_openai", "openai_responses", 2)
    ]
    ended = command(store.path, "compare", "m", "m", "--tasks", "--format", "json")
    assert [
        (row["task_id"], row["provider_a"], row["passed_a"]) for row in json.loads(ended.out)
    ] == [
        ("P0", "ollama_openai", True),
        ("P1", "ollama_openai", True),
    ]
