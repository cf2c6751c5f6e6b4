"""Imports of OpenClaw runs: repeated, grown, conflicting, renamed, with prompts."""

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
from support import command, digests, import_into, new_store

from exports.openclaw.run_folder import export_openclaw
from ingest.formats.openclaw.prompts import PromptsOption
from ingest.reconciliation import FileOutcome
from warehouse.core.errors import BadInput


def outcomes(summary):
    return {outcome: n for outcome, n in summary.outcomes.items() if n}


def n_results(store):
    return store.sql("SELECT run_id, count(*) FROM results GROUP BY 1 ORDER BY 1").fetchall()


def test_importing_again_changes_nothing(store, tmp_path):
    folder = write_run(tmp_path / "runs" / "r")
    assert outcomes(import_into(store, folder)) == {FileOutcome.IMPORTED: 1}
    assert outcomes(import_into(store, tmp_path / "runs")) == {FileOutcome.UNCHANGED: 1}
    # The log has nothing that the folder lacks.
    assert outcomes(import_into(store, folder / "results.jsonl")) == {FileOutcome.UNCHANGED: 1}
    assert len(store.lake.batch_names()) == 1


@pytest.mark.slow
def test_a_log_that_grew_adds_its_new_lines(store, tmp_path):
    folder = write_run(tmp_path / "r", line(), event())
    import_into(store, folder)
    write_run(folder, line(), event(), line(), line(prompt_id="P9"), event())
    summary = import_into(store, folder)
    assert (outcomes(summary), summary.n_results) == ({FileOutcome.GROWN: 1}, 2)
    assert n_results(store) == [("r", 3)]
    assert exported_lines(store, tmp_path) == [
        line(),
        event(),
        line(),
        line(prompt_id="P9"),
        event(),
    ]
    assert outcomes(import_into(store, folder)) == {FileOutcome.UNCHANGED: 1}


@pytest.mark.slow
def test_a_part_first_and_then_the_whole_is_in_order(store, tmp_path):
    lines = [line(prompt_id=f"P{n}") for n in range(5)]
    import_into(store, write_lines(tmp_path / "part.jsonl", *lines[3:]))
    import_into(store, write_lines(tmp_path / "whole.jsonl", *lines))
    assert exported_lines(store, tmp_path) == lines


@pytest.mark.slow
def test_a_second_snapshot_is_kept_with_the_first(store, tmp_path):
    folder = write_run(tmp_path / "r")
    import_into(store, folder)
    (folder / SNAPSHOT_NAME).write_bytes(b"# free -h\nMem: 8Gi 7Gi 2Gi 3Gi 4Gi 5Gi\n")
    assert outcomes(import_into(store, folder)) == {FileOutcome.GROWN: 1}
    rows = store.sql("SELECT invocation, is_latest FROM snapshots ORDER BY 1").fetchall()
    assert rows == [(1, False), (2, True)]
    export_synced(store, tmp_path / "out", "r")
    assert (
        (tmp_path / "out/runs/r" / SNAPSHOT_NAME)
        .read_bytes()
        .startswith(b"# free -h\nMem: 8Gi 7Gi")
    )


@pytest.mark.slow
def test_results_at_a_later_place_are_not_new(store, tmp_path):
    ends = [line(prompt_id="P1"), line(prompt_id="P2")]
    import_into(store, write_lines(tmp_path / "end.jsonl", *ends))
    whole = write_lines(tmp_path / "whole.jsonl", line(prompt_id="P0"), *ends)
    assert import_into(store, whole).n_results == 1
    assert n_results(store) == [("r", 3)]


@pytest.mark.slow
def test_a_contradicting_log_is_refused_renamed_or_replaces(store, tmp_path):
    import_into(store, write_lines(tmp_path / "a.jsonl", line(), line(prompt_id="P1")))
    other = write_lines(tmp_path / "b.jsonl", line(), line(prompt_id="P2"))
    refused = import_into(store, other)
    assert outcomes(refused) == {FileOutcome.CONFLICT: 1}
    assert "--replace" in refused.messages[0]
    assert n_results(store) == [("r", 2)]
    assert outcomes(import_into(store, other, run_as="second")) == {FileOutcome.IMPORTED: 1}
    assert n_results(store) == [("r", 2), ("second", 2)]
    assert outcomes(import_into(store, other, replace=True)) == {FileOutcome.REPLACED: 1}
    assert exported_lines(store, tmp_path) == [line(), line(prompt_id="P2")]


@pytest.mark.slow
def test_a_log_of_several_runs_becomes_several_runs(store, tmp_path):
    lines = [line(run_id=name, prompt_id=f"P{n}") for n in range(3) for name in ("a", "b")]
    path = write_lines(tmp_path / "all.jsonl", *lines)
    import_into(store, path)
    assert n_results(store) == [("a", 3), ("b", 3)]
    assert exported_lines(store, tmp_path, "b") == lines[1::2]
    with pytest.raises(BadInput, match="this log has several"):
        import_into(store, path, run_as="one")


@pytest.mark.slow
def test_two_logs_of_a_run_in_one_import_are_one(store, tmp_path):
    write_lines(tmp_path / "logs" / "1.jsonl", line())
    write_lines(tmp_path / "logs" / "2.jsonl", line(), line(prompt_id="P1"))
    summary = import_into(store, tmp_path / "logs")
    assert outcomes(summary) == {FileOutcome.IMPORTED: 2}
    assert n_results(store) == [("r", 2)]


@pytest.mark.slow
def test_duplicate_cells_all_count(store, tmp_path):
    import_into(store, write_lines(tmp_path / "r.jsonl", line(), line(), line(e2e_ms=300)))
    assert store.sql("SELECT n_total, p50_ms FROM openclaw_summary").fetchall() == [(3, 100.0)]


@pytest.mark.slow
def test_a_row_without_a_run_belongs_to_the_folders_run(store, tmp_path):
    nameless = {key: value for key, value in RECORD.items() if key != "run_id"}
    import_into(store, write_run(tmp_path / "r", json.dumps(nameless)))
    assert n_results(store) == [("r", 1)]
    assert exported_lines(store, tmp_path) == [json.dumps(nameless, ensure_ascii=False)]


@pytest.mark.slow
def test_documents_are_reproduced_and_broken_ones_quarantined(store, tmp_path):
    config = {**CONFIG, "nested": {"ä": [1, 2.5, None]}, "big": 2**70}
    folder = write_run(tmp_path / "r", config=config, summary={"models": []})
    (folder / "inventory.json").write_text('{"run_id": "r", "nan": NaN}')
    export_openclaw_of(store, folder, tmp_path)
    out = tmp_path / "out/runs/r"
    assert json.loads((out / "config.json").read_text("utf-8")) == config
    assert "NaN" in (out / "inventory.json").read_text("utf-8")
    assert (out / SNAPSHOT_NAME).read_bytes() == SNAPSHOT
    (folder / "summary.json").write_text("{")
    assert import_into(store, folder).n_quarantined == 1


def export_synced(store, folder, run):
    """Export from a warehouse of its own: exporters read several queries at once."""
    store.sync()
    return export_openclaw(store, folder, run)


def export_openclaw_of(store, path, tmp_path):
    import_into(store, path)
    return export_synced(store, tmp_path / "out", "r")


def summary_of(store, path, tmp_path):
    import_into(store, path)
    export_synced(store, tmp_path / "out", None)
    return json.loads((tmp_path / "out" / "runs" / "r" / "summary.json").read_bytes())


@pytest.mark.slow
def test_the_mean_of_whole_milliseconds_is_exact(store, tmp_path):
    # Decimals with 15 places cannot represent either of them exactly.
    lines = [line(model="one", e2e_ms=299277), line(e2e_ms=1), line(e2e_ms=10**17)]
    groups = summary_of(store, write_lines(tmp_path / "r.jsonl", *lines), tmp_path)["models"]
    assert [group["latency_ms"]["mean"] for group in groups] == [(1 + 10**17) / 2, 299277.0]


@pytest.mark.slow
def test_groups_with_equal_sort_keys_have_an_order(store, tmp_path):
    lines = [line(model=f"{n}", thinking_level=level) for n in range(9) for level in ("None", None)]
    groups = summary_of(store, write_lines(tmp_path / "r.jsonl", *lines), tmp_path)["models"]
    assert [group["thinking_level"] for group in groups] == [None, "None"] * 9


@pytest.mark.campaign
@pytest.mark.parametrize("pattern", ["(a+)+b", r"(a+)+(?=b)b"])
def test_a_rebuild_repeats_the_verdicts_of_slow_patterns(store, tmp_path, pattern):
    """Each text, but not five of them together, was matched until it took too long."""
    prompts = tmp_path / "slow.json"
    validator = {"type": "regex_fullmatch", "pattern": pattern}
    prompts.write_text(json.dumps([{"id": "P0", "prompt": "x", "validator": validator}]))
    options = {"format_options": (PromptsOption(prompts),)}
    lines = [line(prompt_name=None, raw_output="a" * 40 + f"{n}") for n in range(5)]
    lines.append(line(prompt_name=None, raw_output="ab"))
    query = "SELECT run_id, objective_pass, violation FROM scores.openclaw_verdicts ORDER BY ALL"
    for n in (3, 6):
        import_into(store, write_lines(tmp_path / "r.jsonl", *lines[:n]), **options)
        before = store.sql(query).fetchall()
    store.sync(rebuild=True)
    assert store.sql(query).fetchall() == before
    assert [passed for _, passed, _ in before].count(True) == 1


@pytest.mark.slow
def test_the_table_of_lines_without_model_or_provider_is_the_originals(store, tmp_path):
    """The original formats a missing name as Python writes None, and a missing level as nothing."""
    text = json.dumps({k: v for k, v in RECORD.items() if k not in {"provider", "model"}})
    import_into(store, write_lines(tmp_path / "r.jsonl", text))
    export_synced(store, tmp_path / "out", None)
    table = (tmp_path / "out" / "runs" / "r" / "summary.md").read_text("utf-8")
    assert "\n| None | None |  |  | 1 | 1 | 0 | 0 | 100.0% | 100.0% | 100 | 100 |" in table


@pytest.mark.slow
def test_an_unknown_tier_is_shown_as_unknown(store, tmp_path):
    """One of three answers names a tool: nothing says how many were asked to."""
    used = [line(prompt_id="P0"), *(line(prompt_id=p, tool_use_success=False) for p in "ab")]
    summary = summary_of(store, write_lines(tmp_path / "r.jsonl", *used), tmp_path)
    (group,), (tier,) = summary["models"], summary["tool_use_tiers"]
    for record, unknown in ((group, "tool_tier"), (tier, "tier")):
        assert record[unknown] is record["tier_basis"] is None
        assert (record["recorded_rate"], record["recorded_tier"]) == (1 / 3, 3)
    text = (tmp_path / "out" / "runs" / "r" / "summary.md").read_text("utf-8")
    assert "| unknown |  |  |  | 0 | unknown: which prompts ask for tools is not known" in text
    assert "| 33.3% (tier 3) |" in text
    assert "Incapable" not in text + json.dumps(summary)


@pytest.mark.slow
def test_a_tier_is_inferred_from_recorded_verdicts(store, tmp_path):
    used = line(parsed_output={"detected_tools": ["free"], "count": 1})
    heartbeats = [line(prompt_id=p, tool_use_success=False) for p in "abc"]
    summary = summary_of(store, write_lines(tmp_path / "r.jsonl", used, *heartbeats), tmp_path)
    (tier,) = summary["tool_use_tiers"]
    assert (tier["tier"], tier["tier_basis"], tier["n_counted"]) == (1, "inferred", 1)


@pytest.mark.campaign
def test_files_that_a_bare_log_lacks_are_marked(store, tmp_path):
    exported = export_openclaw_of(store, write_lines(tmp_path / "r.jsonl", line()), tmp_path)
    assert len(exported.notes) == 2
    config = json.loads((tmp_path / "out/runs/r/config.json").read_bytes())
    assert config == {"reconstructed": True, "run_id": "r"}
    before = digests(store)
    import_into(store, tmp_path / "out")
    assert store.sql("SELECT count(config) FROM runs").fetchall() == [(0,)]
    assert digests(store)["main.openclaw_summary"] == before["main.openclaw_summary"]


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes(store, tmp_path):
    import_into(store, write_run(tmp_path / "r"))
    export_synced(store, tmp_path / "one", None)
    store.sync(rebuild=True)
    export_synced(store, tmp_path / "two", None)
    for path in (tmp_path / "one/runs/r").iterdir():
        assert path.read_bytes() == (tmp_path / "two/runs/r" / path.name).read_bytes()
    summary = json.loads((tmp_path / "one/runs/r/summary.json").read_bytes())
    assert summary["run_dir"] == "runs/r"
    assert summary["generated_at"] == "2026-02-14T00:00:48.669000+00:00"


@pytest.mark.parametrize("place", ["prompts.json", "prompts/prompts.json", "tasks/prompts.json"])
def test_prompts_are_found_next_to_the_runs(store, tmp_path, place):
    folder = write_run(tmp_path / "project" / "runs" / "r")
    path = tmp_path / "project" / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(PROMPTS))
    import_into(store, folder)
    rows = store.sql("SELECT task_id, recorded, computed FROM verdicts ORDER BY seq").fetchall()
    assert rows == [("P0", True, None), ("P1", True, False)]
    assert store.sql("SELECT DISTINCT task_set FROM results").fetchall() == [("prompts",)]


@pytest.mark.slow
def test_a_config_cannot_choose_a_file_outside_the_project(store, tmp_path):
    (tmp_path / "secret.json").write_text(json.dumps(PROMPTS))
    for named in ("../../../secret.json", str(tmp_path / "secret.json"), "\0", "x" * 5000):
        folder = write_run(tmp_path / "p" / "runs" / "r", config={**CONFIG, "prompts_path": named})
        import_into(store, folder)
    assert store.sql("SELECT count(*) FROM tasks").fetchall() == [(0,)]


@pytest.mark.slow
def test_prompts_given_later_apply_to_the_run(store, tmp_path):
    path = write_lines(tmp_path / "r.jsonl", line(), line(prompt_id="P1", prompt_name="two"))
    import_into(store, path)
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(0,)]
    assert store.sql("SELECT DISTINCT tier_basis FROM tool_use").fetchall() == [(None,)]
    prompts = tmp_path / "mine.json"
    prompts.write_text(json.dumps(PROMPTS))
    options = {"format_options": (PromptsOption(prompts),)}
    assert outcomes(import_into(store, path, **options)) == {FileOutcome.GROWN: 1}
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(1,)]
    assert store.sql("SELECT DISTINCT tier_basis FROM tool_use").fetchall() == [("expected",)]
    assert outcomes(import_into(store, path, **options)) == {FileOutcome.UNCHANGED: 1}


@pytest.mark.slow
def test_prompts_in_the_store_apply_to_a_config_that_names_them(store, tmp_path):
    import_into(store, write_run(tmp_path / "runs" / "r"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "prompts.json").write_text(json.dumps(PROMPTS))
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(0,)]
    import_into(store, tmp_path / "elsewhere")
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(1,)]


@pytest.mark.parametrize("text", ["{}", "[1]", '[{"id": "P0"}]', "not JSON", "[" * 100_000])
def test_an_invalid_prompt_file_is_refused(store, tmp_path, text):
    path = write_lines(tmp_path / "r.jsonl", line())
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(BadInput, match="cannot be used as a prompt file"):
        import_into(store, path, format_options=(PromptsOption(tmp_path / "p.json"),))


def test_faults_of_a_prompt_file_are_reported_with_file_and_prompt(store, tmp_path):
    prompts = [
        {"id": "A", "prompt": "x", "validator": {"type": "regex_fullmatch", "pattern": "("}},
        {"id": "B", "prompt": "x", "validator": {"type": "nonsense"}},
    ]
    (tmp_path / "p.json").write_text(json.dumps(prompts))
    summary = import_into(store, tmp_path / "p.json")
    assert [text.split(": ")[1] for text in summary.violations] == ["prompt A", "prompt B"]
    assert all("p.json" in text for text in summary.violations)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["(a+)+b", "(a+)+(?=b)b"])
def test_a_hostile_pattern_ends_in_a_timeout(store, tmp_path, pattern):
    prompts = [
        {"id": "P0", "prompt": "x", "validator": {"type": "regex_fullmatch", "pattern": pattern}}
    ]
    (tmp_path / "p.json").write_text(json.dumps(prompts))
    import_into(
        store,
        write_lines(tmp_path / "r.jsonl", line(raw_output="a" * 40)),
        format_options=(PromptsOption(tmp_path / "p.json"),),
    )
    row = store.sql("SELECT objective_pass, violation FROM scores.openclaw_verdicts").fetchall()
    assert row == [(None, "regex_timeout")]


def test_strict_refuses_a_log_with_broken_lines(store, tmp_path):
    path = write_lines(tmp_path / "r.jsonl", line(), "broken")
    assert outcomes(import_into(store, path, strict=True)) == {FileOutcome.REFUSED: 1}
    assert not store.lake.batch_names()
    import_into(store, path)
    assert outcomes(import_into(store, path, strict=True)) == {FileOutcome.REFUSED: 1}
    whole = write_lines(tmp_path / "whole.jsonl", line(run_id="whole"))
    import_into(store, whole)
    assert outcomes(import_into(store, whole, strict=True)) == {FileOutcome.UNCHANGED: 1}


@pytest.mark.slow
def test_runs_are_recognised_by_content(store, tmp_path):
    write_run(tmp_path / "in" / "deep" / "er" / "any name")
    shutil.copy(tmp_path / "in/deep/er/any name/results.jsonl", tmp_path / "in" / "copy.jsonl")
    write_lines(tmp_path / "in" / "other.jsonl", '{"text": "record_type result"}')
    (tmp_path / "in" / "config.json").write_text("{}")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "in" / "pipe.jsonl")
    summary = import_into(store, tmp_path / "in")
    assert n_results(store) == [("r", 2)]
    assert outcomes(summary)[FileOutcome.IMPORTED] == 2


@pytest.mark.slow
def test_a_run_without_results_is_a_run(store, tmp_path):
    folder = write_run(tmp_path / "r")
    (folder / "results.jsonl").unlink()
    export_openclaw_of(store, folder, tmp_path)
    assert (tmp_path / "out/runs/r/results.jsonl").read_bytes() == b""
    assert store.sql("SELECT run_id, n_results FROM runs").fetchall() == [("r", 0)]


@pytest.mark.slow
def test_a_run_with_only_a_config_is_reproduced(store, tmp_path):
    other = [line(run_id="other"), line(run_id="other", prompt_id="P1")]
    import_into(store, write_run(tmp_path / "r", *other, inventory=None))
    export_synced(store, tmp_path / "out", None)
    again = new_store(tmp_path / "again")
    import_into(again, tmp_path / "out")
    assert n_runs(again) == n_runs(store) == [("other", 2), ("r", 0)]


@pytest.mark.parametrize(
    ("config", "inventory", "expected"),
    [("a", "b", "a"), (None, "b", "b"), ("a", None, "a"), (None, None, "folder")],
)
def test_the_id_of_a_run_without_results(store, tmp_path, config, inventory, expected):
    """That of the config, or of the inventory, or the folder's name."""
    folder = write_run(
        tmp_path / "folder",
        config={**CONFIG, "run_id": config},
        inventory={**INVENTORY, "run_id": inventory},
    )
    (folder / "results.jsonl").unlink()
    import_into(store, folder)
    assert n_runs(store) == [(expected, 0)]


def n_runs(store):
    return store.sql("SELECT run_id, n_results FROM runs ORDER BY run_id").fetchall()


@pytest.mark.slow
def test_a_lone_surrogate_is_exported_as_its_escape(store, tmp_path):
    config = {**CONFIG, "prompts_path": "../\ud800.json", "\udfff": ["\ud800"]}
    inventory = {**INVENTORY, "ollama_store_du": "94G\ud800"}
    folder = write_run(tmp_path / "runs" / "r", config=config, inventory=inventory)
    export_openclaw_of(store, folder, tmp_path)
    out = tmp_path / "out" / "runs" / "r"
    assert json.loads((out / "config.json").read_text("utf-8")) == config
    assert json.loads((out / "inventory.json").read_text("utf-8")) == inventory
    assert "94G\ufffd" in (out / "summary.md").read_text("utf-8")


@pytest.mark.slow
def test_a_document_with_a_byte_order_mark_and_odd_values_is_reproduced(store, tmp_path):
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
def test_an_odd_prompt_does_not_break_the_run(store, tmp_path, prompt):
    folder = write_run(tmp_path / "runs" / "r")
    (tmp_path / "prompts.json").write_text(json.dumps([prompt, PROMPTS[1]]))
    assert import_into(store, folder).n_violations
    assert store.sql("SELECT count(computed) FROM verdicts").fetchall() == [(1,)]
    assert store.sql("SELECT count(*) FROM tool_checks").fetchall() == [(2,)]
    # As the original has it, a text is a list of characters: none is the tool that was recorded.
    is_text = isinstance(prompt.get("expected_tool_calls"), str)
    assert store.sql("SELECT count(*) FROM tool_drift").fetchall() == [(int(is_text),)]


@pytest.mark.parametrize(
    ("tools", "success"), [("free", False), ("q`", True), ("", True), (5, True)]
)
def test_expected_tools_as_a_text_are_its_characters(store, tmp_path, tools, success):
    folder = write_run(tmp_path / "runs" / "r", line(prompt_id="P0", raw_output="`free` and `q`"))
    prompt = {"id": "P0", "name": PROMPTS[0]["name"], "prompt": "x", "expected_tool_calls": tools}
    (tmp_path / "prompts.json").write_text(json.dumps([prompt]))
    import_into(store, folder)
    found = store.sql("SELECT tools, original_success FROM tool_checks").fetchall()
    assert found == [(["free", "q"], success)]


def test_huge_token_counts_do_not_break_the_costs(store, tmp_path):
    import_into(store, write_lines(tmp_path / "r.jsonl", line(input_tokens=2**63 - 1), line()))
    assert store.sql("SELECT n_results, input_tokens FROM costs").fetchall() == [(2, None)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["..", "a/b", ".", "a\\b"])
def test_a_runs_name_never_leads_out_of_the_folder(store, tmp_path, name):
    import_into(store, write_lines(tmp_path / "r.jsonl", line(run_id=name)))
    with pytest.raises(BadInput, match="cannot name a folder"):
        export_synced(store, tmp_path / "out", name)


@pytest.mark.slow
def test_many_lines_keep_memory_flat_and_places_in_order(store, tmp_path, monkeypatch):
    monkeypatch.setattr("ingest.formats.common.lines._BLOCK_BYTES", 20_000)
    lines = [line(prompt_id=f"P{n % 12}", e2e_ms=n) for n in range(2000)]
    for at in (7, 500, 1999):
        lines[at] = f"broken {at}"
    summary = import_into(store, write_lines(tmp_path / "r.jsonl", *lines))
    assert (summary.n_results, summary.n_quarantined) == (1997, 3)
    rows = store.sql("SELECT line, decode(raw) FROM lake.quarantine ORDER BY 1").fetchall()
    assert rows == [(8, "broken 7"), (501, "broken 500"), (2000, "broken 1999")]
    whole = [text for text in lines if not text.startswith("broken")]
    assert exported_lines(store, tmp_path) == whole


@pytest.mark.slow
def test_compare_distinguishes_providers_of_a_model(store, tmp_path):
    sides = [("ollama_openai", True), ("openai_responses", False)]
    lines = [
        line(provider=provider, model="m", prompt_id=f"P{n}", objective_pass=passed, run_id="r")
        for provider, passed in sides
        for n in (0, 1)
    ]
    import_into(store, write_run(tmp_path / "r", *lines))
    shown = json.loads(command(store.path, "compare", "m", "m", "--format", "json").out)
    assert [(row["a"], row["b"], row["n_only_a"]) for row in shown] == [
        ("m (ollama_openai)", "m (openai_responses)", 2)
    ]
    ended = command(store.path, "compare", "m", "m", "--tasks", "--format", "json")
    assert [
        (row["task_id"], row["a"], row["value_a"], row["value_b"]) for row in json.loads(ended.out)
    ] == [
        ("P0", "m (ollama_openai)", 1, 0),
        ("P1", "m (ollama_openai)", 1, 0),
    ]
