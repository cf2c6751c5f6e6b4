"""Logs of judges and people in the reference data, and what is asked of every reader of them."""

import json

import pytest
from peers import digests_after, query
from support import NO_REFERENCE, REFERENCE, import_into, new_store

PREFERENCES = REFERENCE / "preferences"
needs_preferences = pytest.mark.skipif(not PREFERENCES.is_dir(), reason=NO_REFERENCE)


def imported(folder, *paths):
    """Return a store with some files."""
    store = new_store(folder / "store")
    import_into(store, *paths)
    store.sync()
    return store


def write_list(path, *records):
    """Write a JSON list, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(records), indent=1), "utf-8")
    return path


def write_lines(path, *records):
    """Write JSON lines, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    return path


def check_any_order_is_the_same(folder, files):
    """Import files in any order, twice, and after the first half of each: equal rows.

    A table that is cut within a number has another figure, so that tables are not halved.
    """
    halves = []
    for n, file in enumerate(each for each in files if each.suffix != ".csv"):
        data = file.read_bytes()
        halves.append(folder / "halves" / str(n) / file.relative_to(folder))
        halves[-1].parent.mkdir(parents=True)
        halves[-1].write_bytes(data[: len(data) // 2])
    whole = digests_after(folder / "whole", files)
    again = digests_after(folder / "again", files[::-1], files)
    grown = digests_after(folder / "grown", halves, files[::-1])
    assert [view for view in whole if again[view] != whole[view]] == []
    assert [view for view in whole if grown[view] != whole[view]] == []


def rejected(store):
    """Return place and reason of what is in quarantine."""
    rows = query(store, "SELECT line, reason FROM quarantine ORDER BY line, reason")
    return [(row["line"], row["reason"]) for row in rows]


def figures(store, **columns):
    """Return the figures that were reported, by run, model and metric; and those with a reason."""
    rows = query(store, "FROM reported_metrics WHERE source = 'log'")
    kept = [row for row in rows if all(row[name] == value for name, value in columns.items())]
    by_key = {(row["run_id"], row["model"], row["metric"]): row["value"] for row in kept}
    return by_key, {row["metric"]: row["reason"] for row in kept if row["reason"]}
