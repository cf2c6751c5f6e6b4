"""Runs of other tools' logs, exported as every_eval_ever: valid, and with the tools' figures."""

import json

import pytest
from jsonschema import Draft7Validator
from support import REFERENCE, command, import_into, needs_reference, new_store

pytestmark = [pytest.mark.slow, needs_reference]

SCHEMAS = REFERENCE / "peers" / "eee" / "schemas"


def validator(name):
    return Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8")))


@pytest.mark.parametrize("logs", ["inspect_logs", "lm_eval_logs", "promptfoo_logs"])
def test_the_export_is_valid_and_its_figures_follow_from_its_samples(
    store, tmp_path, request, logs
):
    import_into(store, request.getfixturevalue(logs))
    assert command(store.path, "export", "eee", "--to", tmp_path / "out").code in {0, 1}
    aggregates = [json.loads(p.read_text("utf-8")) for p in (tmp_path / "out").rglob("*.json")]
    lines = [
        json.loads(line)
        for path in (tmp_path / "out").rglob("*_samples.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert len(aggregates) > 1
    assert len(lines) > 20
    for name, documents in (("eval", aggregates), ("instance_level_eval", lines)):
        check = validator(name)
        assert [error.message for each in documents for error in check.iter_errors(each)] == []
    again = new_store(tmp_path / "again")
    import_into(again, tmp_path / "out")
    assert again.sql("SELECT DISTINCT status FROM metric_audit").fetchall() == [("equal",)]
