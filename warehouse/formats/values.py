"""What a column can hold: text that is valid UTF-8, and integers of 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

Value = TypeVar("Value")


def is_integer(value: object, bits: int = 64) -> TypeGuard[int]:
    """Return whether a value is an integer that fits into a signed column of this many bits.

    A boolean is not an integer, nor is a float without a fraction.
    """
    limit = 1 << (bits - 1)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


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


def arrow_array(values: Sequence[object], arrow_type: pa.DataType) -> pa.Array:
    """Return values as a column; lone surrogates in their texts, however deep, become U+FFFD.

    Raises:
        pyarrow.ArrowException, TypeError, OverflowError: A value does not fit the type.
    """
    import pyarrow as pa

    try:
        return pa.array(values, arrow_type)
    except UnicodeEncodeError:
        # JSON that a model wrote can name halves of characters.
        return pa.array([_clean(value) for value in values], arrow_type)


def _clean(value: Value) -> Value | str | dict[str, object] | list[object]:
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, dict):
        return {utf8(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
