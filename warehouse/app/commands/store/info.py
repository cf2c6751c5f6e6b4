"""`evalstore info`: the content and state of a store."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import note, open_store, report_format_option
from warehouse.core.errors import CheckFailed
from warehouse.core.schemas import LAKE_FORMAT
from warehouse.core.text.formatting import as_json, visible
from warehouse.engine.base_store import check_is_store
from warehouse.engine.query import rows_by_name
from warehouse.lake.journal.recovery import pending_journals
from warehouse.lake.locks import shared_lake_lock
from warehouse.lake.remote.address import address_of

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.app.store import Store
    from warehouse.lake.journal.recovery import PendingJournal
    from warehouse.lake.table_location import TableLocation

_NARROWEST, _WIDEST = 14, 40  # cells of the names
_COUNTS = """
SELECT
    (SELECT count(*) FROM lake.batches) AS batches,
    (SELECT count(*) FROM files) AS files,
    -- Counted with the suites: the view of runs takes longest.
    NULL AS runs,
    (SELECT count(*) FROM results) AS results,
    (SELECT count(*) FROM quarantine) AS quarantined,
    (SELECT count(*) FROM checks.violations) AS violations
"""
_SUITES = "SELECT suite, count(*), sum(n_results) FROM runs GROUP BY suite ORDER BY suite"


@click.command()
@click.option("--verify", is_flag=True, help="Verify every file, without changing anything.")
@report_format_option
@click.pass_obj
def info(path: Path, *, verify: bool, fmt: str) -> None:
    """Describe the content of the store; with --verify, check its files.

    With --verify, the exit code is 1 if a file of the lake has changed since it was written, a
    journal has damaged lines, or the warehouse cannot be read. Of tables (`sync --to`), each file
    of the version that counts is checked; copies of an object store are not.

    \b
      evalstore info
      evalstore info --verify
      evalstore info --verify --format json
    """
    store = open_store(path)
    check_is_store(path)
    from warehouse.lake.table_location import find_tables

    if (place := find_tables(path)) is not None:
        if verify:
            _verify_tables(place, fmt)
        else:
            _show({**_counted(store), **_facts_of_tables(store, place)}, fmt)
    elif verify:
        _verify(store, fmt)
    else:
        _show(_facts(store), fmt)


def _counted(store: Store) -> dict[str, object]:
    with store.reading() as connection:
        [counts] = rows_by_name(connection.execute(_COUNTS))
        suites = connection.execute(_SUITES).fetchall()
    return {
        **_place(store),
        **counts,
        "runs": sum(runs for _, runs, _ in suites),
        "suites": {suite: {"runs": runs, "results": int(n)} for suite, runs, n in suites},
    }


def _place(store: Store) -> dict[str, object]:
    """Return where a store is: its folder, or its address and the folder of its cache."""
    if (address := address_of(store.path)) is None:
        return {"store": str(store.path)}
    return {"store": address, "cache": str(store.path)}


def _facts(store: Store) -> dict[str, object]:
    from warehouse.engine.connection import log_file

    held = _size(store.warehouse) + _size(log_file(store.warehouse))
    return {
        **_counted(store),
        "lake_format": _lake_format(store),
        "journals": [_journal(pending) for pending in pending_journals(store.path)],
        "lake_bytes": _lake_bytes(store),
        "warehouse_bytes": held,
    }


def _size(path: Path) -> int:
    """Return the bytes of a file that a sync may have just removed."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _facts_of_tables(store: Store, place: TableLocation) -> dict[str, object]:
    from warehouse.engine.scale.snapshot import current_snapshot

    snapshot = current_snapshot(place)
    return {
        "store": place.address,
        "version": snapshot.number,
        "written_by": snapshot.written_by,
        "n_shards": snapshot.n_shards(),
        "n_table_files": len(snapshot.files),
        "tables_bytes": sum(file["n_bytes"] for file in snapshot.files),
        "catalog_bytes": store.warehouse.stat().st_size,
    }


def _verify_tables(place: TableLocation, fmt: str) -> None:
    from warehouse.engine.scale.verification import verify_tables

    found = verify_tables(place)
    _show({"store": place.address, **asdict(found)}, fmt)
    if found.unknown:
        note(
            "unknown files belong to no version: a sync into these tables is going on, or ended "
            "early; the next one deletes those that are older than a day"
        )
    if found.n_undamaged < found.n_table_files:
        raise CheckFailed(
            f"{found.n_table_files - found.n_undamaged} of {found.n_table_files} files of the "
            "tables are damaged or missing; write all of them again: `evalstore --store STORE sync "
            f"--to {place.address} --shards {max(found.n_shards, 1)}`"
        )


def _verify(store: Store, fmt: str) -> None:
    from warehouse.engine.verification import verify

    found = verify(store)
    facts = {**asdict(found), "journals": [_journal(pending) for pending in found.journals]}
    _show({**_place(store), **facts}, fmt)
    if found.damaged:
        raise CheckFailed(f"{len(found.damaged)} of {found.n_batches} batches are damaged")
    if found.damaged_journals:
        raise CheckFailed(f"damaged journals: {len(found.damaged_journals)}")
    if not found.is_sound:
        raise CheckFailed(f"the warehouse is {found.warehouse}; the lake is undamaged")


def _journal(pending: PendingJournal) -> dict[str, object]:
    if pending.problem is not None:
        return {"path": str(pending.path), "unreadable": pending.problem}
    run = pending.run
    named = {"suite": run.suite, "run": run.run_id} if run is not None else {}
    return {**named, "results": pending.n_results}


def _show(facts: dict[str, object], fmt: str) -> None:
    """Print facts as one JSON object, or one per line."""
    if fmt == "json":
        click.echo(as_json(facts))
        return
    from warehouse.core.text.text_width import padded, width_of

    lines: list[tuple[str, str]] = []
    for name, value in facts.items():
        label = name.removeprefix("n_").removesuffix("_bytes").replace("_", " ")
        named = value.items() if isinstance(value, dict) else [(label, value)]
        lines += [
            (visible(shown), visible(text)) for shown, fact in named for text in _texts(name, fact)
        ]
    # A name that is longer than most moves its own line only.
    widths = [width for shown, _ in lines if (width := width_of(shown)) <= _WIDEST]
    width = max([_NARROWEST, *widths])
    for shown, text in lines:
        click.echo(f"{padded(shown, width, to_the_right=False)} {text}")


def _texts(name: str, value: object) -> list[str]:
    match value:
        case bool():
            return ["yes" if value else "no"]
        case int() if name.endswith("_bytes"):
            return [f"{value / 2**20:,.1f} MiB"]
        case int():
            return [f"{value:,}"]
        case dict():
            return [_counts(value)]
        case list() | tuple():
            return [one if isinstance(one, str) else _counts(one) for one in value] or ["none"]
    return [str(value)]


def _counts(named: dict[str, str | int]) -> str:
    """Return values with their names: `suite mine, 3 results`."""
    return ", ".join(
        f"{value:,} {name.removesuffix('s') if value == 1 else name}"
        if isinstance(value, int)
        else f"{name} {value}"
        for name, value in named.items()
    )


def _lake_format(store: Store) -> int:
    """Return the format that a version of evalstore has to know to read and write the lake."""
    with shared_lake_lock(store.path):
        folders = store.lake.folders()
    return max((batch.schema_version for batch in folders), default=LAKE_FORMAT)


def _lake_bytes(store: Store) -> int:
    with shared_lake_lock(store.path):
        return sum(file.stat().st_size for file in store.lake.path.rglob("*") if file.is_file())
