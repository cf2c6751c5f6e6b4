"""The sync of a lake into tables: what is planned, computed by an engine, and made to count.

1. Plan: the runs that are new or changed, in shards (`plan`). The rows of no run are loaded here.
2. Shards: each is loaded and scored by a worker, which also writes the hashes of its calls.
3. Duplicate calls are found by the hashes, in parts: the one step that sees all runs.
4. Shards that hold such calls are computed again with them; most stores have few.
5. The version that names all files is written by one conditional put.

Whatever ends before that changes nothing.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.core.errors import BadInput, StoreBusy, StoreDamaged, StoreNewer
from warehouse.core.hashing import content_hash
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import TABLES
from warehouse.engine.scale.plan import Planner, Shard
from warehouse.engine.scale.shard import (
    REFERENCE,
    checked_columns,
    new_warehouse,
    read_files,
    reference_tables,
    upload_file,
    write_file,
)
from warehouse.engine.scale.version import (
    Version,
    discard_copies,
    latest,
    publish,
    read,
    shard_files,
)
from warehouse.engine.tables import loading
from warehouse.engine.tables.definitions import digests
from warehouse.engine.tables.derivation import derive
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.batch import evalstore_version
from warehouse.lake.locks import shared_lake_lock
from warehouse.lake.table_location import TABLES as TABLES_FOLDER
from warehouse.lake.table_location import VERSIONS, find_tables, open_location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warehouse.engine.base_store import BaseStore
    from warehouse.engine.scale.engine import Engine
    from warehouse.engine.scale.version import File, Files
    from warehouse.lake.lake import Lake
    from warehouse.lake.table_location import TableLocation

# Calls whose duplicates a worker finds in less than half a gigabyte.
_CALLS_AT_ONCE = 4_000_000
_MOST_PARTS = 256
# Folders of the lake that the driver loads at a time.
_FOLDERS_AT_ONCE = 5_000
# Files that no version names may be of a sync that is still going on.
_SWEPT_AFTER_SECONDS = 24 * 3600.0
_CONTENT = frozenset(table.name for table in TABLES if not table.of_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesReport:
    """What a sync into tables did.

    Attributes:
        number: number of the version that counts.
        is_new: whether this sync wrote it; otherwise nothing had changed.
        n_shards: number of shards.
        n_computed: shards that were computed.
        n_repeated: shards that were computed again, with the duplicate calls.
        is_forgetting: whether the version before may have runs that the lake has no more.
    """

    number: int
    is_new: bool
    n_shards: int
    n_computed: int = 0
    n_repeated: int = 0
    is_forgetting: bool = False


def sync_tables(
    store: BaseStore, to: str, engine: Engine, *, n_shards: int | None = None
) -> TablesReport:
    """Bring tables up to date with the lake of a store.

    Args:
        store: the store.
        to: folder or address of the tables.
        engine: what runs the shards.
        n_shards: number of new shards; by default, as many as their sizes need.

    Raises:
        BadInput: the tables cannot be there.
        StoreBusy: another process wrote a version meanwhile.
        StoreDamaged: a file of the lake or the tables is not what was written.
        StoreReadOnly, StoreUnreachable: the tables cannot be written.
    """
    place = _place(store, to)
    store.recover_journals()
    with (
        shared_lake_lock(store.path),
        tempfile.TemporaryDirectory(prefix="evalstore-") as scratch,
        open_in_memory() as connection,
    ):
        sync = _Sync(store.lake, place, engine, Path(scratch))
        report = sync.run(Planner(connection), n_shards)
    if report.is_new:
        # Readers may still use the version before; but what was forgotten has to go.
        sweep(place, n_kept=1 if report.is_forgetting else 2)
        discard_copies(place)
    return report


def sweep(place: TableLocation, *, n_kept: int) -> None:
    """Delete old versions with their files, and files that no version has named for a day.

    Args:
        place: where the tables are.
        n_kept: number of versions to keep, the one that counts included.
    """
    keys = [key for key, _ in place.names(VERSIONS)]
    named = {key for version in keys[-n_kept:] for key in read(place, version).objects()}
    former: set[str] = set()
    for version in keys[:-n_kept]:
        with suppress(StoreDamaged, StoreNewer):
            former |= read(place, version).objects()
    oldest = time.time() - _SWEPT_AFTER_SECONDS
    left = {key for key, written_at in place.names(TABLES_FOLDER) if written_at < oldest}
    place.delete([*sorted((former | left) - named), *keys[:-n_kept]])


def _place(store: BaseStore, to: str) -> TableLocation:
    place = open_location(to)
    mirror = store.lake.mirror
    if "://" not in to:
        path = Path(to).resolve()
        if path.is_relative_to(store.path.resolve()) or store.path.resolve().is_relative_to(path):
            raise BadInput(f"--to {to}: the tables need a folder of their own, outside the store")
        if path.exists() and (
            not path.is_dir() or (find_tables(path) is None and any(path.iterdir()))
        ):
            raise BadInput(f"--to {to}: neither an empty folder nor one of tables")
    elif mirror is not None and f"{place.address}/".startswith(f"{mirror.address}/"):
        raise BadInput(f"--to {to}: the tables need a prefix of their own, outside the store's")
    return place


class _Sync:
    """One sync into tables.

    Args:
        lake: the lake, which nobody changes meanwhile.
        place: where the tables are.
        engine: what runs the shards.
        scratch: an empty folder.
    """

    def __init__(self, lake: Lake, place: TableLocation, engine: Engine, scratch: Path) -> None:
        self._lake = lake
        self._place = place
        self._engine = engine
        self._scratch = scratch
        found = latest(place)
        self._number = 1 if found is None else found.number + 1
        is_usable = found is not None and (
            found.definitions == list(digests()) and found.engine == duckdb.__version__
        )
        self._former = found if is_usable else None

    def run(self, planner: Planner, n_shards: int | None) -> TablesReport:
        """Compute what is new or changed, and make it count.

        Args:
            planner: an empty planner.
            n_shards: number of new shards; given one, all files are new.
        """
        former = self._former
        folders = self._describe(planner)
        lake = content_hash(folders)
        if former is not None and former.lake == lake and n_shards is None:
            return TablesReport(number=former.number, is_new=False, n_shards=len(former.shards))
        if n_shards is not None:
            # Nothing of the version before is used, so that damaged tables can be written again.
            former = self._former = None
        former_plan = None if former is None else read_files(self._place, [former.plan])[0]
        planner.plan(f"{self._number:06}", former_plan, n_shards)
        plan = planner.write(self._scratch / "plan.parquet")
        reference, of_suites = self._write_reference(folders)
        known = {} if former is None else former.duplicates
        step = _Step(reference, of_suites, self._n_parts(planner), plan)
        shards = self._kept(planner, of_suites)
        missing = planner.names() - shards.keys()
        computed = self._compute(step, planner.shards(missing), known)
        shards |= computed
        duplicates = self._find_duplicates(step, shards)
        digests_ = self._by_shard(plan, duplicates)
        stale = {n for n, shard in shards.items() if shard["duplicates"] != digests_.get(n, "")}
        shards |= self._compute(step, planner.shards(stale), duplicates)
        self._publish(
            Version(
                number=self._number,
                written_by=evalstore_version(),
                definitions=list(digests()),
                engine=duckdb.__version__,
                lake=lake,
                n_parts=step.n_parts,
                reference=reference,
                duplicates=duplicates,
                shards=shards,
                plan=upload_file(self._place, plan, "plan", n_rows=0),
            )
        )
        self._place.delete(
            file["key"] for name in stale & computed.keys() for file in shard_files(computed[name])
        )
        return TablesReport(
            number=self._number,
            is_new=True,
            n_shards=len(shards),
            n_computed=len(missing),
            n_repeated=len(stale),
            is_forgetting=former_plan is None or planner.is_any_gone(),
        )

    def _describe(self, planner: Planner) -> list[str]:
        """Read the descriptions of all batches; return the names of the folders that count."""
        replaced: set[str] = set()
        names = sorted(self._lake.batch_names())
        for name in names:
            folder = self._lake.read(name)
            paths = (self._lake.file(folder, table) for table in folder.files)
            planner.add(folder, sum(path.stat().st_size for path in paths))
            replaced.update(folder.replaces)
        return [name for name in names if name not in replaced]

    def _write_reference(self, folders: Sequence[str]) -> tuple[Files, dict[str, str]]:
        """Write the rows of no run; return their files, and hashes of what scores depend on."""
        files: Files = {}
        folder = self._scratch / "reference"
        folder.mkdir()
        with new_warehouse(folder, threads=2) as connection:
            connection.execute("BEGIN")
            for start in range(0, len(folders), _FOLDERS_AT_ONCE):
                some = folders[start : start + _FOLDERS_AT_ONCE]
                batches = [self._lake.read(name) for name in some]
                columns = checked_columns(self._lake, batches, connection, _CONTENT)
                loading.load(connection, self._lake, batches, columns, runs=())
            derive(connection, emptied=set(), changed=set(_CONTENT))
            connection.execute("COMMIT")
            for table in reference_tables():
                if file := self._unchanged_or_written(connection, table, folder):
                    files[table] = [file]
            return files, _digests_of_suites(connection)

    def _unchanged_or_written(
        self, connection: duckdb.DuckDBPyConnection, table: str, folder: Path
    ) -> File | None:
        digest = _digest(connection, f"FROM {table}")
        former = {} if self._former is None else self._former.reference
        for file in former.get(table, []):
            if file["digest"] == digest:
                return file
        written = write_file(connection, self._place, table, f"FROM {table}", scratch=folder)
        return written and {**written, "digest": digest}

    def _kept(self, planner: Planner, of_suites: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """Return the shards of the earlier version that nothing has changed."""
        if self._former is None:
            return {}
        former = self._former.shards
        return {
            name: former[name]
            for name in planner.kept()
            if former[name]["reference"] == _of(former[name]["suites"], of_suites)
        }

    def _n_parts(self, planner: Planner) -> int:
        """Return the number of parts of the calls: a power of 2, which never gets smaller."""
        n_parts = 1 if self._former is None else self._former.n_parts
        while n_parts * _CALLS_AT_ONCE < planner.n_rows() and n_parts < _MOST_PARTS:
            n_parts *= 2
        return n_parts

    def _compute(
        self, step: _Step, shards: Iterator[Shard], duplicates: Files
    ) -> dict[str, dict[str, Any]]:
        """Have shards computed; return what each wrote, by its name."""
        digests_ = self._by_shard(step.plan, duplicates)
        names, suites, tasks = [], [], []
        for shard in shards:
            names.append(shard.name)
            suites.append(sorted({suite for suite, _ in shard.runs}))
            is_sharing = shard.name in digests_
            tasks.append(
                {
                    "runs": shard.runs,
                    "folders": shard.folders,
                    "reference": {t: f for t, f in step.reference.items() if t in REFERENCE},
                    "duplicates": duplicates["scores.duplicate_calls"] if is_sharing else [],
                    "n_parts": step.n_parts,
                }
            )
        replies = self._run("compute_shard", tasks)
        return {
            name: {
                **reply,
                "suites": of_shard,
                "reference": _of(of_shard, step.of_suites),
                "duplicates": digests_.get(name, ""),
            }
            for name, of_shard, reply in zip(names, suites, replies, strict=True)
        }

    def _find_duplicates(self, step: _Step, shards: Mapping[str, dict[str, Any]]) -> Files:
        """Have the duplicate calls of all shards found; return their files."""
        files: Files = {}
        headers = [f for s in shards.values() for f in s["files"].get("scores.run_headers", [])]
        tasks = [
            {
                "part": part,
                "n_parts": step.n_parts,
                "calls": [
                    file for s in shards.values() if (file := s["calls"][part % len(s["calls"])])
                ],
                "run_headers": headers,
                "model_files": step.reference.get("scores.model_files", []),
            }
            for part in range(step.n_parts)
        ]
        for reply in self._run("compute_duplicates", tasks):
            for table, written in reply["files"].items():
                files.setdefault(table, []).extend(written)
        return files

    def _run(self, function: str, tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        common = {
            "lake": self._engine.lake_text(self._lake),
            "to": self._place.address,
            "definitions": list(digests()),
            "threads": 1,
        }
        return self._engine.run(function, [{**task, **common} for task in tasks], self._place)

    def _by_shard(self, plan: Path, duplicates: Files) -> dict[str, str]:
        """Return a hash of the duplicate calls of each shard that has any."""
        files = duplicates.get("scores.duplicate_calls", [])
        if not files:
            return {}
        with open_in_memory() as connection:
            rows = connection.execute(
                """
                SELECT plan.shard, count(*), bit_xor(hash(calls))
                FROM read_parquet($calls) AS calls
                JOIN read_parquet($plan) AS plan USING (suite, run_id)
                GROUP BY plan.shard
                """,
                {"calls": read_files(self._place, files), "plan": str(plan)},
            ).fetchall()
        return {shard: f"{n} {digest}" for shard, n, digest in rows}

    def _publish(self, version: Version) -> None:
        if not publish(self._place, version):
            raise StoreBusy(
                f"{self._place.address}: another process wrote tables there at the same time; "
                "nothing was changed: run the command again"
            )


@dataclass(frozen=True, slots=True)
class _Step:
    """What the shards of a sync have in common.

    Attributes:
        reference: files of the rows of no run.
        of_suites: hashes of those that the scores of each suite depend on.
        n_parts: parts of the calls.
        plan: the plan.
    """

    reference: Files
    of_suites: dict[str, str]
    n_parts: int
    plan: Path


def _digest(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """Return a hash of the rows of a query that does not depend on their order."""
    [(n, digest)] = connection.execute(
        f"SELECT count(*), bit_xor(hash(rows)) FROM ({query}) AS rows"  # noqa: S608 - our own
    ).fetchall()
    return f"{n} {digest}"


def _digests_of_suites(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return a hash of the rows of no run that the scores of each suite depend on.

    Under ``, that of the rows that the scores of every suite depend on: the model files.
    """
    found = {"": _digest(connection, "FROM lake.models")}
    own = connection.execute("SELECT DISTINCT suite FROM lake.tasks WHERE scorer IS NOT NULL")
    suites = {suite for (suite,) in own.fetchall() if suite is not None}
    suites |= {file.suite for file in shipped_sql() if file.suite is not None}
    for suite in sorted(suites):
        text = suite.replace("'", "''")
        found[suite] = " ".join(
            _digest(connection, f"FROM lake.{table} WHERE suite = '{text}'")
            for table in ("tasks", "annotations")
        )
    return found


def _of(suites: Sequence[str], digests_: Mapping[str, str]) -> str:
    return content_hash([digests_.get(suite, "") for suite in ("", *suites)])
