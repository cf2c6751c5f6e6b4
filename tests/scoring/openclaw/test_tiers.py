import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_cases import read_cases

from warehouse.scoring.openclaw.tiers import (
    TIER_NAMES,
    percentile,
    percentile_batch,
    tier,
    tier_batch,
)


def test_reference_tiers():
    for case in read_cases("tiers"):
        if case["fn"] == "classify":
            assert TIER_NAMES[tier(case["rate_pct"])] == case["tier"]


def test_reference_tiers_of_reports():
    for case in read_cases("tiers"):
        for model, report in case.get("report", {}).items():
            rows = [row["tool_use_success"] for row in case["rows"] if row["model"] == model]
            assert TIER_NAMES[tier(sum(rows) / len(rows) * 100)] == report["tier"]


def test_reference_percentiles():
    for case in read_cases("percentiles"):
        assert percentile(case["values"], case["p"]) == case["result"]


def test_tiers_of_a_column():
    assert tier_batch([80, 79.99, 50, 49.9, None, math.nan]) == [1, 2, 2, 3, None, None]


def test_percentile_by_hand():
    # (3 - 1) * 0.75 = 1.5: halfway between 20 and 40.
    assert percentile([40, 10, 20], 75) == 30
    assert percentile_batch([[1, None, 3], None, []], 50) == [2, None, None]
    with pytest.raises(ValueError, match="101"):
        percentile([1], 101)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.floats(0, 100))
def test_a_percentile_lies_among_its_values(values, p):
    slack = 1e-6
    assert min(values) - slack <= percentile(values, p) <= max(values) + slack
    assert percentile(values, 0) == min(values)
    assert percentile(values, 100) == max(values)
