"""Who may ask the server for what."""

import errno
import socket
import time
from email.utils import parsedate_to_datetime

import pytest
from starlette.testclient import TestClient
from support import command

from exports.view.guard import Access
from exports.view.server import bind, server_parts, view_app
from exports.view.store_pages import StorePages
from tests.campaigns.fuzz_requests import fuzz
from warehouse.core.errors import BadInput

TOKEN = "a token of this test"
HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"


@pytest.fixture(scope="module")
def pages(shared_examples):
    made = StorePages(shared_examples.path, name="store", server=server_parts)
    yield made
    made.close()


@pytest.fixture
def client(pages):
    access = Access(token=TOKEN, hosts=frozenset({HOST}), cookie="evalstore-8000")
    app = view_app(pages, access)
    return TestClient(app, base_url=ORIGIN, follow_redirects=False)


def test_the_token_of_the_address_becomes_a_cookie(client):
    answer = client.get("/runs/index.html?token=a+token+of+this+test&page=2")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/index.html?page=2")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    page = client.get("/runs/index.html")
    assert page.status_code == 200
    assert TOKEN not in page.text


def test_the_redirect_stays_on_this_server(client):
    answer = client.get(f"{ORIGIN}//evil.example/x?token=a+token+of+this+test")
    assert answer.headers["location"] == "/evil.example/x"


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        ({}, "/index.html"),
        ({"cookie": "evalstore-8000=wrong"}, "/index.html"),
        ({}, "/index.html?token=wrong"),
        ({}, "/index.html?token="),
        ({"host": "evil.example:8000"}, "/index.html?token=a+token+of+this+test"),
        ({"host": "evil.example:8000", "cookie": "evalstore-8000=" + TOKEN}, "/index.html"),
        ({"host": ""}, "/index.html"),
    ],
)
def test_others_are_refused(client, headers, path):
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert answer.text.startswith("refused: ")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ORIGIN, "content-type": "text/plain"},
        {"origin": ORIGIN, "content-type": "application/json", "content-length": "1000001"},
        {"origin": ORIGIN, "content-type": "application/json", "content-length": "-1"},
    ],
)
def test_only_own_pages_may_send(client, headers):
    client.get("/?token=a+token+of+this+test")
    answer = client.post("/index.html", headers=headers, content=b"{}")
    assert answer.status_code == 403
    own = {"origin": ORIGIN, "content-type": "application/json"}
    assert client.post("/index.html", headers=own, content=b"{}").status_code == 405


def test_every_answer_has_the_policy(client):
    for path in ("/", "/nope", "/?token=a+token+of+this+test"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert abs(parsedate_to_datetime(headers["date"]).timestamp() - time.time()) < 60


@pytest.mark.parametrize("name", ["..%2fguard.py", "guard.py", "%2e%2e/feature.py", "view.css%00"])
def test_only_assets_are_assets(client, name):
    client.get("/?token=a+token+of+this+test")
    assert client.get(f"/view/assets/{name}").status_code == 404


def test_a_port_in_use_is_named():
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        message = f"^127.0.0.1:{port}: Address already in use; give another --port$"
        with pytest.raises(BadInput, match=message):
            bind("127.0.0.1", port)


def test_a_port_that_is_not_allowed_is_named(monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refused)
    with pytest.raises(BadInput, match=r"^localhost:80: Permission denied; give another --port$"):
        bind("localhost", 80)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 lets other machines in: give a secret"),
        (["--token", "short"], "--token: give at least 16 characters"),
    ],
)
def test_an_open_door_is_refused(store, options, message):
    result = command(store.path, "view", *options)
    assert result.code == 2
    assert message in result.err


def test_a_folder_without_a_store_is_named(tmp_path):
    result = command(tmp_path / "nope", "view")
    assert result.code == 2
    assert "no store here" in result.err


@pytest.mark.campaign
def test_fuzzed_requests_change_nothing(tmp_path):
    fuzz(tmp_path, requests=1_000, seed=33)
