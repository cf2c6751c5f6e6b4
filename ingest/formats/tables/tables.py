"""Tables as a format of the import: which files they are, and their stream of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ingest.formats.tables.columns.column_map import TableSpec
    from ingest.reading import ImportContext

FORMAT = "table"


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
    from ingest.formats.tables.blocks import TableBlocks

    stream = Stream(
        paths=(path,),
        tables=("results", "result_scores", "tasks"),
        blocks=TableBlocks(path, spec, redact=context.options.redact).read,
        header={"config": spec.config, "source_name": utf8(path.name)},
    )
    yield Reading(FORMAT, run=(spec.suite, spec.run), stream=stream)
