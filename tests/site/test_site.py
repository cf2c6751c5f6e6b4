"""The site: addresses of pages, the folder they are written to, and what no page may have."""

import io
import json
import os
import re
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import PurePosixPath
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.site import progress, report
from exports.site.addresses import relative, slug
from exports.site.figures import are_shares, change, cost, duration, interval, marks
from exports.site.folder import JOURNAL, MANIFEST, SiteFolder, site_lock
from exports.site.page import Contents, Page
from exports.site.pages import run
from exports.site.progress import Progress
from exports.site.registry import PAGE_TYPES
from exports.site.rendering import POLICY
from exports.site.report import write_site
from exports.site.site import PageType, opened_site
from exports.site.tables import table
from warehouse.core.errors import BadInput
from warehouse.lake.targets import sweep

TEXT = st.one_of(st.none(), st.text(max_size=30), st.sampled_from(["a", "A", "a-b", "a_b", "con"]))


@given(st.lists(TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=1, max_size=3))
def test_slugs_differ_where_their_parts_do(one, other):
    assert (slug(*one) == slug(*other)) == (one == other)


@given(st.lists(st.text(max_size=400), min_size=1, max_size=3))
def test_slug_is_a_safe_file_name(parts):
    name = slug(*parts)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)
    assert ".." not in name
    assert not name.endswith((".", "-"))
    assert len(name) < 200
    assert name.partition(".")[0] not in {"con", "nul", "aux", "prn", "com1", "lpt1", "index"}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["palindrome", "20260303_140000"], r"palindrome_20260303-140000-[0-9a-f]{10}"),
        (["palindrome", "2026-03-03"], "palindrome_2026-03-03"),
        (["example/aurora-2"], r"example-aurora-2-[0-9a-f]{10}"),
        (["Höyhen"], r"hoyhen-[0-9a-f]{10}"),
        (["โมเดล"], r"[0-9a-f]{10}"),
        (["a-0123456789"], r"a-0123456789-[0-9a-f]{10}"),
        (["../../etc/passwd"], r"etc-passwd-[0-9a-f]{10}"),
    ],
)
def test_slug_can_be_read(parts, expected):
    assert re.fullmatch(expected, slug(*parts))


def test_unicode_forms_of_a_name_are_different_names():
    assert slug(unicodedata.normalize("NFC", "ä")) != slug(unicodedata.normalize("NFD", "ä"))


def test_address_is_relative_to_the_page():
    assert relative("runs/a.html", "index.html") == "runs/a.html"
    assert relative("index.html", "runs/a.html") == "../index.html"
    assert relative("runs/a b%.html", "samples/x/index.html") == "../../runs/a%20b%25.html"


def write(folder, **files):
    site = SiteFolder(folder)
    for name, data in files.items():
        site.add(Page(path=f"{name}/page.html", content=data))
    site.finish()
    return site


def files(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_unchanged_file_is_not_written_again(tmp_path):
    write(tmp_path, a=b"1", b=b"2")
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in files(tmp_path)}
    for name in before:
        os.utime(tmp_path / name, ns=(1, 1))
    again = write(tmp_path, a=b"1", b=b"3")
    assert (again.n_written, again.n_removed) == (1, 0)
    assert (tmp_path / "a/page.html").stat().st_mtime_ns == 1
    assert (tmp_path / "b/page.html").read_bytes() == b"3"


def test_only_our_unchanged_files_are_removed(tmp_path):
    write(tmp_path, a=b"1", b=b"2", c=b"3")
    (tmp_path / "b/page.html").write_bytes(b"mine")
    (tmp_path / "a/notes.txt").write_bytes(b"mine")
    again = write(tmp_path, c=b"3")
    assert files(tmp_path) == {MANIFEST, "a/notes.txt", "b/page.html", "c/page.html"}
    assert (again.n_removed, again.kept) == (1, ["b/page.html"])
    write(tmp_path)
    assert not (tmp_path / "c").exists()


def test_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(BadInput, match=r"none of them is evalstore-site.json"):
        write(tmp_path, a=b"1")
    assert files(tmp_path) == {"index.html"}


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"[]",
        b'{"format": 1}',
        b'{"format": 2, "files": {}}',
        b'{"format": 1, "files": {"../../victim": "x"}}',
        b'{"format": 1, "files": {"/etc/passwd": "x"}}',
        b'{"format": 1, "files": {"a": 1}}',
    ],
)
def test_manifest_that_is_not_ours_is_refused(tmp_path, manifest):
    (tmp_path / MANIFEST).write_bytes(manifest)
    with pytest.raises(BadInput):
        write(tmp_path)


def test_site_that_was_interrupted_is_written_again(tmp_path):
    begun = SiteFolder(tmp_path)
    begun.add(Page(path="a/page.html", content=b"1"))
    assert write(tmp_path, a=b"2").n_written == 1


def killed(folder, **files):
    """Write pages as a process does that is killed before it has finished."""
    begun = SiteFolder(folder)
    for name, data in files.items():
        begun.add(Page(path=f"{name}/page.html", content=data))


def test_pages_of_a_killed_report_are_removed(tmp_path):
    write(tmp_path, a=b"1", b=b"2")
    killed(tmp_path, a=b"changed", c=b"new", d=b"new")
    killed(tmp_path, c=b"newer", e=b"new")
    (tmp_path / "c/notes.txt").write_bytes(b"mine")
    (tmp_path / "d/page.html").write_bytes(b"mine")
    (tmp_path / "e/.1.1.part").write_bytes(b"cut")
    sweep.cache_clear()  # the next process
    again = write(tmp_path, b=b"2")
    assert files(tmp_path) == {MANIFEST, "b/page.html", "c/notes.txt", "d/page.html"}
    assert (again.n_written, again.n_removed, again.kept) == (0, 3, ["d/page.html"])
    assert not (tmp_path / "e").exists()


def test_page_that_was_begun_and_not_written_is_not_lost(tmp_path):
    write(tmp_path, a=b"1")
    digest = "00" * 32
    line = json.dumps(["a/page.html", digest])
    (tmp_path / JOURNAL).write_text(f'{line}\n["b/page.html", "0')
    killed(tmp_path, c=b"1")
    assert (tmp_path / JOURNAL).read_text().splitlines()[0] == line
    assert write(tmp_path).n_removed == 2
    assert files(tmp_path) == {MANIFEST}


@pytest.mark.parametrize("line", ["x", "[]", '["../a", "00"]', '["a", 1]', '["a", "x"]', "{}", "1"])
def test_journal_that_is_not_ours_is_refused(tmp_path, line):
    write(tmp_path, a=b"1")
    (tmp_path / JOURNAL).write_text(f"{line}\n")
    with pytest.raises(BadInput):
        write(tmp_path)
    assert (tmp_path / "a/page.html").read_bytes() == b"1"


@pytest.mark.slow
def test_two_sites_are_not_written_to_one_folder_at_once(cli, tmp_path):
    with site_lock(tmp_path / "site"):
        ended = cli("report", "--to", tmp_path / "site")
    assert ended.code == 2
    assert "another `evalstore report` is writing there" in ended.err
    assert not files(tmp_path / "site")
    assert cli("report", "--to", tmp_path / "site").code == 0


def page_type(name, *paths, then=None):
    """Return a type of pages at some paths, whose pages end with an error if it is given."""

    def load(_, addresses):
        for path in addresses:
            yield Contents(path=path, template="", title="", values={})
        if then is not None:
            raise then

    def render(_, contents):
        return [Page(path=contents.path, content=name.encode())]

    addresses = dict.fromkeys(paths, ())
    return PageType(name=name, addresses=lambda _: addresses, load=load, render=render)


@pytest.fixture(scope="module")
def two_sites(shared_examples):
    """Return two open sites of one store: they share no answer that a page is made of."""
    with (
        opened_site(shared_examples, PAGE_TYPES, samples="all") as one,
        opened_site(shared_examples, PAGE_TYPES, samples="all") as other,
    ):
        yield one, other


@pytest.mark.slow
@pytest.mark.parametrize("page_type", PAGE_TYPES, ids=lambda each: each.name)
def test_pages_depend_on_neither_order_nor_size_of_blocks(two_sites, page_type):
    pages = []
    for site, size, step in zip(two_sites, (1, 1_000), (-1, 1), strict=True):
        addresses = dict(list(page_type.addresses(site).items())[::step])
        made = list(site.pages(page_type, addresses, size=size))
        pages.append({page.path: page.data for page in made})
        assert len(pages[-1]) == len(made)
        assert addresses.keys() <= pages[-1].keys()
    assert pages[0] == pages[1]


@pytest.mark.slow
def test_one_page_is_made_for_one_address(shared_examples):
    with opened_site(shared_examples, PAGE_TYPES, samples="none") as site:
        [address, *_] = (path for path, key in run.PAGE_TYPE.addresses(site).items() if key)
        key = run.PAGE_TYPE.addresses(site)[address]
        [page] = site.pages(run.PAGE_TYPE, {address: key})
    assert page.path == address
    assert f">{key[1]}</h1>" in page.data.decode()


def test_interrupted_site_says_so_and_is_cleaned_up(store, tmp_path, monkeypatch):
    overview = page_type("overview", "index.html")
    cut = page_type("cut", "old/page.html", then=KeyboardInterrupt)
    monkeypatch.setattr(report, "PAGE_TYPES", [overview, cut])
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            write_site(store, tmp_path / "site")
    assert "old/page.html" in files(tmp_path / "site")
    assert "still being written" in (tmp_path / "site" / "index.html").read_text()
    monkeypatch.setattr(report, "PAGE_TYPES", [overview, page_type("whole", "new/page.html")])
    assert write_site(store, tmp_path / "site").n_removed == 1
    assert {"index.html", "new/page.html"} < files(tmp_path / "site")
    assert "old/page.html" not in files(tmp_path / "site")
    # Of a site from before, the overview stays until all else is there.
    monkeypatch.setattr(report, "PAGE_TYPES", [page_type("later", "index.html"), cut])
    with pytest.raises(KeyboardInterrupt):
        write_site(store, tmp_path / "site")
    assert (tmp_path / "site" / "index.html").read_bytes() == b"overview"


def test_progress_is_told_from_before_the_first_page(store, tmp_path, monkeypatch):
    types = [page_type("overview", "index.html"), page_type("run", "a.html", "b.html")]
    monkeypatch.setattr(report, "PAGE_TYPES", types)
    told = []
    written = write_site(store, tmp_path / "site", on_page=lambda *values: told.append(values))
    shared = told[0][1]
    assert shared > 0
    assert told == [
        ("overview", shared),
        ("run", shared),
        ("run", shared),
        ("run", shared + 1),
        ("overview", shared + 2),
    ]
    assert written.n_files == shared + 3


def test_progress_is_a_line_now_and_then(monkeypatch, capsys):
    clock = SimpleNamespace(monotonic=iter([0, 5, 11, 12]).__next__)
    monkeypatch.setattr(progress, "time", clock)
    with Progress() as shown:
        for n_files in (4, 1_200, 1_300):
            shown.show("run", n_files)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["writing the site", "writing the site: run pages, 1,200 files so far"]


def test_progress_is_one_line_on_a_terminal(monkeypatch):
    class Seen(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", seen := Seen())
    with Progress() as shown:
        shown.show("run", 1_200)
    assert "run pages, 1,200 files so far" in seen.getvalue()


@pytest.mark.parametrize("path", ["../a", "/a", "a/../../b", "", "a\\b", "a\0"])
def test_page_outside_the_folder_is_refused(tmp_path, path):
    with pytest.raises(ValueError, match="not a path in a site"):
        SiteFolder(tmp_path).add(Page(path=path, content=b""))


def test_total_of_costs_that_are_not_known_is_unknown():
    [cells] = table([{"total_cost_usd": None, "n_cost_known": 0, "n_results": 5}]).rows
    assert [text for text, _ in cells] == ["unknown", "0", "5"]


def test_marks_of_rates_are_on_the_scale_from_0_to_1():
    [all_of_it, unknown] = marks(
        [{"value": 1.0, "low": 0.25, "high": 1.0}, {"value": None, "low": None, "high": None}],
        is_rate=True,
    )
    assert all_of_it == ("100.0", "25.0", "100.0")
    assert unknown is None


def test_marks_of_scores_are_on_the_scale_of_the_rows():
    rows = [{"value": v, "low": None, "high": None} for v in (-5.0, 0.0, 15.0)]
    assert [mark.value for mark in marks(rows, is_rate=False)] == ["0.0", "25.0", "100.0"]
    assert marks(rows[:1], is_rate=False)[0].value == "0.0"


@pytest.mark.parametrize(
    ("values", "expected"),
    [((0.0, 1.0, None), True), ((0.2, 1.01), False), ((-0.1, 0.5), False), ((), True)],
)
def test_scores_from_0_to_1_have_the_scale_of_rates(values, expected):
    assert are_shares([{"value": value, "low": None, "high": None} for value in values]) is expected


def test_figures_say_what_is_not_known():
    assert interval(0.1, None, is_rate=True) == ""
    assert interval(0.491, 0.875, is_rate=True) == "[49.1, 87.5]"
    assert cost(None, 0, 3) == "unknown"
    assert cost(0.5, 2, 3) == "≥ $0.5"
    assert cost(0.5, 3, 3) == "$0.5"
    assert [duration(v) for v in (None, 12.3, 1500, 90_000)] == [
        "unknown",
        "12 ms",
        "1.5 s",
        "1.5 min",
    ]


def test_a_zero_has_no_sign_of_its_own():
    assert change(-0.0, is_rate=True) == change(0.0, is_rate=True) == "+0.0 pp"
    assert change(-0.0, is_rate=False) == "0"


class Links(HTMLParser):
    """Collects what a page refers to, and what its policy forbids."""

    def __init__(self):
        super().__init__()
        self.targets, self.forbidden, self.policy = [], [], None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.targets += [values[name] for name in ("href", "src") if name in values]
        self.forbidden += [name for name in values if name.startswith("on") or name == "style"]
        if tag == "style" or (tag == "script" and "src" not in values):
            self.forbidden.append(tag)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]


def check_pages(folder):
    """Check every page: its links lead to files of the site, and nothing is inline."""
    pages = [name for name in files(folder) if name.endswith(".html")]
    linked = {"index.html"}
    for name in pages:
        text = (folder / name).read_text("utf-8")
        links = Links()
        links.feed(text)
        assert links.policy == POLICY, name
        assert not links.forbidden, (name, links.forbidden)
        for target in links.targets:
            path = target.partition("#")[0]
            if path:
                assert not re.match(r"[a-z]+:|/", path), (name, target)
                file = folder / PurePosixPath(name).parent / path
                assert file.is_file(), (name, target)
                linked.add(os.path.relpath(file, folder))
    assert linked >= set(pages), "no page links to these"
    return pages


@pytest.mark.campaign
def test_site_of_the_samples(examples, tmp_path):
    first = write_site(examples, tmp_path / "site")
    pages = check_pages(tmp_path / "site")
    assert {"index.html", "audit.html", "models/index.html", "runs/index.html"} <= set(pages)
    manifest = json.loads((tmp_path / "site" / MANIFEST).read_bytes())
    assert set(manifest["files"]) | {MANIFEST} == files(tmp_path / "site")
    again = write_site(examples, tmp_path / "site")
    assert (again.n_files, again.n_written, again.n_removed) == (first.n_files, 0, 0)


@pytest.mark.slow
def test_site_of_an_empty_store(store, tmp_path):
    write_site(store, tmp_path / "site")
    check_pages(tmp_path / "site")
    for name in ("runs", "models"):
        page = (tmp_path / "site" / name / "index.html").read_text("utf-8")
        assert "The store has none yet." in page
        assert "<table" not in page


HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>javascript:alert(1)\u202e\x1b[31m"
)


@pytest.mark.slow
def test_hostile_names_are_text(store, tmp_path):
    with store.record(suite=HOSTILE, model=HOSTILE, task_set=HOSTILE, run_id=HOSTILE) as run:
        for task in ("a", "b"):
            run.log(task_id=HOSTILE + task, prompt=HOSTILE, output=HOSTILE, passed=task == "a")
    write_site(store, tmp_path / "site")
    check_pages(tmp_path / "site")
    pages = [name for name in files(tmp_path / "site") if name.endswith((".html", ".svg"))]
    assert sum(name.endswith(".svg") for name in pages) > 0
    for name in pages:
        text = (tmp_path / "site" / name).read_text("utf-8")
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text


@pytest.mark.slow
def test_command_says_what_it_wrote(cli, tmp_path):
    ended = cli("report", "--to", tmp_path / "site")
    assert ended.code == 0
    assert ended.out == f"{tmp_path / 'site' / 'index.html'}\n"
    assert "written, 0 unchanged, 0 removed" in ended.err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    assert cli("report", "--to", tmp_path / "other").code == 2


def logged(store, *, run_id, model, verdicts, cost_usd=None):
    with store.record(suite="tours", model=model, task_set="sights", run_id=run_id) as run:
        for task, passed in enumerate(verdicts):
            run.log(task_id=f"t{task}", prompt="?", output="!", passed=passed, cost_usd=cost_usd)


@pytest.mark.slow
def test_overview_says_who_is_better_and_what_changed(store, tmp_path):
    logged(store, run_id="2026-01-01", model="good", verdicts=[True] * 38 + [False] * 2)
    logged(store, run_id="2026-01-02", model="bad", verdicts=[True] * 8 + [False] * 32)
    logged(store, run_id="2026-01-03", model="bad", verdicts=[True] * 28 + [False] * 12)
    write_site(store, tmp_path / "site", samples="none")
    text = (tmp_path / "site" / "index.html").read_text("utf-8")
    # 38 of 40 against 28 of 40: 10 tasks passed by one only.
    assert '<b dir="auto">good</b> is better than the other model.' in text
    # 20 of 40 tasks gained, none lost.
    assert '<b class="good">+50.0 pp [' in text
    assert "95.0 %" in text
    assert "[83.5, 98.6]" in text
    model = (tmp_path / "site" / "models" / "bad.html").read_text("utf-8")
    assert '<b class="bad">worse</b>' in model
    assert "-25.0 pp" in model
    assert not (tmp_path / "site" / "samples").exists()


@pytest.mark.slow
def test_unknown_cost_is_not_zero(store, tmp_path):
    logged(store, run_id="r", model="m", verdicts=[True, False])
    write_site(store, tmp_path / "site", samples="none")
    text = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert '<dt>cost</dt><dd dir="auto">unknown</dd>' in text
    assert "$0" not in text


@pytest.mark.slow
def test_unchanged_site_is_not_rendered_again(store, tmp_path, monkeypatch):
    logged(store, run_id="r", model="m", verdicts=[True, False])
    folder = tmp_path / "site"
    first = write_site(store, folder, samples="none")
    with monkeypatch.context() as patch:
        patch.setattr(report, "_pages", None)
        again = write_site(store, folder, samples="none")
    assert (again.n_files, again.n_bytes) == (first.n_files, first.n_bytes)
    assert (again.n_written, again.n_removed) == (0, 0)
    run_path, model_path = folder / "runs" / "tours_r.html", folder / "models" / "m.html"
    before = run_path.read_bytes(), model_path.read_bytes()
    run_path.unlink()
    model_path.write_bytes(b"mine")
    assert write_site(store, folder, samples="none").n_written == 2
    assert (run_path.read_bytes(), model_path.read_bytes()) == before
    logged(store, run_id="s", model="m", verdicts=[True, True])
    assert write_site(store, folder, samples="none").n_written > 2
    assert (folder / "runs" / "tours_s.html").is_file()
