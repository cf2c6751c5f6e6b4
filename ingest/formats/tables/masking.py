"""Finds secrets in the decoded values of a table, and masks them if asked.

In the bytes of a file a quote may be doubled, and a secret may end in a delimiter: a mask there
could miss the secret, or take the next field with it.
"""

from __future__ import annotations

import polars as pl

from warehouse.formats.secrets import find_secrets, mask


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
        if frame[name].dtype != pl.String or not _has_secrets(frame[name]):
            continue
        texts: list[str | None] = []
        for line, text in zip(lines.to_list(), frame[name].to_list(), strict=True):
            data = (text or "").encode()
            secrets = find_secrets(data)
            located += [(line, secret.kind) for secret in secrets]
            texts.append(mask(data, secrets).decode() if secrets and redact else text)
        frame = frame.with_columns(pl.Series(name, texts, pl.String))
    return frame, sorted(located)


def _has_secrets(texts: pl.Series) -> bool:
    joined: str = texts.drop_nulls().unique().str.join("\n").item() or ""
    return bool(find_secrets(joined.encode()))
