"""HTML pages, each one self-contained file, without scripts but for one of our own that needs one.

Templates escape every value, and the page's policy forbids other scripts and external resources,
so that text written by a model is harmless. Each page's template extends `templates/base.html` and
is next to the code that renders it.
"""

from __future__ import annotations

import html
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.text.formatting import exact, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import jinja2
    from markupsafe import Markup

_TEMPLATES = Path(__file__).with_name("templates")
STYLE = (_TEMPLATES / "style.css").read_text("utf-8")
# Style and script are allowed by their hashes, so that those in the data have no effect.
_POLICY = (
    "default-src 'none'; style-src 'sha256-{style}'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_SCRIPT_POLICY = "; script-src 'sha256-{script}'"


def render(
    template: Path, title: str, *, style: str = "", script: str = "", **values: object
) -> str:
    """Return a page.

    Args:
        template: the page's template, which extends `base.html`.
        title: the page's title.
        style: CSS in addition to that of all pages.
        script: a script of our own, which the template has as `{{ script }}`.
        values: variables of the template. Text is escaped for HTML; control and invisible
            characters are escaped as in tables.
    """
    page = environment(template.parent).get_template(template.name)
    return page.render(**_head(title, style, script), **values)


def stream_table(
    title: str,
    columns: Sequence[str],
    batches: Iterable[Iterable[Sequence[object]]],
    numeric: Sequence[bool],
) -> Iterator[str]:
    """Yield a page with one table in pieces; batches of rows are read as they are needed."""
    page = environment(_TEMPLATES).get_template("stream.html")
    return page.generate(**_head(title), columns=columns, batches=batches, numeric=numeric)


def _head(title: str, style: str = "", script: str = "") -> dict[str, object]:
    from markupsafe import Markup

    style = STYLE + style
    policy = _POLICY.format(style=_digest(style))
    policy += _SCRIPT_POLICY.format(script=_digest(script)) if script else ""
    ours = {"policy": policy, "style": style, "script": script}
    return {"title": title, **{name: Markup(text) for name, text in ours.items()}}  # noqa: S704


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def environment(*folders: Path) -> jinja2.Environment:
    """Return the templates of folders, which can extend and import those of all pages.

    They escape every value for HTML, with control and invisible characters as in tables.
    """
    import jinja2  # takes 40 ms; needed for pages only
    from markupsafe import Markup

    def markup(value: object) -> Markup:
        """Return any value of a template as markup; empty for NULL."""
        return value if isinstance(value, Markup) else Markup(_escaped(value))  # noqa: S704

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        finalize=markup,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["lines"] = _lines
    return environment


def _lines(tag: str, rows: Iterable[Sequence[object]], numeric: Sequence[bool]) -> Markup:
    """Return lines of a table; a template would take 6 times as long for many rows.

    Args:
        tag: td or th.
        rows: the values of each line.
        numeric: whether each column holds numbers, which are right-aligned.
    """
    from markupsafe import Markup

    # Without `dir`, a cell of Arabic or Hebrew would reorder the cells next to it.
    starts = [f"<{tag} " + ('class="n">' if number else 'dir="auto">') for number in numeric]
    end = f"</{tag}>"
    lines = (
        "".join([f"{start}{_escaped(v)}{end}" for start, v in zip(starts, row, strict=True)])
        for row in rows
    )
    return Markup("".join([f"<tr>{line}</tr>\n" for line in lines]))  # noqa: S704 - escaped


def _escaped(value: object) -> str:
    return html.escape(visible_lines(exact(value)))
