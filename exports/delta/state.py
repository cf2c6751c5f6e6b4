"""What was published: the files of each publication, and the folder that holds them."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from warehouse.core.errors import BadInput, StoreBusy, StoreDamaged, StoreNewer
from warehouse.core.files import read_regular
from warehouse.lake.atomic import create_durably
from warehouse.lake.delta_log import PUBLISHED_MEANWHILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet
    from pathlib import Path

# The suite and the run; no run for rows of none.
UnitKey: TypeAlias = "tuple[str | None, str | None]"

MARK = "evalstore-delta.json"
_ABOUT = "Delta tables that `evalstore publish delta` wrote. It deletes its former files here."
_FORMAT = 1
_LARGEST = 2**30
_DAY_SECONDS = 86_400
# Of ours, and of deltalake's.
_PARTIAL = (".*", "*[#]*", "*.tmp")
# Data files, and files whose writer was killed before they got their names.
_OURS = ("*/*.parquet", "_publications/.*", *(f"*/_delta_log/{name}" for name in _PARTIAL))


@dataclass(frozen=True, slots=True)
class Unit:
    """The rows of a run in a table, or those of a suite that are of no run.

    Attributes:
        key: the suite and the run.
        n_rows: their number.
        digest: a hash of the rows, whatever their order.
    """

    key: UnitKey
    n_rows: int
    digest: str


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

    def check_is_of(self, batches: AbstractSet[str], path: Path) -> None:
        """Check that a store with these batches may replace it, without losing another's runs.

        Raises:
            BadInput: it was made from batches that the store lacks.
        """
        if n_missing := len(set(self.batches) - batches):
            raise BadInput(
                f"{path} has what this store lacks ({n_missing:,} batches): it is of another "
                "store, or of a newer copy of this one; publish to a new folder, or import that "
                "store first"
            )

    def paths(self) -> set[str]:
        """Return the data files, from the folder of the tables."""
        return {f"{name}/{path}" for name, table in self.tables.items() for path in table.files}


class PublicFolder:
    """A folder of published tables.

    The file of a publication exists before engines see its snapshot, and as long as its data files
    do: what a killed process left undone is done by the next one.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.public = path / "public"
        self._publications = self.public / "_publications"

    def check(self) -> None:
        """Check that the folder is ours, or can be.

        Raises:
            BadInput: it holds something else, or is no folder.
            StoreNewer: a newer version of evalstore publishes to it.
        """
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path} is not a folder")
        mark = self.path / MARK
        if mark.exists():
            if orjson.loads(mark.read_bytes())["format"] > _FORMAT:
                raise StoreNewer(f"{self.path}: a newer evalstore publishes here; upgrade this one")
        elif self.path.is_dir() and any(
            not path.name.startswith(f".{MARK}") for path in self.path.iterdir()
        ):
            raise BadInput(
                f"{self.path} holds something else than published tables; name a new folder"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes from publishing here; the folder is created and marked.

        Raises:
            BadInput: it holds something else, or cannot be written.
            StoreBusy: another process publishes here.
        """
        self.check()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be written ({error.strerror})") from error
        try:
            _lock(descriptor, self.path)
            mark = orjson.dumps({"about": _ABOUT, "format": _FORMAT})
            create_durably(self.path / MARK, mark)
            self._publications.mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be written ({error.strerror or error})") from error
        finally:
            os.close(descriptor)

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
        if not create_durably(self._file(publication.number), orjson.dumps(publication)):
            raise StoreBusy(f"{self.path}: {PUBLISHED_MEANWHILE}")

    def outdated(self, latest: Publication) -> list[Publication]:
        """Return the publications that are not kept any more, and have not been deleted."""
        return [self._read(number) for number in self._numbers() if number < latest.oldest]

    def delete(self, outdated: list[Publication]) -> None:
        """Delete publications: the data files that no other has, then what says so."""
        numbers = {publication.number for publication in outdated}
        others = (self._read(number) for number in self._numbers() if number not in numbers)
        kept = {path for publication in others for path in publication.paths()}
        for publication in outdated:
            for path in publication.paths() - kept:
                (self.public / path).unlink(missing_ok=True)
            self._file(publication.number).unlink(missing_ok=True)

    def sweep(self, publication: Publication | None = None) -> list[str]:
        """Delete files that no publication names: those of processes that were killed.

        Args:
            publication: those that are younger are kept: another machine may have begun since;
                by default those younger than a day.

        Returns:
            their names.
        """
        if publication is None:
            newest = time.time() - _DAY_SECONDS
        else:
            newest = self._file(publication.number).stat().st_mtime
        kept = {path for number in self._numbers() for path in self._read(number).paths()}
        swept = []
        for pattern in _OURS:
            for file in sorted(self.public.glob(pattern)):
                name = file.relative_to(self.public).as_posix()
                with suppress(FileNotFoundError):
                    if name not in kept and file.stat().st_mtime <= newest:
                        file.unlink()
                        swept.append(name)
        return swept

    def _numbers(self) -> list[int]:
        return sorted(int(file.stem) for file in self._publications.glob("*.json"))

    def _file(self, number: int) -> Path:
        return self._publications / f"{number:09}.json"

    def _read(self, number: int) -> Publication:
        file = self._file(number)
        try:
            document = orjson.loads(read_regular(file, max_bytes=_LARGEST))
            tables = {name: _parse_table(table) for name, table in document.pop("tables").items()}
            return Publication(**document, tables=tables)
        except (ValueError, TypeError, KeyError) as error:
            raise StoreDamaged(
                f"{file}: damaged; publish to a new folder, and delete this one"
            ) from error


def _parse_table(table: dict[str, Any]) -> PublishedTable:
    files = {}
    for path, file in table["files"].items():
        units = tuple(
            Unit((u["key"][0], u["key"][1]), u["n_rows"], u["digest"]) for u in file["units"]
        )
        files[path] = PublishedFile(**{**file, "units": units})
    return PublishedTable(table["version"], files)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreBusy(
            f"{path}: another `evalstore publish` is writing there; wait until it ends"
        ) from None
    except OSError:
        pass  # no locks here: Delta refuses a second commit of the same version
