"""The register of a lake: which sources and runs its batches have, for those who ask for a few.

Many batches, merged, are few folders, each with an index. What is asked for is looked up in the
indices, and only the descriptions of folders without one are read. So an import takes as long in a
store of a hundred thousand batches as in a new one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.lake.batch import Held, current_generations
from warehouse.lake.index.entries import (
    FORGOTTEN,
    REPLACED,
    RESTORED,
    RUN,
    SOURCE,
    entries_of,
    held_in,
    key_of,
    source_in,
)
from warehouse.lake.index.file import NAME, StaleIndexError, open_index, write_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import numpy as np

    from warehouse.lake.base_lake import BaseLake
    from warehouse.lake.batch import Batch, Generation, RunKey, Source
    from warehouse.lake.index.entries import Entry
    from warehouse.lake.index.file import BatchIndex


class Register:
    """What the batches of a lake had when it was made; the caller shares the lake's lock.

    Args:
        lake: the lake.
        scratch: a folder on its file system. With it, an index is written for each long description
            that lacks one: of earlier versions, or fetched from an object store.

    Raises:
        StoreDamaged: a `batch.json` that has to be read cannot be.
        StoreNewer: a newer version of evalstore wrote a batch.
    """

    def __init__(self, lake: BaseLake, scratch: Path | None = None) -> None:
        self._lake = lake
        self._scratch = scratch
        self._names = sorted(lake.batch_names())
        self._stale: set[str] = set()
        # Of the runs asked for: many files may belong to one run, and many batches.
        self._current: dict[RunKey, Generation | None] = {}
        self._load()

    def source(self, sha256: str, name: str, run_as: str | None) -> Source | None:
        """Return the source with these attributes that was added last; None if there is none."""
        found: dict[str, Source] = {}
        for _, entry in self._counting(SOURCE, sha256):
            batch, source = source_in(entry)
            if (source.sha256, source.name, source.run_as) == (sha256, name, run_as):
                found[batch] = source
        return found[max(found)] if found else None

    def generation(self, run: RunKey) -> Generation | None:
        """Return the current generation of a run; None if the lake does not have the run."""
        if run not in self._current:
            known = current_generations(g for h in self.holding([run]) for g in h.generations)
            self._current[run] = known.get(run)
        return self._current[run]

    def holding(self, runs: Iterable[RunKey]) -> list[Held]:
        """Return the batches that have rows of some runs, in order, with their generations."""
        runs = set(runs)
        found: dict[str, Held] = {}
        for run_id in sorted({run_id for _, run_id in runs}):
            for held in self._of_id(run_id):
                generations = tuple(g for g in held.generations if g.run in runs)
                if generations:
                    before = found[held.name].generations if held.name in found else ()
                    found[held.name] = replace(held, generations=(*before, *generations))
        return [found[name] for name in sorted(found)]

    def suites(self, run_id: str) -> set[str]:
        """Return the suites that have a run with this ID."""
        return {g.suite for held in self._of_id(run_id) for g in held.generations}

    def is_forgotten(self, sha256: str) -> bool:
        """Return whether `forget` removed a file and no import has restored it since."""
        return self._has(FORGOTTEN, sha256) and not self._has(RESTORED, sha256)

    def folders(self) -> list[Held]:
        """Return the folders that count, in order, without their generations."""
        return [
            Held(name=name, folder=name, command="", files=tables, generations=())
            for name, tables in self._tables.items()
            if name not in self._replaced
        ]

    def _of_id(self, run_id: str) -> Iterator[Held]:
        for folder, entry in self._counting(RUN, run_id):
            held = held_in(folder, entry)
            generations = tuple(g for g in held.generations if g.run_id == run_id)
            if generations:  # else another ID has the same key
                yield replace(held, generations=generations)

    def _has(self, kind: str, text: str) -> bool:
        return any(entry == [kind, text] for _, entry in self._counting(kind, text))

    def _counting(self, kind: str, text: str) -> list[tuple[str, Entry]]:
        """Return entries with a key and the folders that have them, without replaced folders."""
        found = self._find(kind, text)
        return [(folder, entry) for folder, entry in found if folder not in self._replaced]

    def _find(self, kind: str, text: str) -> list[tuple[str, Entry]]:
        key = key_of(kind, text)
        try:
            found = [*self._described.get(key, ()), *self._indexed.find(key)]
        except StaleIndexError as error:
            self._stale.add(str(error))
            self._load()
            return self._find(kind, text)
        return [(folder, entry) for folder, entry in found if entry[0] == kind]

    def _load(self) -> None:
        self._described: dict[int, list[tuple[str, Entry]]] = {}
        self._tables: dict[str, frozenset[str]] = {}
        indices = []
        for name in self._names:
            index = None if name in self._stale else open_index(self._lake.path / name)
            if index is not None:
                indices.append(index)
                self._tables[name] = index.tables
                continue
            folder = self._lake.read(name)
            self._tables[name] = frozenset(folder.files)
            for key, entry in entries_of(folder):
                self._described.setdefault(key, []).append((name, entry))
            self._keep(folder)
        self._indexed = _Indices(indices)
        self._replaced = {
            name
            for name in self._names
            if any(entry == [REPLACED, name] for _, entry in self._find(REPLACED, name))
        }

    def _keep(self, folder: Batch) -> None:
        """Write the index of a batch that lacks one."""
        if self._scratch is None:
            return
        path = self._lake.path / folder.name
        temporary = self._scratch / f"{folder.name}.{NAME}"
        try:
            if write_index(temporary, folder, (path / "batch.json").stat().st_size):
                temporary.replace(path / NAME)
        except OSError:
            temporary.unlink(missing_ok=True)


class _Indices:
    """The indices of several batches, searched as one."""

    def __init__(self, indices: list[BatchIndex]) -> None:
        self._indices = indices
        self._keys: np.ndarray | None = None
        if not indices:
            return
        import numpy as np

        keys = np.concatenate([index.keys for index in indices])
        order = np.argsort(keys, kind="stable")
        sizes = [len(index.keys) for index in indices]
        self._keys = keys[order]
        self._places = order
        self._starts = np.cumsum([0, *sizes])

    def find(self, key: int) -> Iterator[tuple[str, Entry]]:
        """Yield the entries with a key, each with the name of its batch.

        Raises:
            StaleIndexError: an index is damaged.
        """
        if self._keys is None:
            return
        wanted = self._keys.dtype.type(key)
        first = self._keys.searchsorted(wanted)
        last = self._keys.searchsorted(wanted, side="right")
        for place in self._places[first:last]:
            number = int(self._starts.searchsorted(place, side="right")) - 1
            index = self._indices[number]
            yield index.batch, index.entry(int(place - self._starts[number]))
