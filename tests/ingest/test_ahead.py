"""Items that another thread makes ahead: order, errors, and the end."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from threading import current_thread

import pytest

from ingest.formats.common.ahead import ahead


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_items_come_in_their_order(pool, n):
    threads = set()

    def items():
        for each in range(n):
            threads.add(current_thread())
            yield each

    assert list(ahead(items(), pool)) == list(range(n))
    assert current_thread() not in threads


def test_none_is_an_item(pool):
    assert list(ahead((each for each in (None, 1, None)), pool)) == [None, 1, None]


def test_an_error_comes_where_the_item_would_have_come(pool):
    def items():
        yield 1
        raise OSError(5, "input/output error")

    found = ahead(items(), pool)
    assert next(found) == 1
    with pytest.raises(OSError, match="input/output error"):
        next(found)


@pytest.mark.parametrize("n_used", [1, 2, 5])
def test_to_close_it_ends_the_items(pool, n_used):
    made, ended = [], []

    def items():
        try:
            for each in count():
                made.append(each)
                yield each
        finally:
            ended.append(len(made))

    with closing(ahead(items(), pool)) as found:
        assert [next(found) for _ in range(n_used)] == list(range(n_used))
    # One item is made ahead of the last that was used.
    assert ended == [n_used + 1]
