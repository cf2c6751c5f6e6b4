"""The sync of a lake into tables: what is planned, computed by an engine, and made to count.

1. Plan: the runs that are new or changed, in shards (`plan`). The rows of no run are loaded here.
2. Shards: each is loaded and scored by a worker, which also writes the hashes of its calls.
3. Duplicate calls are found by the hashes, in parts: the one step that sees all runs.
4. Shards that hold such calls are computed again with them; most stores have few.
5. The files are committed to their Delta tables, and then the snapshot that names all of them.

Whatever ends before that changes nothing for who reads a snapshot.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.core.errors import BadInput, StoreBusy
from warehouse.core.hashing import content_hash
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import TABLES
from warehouse.engine.scale.plan import Planner, Shard
from warehouse.engine.scale.reference import (
    reference_digest,
    reference_tables,
    rows_digest,
    suite_digests,
    table_schemas,
)
from warehouse.engine.scale.shard import (
    DUPLICATES,
    REFERENCE,
    checked_columns,
    new_warehouse,
    read_files,
    rows_to_store,
    table_folder,
    upload_file,
    write_file,
)
from warehouse.engine.scale.snapshot import (
    Snapshot,
    discard_copies,
    file_key,
    latest,
    of_table,
    publish,
    sweep,
)
from warehouse.engine.tables import loading
from warehouse.engine.tables.definitions import digests
from warehouse.engine.tables.derivation import derive
from warehouse.lake.batch import evalstore_version
from warehouse.lake.locks import shared_lake_lock
from warehouse.lake.table_location import find_tables, open_location, open_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from warehouse.engine.base_store import BaseStore
    from warehouse.engine.scale.engine import Engine
    from warehouse.engine.scale.snapshot import File
    from warehouse.lake.lake import Lake
    from warehouse.lake.table_location import TableLocation

# Calls whose duplicates a worker finds in less than half a gigabyte.
_CALLS_AT_ONCE = 4_000_000
_MOST_PARTS = 256
# Folders of the lake that the driver loads at a time.
_FOLDERS_AT_ONCE = 5_000
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
    """

    number: int
    is_new: bool
    n_shards: int
    n_computed: int = 0
    n_repeated: int = 0


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
    with suppress(StoreBusy):  # another sync that has just ended will do it
        sweep(place)
    discard_copies(place)
    return report


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
        self._log = open_log(place, "snapshots")
        found = latest(place, self._log)
        self._number = 1 if found is None else found.number + 1
        is_usable = found is not None and (
            found.definitions == " ".join(digests()) and found.engine == duckdb.__version__
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
        if former is not None and former.lake_digest == lake and n_shards is None:
            return TablesReport(number=former.number, is_new=False, n_shards=former.n_shards())
        if n_shards is not None:
            # Nothing of the snapshot before is used, so that damaged tables can be written again.
            former = self._former = None
        before = [] if former is None else former.files
        former_plan = next(iter(self._read(of_table(before, "plan"))), None)
        planner.plan(f"{self._number:06}", former_plan, n_shards)
        plan = planner.write(self._scratch / "plan.parquet")
        step = self._write_reference(folders, self._n_parts(planner), plan)
        kept = self._kept(planner, step.of_suites)
        names = planner.suites().keys()
        missing = names - {file["shard"] for file in kept}
        computed = self._compute(step, planner.shards(missing), before)
        duplicates = self._find_duplicates(step, [*kept, *computed])
        digests_ = self._by_shard(plan, duplicates)
        stale = {
            file["shard"]
            for file in (*kept, *computed)
            if file["duplicates"] != digests_.get(file["shard"], "")
        }
        again = self._compute(step, planner.shards(stale), duplicates)
        of_shards = [file for file in (*kept, *computed) if file["shard"] not in stale]
        plan_file = upload_file(self._place, plan, "plan")
        files = [*step.reference, *duplicates, *of_shards, *again, plan_file]
        # Readers may still use the snapshot before; but what was forgotten has to go.
        is_forgetting = former is None or planner.is_any_gone()
        self._publish(step, lake, files, oldest=self._number - (not is_forgetting))
        self._place.delete(file_key(file) for file in computed if file["shard"] in stale)
        return TablesReport(
            number=self._number,
            is_new=True,
            n_shards=len(names),
            n_computed=len(missing),
            n_repeated=len(stale),
        )

    def _publish(self, step: _Step, lake: str, files: list[File], *, oldest: int) -> None:
        snapshot = Snapshot(
            number=self._number,
            oldest=oldest,
            written_by=evalstore_version(),
            definitions=" ".join(digests()),
            engine=duckdb.__version__,
            lake_digest=lake,
            files=files,
        )
        try:
            publish(self._place, self._log, snapshot, step.schemas, self._scratch)
        except StoreBusy as error:
            raise StoreBusy(
                f"{self._place.address}: another process wrote tables there at the same time; "
                "no snapshot was written: run the command again"
            ) from error

    def _describe(self, planner: Planner) -> list[str]:
        """Read the descriptions of all batches; return the names of the folders that count."""
        replaced: set[str] = set()
        names = sorted(self._lake.batch_names())
        for name in names:
            folder = self._lake.read(name)
            planner.add(folder, sum(self._lake.size(folder, table) for table in folder.files))
            replaced.update(folder.replaces)
        return [name for name in names if name not in replaced]

    def _write_reference(self, folders: Sequence[str], n_parts: int, plan: Path) -> _Step:
        """Write the rows of no run; return what all shards need."""
        folder = self._scratch / "reference"
        folder.mkdir()
        with new_warehouse(folder, threads=2) as connection:
            connection.execute("BEGIN")
            for start in range(0, len(folders), _FOLDERS_AT_ONCE):
                some = folders[start : start + _FOLDERS_AT_ONCE]
                self._lake.fetch_copies(some)
                batches = [self._lake.read(name) for name in some]
                columns = checked_columns(self._lake, batches, connection, _CONTENT)
                loading.load(connection, self._lake, batches, columns, runs=())
            derive(connection, emptied=set(), changed=set(_CONTENT))
            connection.execute("COMMIT")
            files = [
                file
                for table in reference_tables()
                if (file := self._unchanged_or_written(connection, table, folder))
            ]
            of_suites, schemas = suite_digests(connection), table_schemas(connection, plan)
        return _Step(files, of_suites, n_parts, plan, schemas)

    def _unchanged_or_written(
        self, connection: duckdb.DuckDBPyConnection, table: str, folder: Path
    ) -> File | None:
        digest = rows_digest(connection, f"FROM {table}")
        former = [] if self._former is None else self._former.files
        for file in of_table(former, table_folder(table)):
            if file["shard"] is None and file["reference"] == digest:
                return file
        rows = rows_to_store(connection, table)
        written = write_file(connection, self._place, table, rows, scratch=folder)
        return written and {**written, "shard": None, "reference": digest}

    def _kept(self, planner: Planner, of_suites: Mapping[str, str]) -> list[File]:
        """Return the files of the shards of the earlier snapshot that nothing has changed."""
        former = [] if self._former is None else self._former.files
        suites = planner.suites()
        same = {(shard, reference_digest(suites[shard], of_suites)) for shard in planner.kept()}
        return [file for file in former if (file["shard"], file["reference"]) in same]

    def _n_parts(self, planner: Planner) -> int:
        """Return the number of parts of the calls: a power of 2, which never gets smaller."""
        former = [] if self._former is None else self._former.files
        n_parts = max((int(file["n_parts"]) for file in of_table(former, "calls")), default=1)
        while n_parts * _CALLS_AT_ONCE < planner.n_rows() and n_parts < _MOST_PARTS:
            n_parts *= 2
        return n_parts

    def _compute(self, step: _Step, shards: Iterator[Shard], known: Sequence[File]) -> list[File]:
        """Have shards computed with the duplicate calls of some files; return what they wrote."""
        digests_ = self._by_shard(step.plan, known)
        duplicates = of_table(known, DUPLICATES[1])
        needed = {table_folder(table) for table in REFERENCE}
        reference = [file for file in step.reference if file["table_name"] in needed]
        origins, tasks = [], []
        for shard in shards:
            suites = sorted({suite for suite, _ in shard.runs})
            digest = digests_.get(shard.name, "")
            origin = {"reference": reference_digest(suites, step.of_suites), "duplicates": digest}
            origins.append({"shard": shard.name, **origin})
            tasks.append(
                {
                    "runs": shard.runs,
                    "folders": shard.folders,
                    "reference": reference,
                    "duplicates": duplicates if digest else [],
                    "n_parts": step.n_parts,
                }
            )
        replies = zip(origins, self._run("compute_shard", tasks), strict=True)
        return [{**file, **origin} for origin, reply in replies for file in reply["files"]]

    def _find_duplicates(self, step: _Step, of_shards: Sequence[File]) -> list[File]:
        """Have the duplicate calls of all shards found; return their files."""
        calls = of_table(of_shards, "calls")
        common = {
            "n_parts": step.n_parts,
            "run_headers": of_table(of_shards, "scores.run_headers"),
            "model_files": of_table(step.reference, "scores.model_files"),
        }
        tasks = [
            {
                **common,
                "part": part,
                "calls": [file for file in calls if part % file["n_parts"] == file["part"]],
            }
            for part in range(step.n_parts)
        ]
        replies = self._run("compute_duplicates", tasks)
        return [{**file, "shard": None} for reply in replies for file in reply["files"]]

    def _run(self, function: str, tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        common = {
            "lake": self._engine.lake_text(self._lake),
            "to": self._place.address,
            "definitions": list(digests()),
            "threads": 1,
        }
        return self._engine.run(function, [{**task, **common} for task in tasks], self._place)

    def _by_shard(self, plan: Path, known: Sequence[File]) -> dict[str, str]:
        """Return a hash of the duplicate calls of each shard that has any."""
        files = of_table(known, DUPLICATES[1])
        if not files:
            return {}
        with open_in_memory() as connection:
            rows = connection.execute(
                """
                SELECT plan.shard, count(*), sum(hash(calls)::HUGEINT)
                FROM read_parquet($calls) AS calls
                JOIN read_parquet($plan) AS plan USING (suite, run_id)
                GROUP BY plan.shard
                """,
                {"calls": self._read(files), "plan": str(plan)},
            ).fetchall()
        return {shard: f"{n} {digest}" for shard, n, digest in rows}

    def _read(self, files: Sequence[File]) -> list[str]:
        return read_files(self._place, files)


@dataclass(frozen=True, slots=True)
class _Step:
    """What the shards of a sync have in common.

    Attributes:
        reference: files of the rows of no run.
        of_suites: hashes of those that the scores of each suite depend on.
        n_parts: parts of the calls.
        plan: the plan.
        schemas: the columns of each table, by the name of its folder.
    """

    reference: list[File]
    of_suites: dict[str, str]
    n_parts: int
    plan: Path
    schemas: dict[str, pa.Schema]
