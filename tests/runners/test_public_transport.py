"""Images are downloaded from public addresses only, by the address connected to."""

import json
import socket
from threading import Thread

import httpx
import pytest
from serving import serving
from support import command, new_store

from runners.suites.posters import public_transport
from runners.suites.posters.image_cache import ImageCache, ImageUnavailableError
from runners.suites.posters.public_transport import (
    PrivateAddressError,
    PublicTransport,
    is_public,
)

GIF = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
PICTURE = "HTTP/1.1 200 X\r\nContent-Type: image/gif\r\nConnection: close\r\n\r\n" + GIF.decode(
    "latin-1"
)
PUBLIC = "93.184.216.34"


@pytest.fixture(autouse=True)
def _environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.100.100.200", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:c0a8:101::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_of_machines_and_networks_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [PUBLIC, "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"],
)
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


def client(addresses, answer, **transports):
    """Return a client whose names have these addresses, in turn, and whose network is `answer`."""
    looked_up = []

    def resolve(host):
        looked_up.append(host)
        return addresses[host].pop(0) if host in addresses else [host]

    network = httpx.MockTransport(answer)
    transport = PublicTransport(resolve, transports.get("through") or (lambda _proxy: network))
    return httpx.Client(transport=transport, follow_redirects=True), looked_up


def test_the_connection_is_to_the_address_that_was_checked():
    """A name whose second look-up gives a private address has no second look-up."""
    seen = []

    def answer(request):
        seen.append(request)
        return httpx.Response(200)

    one, looked_up = client({"poster.example": [[PUBLIC], ["127.0.0.1"]]}, answer)
    assert one.get("https://poster.example:8443/a?b=c").status_code == 200
    (request,) = seen
    assert str(request.url) == f"https://{PUBLIC}:8443/a?b=c"
    assert request.headers["host"] == "poster.example:8443"
    # The certificate must be for the name.
    assert request.extensions["sni_hostname"] == "poster.example"
    assert looked_up == ["poster.example"]
    with pytest.raises(PrivateAddressError, match=r"127\.0\.0\.1"):
        one.get("https://poster.example:8443/a?b=c")
    assert len(seen) == 1


def test_a_redirect_is_checked_like_any_request():
    seen = []

    def answer(request):
        seen.append(request.headers["host"])
        return httpx.Response(302, headers={"Location": "http://inner.example/"})

    names = {"poster.example": [[PUBLIC]], "inner.example": [["192.168.0.9"]]}
    one, _ = client(names, answer)
    with pytest.raises(PrivateAddressError):
        one.get("http://poster.example/")
    assert seen == ["poster.example"]


def test_one_private_address_among_others_is_enough():
    one, _ = client({"x.example": [[PUBLIC, "10.0.0.1"]]}, lambda _: httpx.Response(200))
    with pytest.raises(PrivateAddressError):
        one.get("http://x.example/")


def test_the_next_address_is_tried_if_one_cannot_be_reached():
    def answer(request):
        if request.url.host == PUBLIC:
            raise httpx.ConnectError("unreachable")
        return httpx.Response(200)

    one, _ = client({"x.example": [[PUBLIC, "1.1.1.1"], [PUBLIC], []]}, answer)
    assert one.get("http://x.example/").status_code == 200
    for _ in range(2):
        with pytest.raises(httpx.ConnectError):
            one.get("http://x.example/")


def test_a_proxy_gets_the_name_but_no_private_address(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "direct.example")
    seen = []

    def through(proxy):
        def answer(request):
            seen.append((proxy, request.url.host))
            return httpx.Response(200)

        return httpx.MockTransport(answer)

    names = {"a.example": [[PUBLIC]], "unknown.example": [[]], "direct.example": [[PUBLIC]]}
    one, _ = client(names, None, through=through)
    for name in names:
        one.get(f"http://{name}/")
    proxy = "http://proxy.example:3128"
    assert seen == [(proxy, "a.example"), (proxy, "unknown.example"), (None, PUBLIC)]
    with pytest.raises(PrivateAddressError):
        one.get("http://127.0.0.1/")


def test_tls_is_with_the_name_and_not_the_address(monkeypatch):
    monkeypatch.setattr(public_transport, "is_public", lambda _address: True)
    received = []

    def serve(listening):
        connection, _ = listening.accept()
        with connection:
            received.append(connection.recv(65536))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Thread(target=serve, args=(listening,), daemon=True)
        server.start()
        transport = PublicTransport(lambda _host: ["127.0.0.1"])
        with httpx.Client(transport=transport) as one, pytest.raises(httpx.ConnectError):
            one.get(f"https://poster.example:{listening.getsockname()[1]}/")
        server.join()
    assert b"poster.example" in received[0]


# Names of loopback, as a list of posters may write them.
LOOPBACK = ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0"]


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_by_any_name_is_not_contacted(host):
    with serving(PICTURE) as server:
        port = server.base.rpartition(":")[2]
        with pytest.raises(ImageUnavailableError, match="--allow-private-urls") as raised:
            ImageCache().download(f"http://{host}:{port}/a.gif?token=planted-1")
    assert "planted" not in str(raised.value)
    assert server.requests == []


def test_a_redirect_to_loopback_is_not_followed(monkeypatch):
    """From a server that counts as public here to one that does not."""
    addresses = {"poster.example": "127.0.0.1", "inner.example": "127.0.0.2"}
    monkeypatch.setattr(public_transport, "is_public", lambda address: address == "127.0.0.1")
    monkeypatch.setattr(public_transport, "_addresses", lambda host: [addresses[host]])
    redirect = "HTTP/1.1 302 X\r\nLocation: http://inner.example/a.gif\r\nConnection: close\r\n\r\n"
    with serving(redirect) as server:
        url = server.base.replace("127.0.0.1", "poster.example")
        with pytest.raises(ImageUnavailableError, match=r"at 127\.0\.0\.2"):
            ImageCache().download(f"{url}/a.gif")
    assert len(server.requests) == 1


@pytest.mark.slow
def test_only_the_option_allows_addresses_of_this_machine(tmp_path):
    new_store(tmp_path / "store")
    (tmp_path / "a.jsonl").write_text(json.dumps({"task": "x", "text": "{}"}))
    with serving(PICTURE) as server:
        (tmp_path / "urls.txt").write_text(f"{server.base}/a.gif\n")
        run = (tmp_path / "store", "run", "posters", "--urls", "urls.txt", "--answers", "a.jsonl")
        run = (*run, "-m", "m", "--provider", "replay", "--dry-run")
        refused = command(*run)
        assert refused.code == 2
        assert "at 127.0.0.1, an address of this machine or its network" in refused.err
        assert server.requests == []
        allowed = command(*run, "--allow-private-urls")
    assert allowed.code == 0, allowed.err
    assert len(server.requests) == 1
    other = command(tmp_path / "store", "run", "palindrome", "--allow-private-urls", "-m", "m")
    assert "--allow-private-urls is not an option of the suite palindrome" in other.err
