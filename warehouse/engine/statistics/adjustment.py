"""The adjustment of p-values for several comparisons."""

from __future__ import annotations

from warehouse.engine.scoring.statistics.bootstrap import holm

__all__ = ["holm"]
