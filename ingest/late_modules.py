"""Modules that are loaded when one of their functions is first called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class LateModule:
    """The functions of a module that need not be loaded yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Callable[..., object]:
        """Return a function that calls the one of this name in the module."""

        def call(*args: object) -> object:
            return getattr(import_module(self._name), function)(*args)

        return call
