"""What every reader takes and gives: a file, and the rows that it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warehouse.formats.yaml.fields import Violation
    from warehouse.lake.batch import RunKey
    from warehouse.types import Row


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to be imported.

    Attributes:
        path: as given, or as found below a folder that was given.
        data: its bytes.
        sha256: of the bytes, hexadecimal.
    """

    path: Path
    data: bytes
    sha256: str

    @property
    def name(self) -> str:
        """The file's name, as text that UTF-8 can hold."""
        return utf8(self.path.name)


@dataclass(frozen=True, slots=True)
class Reject:
    """A record, or a whole file, that cannot be used.

    Attributes:
        reason: what is wrong, for people.
        line: from 1; None for the whole file.
        byte_offset: of the record in the file.
        raw: the record's bytes; None where they cannot be kept.
    """

    reason: str
    line: int | None = None
    byte_offset: int | None = None
    raw: bytes | None = None


@dataclass(slots=True)
class Reading:
    """What a reader made of a file.

    Attributes:
        format: name of the format.
        rows: by table name; rows of a run lack their generation, which the import decides.
        run: the run that the file tells of, where it tells of one.
        violations: broken rules of the specification.
        rejects: what could not be used.
        files: what was read, where it was more than the one file.
        log: a file of the run's results, whose rows the import streams.
    """

    format: str
    rows: dict[str, Sequence[Row]] = field(default_factory=dict)
    run: RunKey | None = None
    violations: list[Violation] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    log: Path | None = None

    def rename_run(self, run_id: str) -> None:
        """Put the run, in all its rows, under another id."""
        if self.run is None:
            return
        old, self.run = self.run, (self.run[0], run_id)
        for table, rows in self.rows.items():
            self.rows[table] = [
                {**row, "run_id": run_id} if (row.get("suite"), row.get("run_id")) == old else row
                for row in rows
            ]
