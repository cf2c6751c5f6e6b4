"""Reports the possible secrets in the files of an import: counts by kind, and lines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from ingest.notices import Level, Notice
from warehouse.core.formats.secrets import (
    article,
    find_secrets_in,
    is_certain,
    lines_of,
    may_hold_secrets,
)
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_LINES_NAMED = 5
_BYTES_AT_ONCE = 2**22
# To search so little takes 1 ms, to load what tells whether that is needed 50 ms.
_FEW_BYTES = 2**14

# A file, some of its bytes, and the number of their first line.
_Waiting: TypeAlias = tuple["Path", bytes, int]


class SecretReport:
    """The possible secrets in one import.

    Attributes:
        counts: number of secrets by kind, in what has been searched.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lines: dict[tuple[Path, str], dict[int, None]] = {}
        self._waiting: list[_Waiting] = []
        self._waiting_bytes = 0

    def search(self, path: Path, data: bytes, first_line: int = 1) -> None:
        """Search a file, or lines of it, later and together with others: most are passed over."""
        self._waiting.append((path, data, first_line))
        self._waiting_bytes += len(data)
        if self._waiting_bytes > _BYTES_AT_ONCE:
            self.search_waiting()

    def search_waiting(self) -> None:
        """Search the files that are waiting."""
        waiting, n_bytes = self._waiting, self._waiting_bytes
        self._waiting, self._waiting_bytes = [], 0
        suspects = waiting if n_bytes <= _FEW_BYTES else list(_suspects(waiting))
        found = find_secrets_in([data for _, data, _ in suspects])
        for (path, data, first_line), secrets in zip(suspects, found, strict=True):
            self._add(path, lines_of(data, secrets, first_line))

    def add(self, path: Path, secrets: Sequence[tuple[int, str]]) -> None:
        """Add line and kind of each secret in a file, or in a part of it."""
        # Files are reported in the order in which they were read.
        if secrets and self._waiting:
            self.search_waiting()
        self._add(path, secrets)

    def _add(self, path: Path, secrets: Iterable[tuple[int, str]]) -> None:
        for line, kind in secrets:
            self.counts[kind] += 1
            self._lines.setdefault((path, kind), {})[line] = None

    def notices(self) -> Iterator[Notice]:
        """Yield for each file and kind a notice that names the first lines."""
        for (path, kind), lines in self._lines.items():
            where = ", ".join(map(str, list(lines)[:_LINES_NAMED]))
            rest = len(lines) - _LINES_NAMED
            more = f" and {rest:,} more" if rest > 0 else ""
            reason = f"looks like {article(kind)}; `--redact` masks it"
            level = Level.SECRET if is_certain(kind) else Level.NOTE
            yield Notice(level, utf8(str(path)), f"line {where}{more}: {reason}", reason)


def _suspects(waiting: Sequence[_Waiting]) -> Iterator[_Waiting]:
    """Yield those that may hold secrets."""
    may_hold = may_hold_secrets([data for _, data, _ in waiting])
    for each, is_suspect in zip(waiting, may_hold, strict=True):
        if is_suspect:
            yield each
