"""Functions of formats whose module is loaded when one of them is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Late:
    """The functions of a module that need not be loaded yet.

    An import needs few of the readers, and loading all takes as long as reading a small log.
    """

    def __init__(self, module: str) -> None:
        """Name a module below `ingest.formats`."""
        self._module = module

    def __getattr__(self, function: str) -> Callable[..., Any]:
        """Return a function that calls the one of this name in the module."""

        def call(*args: object) -> object:
            return getattr(import_module(f"ingest.formats.{self._module}"), function)(*args)

        return call
