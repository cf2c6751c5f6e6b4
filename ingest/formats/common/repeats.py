"""Content ids of records that a log may contain several times, for logs of any length."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

_HEX_DIGITS = 32
_HASHED_DIGITS = 16
_FEW = 1000


class RepeatedIds:
    """Numbers repetitions of content ids: `…`, `…-2`, `…-3`.

    Equal to `warehouse.core.hashing.numbered`, but block by block, with eight bytes per id.
    """

    def __init__(self) -> None:
        self._seen = SeenHashes()
        # The hashes of the first short lists, until an array comes.
        self._few: set[int] = set()
        self._is_large = False
        self._repeats: Counter[str] = Counter()

    def numbered(self, ids: pa.StringArray) -> pa.StringArray:
        """Return hashes of 32 hexadecimal digits, with a number where one was seen before."""
        if self._few:
            self._seen.add(np.array(sorted(self._few), np.uint64))
            self._few.clear()
        self._is_large = True
        again = self._seen.add(_as_numbers(_joined(ids)))
        if not again.any():
            return ids
        texts = ids.to_pylist()
        for at in np.flatnonzero(again).tolist():
            self._repeats[texts[at]] += 1
            texts[at] = f"{texts[at]}-{self._repeats[texts[at]] + 1}"
        return pa.array(texts)

    def numbered_few(self, ids: list[str]) -> list[str]:
        """Return the same for a few hashes, in less time than arrays of them take."""
        if self._is_large or len(ids) > _FEW:
            numbered: list[str] = self.numbered(pa.array(ids, pa.string())).to_pylist()
            return numbered
        texts = []
        for text in ids:
            value = int(text[:_HASHED_DIGITS], 16)
            if value in self._few:
                self._repeats[text] += 1
                text = f"{text}-{self._repeats[text] + 1}"  # noqa: PLW2901
            self._few.add(value)
            texts.append(text)
        return texts


class SeenHashes:
    """A set of 64-bit hashes in eight bytes each.

    Sorted arrays, each at least twice as long as the next: few to search, cheap to merge.
    """

    def __init__(self) -> None:
        self._levels: list[np.ndarray] = []

    def add(self, values: np.ndarray) -> np.ndarray:
        """Add hashes, and return for each whether it had been added before."""
        ordered, first, places = np.unique(values, return_index=True, return_inverse=True)
        is_known = np.zeros(len(ordered), bool)
        for level in self._levels:
            at = np.minimum(np.searchsorted(level, ordered), len(level) - 1)
            is_known |= level[at] == ordered
        again: np.ndarray = is_known[places]
        repeated = np.ones(len(values), bool)
        repeated[first] = False
        again |= repeated
        if len(ordered):
            self._levels.append(ordered)
        while len(self._levels) > 1 and len(self._levels[-2]) < 2 * len(self._levels[-1]):
            small, large = self._levels.pop(), self._levels.pop()
            # Two sorted runs: a stable sort merges them.
            self._levels.append(np.sort(np.concatenate([large, small]), kind="stable"))
        return again


def _joined(ids: pa.StringArray) -> str:
    """Join hashes of the same length, which are already adjacent in the array's buffer."""
    start = ids.offset * _HEX_DIGITS
    text = ids.buffers()[2].slice(start, len(ids) * _HEX_DIGITS).to_pybytes() if len(ids) else b""
    return text.decode("ascii")


def _as_numbers(hexadecimal: str) -> np.ndarray:
    """Return the first half of each hash of 32 digits as a number."""
    return np.frombuffer(bytes.fromhex(hexadecimal), ">u8")[::2].astype(np.uint64)
