"""Finds secrets in the decoded values of a table, and masks them if asked.

In the bytes of a file a quote may be doubled, and a secret may end in a delimiter: a mask there
could miss the secret, or take the next field with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from warehouse.core.formats.secrets import find_secrets, mask

if TYPE_CHECKING:
    from collections.abc import Iterable


def searched(
    lines: pl.Series, frame: pl.DataFrame, *, redact: bool
) -> tuple[pl.DataFrame, list[tuple[int, str]]]:
    """Return a table, masked if asked, and the line and kind of each secret.

    Args:
        lines: the line of each row.
        frame: the rows.
        redact: whether secrets are masked.
    """
    located: list[tuple[int, str]] = []
    for name in frame.columns:
        column = frame[name]
        if not _may_have_secrets(column):
            continue
        values: list[object] = []
        n_found = 0
        for line, value in zip(lines.to_list(), column.to_list(), strict=True):
            masked, kinds = _masked(value)
            located += [(line, kind) for kind in kinds]
            n_found += len(kinds)
            values.append(masked)
        if n_found and redact:
            frame = frame.with_columns(pl.Series(name, values, column.dtype))
    return frame, sorted(located)


def _masked(value: object, name: str = "") -> tuple[object, list[str]]:
    """Return a value with its secrets masked, and their kinds; `name` is that of its field."""
    if isinstance(value, str):
        # Names of fields may say that a value is secret: `{"password": "…"}`.
        before = f"{name}=".encode() if name else b""
        data = before + value.encode()
        secrets = [each for each in find_secrets(data) if each.start >= len(before)]
        return mask(data, secrets)[len(before) :].decode(), [each.kind for each in secrets]
    if isinstance(value, dict):
        fields = {key: _masked(each, key) for key, each in value.items()}
        return {key: each for key, (each, _) in fields.items()}, _kinds(fields.values())
    if isinstance(value, list):
        items = [_masked(each, name) for each in value]
        return [each for each, _ in items], _kinds(items)
    return value, []


def _kinds(masked: Iterable[tuple[object, list[str]]]) -> list[str]:
    return [kind for _, kinds in masked for kind in kinds]


def _may_have_secrets(values: pl.Series) -> bool:
    if values.dtype.is_nested():
        return any(name in str(values.dtype) for name in ("String", "Categorical"))
    if values.dtype != pl.String:
        return False
    joined: str = values.drop_nulls().unique().str.join("\n").item() or ""
    return bool(find_secrets(joined.encode()))
