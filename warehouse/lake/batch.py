"""The description of a batch, `batch.json`, and the generations of runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.core.errors import StoreNewer
from warehouse.core.schemas import LAKE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

ROOT_GENERATION = "root"

RunKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A Parquet file of a batch: its rows and the SHA-256 of its bytes."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a run, and the one it replaces (None for the root)."""

    suite: str
    run_id: str
    generation: str = ROOT_GENERATION
    parent: str | None = None

    @property
    def run(self) -> RunKey:
        """The run's suite and id."""
        return self.suite, self.run_id


@dataclass(frozen=True, slots=True)
class Source:
    """An imported file.

    Attributes:
        sha256: hash of its bytes.
        name: its file name; part of the content of model and task files. Where folders name the
            run or model, a hash of which is in front of it.
        run_as: the run id it was imported under, if one was given (`--as`).
        is_clean: whether every record could be used.
        generations: the generations its rows belong to.
    """

    sha256: str
    name: str
    run_as: str | None
    is_clean: bool
    generations: tuple[Generation, ...]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Hashes of a run and its files that `forget` removed; the run's name is not kept."""

    run: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The content of `batch.json`.

    Attributes:
        name: a ULID, also the folder's name.
        created_at: UTC, ISO 8601.
        command: the command that wrote it: import, run, annotate, forget or compact.
        version: version of evalstore.
        schema_version: version of the tables' schemas.
        files: by table name; for a part, the files it was written with.
        generations: the generations of runs that have rows here.
        sources: the imported files.
        replaces: batches whose content this one holds, so that they no longer count.
        forgotten: tombstones.
        restored: hashes of files that were imported again after a `forget`.
        parts: the batches merged into this one, each as it was; their rows are in this one's
            files and keep their batch's name. Empty for a batch that was not merged.
        merged_into: for a part, the batch that holds its rows.
        rewritten_by: for a part, the batch in which `forget` last removed some of its rows.
    """

    name: str
    created_at: str
    command: str
    version: str
    schema_version: int = LAKE_FORMAT
    files: dict[str, BatchFile] = field(default_factory=dict)
    generations: tuple[Generation, ...] = ()
    sources: tuple[Source, ...] = ()
    replaces: tuple[str, ...] = ()
    forgotten: tuple[Tombstone, ...] = ()
    restored: tuple[str, ...] = ()
    parts: tuple[Batch, ...] = ()
    merged_into: str | None = None
    rewritten_by: str | None = None

    @property
    def folder(self) -> str:
        """The folder of the lake that holds its files."""
        return self.merged_into or self.name

    @property
    def contents(self) -> tuple[Batch, ...]:
        """The batches in its folder: the merged parts, or the batch itself."""
        return self.parts or (self,)


class HasRuns(Protocol):
    """A batch, as far as it is needed to read the rows of its runs."""

    @property
    def folder(self) -> str:
        """The folder of the lake that holds its files."""

    @property
    def files(self) -> Container[str]:
        """The names of its tables."""

    @property
    def generations(self) -> tuple[Generation, ...]:
        """The generations of runs that have rows in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a batch has of the runs that were asked for; the attributes are those of `Batch`."""

    name: str
    folder: str
    command: str
    files: frozenset[str]
    generations: tuple[Generation, ...]


def current_generations(generations: Iterable[Generation]) -> dict[RunKey, Generation]:
    """Return each run's current generation.

    Replacements are followed from the root. Of rivals that replace the same generation, the one
    with the smaller hash wins, so that neither clocks nor the order of batches matter.
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


def check_format(document: dict[str, Any], where: str) -> None:
    """Refuse a `batch.json` that a newer version wrote in a format that this one would misread.

    Args:
        document: its JSON object.
        where: its path or address, for the message.

    Raises:
        StoreNewer: its format is newer.
        KeyError, TypeError: it has no format.
    """
    if document["schema_version"] > LAKE_FORMAT:
        raise StoreNewer(
            f"{where}: written by evalstore {document.get('version')} in lake format "
            f"{document['schema_version']}; this one reads formats up to {LAKE_FORMAT}: upgrade it"
        )


def batch_from_json(document: dict[str, Any]) -> Batch:
    """Return the batch that `batch_to_json` wrote as this object.

    Raises:
        KeyError, TypeError, ValueError: the object has another shape.
    """
    batch = Batch(
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
                Tombstone(f["run"], tuple(f["files"])) for f in document["forgotten"]
            ),
            "restored": tuple(document["restored"]),
            "parts": tuple(batch_from_json(part) for part in document.get("parts", ())),
        }
    )
    _check_values(batch, document)
    return batch


def _check_values(batch: Batch, document: Mapping[str, object]) -> None:
    """Check that a batch's values have the types that its attributes are declared with."""
    datetime.fromisoformat(batch.created_at)
    generations = [*batch.generations, *(g for s in batch.sources for g in s.generations)]
    texts = (
        *(batch.name, batch.command, batch.version, *batch.replaces, *batch.restored),
        *(text for file in batch.forgotten for text in (file.run, *file.files)),
        *(file.sha256 for file in batch.files.values()),
        *(text for source in batch.sources for text in (source.sha256, source.name)),
        *(text for g in generations for text in (g.suite, g.run_id, g.generation)),
    )
    texts_or_none = (
        *(batch.merged_into, batch.rewritten_by),
        *(source.run_as for source in batch.sources),
        *(g.parent for g in generations),
    )
    is_typed = (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(text, str | None) for text in texts_or_none)
        and all(isinstance(document[name], list) for name in ("replaces", "restored"))
        and all(type(file.rows) is int for file in batch.files.values())
        and all(isinstance(source.is_clean, bool) for source in batch.sources)
    )
    if not is_typed:
        raise TypeError("a value has another type than in a batch")


def batch_to_json(batch: Batch) -> bytes:
    """Return the bytes of a batch's `batch.json`."""
    import orjson

    return orjson.dumps(batch, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def evalstore_version() -> str:
    """Return the version of the installed evalstore; `0` if it is not installed."""
    try:
        return version("evalstore")
    except PackageNotFoundError:
        return "0"
