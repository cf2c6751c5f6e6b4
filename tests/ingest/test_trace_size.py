"""Traces lie in the lake once: all of their texts, in at most 1.3 times the compressed source."""

import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import command, new_store
from trace_logs import WRITERS

pytestmark = pytest.mark.slow


def import_traces(tmp_path, name, trials, steps):
    WRITERS[name](tmp_path / name, trials, steps)
    store = new_store(tmp_path)
    ended = command(store.path, "import", tmp_path / name, "--keep-secrets")
    assert ended.code == 0, ended.err
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(trials,)]
    return store, sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())


def compressed(paths):
    """Return the bytes of an archive of some files; an archive stays as it is."""
    together = b"".join(path.read_bytes() for path in paths)
    return len(pa.Codec("zstd", compression_level=3).compress(together))


@pytest.mark.parametrize("name", WRITERS)
def test_a_batch_takes_at_most_1_3_times_the_compressed_source(tmp_path, name):
    store, paths = import_traces(tmp_path, name, 12, 150)
    source = compressed(paths)
    assert source > 1_000_000
    [batch] = store.lake.batch_names()
    lake = sum(path.stat().st_size for path in (store.lake.path / batch).iterdir())
    assert lake / source < 1.3


@pytest.mark.parametrize("name", WRITERS)
def test_without_copies_of_the_files_no_text_is_lost(tmp_path, name):
    store, paths = import_traces(tmp_path, name, 2, 4)
    is_kept = dict(store.sql("SELECT parse_filename(path), is_kept FROM files").fetchall())
    assert [file for file in is_kept if is_kept[file] and file != "config.json"] == []
    cells = "\n".join(text for path in store.path.rglob("*.parquet") for text in stored(path))
    texts = [text for path in paths for text in written(path) if len(text) > 60]
    assert len(texts) >= 16
    assert [text for text in texts if text not in cells] == []


def written(path):
    """Return the texts of a log's JSON."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            return [text for name in archive.namelist() for text in leaves(archive.read(name))]
    lines = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]
    return [text for line in lines for text in leaves(line)]


def stored(path):
    """Return the texts of a file of the lake, and those within its JSON."""
    for column in pq.ParquetFile(path).read().columns:
        for value in column.to_pylist():
            if isinstance(value, str):
                yield value
                yield from leaves(value)


def leaves(text):
    """Return the texts in a JSON text, and within those that are JSON themselves; else none."""
    try:
        waiting = [json.loads(text)]
    except ValueError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and not (inner := list(leaves(value))):
            yield value
        elif isinstance(value, str):
            yield from inner
