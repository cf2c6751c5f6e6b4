"""The files of the sample browser: for each run its rows, its records, and what there is."""

from __future__ import annotations

import json
from itertools import groupby, islice
from typing import TYPE_CHECKING

from exports.site.addresses import samples_page
from exports.site.samples.fields import ROW_FIELDS, record_fields
from exports.site.samples.items import data_of_items
from exports.site.samples.long_records import excerpt, long_pieces, n_long_pieces
from exports.site.samples.pieces import PIECE_CHARACTERS, Pieces, piece
from exports.site.samples.query import number_samples, samples
from exports.site.samples.runs import RUN_FIELDS, SampledRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import duckdb

    from exports.site.samples.query import Sample

RUNS = "samples/runs"


def number_runs(
    connection: duckdb.DuckDBPyConnection,
    runs: list[SampledRun],
    *,
    only_failed: bool,
    trials: Mapping[tuple[str, str, str], str] | None = None,
) -> None:
    """Number the samples of all runs, which pieces are made of afterwards.

    Args:
        connection: the store, for reading.
        runs: the runs.
        only_failed: whether to leave out samples that passed, and those without a verdict.
        trials: paths of the pages of trials, by suite, run and result.
    """
    keys = [(run.suite, run.run_id) for run in runs]
    number_samples(connection, keys, only_failed=only_failed, trials=trials)


def shared_pieces(
    connection: duckdb.DuckDBPyConnection, runs: list[SampledRun]
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and bytes of the pieces of no run: the list of runs, the index of items."""
    yield from _list_of_runs(runs)
    folders = {(run.suite, run.run_id): run_folder(run.suite, run.run_id) for run in runs}
    yield from data_of_items(connection, folders)


def run_pieces(
    connection: duckdb.DuckDBPyConnection, runs: list[SampledRun]
) -> Iterator[tuple[SampledRun, Iterator[tuple[str, bytes]]]]:
    """Yield some of the numbered runs, each with its pieces, to be used before the next.

    Samples are not read before a piece is asked for.

    Args:
        connection: the store, for reading.
        runs: the runs, by suite and ID.
    """
    keys = [(run.suite, run.run_id) for run in runs]
    of_runs = groupby(samples(connection, keys), key=lambda each: (each.suite, each.run_id))
    groups: list[tuple[tuple[str, str], Iterator[Sample]]] = []  # the one read last, if not used

    def samples_of(key: tuple[str, str]) -> Iterator[Sample]:
        while not groups or groups[0][0] < key:
            groups[:] = islice(of_runs, 1)
            if not groups:
                return
        if groups[0][0] == key:
            yield from groups.pop()[1]

    names = list(record_fields(connection))
    for run, key in zip(runs, keys, strict=True):
        yield run, _pieces_of_run(run, samples_of(key), names)


def run_folder(suite: str, run_id: str) -> str:
    """Return the folder of a run's samples."""
    return samples_page(suite, run_id).removesuffix("/index.html")


def _list_of_runs(runs: list[SampledRun]) -> Iterator[tuple[str, bytes]]:
    pieces: Pieces[int] = Pieces(RUNS)
    for number, run in enumerate(runs):
        yield from pieces.add(number, run.entry(run_folder(run.suite, run.run_id)))
    yield from pieces.end()
    about = {"n_runs": len(runs), "n_pieces": len(pieces.starts), "fields": RUN_FIELDS}
    yield piece(f"{RUNS}.js", json.dumps(about))


def _pieces_of_run(
    run: SampledRun, of_run: Iterable[Sample], names: list[str]
) -> Iterator[tuple[str, bytes]]:
    folder = run_folder(run.suite, run.run_id)
    rows: Pieces[int] = Pieces(f"{folder}/rows")
    records: Pieces[int] = Pieces(f"{folder}/records")
    n_kept = n_long = 0
    for sample in of_run:
        n_kept += 1
        yield from rows.add(sample.number, f"[{sample.number},{sample.row}]")
        record, more = sample.record, "null"
        if len(record) > PIECE_CHARACTERS:
            yield from long_pieces(f"{folder}/long", n_long, record)
            n_pieces = n_long_pieces(record)
            more = json.dumps([n_long, n_pieces, len(record)])
            n_long += n_pieces
            record = excerpt(record)
        yield from records.add(sample.number, f"[{sample.number},{record},{more}]")
    yield from rows.end()
    yield from records.end()
    about = {
        "folder": folder,
        "suite": run.suite,
        "run_id": run.run_id,
        **run.facts,
        "n_kept": n_kept,
        "rows": rows.starts,
        "records": records.starts,
        "row_fields": list(ROW_FIELDS),
        "record_fields": names,
    }
    yield piece(f"{folder}/run.js", json.dumps(about, ensure_ascii=False))
