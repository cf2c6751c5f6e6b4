"""The pages of the site of the docs: those of `docs/`, the README and others, with their links.

    python -m tools.docs_site FOLDER

`make docs-site` builds the site from the folder, and fails at a dead link.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Pages outside docs/, and their names in the site.
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "bench/RESULTS.md": "benchmarks.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def site_page(path: Path) -> str:
    """Return the Markdown of a page, its links as they are in the site.

    What is linked outside the site, such as code, is named without a link.
    """

    def replaced(match: re.Match[str]) -> str:
        mark, text, target, anchor = match.groups()
        linked = (path.parent / target).resolve()
        if not linked.exists():
            raise FileNotFoundError(
                f"{path.relative_to(ROOT)}: link to {target}, which does not exist"
            )
        name = _site_name(linked)
        if name is None:
            return text
        folder = Path(_site_name(path) or "").parent
        return f"{mark}[{text}]({os.path.relpath(name, folder)}{anchor or ''})"

    return _LINK.sub(replaced, path.read_text("utf-8"))


def _site_name(path: Path) -> str | None:
    """Return a file's path in the site; None if it is not in it."""
    if path.is_relative_to(DOCS) and path.is_file():
        return str(path.relative_to(DOCS))
    return OTHERS.get(str(path.relative_to(ROOT)))


def write_pages(folder: Path) -> None:
    """Write all pages and images into a folder, in place of what it has."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    for path in [*DOCS.rglob("*.md"), *(ROOT / name for name in OTHERS)]:
        (folder / str(_site_name(path))).write_text(site_page(path), "utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
