"""HTML pages contain the given values as text, and nothing that runs."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rendering import HOSTILE, UNSEEN, rendered
from support import ROOT, import_into

from exports.posters.page import report_page
from exports.posters.report import gather
from warehouse.core.text import formatting

PACKAGES = ("ingest", "runners", "exports", "warehouse")
POSTERS = ROOT / "examples" / "posters"
HARMLESS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "div", "img",
    "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd",
}  # fmt: skip


class Page(HTMLParser):
    """Collects the cells, and what could load something from outside the page."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.tags, self.links, self.handlers = [], set(), [], []
        self._open = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in {"src", "href", "srcset"}]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag in {"td", "th"}:
            self._open = True
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag in {"td", "th"}:
            self._open = False

    def handle_data(self, data):
        if self._open:
            self.cells[-1] += data


@pytest.mark.slow
@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(), st.none()), min_size=1))
def test_a_table_reads_as_its_values(row):
    columns = [f"<c{n}>" for n in range(len(row))]
    page = Page(rendered(columns, [row], "html"))
    shown = [formatting.visible_lines(formatting.exact(value)) for value in row]
    assert page.cells == columns + [
        text.encode("utf-8", "backslashreplace").decode() for text in shown
    ]
    assert page.tags <= HARMLESS


@pytest.mark.slow
def test_model_output_is_escaped(store):
    import_into(store, POSTERS)
    report = gather(store, "20260405-090000-first-try")
    name = f"{HOSTILE}<img src=x onerror=alert(1)>ไทย"
    row = {**report.summary[0], "model": name}
    text = report_page(replace(report, summary=[row])).decode()
    page = Page(text)
    assert formatting.visible_lines(name) in page.cells
    assert not UNSEEN.search(text)
    assert page.tags <= HARMLESS
    assert page.handlers == []
    assert [link.partition(",")[0] for link in page.links] == ["data:image/svg+xml;base64"]
    assert "default-src 'none'" in text


@pytest.mark.slow
def test_the_page_contains_the_whole_report(store):
    import_into(store, POSTERS)
    report = gather(store, "20260405-090000-first-try")
    page = Page(report_page(report).decode())
    for row in report.summary:
        assert row["model"] in page.cells
        assert str(row["app_quality_score"]) in page.cells
    for pair in report.comparisons:
        assert str(pair["diff_mean"]) in page.cells
    assert report_page(report) == report_page(gather(store, "20260405-090000-first-try"))


def test_templates_escape_every_value():
    templates = [path for folder in PACKAGES for path in (ROOT / folder).rglob("*.html")]
    assert {path.name for path in templates} >= {"base.html", "page.html", "tables.html"}
    for path in templates:
        assert not re.search(r"\|\s*safe\b|autoescape", path.read_text("utf-8")), path
