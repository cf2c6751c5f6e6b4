"""Whether ratings have several scales, without finding all pairs of ends."""

import numpy as np
import pytest

from warehouse.engine.tables.raters.rater_alphas import has_several_scales


@pytest.mark.parametrize("seed", range(40))
def test_scales_are_counted_as_pairs_of_known_ends(seed):
    random = np.random.default_rng(seed)
    n_ends = 1 + seed % 3
    lows, highs = (
        np.where(random.random(8) < 0.5, np.nan, random.integers(n_ends, size=8)) for _ in range(2)
    )
    pairs = {pair for pair in zip(lows, highs, strict=True) if not np.isnan(pair).any()}
    assert has_several_scales({"scale_low": lows, "scale_high": highs}) == (len(pairs) > 1)
