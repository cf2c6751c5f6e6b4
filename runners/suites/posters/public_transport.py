"""Downloads from public addresses only, whatever name or redirect leads to another one."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Hosts that share an address must not share a connection: its certificate is for one of them.
_ONE_REQUEST_EACH = httpx.Limits(max_keepalive_connections=0)


class PrivateAddressError(Exception):
    """The host of a request has an address that is not public; the message is the address."""


class PublicTransport(httpx.BaseTransport):
    """Connects to the address that it has checked: a second look-up could give another one.

    Every redirect is a request of its own, and is checked too. A proxy of the environment looks
    names up itself, so only what this machine finds under them can be checked.

    Args:
        resolve: returns the addresses of a host.
        transport_through: returns a transport through a proxy, or a direct one for None.
    """

    def __init__(
        self,
        resolve: Callable[[str], Sequence[str]] | None = None,
        transport_through: Callable[[str | None], httpx.BaseTransport] | None = None,
    ) -> None:
        self._resolve = resolve or _addresses
        self._transport_through = transport_through or _transport
        self._transports: dict[str | None, httpx.BaseTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raises:
            PrivateAddressError: an address of the host is not public.
            httpx.ConnectError: no address of the host can be reached.
        """
        addresses = self._resolve(request.url.raw_host.decode("ascii"))
        for address in addresses:
            if not is_public(address):
                raise PrivateAddressError(address)
        proxy = _proxy_for(request.url)
        if proxy is not None:
            return self._transport(proxy).handle_request(request)
        error = httpx.ConnectError("the host has no address")
        for address in addresses:
            try:
                return self._transport(None).handle_request(_to_address(request, address))
            except httpx.ConnectError as refused:
                error = refused
        raise error

    def close(self) -> None:
        """Close the connections."""
        for transport in self._transports.values():
            transport.close()

    def _transport(self, proxy: str | None) -> httpx.BaseTransport:
        if proxy not in self._transports:
            self._transports[proxy] = self._transport_through(proxy)
        return self._transports[proxy]


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the internet, not to a machine or a local network."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.is_site_local:
            return False
        nat64 = ipaddress.IPv4Address(int(ip) % 2**32) if ip in _NAT64 else None
        ip = ip.ipv4_mapped or ip.sixtofour or nat64 or ip
    return ip.is_global and not (ip.is_multicast or ip.is_reserved)


def _addresses(host: str) -> Sequence[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _transport(proxy: str | None) -> httpx.BaseTransport:
    return httpx.HTTPTransport(proxy=proxy, limits=_ONE_REQUEST_EACH)


def _proxy_for(url: httpx.URL) -> str | None:
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _to_address(request: httpx.Request, address: str) -> httpx.Request:
    """Return the request for an address, with the certificate and `Host` of the original host."""
    host = request.url.raw_host.decode("ascii")
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
