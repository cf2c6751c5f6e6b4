"""Logs of other tools in the reference data, and what their own programs read in them."""

import hashlib
import json
from functools import cache

import pytest
from support import NO_REFERENCE, REFERENCE, digests, import_into, new_store

PEERS = REFERENCE / "peers"
needs_peers = pytest.mark.skipif(not PEERS.is_dir(), reason=NO_REFERENCE)


@cache
def oracle(tool, kind):
    """Return the reference rows of a kind, of all files of a tool."""
    path = PEERS / tool / "oracle.jsonl"
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [row for row in rows if (row.get("row") or row.get("kind")) == kind]


def sha256(text):
    """Return the hash of a text, as in the reference rows; None for None."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def same(found, expected):
    """Return whether two numbers are equal within 1e-9, relative above 1; None only to None."""
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= 1e-9 * max(1, abs(expected))


def query(store, text, **parameters):
    """Return rows as dictionaries."""
    with store.reading() as connection:
        cursor = connection.execute(text, parameters or None)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def digests_after(folder, *imports):
    """Return the digests of a new store after some imports, each a list of paths.

    Only `files` and `quarantine` know which files were imported.
    """
    store = new_store(folder)
    for paths in imports:
        import_into(store, *paths)
    return digests(store, without=("main.files", "main.quarantine"))
