"""Tables as a format of the import: which files they are, and their stream of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ingest.formats.tables.columns.column_map import TableSpec
    from ingest.reading import Block, ImportContext

FORMAT = "table"
_TABLES = ("results", "result_scores", "tasks")
_TABLES_OF_VOTES = ("preferences", "results", "tasks")


@dataclass(frozen=True, slots=True)
class TableOption:
    """An option of the import: how the tables are to be imported.

    Attributes:
        specs: by the path of the table, as given.
    """

    specs: Mapping[Path, TableSpec]


def read_table(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a table whose columns were confirmed; reject any other."""
    option = context.options.format_option(TableOption)
    spec = option.specs.get(path) if option is not None else None
    if spec is None:
        file = context.read(path)
        if file is not None:
            reason = "a table whose columns were not confirmed"
            yield Reading(FORMAT, rejects=[Reject(reason, raw=file.data)], files=[file])
        return
    stream = Stream(
        paths=(path,),
        tables=_TABLES_OF_VOTES if spec.map.is_votes else _TABLES,
        blocks=_blocks(path, spec, redact=context.options.redact),
        header={"config": spec.config, "source_name": utf8(path.name)},
    )
    yield Reading(FORMAT, run=(spec.suite, spec.run), stream=stream)


def _blocks(path: Path, spec: TableSpec, *, redact: bool) -> Callable[[], Iterator[Block]]:
    if spec.map.is_votes:
        from ingest.formats.tables.votes import VoteBlocks

        return VoteBlocks(path, spec, redact=redact).read
    from ingest.formats.tables.blocks import TableBlocks

    return TableBlocks(path, spec, redact=redact).read
