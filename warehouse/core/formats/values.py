"""What a column can hold: text that is valid UTF-8, and integers of 64 bits."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    import pyarrow as pa

Value = TypeVar("Value")

# Of lists and dictionaries in the files that users write, and in records of logs. Much deeper
# values could be read, but not be written again by every parser, nor queried.
MAX_DEPTH: Final = 64
_CONTAINERS: Final = (dict, list)  # a union of types would be made at each call
TOO_DEEP: Final = f"nested too deeply: more than {MAX_DEPTH} levels"

# The modules that `import_pyarrow` still has to keep from being imported.
_deferred: set[str] = set()


def is_integer(value: object, bits: int = 64) -> TypeGuard[int]:
    """Return whether a value is an integer that fits into a signed column of this many bits.

    A boolean is not an integer, nor is a float without a fraction.
    """
    limit = 1 << (bits - 1)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def is_nested_deeply(value: object, text: bytes | None = None) -> bool:
    """Return whether lists and dictionaries are nested more than `MAX_DEPTH` levels deep.

    Args:
        value: the value.
        text: its JSON text; with few brackets in it, the value need not be looked at.
    """
    if text is not None and text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    containers = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        items: list[object] = []
        for each in containers:
            items += each.values() if isinstance(each, dict) else each
        containers = [item for item in items if isinstance(item, _CONTAINERS)]
    return bool(containers)


def utf8(text: str) -> str:
    """Return the text with U+FFFD in place of lone surrogates, which UTF-8 cannot encode.

    Each one becomes three, one per byte, so that cleaning JSON text and cleaning its strings
    give the same.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def defer_pandas() -> None:
    """Keep pandas unloaded in this process until something needs it.

    For the command line only: until pandas is loaded, pyarrow does not recognize its objects.
    """
    _deferred.add("pandas")


def share_allocator() -> None:
    """Let pyarrow, which is not loaded yet, take its memory where Python does.

    For the command line only. What an import frees is then used again, by both; pyarrow's own
    allocator would keep it. Who chose another by the variable has that one.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def import_pyarrow() -> ModuleType:
    """Return pyarrow; after `defer_pandas`, its first array does not import pandas.

    pyarrow imports pandas, if installed, to recognize its objects: 0.3 s that nothing here needs.
    Where the import fails, pyarrow tries again as soon as an object of pandas is asked for.
    """
    import pyarrow as pa

    if _deferred - sys.modules.keys():
        sys.meta_path.insert(0, _WithoutPandas)
        try:
            # Without a type, so that pyarrow looks for pandas' intervals now, which it does once.
            pa.array([])
        finally:
            sys.meta_path.remove(_WithoutPandas)
    _deferred.clear()
    module: ModuleType = pa
    return module


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise the error of a missing module if it is pandas."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def arrow_array(values: Sequence[object], arrow_type: pa.DataType) -> pa.Array:
    """Return values as a column; lone surrogates in their texts, however deep, become U+FFFD.

    Raises:
        pyarrow.ArrowException, TypeError, OverflowError: a value does not fit the type.
    """
    pa = import_pyarrow()
    try:
        return pa.array(values, arrow_type)
    except UnicodeEncodeError:
        # JSON written by a model can contain lone surrogates.
        return pa.array([_clean(value) for value in values], arrow_type)


def _clean(value: Value) -> Value | str | dict[str, object] | list[object]:
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, dict):
        return {utf8(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
