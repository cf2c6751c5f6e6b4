"""The kinds of input that `tests.campaigns.fuzz` damages whose output is opened in a browser."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests.campaigns.fuzz_round import BugError
from tests.campaigns.mutating import NASTY_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.campaigns.fuzz_round import Round

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_ACTIVE = {"script", "iframe", "object", "embed", "base", "link", "form", "applet", "foreignobject"}
_LINKS = {"href", "src", "action", "formaction", "data", "xlink:href"}
# A value of an attribute that a browser runs or fetches; pictures are inside the page.
_HARMFUL_LINK = re.compile(r"\s*(?!#|data:image/(?:svg\+xml|png);base64,)", re.IGNORECASE)
_HARMFUL_MARKDOWN = re.compile(r"<(?:script|svg|img|iframe)|\]\(\s*javascript:", re.IGNORECASE)
_EXPECTATIONS = b"""- name: rates
  query: SELECT model, pass_rate FROM leaderboard WHERE suite = 'palindrome'
  key: [model]
  about: a rate
  expectations:
    - expect_column_values_to_be_between: {column: pass_rate, min_value: 0.5, max_value: 1}
    - expect_column_values_to_not_be_null: {column: model, description: named, severity: warning}
- view: results
  expectations:
    - expect_column_values_to_match_regex: {column: raw_output, regex: '^.*$'}
    - expect_column_values_to_be_between: {column: started_at, min_value: "2024-01-01"}
    - expect_table_row_count_to_be_between: {min_value: 1}
"""


def expectations(around: Round) -> None:
    """Check with a user's expectations, and open the page."""
    around.command("import", _EXAMPLES / "palindrome")
    around.out.mkdir()
    page = around.out / "page.html"
    for number in range(8):
        name = f"{number}.yaml"
        around.put(name, _EXPECTATIONS)
        own = ("--expectations", around.inputs / name, "--no-builtin")
        around.command("check", *own, "--html", page, "--format", around.choice.choice(_FORMS))
        if page.exists():
            check_page(page)


def labels(around: Round) -> None:
    """Publish and export poster runs with hostile labels, notes and names of models."""
    choice = around.choice
    shutil.copytree(_EXAMPLES / "posters", around.inputs / "posters")
    named = next(iter((around.inputs / "posters").rglob("predictions")), None) or around.inputs
    for path in [path for path in named.rglob("*.json") if choice.random() < _RENAMED]:
        text = choice.choice(_hostile()).replace("/", "_")[:80]
        path.write_text(path.read_text("utf-8").replace("example", _in_json(text)), "utf-8")
    around.command("import", around.inputs)
    around.n_inputs += 1
    run = ("--run", "20260405-090000-first-try")
    for number in range(4):
        label, note = choice.choice(_hostile()), choice.choice(_hostile())
        around.command(
            "publish", "posters", *run, f"--label={label}", f"--note={note}", "--allow-silver",
            "--to", around.out / str(number),
        )  # fmt: skip
        report = around.out / f"report-{number}"
        around.command("export", "posters", *run, "--html", "--to", report)
        around.n_inputs += 2
    around.command("show", "leaderboard", "--format", "html")
    for path in around.out.rglob("*"):
        if path.suffix in {".html", ".svg", ".md"} and path.name != "notes.md":
            check_page(path)


def check_page(path: Path) -> None:
    """Check that a page, picture or Markdown file runs and fetches nothing.

    Raises:
        BugError: it has markup that does, or is not well-formed.
    """
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        if found := _HARMFUL_MARKDOWN.search(text):
            raise BugError(f"{path.name}: {found[0]}")
        return
    if path.suffix == ".svg":
        ET.fromstring(text)
    parser = _Markup()
    parser.feed(text)
    parser.close()
    if problems := list(parser.problems()):
        raise BugError(f"{path.name}: {problems}")


class _Markup(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self._tags: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tags.append((tag, attrs))

    def problems(self) -> Iterator[str]:
        """Yield the tags and attributes that run or fetch something."""
        for tag, attributes in self._tags:
            if tag in _ACTIVE:
                yield tag
            for name, value in attributes:
                is_link = name in _LINKS and value and _HARMFUL_LINK.match(value)
                if name.startswith("on") or is_link or "javascript:" in (value or "").lower():
                    yield f"{tag} {name}={value!r}"


_FORMS = ("table", "json")
_RENAMED = 0.5


def _hostile() -> tuple[str, ...]:
    own = ('"><script>alert(1)</script>', "x' onload='alert(1)", "--><svg onload=alert(1)>")
    return tuple(text.replace("\0", "\udc80")[:5000] for text in (*NASTY_TEXTS, *own))


def _in_json(text: str) -> str:
    return text.encode("unicode_escape").decode().replace("\\x", "\\u00").replace('"', '\\"')
