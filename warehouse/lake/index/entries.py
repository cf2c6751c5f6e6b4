"""What the description of a batch says of sources and runs, as entries that are found by a key.

An entry is a list of plain values, so that it is the same as JSON. A key is a number made of what
is looked for. Two things may have the same key, so each entry has all of what its key is made of:
its kind comes first.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from warehouse.lake.batch import Generation, Held, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warehouse.lake.batch import Batch

Entry = list[Any]

_KEY_BYTES = 8
# Kinds of entries, by what is looked for: the hash of an imported file, the ID of a run, the hash
# of a file that was forgotten or restored, the name of a batch that no longer counts.
SOURCE, RUN, FORGOTTEN, RESTORED, REPLACED = "source", "run", "forgotten", "restored", "replaced"


def key_of(kind: str, text: str) -> int:
    """Return the key of the entries of a kind for a hash, an ID or a name: 64 bits, unsigned."""
    data = f"{kind} {text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=_KEY_BYTES).digest(), "little")


def entries_of(folder: Batch) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of a folder of the lake, each with its key, in the order of its batches."""
    for batch in folder.contents:
        for source in batch.sources:
            yield key_of(SOURCE, source.sha256), _of_source(batch, source)
        runs: dict[str, list[Generation]] = {}
        for generation in batch.generations:
            runs.setdefault(generation.run_id, []).append(generation)
        for run_id, generations in runs.items():
            names = [RUN, batch.name, batch.command, list(batch.files)]
            yield key_of(RUN, run_id), [*names, _plain(generations)]
        for tombstone in batch.forgotten:
            for sha256 in tombstone.files:
                yield key_of(FORGOTTEN, sha256), [FORGOTTEN, sha256]
        for sha256 in batch.restored:
            yield key_of(RESTORED, sha256), [RESTORED, sha256]
    for name in folder.replaces:
        yield key_of(REPLACED, name), [REPLACED, name]


def source_in(entry: Entry) -> tuple[str, Source]:
    """Return the source in an entry, and the batch that has it."""
    _, batch, sha256, name, run_as, is_clean, generations = entry
    return batch, Source(sha256, name, run_as, is_clean, _generations(generations))


def held_in(folder: str, entry: Entry) -> Held:
    """Return what a batch has of the runs with an ID, given its folder in the lake."""
    _, name, command, tables, generations = entry
    return Held(
        name=name,
        folder=folder,
        command=command,
        files=frozenset(tables),
        generations=_generations(generations),
    )


def _of_source(batch: Batch, source: Source) -> Entry:
    names = [SOURCE, batch.name, source.sha256, source.name, source.run_as]
    return [*names, source.is_clean, _plain(source.generations)]


def _plain(generations: Iterable[Generation]) -> list[list[str | None]]:
    return [[g.suite, g.run_id, g.generation, g.parent] for g in generations]


def _generations(values: Iterable[list[Any]]) -> tuple[Generation, ...]:
    return tuple(Generation(*each) for each in values)
