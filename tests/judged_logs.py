"""Logs of judges and of people in the reference data, and what every reader of such logs does."""

import pytest
from peers import digests_after
from support import NO_REFERENCE, REFERENCE, import_into, queried_store

PREFERENCES = REFERENCE / "preferences"
needs_preferences = pytest.mark.skipif(not PREFERENCES.is_dir(), reason=NO_REFERENCE)


def imported(folder, *paths, **options):
    """Import files into a new store below a folder, and return the store and the summary."""
    store = queried_store(folder / "store")
    return store, import_into(store, *paths, **options)


def check_imports_in_any_order(folder, half, *whole):
    """Import files at once; and after a part of them, backwards, again, and the part: equal rows.

    Args:
        folder: for the stores.
        half: a folder with parts of the files, cut after some record.
        whole: the files.
    """
    one_by_one = [[path] for path in reversed(whole)]
    at_once = digests_after(folder / "at-once", whole)
    assert digests_after(folder / "grown", [half], *one_by_one, whole, [half]) == at_once
