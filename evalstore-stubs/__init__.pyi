# For type checkers: a single module such as `evalstore.py` cannot say that it is typed.
import os
from collections.abc import Sequence

from warehouse.app.store import Store

__all__ = ["main", "open"]

def open(path: str | os.PathLike[str] = ...) -> Store: ...  # noqa: A001 - evalstore.open()
def main(arguments: Sequence[str] | None = ...) -> None: ...
