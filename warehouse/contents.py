"""What the lake holds of some runs: enough to tell a grown log from a conflicting one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.batch import Generation, RunKey, current_generations
from warehouse.connection import open_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.batch import Batch
    from warehouse.lake import Lake, Row

Call = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A result that the lake has: its place in the source, its template, the call itself."""

    seq: int
    template_hash: str | None
    call: Call


@dataclass(slots=True)
class RunContent:
    """What is known of a run's current generation.

    Attributes:
        generation: the generation.
        headers: content ids of what its sources say of the run as a whole.
        results: the results, by content id.
    """

    generation: Generation
    headers: set[str] = field(default_factory=set)
    results: dict[str, Known] = field(default_factory=dict)

    def add(self, headers: Iterable[Row], results: Iterable[Row]) -> None:
        """Note rows that are about to be written."""
        self.headers.update(row["content_id"] for row in headers)
        for row in results:
            self.results[row["content_id"]] = known(row)


def known(row: Row) -> Known:
    """Give what is compared of a row of table `results`."""
    call = (row["started_at"], row["prompt"], row["answer"], row["duration_seconds"])
    return Known(row["seq"], row["template_hash"], call)


def read_contents(
    lake: Lake, batches: Sequence[Batch], runs: Iterable[RunKey]
) -> dict[RunKey, RunContent]:
    """Read what the lake holds of the given runs; those that it does not have are left out."""
    wanted = set(runs)
    holding = [b for b in batches if any(g.run in wanted for g in b.generations)]
    generations = (g for b in holding for g in b.generations if g.run in wanted)
    contents = {run: RunContent(g) for run, g in current_generations(generations).items()}
    for suite, run_id, content_id in _rows(lake, holding, "runs", "", contents):
        contents[suite, run_id].headers.add(content_id)
    for suite, run_id, content_id, *rest in _rows(lake, holding, "results", _KNOWN, contents):
        contents[suite, run_id].results[content_id] = Known(rest[0], rest[1], tuple(rest[2:]))
    return contents


_KNOWN = """, max(seq), any_value(template_hash), any_value(started_at), any_value(prompt),
    any_value(answer), any_value(duration_seconds)"""


def _rows(
    lake: Lake,
    batches: Iterable[Batch],
    table: str,
    columns: str,
    contents: dict[RunKey, RunContent],
) -> list[tuple[Any, ...]]:
    """Give suite, run, content id and further columns of what is current in a table."""
    paths = [str(lake.file(batch, table)) for batch in batches if table in batch.files]
    if not paths:
        return []
    current = [content.generation for content in contents.values()]
    with open_in_memory() as connection:
        return connection.execute(
            f"""
            SELECT suite, run_id, content_id {columns}
            FROM read_parquet($paths, union_by_name = true)
            SEMI JOIN (
                SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id,
                    unnest($generations) AS generation
            ) AS current USING (suite, run_id, generation)
            GROUP BY suite, run_id, content_id
            """,
            {
                "paths": paths,
                "suites": [g.suite for g in current],
                "run_ids": [g.run_id for g in current],
                "generations": [g.generation for g in current],
            },
        ).fetchall()
