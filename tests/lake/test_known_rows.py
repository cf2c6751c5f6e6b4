"""What of the rows that the lake has is compared with those of an import."""

import pytest

from warehouse.lake.contents import known_row


@pytest.mark.parametrize(
    ("row", "is_failure"),
    [
        ({"overall_score": None}, True),
        ({"overall_score": 0}, False),
        ({"output_state": "missing"}, True),
        ({"output_state": "object"}, False),
        ({}, False),
    ],
)
def test_a_row_without_usable_output_is_a_failure(row, is_failure):
    assert known_row(row).is_failure is is_failure
