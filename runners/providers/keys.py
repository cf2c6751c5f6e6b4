"""Which key a call sends: the one that is named for its address, or the vendor's to the vendor."""

from __future__ import annotations

import os

from runners.providers.base import AUTH_ERROR, Failure

NO_KEY = "none"  # the name that stands for calls without a key


def named_key(api_key_env: str | None) -> str | None:
    """Return the key in the variable that a file names; None without one."""
    if api_key_env is None or api_key_env.lower() == NO_KEY:
        return None
    return os.environ.get(api_key_env) or None


def unset_key(api_key_env: str | None) -> str | None:
    """Return what is missing if a file names a variable that is not set; None if nothing is."""
    if api_key_env is None or api_key_env.lower() == NO_KEY or os.environ.get(api_key_env):
        return None
    return f"{api_key_env} (`api_key_env`) is not set in the environment"


def bearer(key: str | None) -> dict[str, str]:
    """Return the header that holds a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def key_missing(reason: str) -> Failure:
    """Return the failure of a call that was not made for lack of a key."""
    return Failure(AUTH_ERROR, "api_key_missing", reason)
