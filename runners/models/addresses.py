"""Where a model is called, and with which key: an address and its key are named together."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runners.providers.vendors import is_own_address, vendor_of_key
from warehouse.core.formats.secrets import find_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runners.models.model import Model

ADDRESS_KEYS = ("base_url", "api_key_env")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


@dataclass(frozen=True, slots=True)
class Address:
    """An address, the name of the variable with its key, or either alone, as one place names them.

    Attributes:
        base_url: the address; None if this place names none.
        api_key_env: the variable, or `none` for no key; None if this place names none.
    """

    base_url: str | None = None
    api_key_env: str | None = None


def addressed(model: Model, *places: Address) -> Model:
    """Return a model at the first address that is named, with the first key that is for it.

    A key that is named beside an address is for this address. One that is named without is for
    wherever the model is called, but a vendor's own key only for the vendor.
    """
    url = next((place.base_url for place in places if place.base_url is not None), None)
    keys = (
        place.api_key_env
        for place in places
        if place.api_key_env is not None and _is_key_for(place, url)
    )
    return replace(model, base_url=url, api_key_env=next(keys, None))


def named_address(named: Mapping[str, object]) -> Address:
    """Return what a suite or a scorer names."""
    url, key = (named.get(name) for name in ADDRESS_KEYS)
    return Address(
        url if isinstance(url, str) else None,
        key if isinstance(key, str) else None,
    )


def own_address(model: Model) -> Address:
    """Return what a model itself names."""
    return Address(model.base_url, model.api_key_env)


def with_key_of(model: Model, others: Iterable[Model]) -> Model:
    """Return a model without a key with that of another one at the same address."""
    if model.base_url is None or model.api_key_env is not None:
        return model
    keys = (other.api_key_env for other in others if other.base_url == model.base_url)
    return replace(model, api_key_env=next((key for key in keys if key is not None), None))


def moved(model: Model, base_url: str | None) -> Model:
    """Return a model of a stored plan at a new address; a key for the old one goes with it."""
    if base_url is None:
        return model
    named = Address(base_url if model.base_url is not None else None, model.api_key_env)
    return addressed(model, Address(base_url), named)


def without_address(named: Mapping[str, object]) -> dict[str, object]:
    """Return what a model or a scorer is, wherever it is called."""
    return {key: value for key, value in named.items() if key not in ADDRESS_KEYS}


def address_problem(key: str, value: object) -> str | None:
    """Return what is wrong with a value of `ADDRESS_KEYS`; None if nothing."""
    if key == "base_url":
        is_address = isinstance(value, str) and _is_http(value)
        return None if is_address else "must be an address such as http://127.0.0.1:8000/v1"
    is_name = isinstance(value, str) and _VARIABLE.fullmatch(value)
    if is_name and not find_secrets(str(value).encode()):
        return None
    # The value is not repeated: it may be a key.
    return "must be the name of the environment variable that holds the key, or none"


def _is_key_for(place: Address, url: str | None) -> bool:
    if place.base_url is not None or url is None:
        return place.base_url in (None, url)
    vendor = vendor_of_key(place.api_key_env or "")
    return vendor is None or is_own_address(vendor, url)


def _is_http(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
