"""Ids of records that a log repeats, given block by block."""

import random

import pyarrow as pa
import pytest

from ingest.formats.common.repeats import RepeatedIds
from warehouse.core.hashing import content_hash, numbered


@pytest.mark.parametrize("n_short", [0, 1, 3, 9])
@pytest.mark.parametrize("seed", range(3))
def test_ids_are_numbered_as_if_given_at_once(n_short, seed):
    """Short lists, arrays that are slices, a short list; whatever is repeated where."""
    draw = random.Random(seed)
    blocks = [
        [content_hash("id", draw.randrange(60)) for _ in range(draw.randrange(30))]
        for _ in range(9)
    ]
    repeats, found = RepeatedIds(), []
    for number, block in enumerate(blocks):
        if number < n_short or number == 8:
            found += repeats.numbered_few(block)
        else:
            ids = pa.array(["0" * 32, *block], pa.string())[1:]
            found += repeats.numbered(ids).to_pylist()
    assert found == list(numbered(one for block in blocks for one in block))
