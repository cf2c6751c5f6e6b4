"""Pages for a browser: one file that holds all it needs and runs nothing.

Whatever text comes in is escaped; the page's policy forbids scripts and anything from outside, so
that text which a model wrote can do no harm where it is shown.
"""

from __future__ import annotations

import html
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from warehouse.output.formatting import exact, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# The style is allowed by its hash: none that came in with the data would count.
_POLICY = (
    "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_STYLE = """
:root { color-scheme: light dark; --ink: #2b2620; --paper: #fdfcfa; --pale: #6f675c;
  --line: #e4ded4; --band: #f6f3ee; --bad: #b8321f; --good: #2f7148; --warn: #96650a }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e4db; --paper: #1c1a17; --pale: #a39a8c;
  --line: #3a352e; --band: #25221e; --bad: #f08a75; --good: #86c89b; --warn: #e2b65c } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem clamp(.75rem, 3vw, 2.5rem) 4rem; max-width: 110rem;
  color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans Thai", Helvetica, Arial, sans-serif }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .2em 0 .5em; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.2em 0 .6em; overflow-wrap: anywhere }
p { max-width: 75ch; margin: .4em 0 }
.pale { color: var(--pale) }
.bad { color: var(--bad) } .good { color: var(--good) } .warn { color: var(--warn) }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; margin: .6em 0 }
.wide img { display: block; margin: 0 auto; max-width: none }
table { border-collapse: collapse; font-size: .9rem; width: max-content;
  min-width: 100% }
th, td { padding: .35rem .7rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line) }
tr:last-child td { border-bottom: 0 }
th { font-weight: 600; background: var(--band); white-space: nowrap }
td { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 5ch; max-width: 60ch }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .6em 0 }
dt { color: var(--pale) } dd { margin: 0; overflow-wrap: anywhere }
summary { cursor: pointer; margin: .4em 0 }
"""


def head(title: str, further_style: str = "") -> str:
    """Begin a page; what follows is its body, and then `TAIL`."""
    style = _STYLE + further_style
    policy = _POLICY.format(hash=b64encode(sha256(style.encode()).digest()).decode())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )


TAIL = "</body>\n</html>\n"


def text(value: object) -> str:
    """Write a value so that it is text wherever it stands; invisible characters are spelled."""
    return html.escape(visible_lines(exact(value)))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], numeric: Sequence[bool]) -> str:
    """Write a table; columns of numbers stand at the right, NULL is an empty cell."""
    return "".join((table_head(columns, numeric), *table_rows(rows, numeric), TABLE_TAIL))


def table_head(columns: Sequence[str], numeric: Sequence[bool]) -> str:
    """Begin a table; `table_rows` and `TABLE_TAIL` follow."""
    return f'<div class="wide"><table>\n<thead>{_line("th", columns, numeric)}</thead>\n<tbody>\n'


def table_rows(rows: Iterable[Sequence[object]], numeric: Sequence[bool]) -> Iterator[str]:
    """Write the rows of a table, each as a line."""
    return (_line("td", row, numeric) + "\n" for row in rows)


TABLE_TAIL = "</tbody>\n</table></div>\n"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Write names and values below each other."""
    return f"<dl>{''.join(f'<dt>{text(n)}</dt><dd>{text(v)}</dd>' for n, v in pairs)}</dl>\n"


def _line(tag: str, values: Sequence[object], numeric: Sequence[bool]) -> str:
    # Of itself, a cell of Arabic or Hebrew would turn the order of the cells beside it around.
    kinds = ('class="n"' if number else 'dir="auto"' for number in numeric)
    cells = zip(kinds, values, strict=True)
    return f"<tr>{''.join(f'<{tag} {kind}>{text(v)}</{tag}>' for kind, v in cells)}</tr>"
