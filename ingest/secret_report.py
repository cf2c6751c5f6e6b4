"""What looks like a secret in the files of an import: counted by kind, reported by line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from warehouse.formats.secrets import article

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_LINES_NAMED = 5


class SecretReport:
    """The secrets of one import.

    Attributes:
        counts: number of secrets by kind.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lines: dict[tuple[Path, str], dict[int, None]] = {}

    def add(self, path: Path, secrets: Iterable[tuple[int, str]]) -> None:
        """Add line and kind of each secret in a file, or in a part of it."""
        for line, kind in secrets:
            self.counts[kind] += 1
            self._lines.setdefault((path, kind), {})[line] = None

    def messages(self) -> Iterator[tuple[Path, str]]:
        """Yield for each file and kind a message that names the first lines."""
        for (path, kind), lines in self._lines.items():
            where = ", ".join(map(str, list(lines)[:_LINES_NAMED]))
            rest = len(lines) - _LINES_NAMED
            more = f" and {rest:,} more" if rest > 0 else ""
            yield path, f"line {where}{more}: looks like {article(kind)}; `--redact` masks it"
