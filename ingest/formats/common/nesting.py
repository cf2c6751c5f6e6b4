"""Texts for DuckDB, which reads JSON of any depth: without those that are nested too deeply."""

from __future__ import annotations

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.core.formats.values import MAX_DEPTH, is_nested_deeply


def flat(texts: pa.Array) -> pa.Array:
    """Return texts with NULL for JSON that is nested too deeply, or may be."""
    n_brackets = pc.add(pc.count_substring(texts, "["), pc.count_substring(texts, "{"))
    suspects = np.flatnonzero(pc.fill_null(pc.greater(n_brackets, MAX_DEPTH), fill_value=False))
    deep = [at for at in suspects.tolist() if _is_deep(texts[at].as_py())]
    if not deep:
        return texts
    is_deep = np.zeros(len(texts), bool)
    is_deep[deep] = True
    return pc.if_else(is_deep, pa.scalar(None, texts.type), texts)


def _is_deep(text: str) -> bool:
    try:
        return is_nested_deeply(orjson.loads(text))
    except ValueError:
        return True
