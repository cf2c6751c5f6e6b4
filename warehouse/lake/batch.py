"""What a batch of the lake says of itself: `batch.json`, and the generations of runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.schemas import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT_GENERATION = "root"

RunKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A Parquet file of a batch: its rows and the SHA-256 of its bytes."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a run, and the one that it replaces (None for the root)."""

    suite: str
    run_id: str
    generation: str = ROOT_GENERATION
    parent: str | None = None

    @property
    def run(self) -> RunKey:
        """The run that it is a generation of."""
        return self.suite, self.run_id


@dataclass(frozen=True, slots=True)
class Source:
    """An imported file.

    Attributes:
        sha256: hash of its bytes.
        name: its name, which for model and task files is part of what they say.
        run_as: the run that it was imported as, where that was asked for.
        is_clean: whether all of it could be used.
        generations: what it fed.
    """

    sha256: str
    name: str
    run_as: str | None
    is_clean: bool
    generations: tuple[Generation, ...]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A tombstone: hashes of what `forget` removed. The run's name itself is not kept."""

    run: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What `batch.json` says.

    Attributes:
        name: a ULID, also the folder's name.
        created_at: UTC, ISO 8601.
        command: what made it: import, run, forget, compact.
        version: version of evalstore.
        schema_version: version of the tables' schemas.
        files: by table name; of a part, those that it came in with.
        generations: the generations of runs that have rows here.
        sources: the files that were imported.
        replaces: batches whose content this one holds, so that they no longer count.
        forgotten: tombstones.
        restored: hashes of files that were brought back after a `forget`.
        parts: the batches that were merged into this one, each as it was; their rows lie in this
            one's files and keep their batch's name. None where it is one batch.
        merged_into: of such a part, the batch that its rows lie in.
        rewritten_by: of such a part, the batch in which `forget` last took something out of it.
    """

    name: str
    created_at: str
    command: str
    version: str
    schema_version: int = SCHEMA_VERSION
    files: dict[str, BatchFile] = field(default_factory=dict)
    generations: tuple[Generation, ...] = ()
    sources: tuple[Source, ...] = ()
    replaces: tuple[str, ...] = ()
    forgotten: tuple[Forgotten, ...] = ()
    restored: tuple[str, ...] = ()
    parts: tuple[Batch, ...] = ()
    merged_into: str | None = None
    rewritten_by: str | None = None

    @property
    def folder(self) -> str:
        """The folder of the lake that its files lie in."""
        return self.merged_into or self.name

    @property
    def contents(self) -> tuple[Batch, ...]:
        """The batches that the folder holds: those that were merged, or the one."""
        return self.parts or (self,)


def current_generations(generations: Iterable[Generation]) -> dict[RunKey, Generation]:
    """Find each run's current generation.

    From the root, follow the replacements; of rivals that replace the same generation the one
    with the smaller hash counts, so that no clock and no order of batches decides.
    """
    children: dict[tuple[RunKey, str], set[str]] = {}
    runs: dict[RunKey, None] = {}
    for generation in generations:
        runs[generation.run] = None
        if generation.parent is not None:
            children.setdefault((generation.run, generation.parent), set()).add(
                generation.generation
            )
    return {run: _newest(run, children) for run in runs}


def _newest(run: RunKey, children: Mapping[tuple[RunKey, str], set[str]]) -> Generation:
    parent, current = None, ROOT_GENERATION
    while rivals := children.get((run, current)):
        parent, current = current, min(rivals)
    return Generation(*run, current, parent)


def batch_from_json(document: dict[str, Any]) -> Batch:
    """Read a batch from the object that `batch_to_json` wrote.

    Raises:
        KeyError, TypeError: it is no such object.
    """
    return Batch(
        **{
            **document,
            "files": {k: BatchFile(**v) for k, v in document["files"].items()},
            "generations": tuple(Generation(**g) for g in document["generations"]),
            "sources": tuple(
                Source(
                    **{
                        **source,
                        "generations": tuple(Generation(**g) for g in source["generations"]),
                    }
                )
                for source in document["sources"]
            ),
            "replaces": tuple(document["replaces"]),
            "forgotten": tuple(
                Forgotten(f["run"], tuple(f["files"])) for f in document["forgotten"]
            ),
            "restored": tuple(document["restored"]),
            "parts": tuple(batch_from_json(part) for part in document.get("parts", ())),
        }
    )


def batch_to_json(batch: Batch) -> bytes:
    """Write a batch as the bytes of its `batch.json`."""
    import orjson

    return orjson.dumps(batch, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
