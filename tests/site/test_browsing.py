"""Every type of page of a site, opened from the disk in a real browser."""

import pytest
from browser import needs_browser
from support import EXAMPLES, ROOT, import_into, new_store

from exports.site.report import write_site

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a site of the samples."""
    root = tmp_path_factory.mktemp("site")
    store = new_store(root / "store")
    import_into(store, EXAMPLES, ROOT / "examples" / "posters", ROOT / "examples" / "openclaw")
    store.sync()
    write_site(store, root / "site")
    return root / "site"


def types_of_pages(folder):
    """Return a page of each kind: those at the top, and of each folder its list and one more."""
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    chosen = {name for name in found if "/" not in name or name.endswith("/index.html")}
    first = {name.partition("/")[0]: name for name in reversed(found) if name not in chosen}
    return sorted(chosen | set(first.values()))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_pages_work_from_the_disk(visit, site, width, scheme):
    window = visit(site, width=width, scheme=scheme)
    for name in types_of_pages(site):
        page = window.open(name)
        assert page.title(), name
        assert window.overflow() == 0, name
        window.unfold()
        assert window.severe() == [], name
        assert window.faults == [], name


def cut(page):
    """Return how many pixels of each table have to be scrolled to."""
    return page.evaluate("""() => [...document.querySelectorAll(".wide")]
        .map(each => each.scrollWidth - each.clientWidth)""")


def test_no_table_is_cut_on_a_usual_screen(visit, site):
    window = visit(site)
    # The summary of an OpenClaw run has too many columns for any screen.
    for name in set(types_of_pages(site)) - {"openclaw.html"}:
        page = window.open(name)
        window.unfold()
        assert max(cut(page), default=0) <= 1, name


def test_a_table_that_scrolls_shows_it(visit, site):
    page = visit(site, width=390).open("runs/index.html")
    assert max(cut(page)) > 1
    style = "each => getComputedStyle(each).backgroundAttachment"
    assert "local" in page.locator(".wide").first.evaluate(style)


def test_the_ends_of_the_scale_are_on_one_line_of_a_phone(visit, store, tmp_path):
    for model in ("esimerkki/routa:7b", "esimerkki/lumi:1b"):
        with store.record(suite="own", model=model, settings={"thinking_level": "high"}) as run:
            for n in range(6):
                run.log(task_id=f"t{n}", output="x", passed=True)
    write_site(store, tmp_path / "site")
    head = visit(tmp_path / "site", width=390).open().locator(".first th.scale")
    tops = """each => [document.createRange(), document.createRange()].map((range, n) => {
        range.selectNodeContents(n ? each.querySelector("span") : each.firstChild);
        return range.getBoundingClientRect().top;
    })"""
    one, other = head.evaluate(tops)
    assert abs(one - other) < 3


def test_every_link_leads_to_a_file_of_the_site(visit, site):
    window = visit(site)
    for name in types_of_pages(site):
        page = window.open(name)
        links = page.evaluate("[...document.querySelectorAll('a[href]')].map(a => a.href)")
        for link in set(links):
            path = link.partition("#")[0].partition("?")[0]
            assert path.startswith(site.as_uri()), (name, link)
            assert (site / path.removeprefix(f"{site.as_uri()}/")).is_file(), (name, link)


def test_a_table_is_sorted_by_keyboard(visit, site):
    page = visit(site).open("palindrome.html")
    button = page.locator("table.sortable").first.get_by_role("button", name="accuracy")
    rates = """[...document.querySelector('table.sortable').tBodies[0].rows]
        .map(row => parseFloat(row.cells[1].innerText) || 0)"""
    button.focus()
    page.keyboard.press("Enter")
    page.locator("table.sortable th[aria-sort=ascending]").first.wait_for()
    rising = page.evaluate(rates)
    page.keyboard.press("Enter")
    page.locator("table.sortable th[aria-sort=descending]").first.wait_for()
    assert page.evaluate(rates) == sorted(page.evaluate(rates), reverse=True)
    assert rising == sorted(rising)


def test_routing_of_openclaw_is_in_sight(visit, site):
    page = visit(site).open("openclaw.html")
    ends = page.evaluate("""() => {
        const table = document.querySelector("table.sortable");
        const texts = [...table.tHead.rows[0].cells].map(cell => cell.innerText);
        const at = texts.findIndex(text => text.startsWith("routing"));
        const cells = [...table.tBodies[0].rows].map(row => row.cells[at]);
        return [table.parentElement, ...cells].map(each => each.getBoundingClientRect().right);
    }""")
    assert len(ends) > 1
    assert max(ends) == ends[0]


def test_a_page_prints_without_its_menu(visit, site):
    page = visit(site).open("index.html")
    page.emulate_media(media="print")
    assert not page.locator("header.bar").is_visible()
    assert page.locator("h1").is_visible()


def test_long_names_do_not_widen_a_phone(visit, tmp_path):
    store = new_store(tmp_path / "store")
    for name in (
        "epäjärjestelmällistyttämättömyydellänsäkäänköhän" * 3,
        "ชื่อแบบจำลองภาษาที่ยาวมาก" * 4,
    ):
        with store.record(suite="pääkaupungit", model=name) as run:
            for n in range(8):
                run.log(task_id=f"t{n}", prompt=name, output=name, passed=name < "z" or n < 4)
    store.sync()
    write_site(store, tmp_path / "site")
    window = visit(tmp_path / "site", width=390)
    for name in types_of_pages(tmp_path / "site"):
        window.open(name)
        assert window.overflow() == 0, name


def test_a_list_is_searched_by_keyboard(visit, site):
    page = visit(site).open("runs/index.html")
    rows = """[...document.querySelector('table.sortable').tBodies[0].rows]
        .filter(row => row.checkVisibility()).map(row => row.innerText.toLowerCase())"""
    every = page.evaluate(rows)
    page.get_by_role("searchbox").focus()
    page.keyboard.type("Palindrome aurora")
    expected = [text for text in every if "palindrome" in text and "aurora" in text]
    assert 0 < len(expected) < len(every)
    page.get_by_text(f"{len(expected)} of {len(every)}", exact=True).wait_for()
    assert page.evaluate(rows) == expected
    page.locator("table.sortable").get_by_role("button", name="tasks").click()
    assert sorted(page.evaluate(rows)) == sorted(expected)
    page.get_by_role("searchbox").fill("")
    assert sorted(page.evaluate(rows)) == sorted(every)


def listed(page):
    """Return the cells of the rows of a list that are seen."""
    return page.evaluate("""[...document.querySelector('table.sortable').tBodies[0].rows]
        .filter(row => row.checkVisibility())
        .map(row => [...row.cells].map(cell => cell.innerText.trim()))""")


def test_a_list_is_filtered_by_columns_and_its_address(visit, site):
    window = visit(site)
    page = window.open("runs/index.html")
    heads = page.locator("table.sortable th").all_inner_texts()
    every = [dict(zip(heads, cells, strict=True)) for cells in listed(page)]
    expected = [
        [*row.values()]
        for row in every
        if row["suite"] == "palindrome"
        and row["date"] >= "2025-06-01"
        and float(row["pass rate"].rstrip(" %")) <= 70
        and "example" in row["models"]
    ]
    assert 1 < len(expected) < len(every)
    page.locator("summary", has_text="Filter this list by column").focus()
    page.keyboard.press("Enter")
    page.get_by_label("models", exact=True).press_sequentially("EXAMPLE")
    page.get_by_label("pass rate to").press_sequentially("70")
    page.get_by_label("suite", exact=True).fill("palindrome")
    page.get_by_label("date from").fill("2025-06-01")
    page.get_by_text(f"{len(expected)} of {len(every)}", exact=True).wait_for()
    assert listed(page) == expected
    assert window.severe() == []
    again = window.open(f"runs/index.html#{page.evaluate('location.hash.slice(1)')}")
    assert listed(again) == expected
    assert again.get_by_label("models", exact=True).input_value() == "EXAMPLE"


def test_what_is_unknown_is_in_no_range(visit, site):
    page = visit(site).open("runs/index.html")
    heads = page.locator("table.sortable th").all_inner_texts()
    at = heads.index("total cost, US$")
    texts = [cells[at] for cells in listed(page)]
    assert "unknown" in texts
    page.evaluate("location.hash = 'total cost, US$ from=0'")
    n = sum(text != "unknown" for text in texts)
    page.get_by_text(f"{n} of {len(texts)}", exact=True).wait_for()
    assert "unknown" not in [cells[at] for cells in listed(page)]


def test_an_address_with_what_a_list_lacks_says_so(visit, site):
    page = visit(site).open("runs/index.html#suite=gone&colour=red")
    assert listed(page) == []
    page.get_by_text("There is no column for: colour.").wait_for()
    assert page.get_by_label("suite", exact=True).input_value() == "gone"


def test_filters_of_a_long_list_go_with_its_parts(visit, tmp_path, monkeypatch):
    monkeypatch.setattr("exports.site.lists._ON_A_PAGE", 3)
    store = new_store(tmp_path / "store")
    import_into(store, EXAMPLES)
    store.sync()
    write_site(store, tmp_path / "site")
    page = visit(tmp_path / "site").open("runs/index.html")
    page.get_by_text("Filter this page of the list by column").click()
    page.get_by_label("models", exact=True).fill("aurora")
    for number in (2, 3):
        page.locator("nav.lists a").nth(number - 1).click()
        page.locator("nav.lists a[aria-current]", has_text=str(number)).wait_for()
    assert page.get_by_label("models", exact=True).input_value() == "aurora"
    assert all("aurora" in cells[3] for cells in listed(page))
