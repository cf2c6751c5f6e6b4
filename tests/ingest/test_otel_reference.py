"""OpenTelemetry spans in the reference data: every trial equals its reference row."""

import json

import pytest
from peers import query, same
from support import NO_REFERENCE, import_into, new_store
from trials import TRIAL_COLUMNS, TRIALS, needs_trials, reference_rows

from ingest.formats.common.fields import iso_moment

FOLDER = TRIALS / "otel"

# Where a column holds what the log says and the reference row, which is narrower, does not.
DIFFERENT = {
    # The reference counts observations of type TOOL only; this SPAN has the attribute tool.name.
    ("080130871f53145aecf7c29d5dfb6e4c", "n_tool_calls"): 1,
    # Costs are those that Langfuse recorded.
    ("080130871f53145aecf7c29d5dfb6e4c", "cost_usd"): 0.000982199999,
    ("7a38edd8123db47ad8dcb8aa4c5e3926", "cost_usd"): 0.0003226499999,
    ("vertex-gemini-trace-001", "cost_usd"): 0.00011,
    # An older export: tokens are in fields of their own.
    ("vertex-gemini-trace-001", "input_tokens"): 1200,
    ("vertex-gemini-trace-001", "output_tokens"): 15,
}
# Exports of Langfuse have no end of the trace: it is that of the last observation.


@pytest.fixture(scope="module")
def spans(tmp_path_factory):
    if not FOLDER.is_dir():
        pytest.skip(NO_REFERENCE)
    store = new_store(tmp_path_factory.mktemp("otel") / "store")
    import_into(store, FOLDER)
    with store.reading():  # open for all tests
        yield store


@pytest.mark.slow
def test_every_trial_equals_its_reference(spans):
    found = {row["trial_id"]: row for row in query(spans, "FROM trials WHERE suite = 'otel'")}
    expected = reference_rows("otel", "trial")
    assert len(found) == len(expected) == 21
    for trial in expected:
        row = found[trial["trial_id"]]
        for name, column in TRIAL_COLUMNS.items():
            wanted = DIFFERENT.get((trial["trial_id"], name), trial[name])
            is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
            equal = same(row[column], wanted) if is_number else row[column] == wanted
            assert equal, (trial["file"], name, row[column], wanted)
        assert row["started_at"] == moment(trial["started_at"])
        assert trial["ended_at"] is None or row["ended_at"] == moment(trial["ended_at"])
        assert models_of(row) == set(trial["models"] or [])


def moment(text):
    """Return a time of nanoseconds in the microseconds of the lake."""
    whole, dot, rest = text.removesuffix("Z").partition(".")
    return iso_moment(f"{whole}.{rest[:6]}Z" if dot else text)


def models_of(row):
    """Return all models of a trial, whatever their role."""
    if row["models"] is None:
        return {row["system"]} if row["agent"] is None and row["model"] else set()
    models = json.loads(row["models"]).values()
    return {name for each in models for name in ([each] if isinstance(each, str) else each)}


@pytest.mark.slow
def test_kinds_of_spans_and_evaluations_equal_the_reference(spans):
    kinds = {"llm": "model", "GENERATION": "model", "TOOL": "tool", "SPAN": "other"}
    for trial in reference_rows("otel", "trial"):
        if "langfuse" in trial["file"]:
            continue  # their spans are told apart by their attributes
        rows = query(
            spans,
            """
            SELECT kind, count(*) AS n FROM steps JOIN trials USING (suite, run_id, result_id)
            WHERE trial_id = $id GROUP BY kind
            """,
            id=trial["trial_id"],
        )
        wanted = {kinds.get(kind, kind): n for kind, n in trial["kinds"].items()}
        assert {row["kind"]: row["n"] for row in rows} == wanted, trial["file"]
        scores = query(
            spans,
            """
            SELECT metric, s.value, explanation, s.extra, s.passed
            FROM result_scores AS s JOIN trials USING (suite, run_id, result_id)
            WHERE trial_id = $id AND metric <> 'passed'
            """,
            id=trial["trial_id"],
        )
        evaluations = trial["evaluations"] or []
        assert len(scores) == len(evaluations)
        for score, each in zip(scores, evaluations, strict=True):
            assert score["metric"] == each["gen_ai.evaluation.name"]
            assert score["value"] == each["gen_ai.evaluation.score.value"]
            assert score["explanation"] == each["gen_ai.evaluation.explanation"]
            extra = json.loads(score["extra"])
            assert extra["label"] == each["gen_ai.evaluation.score.label"]
            assert score["passed"] is (extra["label"] == "pass")
            assert extra["gen_ai.response.id"] == each["gen_ai.response.id"]


@pytest.mark.slow
@needs_trials
def test_what_is_no_trace_is_declined_or_quarantined(tmp_path):
    for other in reference_rows("otel", "other"):
        store = new_store(tmp_path / str(abs(hash(other["file"]))))
        summary = import_into(store, FOLDER / other["file"])
        assert summary.n_results == 0
        reasons = [row["reason"] for row in query(store, "FROM quarantine")]
        assert reasons or "attributes of one span" in summary.notices[0].text
