import pytest
from starlette.testclient import TestClient

from exports.view.guard import Access
from exports.view.server import server_parts, view_app
from exports.view.store_pages import StorePages

ORIGIN = "http://127.0.0.1:8000"


class Client(TestClient):
    """A browser that has the token; `post_fields` posts JSON as the pages' scripts do."""

    def post_fields(self, path, **fields):
        return self.post(path, json=fields, headers={"origin": ORIGIN})


@pytest.fixture
def browse():
    """Return a function that opens a store as the browser of its user does."""
    opened = []

    def open_store(store, **options):
        pages = StorePages(store.path, name="store", server=server_parts, **options)
        opened.append(pages)
        access = Access(token="t", hosts=frozenset(), cookie="c")
        client = Client(view_app(pages, access), base_url=ORIGIN, cookies={"c": "t"})
        client.pages = pages
        return client

    yield open_store
    for pages in opened:
        pages.close()
