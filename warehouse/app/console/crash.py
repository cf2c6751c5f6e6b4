"""The report of an unexpected error: a file for whoever is to fix it, instead of a traceback.

It has versions, the command with the names of its options, and the traceback. It has no values of
options, and what looks like a secret in an error's message is masked.
"""

from __future__ import annotations

import os
import platform
import tempfile
import traceback
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.formats.masking import Mask, secrets_of_environment
from warehouse.core.formats.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGES = ("evalstore", "duckdb", "pyarrow", "polars", "click")
_LONGEST_SUMMARY = 200


def report_text(error: BaseException, command: str) -> str:
    """Return the report of an error.

    Args:
        error: the error.
        command: the command, without the values of its options.
    """
    lines = [
        "evalstore crash report",
        f"time       {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        f"command    evalstore {command}",
        f"system     {platform.platform()}, Python {platform.python_version()}",
        f"packages   {', '.join(_versions())}",
        "",
        *traceback.format_exception(error),
    ]
    return masked("\n".join(line.rstrip("\n") for line in lines) + "\n")


def summary(error: BaseException) -> str:
    """Return an error's type and the start of its message, in one line."""
    message = masked(str(error)).partition("\n")[0]
    message = message if len(message) <= _LONGEST_SUMMARY else f"{message[:_LONGEST_SUMMARY]}…"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def write_report(text: str) -> Path:
    """Write a report to a new file that only the user can read, and return its path.

    Raises:
        OSError: it cannot be written.
    """
    descriptor, name = tempfile.mkstemp(".txt", "evalstore-crash-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)


def masked(text: str) -> str:
    """Mask the secrets of the environment in a text, and all that look like one."""
    clean = text.encode("utf-8", "backslashreplace").decode()
    known = Mask(secrets_of_environment()).text(clean)
    return redact(known.encode()).decode("utf-8", "replace")


def _versions() -> Iterable[str]:
    for name in _PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} not installed"
