"""OpenClaw runs for tests, values for property tests, and cases of the original harness."""

import json

import pytest
from hypothesis import strategies as st
from support import NO_REFERENCE, REFERENCE

from exports.openclaw.run_folder import export_openclaw
from warehouse.engine.scoring.openclaw.json_keys import RULE_TYPES
from warehouse.engine.scoring.openclaw.prompt_check import check_prompts
from warehouse.engine.scoring.openclaw.validators import CHECKS

FOLDER = REFERENCE / "openclaw"
RECORD = {
    "record_type": "result",
    "run_id": "r",
    "provider": "ollama_openai",
    "model": "m:1b",
    "thinking_level": None,
    "prompt_id": "P0",
    "prompt_name": "one",
    "availability_status": "ok",
    "started_at_ms": 1771027248569,
    "ended_at_ms": 1771027248669,
    "e2e_ms": 100,
    "ttft_ms": None,
    "success": True,
    "failure_type": None,
    "objective_pass": True,
    "violation": None,
    "input_tokens": 7,
    "output_tokens": None,
    "raw_output": "`free -h` ääni 数\n",
    "parsed_output": {"words": 2, "text": "a b", "lines": [1, None]},
    "tool_calls": ["free"],
    "tool_call_count": 1,
    "tool_use_success": True,
}
CONFIG = {"run_id": "r", "prompts_path": "../../prompts.json", "targets": ["ollama"], "zahl": 1.5}
INVENTORY = {"run_id": "r", "host": {"uname": "x"}, "ollama_list": "ä", "claude_version": "1"}
PROMPTS = [
    {"id": "P0", "name": "one", "prompt": "Call free", "expected_tool_calls": ["free"]},
    {
        "id": "P1",
        "name": "two",
        "prompt": "Say OK",
        "validator": {"type": "regex_fullmatch", "pattern": "OK|JA"},
    },
]
SNAPSHOT = b"# free -h\nMem: 8Gi 1Gi 2Gi 3Gi 4Gi 5Gi\n\xff\xfe not UTF-8\n"
SNAPSHOT_NAME = "resources_ollama_openai__m_1b__none_before.txt"
pieces = st.sampled_from(
    [
        *"`'\"$#<>[]: \n\tabZ-_.9\u0130\u0131\u017f\u212a\xa0é",
        "<tool>",
        "</TOOL>",
        "[tool:",
        "[TOOL:",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
validators = st.fixed_dictionaries(
    {"type": st.sampled_from([*CHECKS, "other"])},
    optional={
        "value": json_values,
        "values": json_values,
        "required_keys": json_values | st.lists(st.sampled_from("ab")),
        "key_rules": json_values
        | st.dictionaries(
            st.sampled_from("ab"),
            st.fixed_dictionaries({"type": st.sampled_from([*RULE_TYPES, "x"])})
            | json_values.map(lambda values: {"type": "one_of", "values": values}),
        ),
        "expected_tools": json_values,
    },
)


def read_cases(name):
    """Return the cases in a file of the original harness; skip the test if it is missing."""
    if not REFERENCE.is_dir():
        pytest.skip(NO_REFERENCE)
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_refused_before_a_run(validator):
    """Return whether a run of ours refuses a prompt with this validator."""
    return bool(check_prompts([{"id": "a", "prompt": "a", "validator": validator}]))


def has_rule_the_original_ignores(validator):
    """Return whether ours applies a rule that the original ignores: any but one_of and number."""
    rules = validator.get("key_rules") if isinstance(validator, dict) else None
    return isinstance(rules, dict) and any(
        isinstance(rule, dict) and rule.get("type") not in {"one_of", "number", None}
        for rule in rules.values()
    )


def line(**fields):
    return json.dumps({**RECORD, **fields}, ensure_ascii=False)


def event(name="ollama_stop", **fields):
    return json.dumps({"record_type": "event", "tag": "t_pre", "event": name, **fields})


def write_lines(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(as_bytes(text) + b"\n" for text in lines))
    return path


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def write_run(folder, *lines, config=CONFIG, inventory=INVENTORY, **files):
    write_lines(
        folder / "results.jsonl", *(lines or (line(), line(prompt_id="P1", prompt_name="two")))
    )
    for name, document in {"config": config, "inventory": inventory, **files}.items():
        if document is not None:
            (folder / f"{name}.json").write_text(json.dumps(document), "utf-8")
    (folder / SNAPSHOT_NAME).write_bytes(SNAPSHOT)
    return folder


def exported_lines(store, tmp_path, run="r"):
    export_openclaw(store, tmp_path / "out", run)
    text = (tmp_path / "out" / "runs" / run / "results.jsonl").read_text("utf-8")
    return text.splitlines()
