"""Text in cells of a terminal: characters of East Asia take two, combining ones none."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def width_of(text: str) -> int:
    """Return the number of cells that text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len  # 13 ms, for other text only

    return cell_len(text)


def padded(text: str, width: int, *, to_the_right: bool) -> str:
    """Return text filled with spaces to a width; longer text as it is."""
    fill = " " * (width - width_of(text))
    return fill + text if to_the_right else text + fill


def crop(text: str, width: int) -> str:
    """Return text whose end is replaced by `…` if it is wider than `width`."""
    if width_of(text) <= width:
        return text
    return "".join(_fitting(text, width - 1)).rstrip() + "…" if width > 0 else ""


def fold(text: str, width: int, head: int | None = None) -> str:
    """Return text whose middle is replaced by `…` if it is wider than `width`.

    The end of a name (its version, its settings) often says more than its middle.

    Args:
        text: text without line breaks.
        width: cells.
        head: cells before the `…`; half of them unless told.
    """
    if width_of(text) <= width:
        return text
    start = "".join(_fitting(text, width // 2 if head is None else head))
    tail = "".join(_fitting(reversed(text), width - 1 - width_of(start)))[::-1]
    # A combining mark without its letter would attach to the `…`.
    while tail and width_of(tail[0]) == 0:
        tail = tail[1:]
    return f"{start}…{tail}" if width > 0 else ""


def fold_apart(texts: Sequence[str], width: int) -> list[str]:
    """Return texts folded at one place, that at which the fewest different ones look alike.

    If some are alike even so, they are folded where they are alike.
    """
    n_different = len(set(texts))
    best: list[str] = []
    for head in (width // 2, *range(width)):
        tried = [fold(text, width, head) for text in texts]
        if not best or len(set(tried)) > len(set(best)):
            best = tried
        if len(set(best)) == n_different:
            break
    if len(set(best)) == n_different:
        return best
    apart = _from_difference(sorted(set(texts)), width, "", 0)
    return [apart[text] for text in texts]


def _from_difference(texts: Sequence[str], width: int, shown: str, at: int) -> dict[str, str]:
    """Return sorted texts folded where they are alike; up to a place, `shown` is what is left."""
    if width_of(shown) >= width:  # no room for where they differ
        return {text: crop(shown + text[at:], width) for text in texts}
    columns = enumerate(zip(*texts, strict=False))
    start = next((n for n, chars in columns if len(set(chars)) > 1), min(map(len, texts)))
    shown += crop(texts[0][at:start], max((width - width_of(shown)) // 3, 1))
    folded: dict[str, str] = {}
    for char, group in groupby(texts, key=lambda text: text[start : start + 1]):
        same = list(group)
        if len(same) > 1:
            folded |= _from_difference(same, width, shown + char, start + 1)
        else:
            folded[same[0]] = crop(shown + same[0][start:], width)
    return folded


def _fitting(text: Iterable[str], width: int) -> Iterable[str]:
    from rich.cells import get_character_cell_size

    for char in text:
        width -= get_character_cell_size(char)
        if width < 0:
            return
        yield char
