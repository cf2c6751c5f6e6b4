"""What was published: the files of each publication, and the folder that holds them."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from warehouse.core.errors import BadInput, StoreBusy, StoreDamaged, StoreNewer
from warehouse.lake.places import PUBLISHED_MEANWHILE, open_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

# The suite and the run; no run for rows of none.
UnitKey: TypeAlias = "tuple[str | None, str | None]"

PUBLIC = "public"
_PUBLICATIONS = f"{PUBLIC}/_publications"
MARK = "evalstore-delta.json"
_ABOUT = "Delta tables that `evalstore publish delta` wrote. It deletes its former files here."
_FORMAT = 1
_DAY_SECONDS = 86_400
# Of ours, and of deltalake's.
_PARTIAL = (".*", "*[#]*", "*.tmp")
# Data files, and files whose writer was killed before they got their names.
_OURS = tuple(
    f"{PUBLIC}/{pattern}"
    for pattern in ("*/*.parquet", "_publications/.*", *(f"*/_delta_log/{n}" for n in _PARTIAL))
)


@dataclass(frozen=True, slots=True)
class Unit:
    """The rows of a run in a table, or those of a suite that are of no run.

    Attributes:
        key: the suite and the run.
        n_rows: their number.
        digest: a hash of the rows, whatever their order.
        n_bytes: size of the texts and rows, before compression.
    """

    key: UnitKey
    n_rows: int
    digest: str
    n_bytes: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A data file.

    Attributes:
        path: its name in the folder of the table.
        n_rows: its rows.
        n_bytes: its size.
        statistics: what Delta's log says of it, JSON.
        units: the runs that it holds.
    """

    path: str
    n_rows: int
    n_bytes: int
    statistics: str
    units: tuple[Unit, ...]

    @property
    def n_unpacked(self) -> int:
        """Size of the texts and rows, before compression."""
        return sum(unit.n_bytes for unit in self.units)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of a publication: its version in Delta, and its files by name."""

    version: int
    files: dict[str, PublishedFile]

    def runs(self) -> set[UnitKey]:
        """Return the runs of its rows."""
        keys = {unit.key for file in self.files.values() for unit in file.units}
        return {key for key in keys if key[1] is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What a publication consists of.

    Attributes:
        number: its number, from 1.
        oldest: the oldest publication whose files are kept.
        made_from: hash of what it was made from: the lake, the version of evalstore, the options.
        lake: hash of the batches of the lake.
        store_id: what tells the store from others: its first batch when it first published.
        batches: the names of all batches, which no store loses: `forget` keeps them.
        with_text: whether it has texts.
        published_at: when it was written, UTC.
        tables: the tables, by name.
    """

    number: int
    oldest: int
    made_from: str
    lake: str
    store_id: str
    batches: list[str]
    with_text: bool
    published_at: str
    tables: dict[str, PublishedTable]

    def check_is_of(self, batches: AbstractSet[str], address: str) -> None:
        """Check that a store with these batches may replace it, without losing another's runs.

        Raises:
            BadInput: it was made from batches that the store lacks.
        """
        if n_missing := len(set(self.batches) - batches):
            raise BadInput(
                f"{address} has what this store lacks ({n_missing:,} batches): it is of another "
                "store, or of a newer copy of this one; publish to a new folder, or import that "
                "store first"
            )

    def paths(self) -> set[str]:
        """Return the keys of the data files."""
        return {
            f"{PUBLIC}/{name}/{path}" for name, table in self.tables.items() for path in table.files
        }


class PublicFolder:
    """A folder of published tables, or an address on an object store.

    The file of a publication exists before engines see its snapshot, and as long as its data files
    do: what a killed process left undone is done by the next one.

    Args:
        address: the folder or address.

    Raises:
        BadInput: the address cannot be used.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.place = open_place(address)

    def check(self) -> None:
        """Check that the folder is ours, or can be.

        Raises:
            BadInput: it holds something else, or is no folder.
            StoreNewer: a newer version of evalstore publishes to it.
        """
        try:
            mark = self.place.get(MARK)
        except OSError:
            if self.place.is_empty(but=MARK):
                return
            raise BadInput(
                f"{self.address} holds something else than published tables; name a new folder"
            ) from None
        if orjson.loads(mark)["format"] > _FORMAT:
            raise StoreNewer(f"{self.address}: a newer evalstore publishes here; upgrade this one")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes from publishing here; the folder is created and marked.

        Raises:
            BadInput: it holds something else, or cannot be written.
            StoreBusy: another process publishes here.
        """
        self.check()
        try:
            with self.place.lock():
                self.place.create(MARK, orjson.dumps({"about": _ABOUT, "format": _FORMAT}))
                yield
        except OSError as error:
            raise BadInput(
                f"{self.address}: cannot be written ({error.strerror or error})"
            ) from error

    def latest(self) -> Publication | None:
        """Return the newest publication; None if there is none.

        Raises:
            StoreDamaged, StoreNewer: it cannot be read.
        """
        numbers = self._numbers()
        return self._read(numbers[-1]) if numbers else None

    def add(self, publication: Publication) -> None:
        """Write the file of a publication.

        Raises:
            StoreBusy: another process wrote one of this number.
        """
        if not self.place.create(_key(publication.number), orjson.dumps(publication)):
            raise StoreBusy(f"{self.address}: {PUBLISHED_MEANWHILE}")

    def outdated(self, latest: Publication) -> list[Publication]:
        """Return the publications that are not kept any more, and have not been deleted."""
        return [self._read(number) for number in self._numbers() if number < latest.oldest]

    def delete(self, outdated: list[Publication]) -> None:
        """Delete publications: the data files that no other has, then what says so."""
        numbers = {publication.number for publication in outdated}
        others = (self._read(number) for number in self._numbers() if number not in numbers)
        kept = {path for publication in others for path in publication.paths()}
        for publication in outdated:
            self.place.delete(sorted(publication.paths() - kept))
            self.place.delete([_key(publication.number)])

    def sweep(self, publication: Publication | None = None) -> list[str]:
        """Delete files that no publication names: those of processes that were killed.

        Args:
            publication: those that are younger are kept: another machine may have begun since;
                by default those younger than a day.

        Returns:
            their names.
        """
        files = self.place.files(PUBLIC)
        newest = time.time() - _DAY_SECONDS
        if publication is not None:
            newest = dict(files).get(_key(publication.number), 0.0)
        kept = {path for number in self._numbers() for path in self._read(number).paths()}
        swept = [
            key
            for key, seconds in files
            if seconds <= newest and key not in kept and any(map(PurePath(key).match, _OURS))
        ]
        self.place.delete(swept)
        return swept

    def _numbers(self) -> list[int]:
        names = (PurePath(key).stem for key, _ in self.place.files(_PUBLICATIONS))
        return sorted(int(name) for name in names if name.isdigit())

    def _read(self, number: int) -> Publication:
        try:
            document = orjson.loads(self.place.get(_key(number)))
            tables = {name: _parse_table(table) for name, table in document.pop("tables").items()}
            return Publication(**document, tables=tables)
        except (ValueError, TypeError, KeyError) as error:
            raise StoreDamaged(
                f"{self.address}/{_key(number)}: damaged; publish to a new folder, and delete this"
            ) from error


def _key(number: int) -> str:
    return f"{_PUBLICATIONS}/{number:09}.json"


def _parse_table(table: dict[str, Any]) -> PublishedTable:
    files = {}
    for path, file in table["files"].items():
        units = tuple(Unit(**{**unit, "key": tuple(unit["key"])}) for unit in file["units"])
        files[path] = PublishedFile(**{**file, "units": units})
    return PublishedTable(table["version"], files)
