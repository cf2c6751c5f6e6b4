"""Logs that other tools have just written with their offline models: every figure is audited."""

import pytest
from support import import_into

pytestmark = pytest.mark.slow

# Of the logs of each tool: how many figures are equal at least, and why others cannot be.
AUDITS = {
    "inspect_logs": (
        49,
        {"random bootstrap"},
    ),
    "lm_eval_logs": (14, {"corpus metric", "random bootstrap"}),
    "promptfoo_logs": (
        40,
        {
            "how promptfoo counts these tokens is not in the results",
            "the wall time of the evaluation",
        },
    ),
}


@pytest.mark.parametrize("logs", AUDITS)
def test_figures_follow_from_the_samples(store, request, logs):
    n_equal, reasons = AUDITS[logs]
    assert import_into(store, request.getfixturevalue(logs)).n_quarantined == 0
    audit = store.sql("SELECT status, reason, count(*) FROM metric_audit GROUP BY ALL").fetchall()
    counts = {(status, reason): n for status, reason, n in audit}
    assert counts.pop(("equal", None)) >= n_equal
    assert counts.keys() == {("not recomputable", reason) for reason in reasons}


@pytest.mark.parametrize("logs", AUDITS)
def test_a_second_import_changes_nothing(store, request, logs):
    folder = request.getfixturevalue(logs)
    import_into(store, folder)
    again = import_into(store, folder)
    assert {outcome.name for outcome in again.outcomes} == {"UNCHANGED"}
