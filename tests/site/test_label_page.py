"""The page that asks for labels, in a browser: keys, what it keeps, what it gives back."""

import re

import pytest
from browser import needs_browser
from label_cases import MODELS, labelled_store, result
from support import add_rows, command

HOSTILE = "</script><img src=x onerror=alert(1)><!-- <script>\u202ereversed\u2028\"'`${1}"
LEAST_TOUCH = 44  # pixels


@pytest.fixture
def answers(tmp_path):
    return labelled_store(tmp_path / "store")


@pytest.fixture
def page_of(answers, tmp_path):
    """Return a function that writes the page."""

    def write(*options, targets=("arena",)):
        path = tmp_path / "pages" / "labels.html"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        ended = command(answers.path, "label", "export", *targets, *options, "--to", path)
        assert ended.code == 0, ended.err
        return path

    return write


def download(window, to):
    with window.page.expect_download() as started:
        window.page.get_by_role("button", name="Download").click()
    started.value.save_as(to)
    window.faults = [fault for fault in window.faults if not fault.startswith("a download")]


@pytest.mark.slow
def test_the_page_says_nothing_of_models_runs_or_other_people(page_of, answers, tmp_path):
    command(answers.path, "label", "export", "arena", "--to", tmp_path / "sheet.csv")
    sheet = (tmp_path / "sheet.csv").read_text("utf-8-sig")
    filled = re.sub(r",,$", ",fail,a remark", sheet, flags=re.MULTILINE)
    (tmp_path / "filled.csv").write_text(filled, "utf-8")
    ended = command(answers.path, "label", "import", tmp_path / "filled.csv", "--rater", "Anna")
    assert ended.lines["labels"] == "12 new"
    page = page_of("--rater", "Ben").read_text("utf-8")
    data = page[page.index('id="data"') :].partition("</script>")[0]
    for word in (*MODELS, "night", "arena", "core", "Anna", "remark"):
        assert word not in page
    assert data.count('"label": ""') == 12
    own = page_of("--rater", "Anna").read_text("utf-8")
    assert own.count('"label": "fail", "note": "a remark"') == 12


@pytest.mark.slow
def test_nothing_is_loaded_and_only_our_script_runs(page_of):
    page = page_of().read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri 'none'; "
        r"form-action 'none'; script-src 'sha256-[\w+/=]+'",
        policy,
    )
    assert not re.search(r"\b(https?:)?//\w+\.\w", page)


@needs_browser
@pytest.mark.slow
def test_labels_by_keys_are_kept_and_come_back(visit, page_of, answers, tmp_path):
    path = page_of("--sample", "3")
    window = visit(path.parent)
    page = window.open("labels.html")
    page.keyboard.press("p")
    page.locator("#note").fill('=1+1, "quoted"\nand p, f')
    page.locator("#place").focus()
    page.keyboard.press("f")
    assert page.locator("#count").inner_text() == "2 of 3 labelled"
    assert page.locator("#place").inner_text() == "Answer 3 of 3"
    assert page.locator("#warning").inner_text() == ""
    # Once, a reload within milliseconds found nothing kept, why is not known. People are slower.
    page.wait_for_timeout(500)
    page.reload()
    assert page.locator("#count").inner_text() == "2 of 3 labelled"
    assert page.locator("#place").inner_text() == "Answer 3 of 3"
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("button", name="fail").get_attribute("aria-pressed") == "true"
    download(window, tmp_path / "labels.csv")
    ended = command(answers.path, "label", "import", tmp_path / "labels.csv", "--rater", "Anna")
    assert (ended.code, ended.lines["labels"]) == (0, "2 new"), ended.err
    found = answers.sql(
        "SELECT seq, value, reason, rated_at > TIMESTAMP '2026-01-01' FROM ratings ORDER BY seq"
    ).fetchall()
    assert found == [(1, 1.0, None, True), (2, 0.0, '=1+1, "quoted"\nand p, f', True)]
    # The labels of the store are shown again, elsewhere too.
    again = page_of("--sample", "3", "--rater", "Anna")
    window = visit(again.parent)
    page = window.open("labels.html")
    assert page.locator("#count").inner_text() == "2 of 3 labelled"


@needs_browser
@pytest.mark.slow
def test_hostile_texts_are_shown_as_they_are(visit, page_of, answers):
    header = {"suite": "arena", "run_id": "hostile", "generation": "root", "content_id": "h"}
    row = result("ant-9000", 1, run_id="hostile", raw_output=HOSTILE, prompt=HOSTILE)
    add_rows(answers.lake, runs=[header], results=[row])
    path = page_of("--reference", "--scale", "</script><b>,&quot;'\"", targets=["hostile"])
    window = visit(path.parent)
    page = window.open("labels.html")
    assert page.locator("#prompt").evaluate("node => node.textContent") == HOSTILE
    assert page.locator("#answer").evaluate("node => node.textContent") == HOSTILE
    assert page.locator("#reference").inner_text() == "Yes, it is."
    assert page.locator("img, b, pre *").count() == 0
    page.keyboard.press("1")
    assert page.locator("#count").inner_text() == "1 of 1 labelled"


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_the_page_is_accessible_on_a_desk_and_a_phone(visit, page_of, width, scheme):
    path = page_of("--scale", "1..5", "--reference")
    window = visit(path.parent, width=width, scheme=scheme)
    page = window.open("labels.html")
    page.keyboard.press("4")
    page.keyboard.press("ArrowLeft")
    assert window.severe() == []
    assert window.overflow() == 0
    for button in page.get_by_role("button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= LEAST_TOUCH


@needs_browser
@pytest.mark.slow
def test_a_broken_or_missing_memory_loses_nothing_silently(visit, page_of):
    page = visit(page_of("--sample", "2").parent).open("labels.html")
    page.keyboard.press("p")
    page.evaluate("() => { for (const key of Object.keys(localStorage)) localStorage[key] = '{'; }")
    page.reload()
    assert page.locator("#count").inner_text() == "0 of 2 labelled"
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    page.keyboard.press("f")
    assert "download the labels before you close it" in page.locator("#warning").inner_text()
