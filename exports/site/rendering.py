"""How pages are rendered: templates that escape every value, one style sheet, one policy."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from exports.site.addresses import PAGES
from exports.site.figures import FOR_TEMPLATES
from exports.site.page import Page
from warehouse.analysis.charts.theme import STYLE as CHARTS
from warehouse.app.output.html import STYLE, environment
from warehouse.core.paths import ROOT, SQL

if TYPE_CHECKING:
    from collections.abc import Iterator

    import jinja2

_SOURCES = {".py", ".sql", ".html", ".css", ".js"}
_LIBRARIES = ("altair", "duckdb", "jinja2", "vl-convert-python")
_HERE = Path(__file__).parent
TEMPLATES = _HERE / "templates"
_ASSETS = _HERE / "assets"
# Nothing is loaded from elsewhere, and no text of the store can become a script or a style.
# Chromium and Firefox match `'self'` with the other files of a folder that is opened from disk.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'none'; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


@cache
def page_template(name: str, folder: Path = TEMPLATES) -> jinja2.Template:
    """Return a template by its name; see `warehouse.app.output.html` for how it writes values.

    Args:
        name: its file name.
        folder: its folder; it can extend and import the templates of the site.
    """
    pages = environment(folder, TEMPLATES)
    pages.globals.update(policy=POLICY, **FOR_TEMPLATES, **PAGES)
    return pages.get_template(name)


def code_digest() -> str:
    """Return a hash of what makes pages: code, queries, templates, and the libraries that draw."""
    digest = sha256(repr([version(name) for name in _LIBRARIES]).encode())
    for folder in (_HERE.parent, ROOT / "warehouse", SQL):
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SOURCES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def assets() -> Iterator[Page]:
    """Yield the files that all pages share: the style sheet and the scripts."""
    own = [(_ASSETS / name).read_text("utf-8") for name in ("site.css", "samples.css")]
    yield Page(path="assets/site.css", content="\n".join([STYLE, CHARTS, *own]).encode())
    for script in sorted(_ASSETS.rglob("*.js")):
        path = script.relative_to(_ASSETS).as_posix()
        yield Page(path=f"assets/{path}", content=script.read_bytes())
