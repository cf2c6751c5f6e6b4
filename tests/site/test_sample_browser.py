"""The sample browser in a real browser: table, search, sorting, links, keyboard, side by side."""

import json
import random
import re

import pytest
from rendering import HOSTILE, UNSEEN
from support import add_rows, new_store

from exports.site.addresses import samples_page
from exports.site.report import write_site

pytestmark = pytest.mark.slow
LONG = "word " * 100_000


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a site with two runs, and one with hostile text in every field."""
    folder = tmp_path_factory.mktemp("samples")
    store = new_store(folder / "store")
    for name, model in (("one", "example/a"), ("two", "example/b")):
        with store.record(suite="own", model=model, run_id=name) as run:
            for n in range(250):
                run.log(
                    task_id=f"t{n}",
                    prompt=f"What is {n}?",
                    output=f"It is {n}, says {model}.",
                    passed=n % 5 > 0,
                    scores={"style": n / 250},
                    latency_ms=n * 10,
                )
    with store.record(suite=HOSTILE, model=HOSTILE, run_id="hostile") as run:
        run.log(
            task_id=HOSTILE, prompt=HOSTILE, output=HOSTILE, passed=False, scores={"x": HOSTILE}
        )
        run.log(task_id="javascript:alert(1)", output=LONG, extra={"__proto__": "<img onerror=x>"})
    add_hostile(store)
    add_same_item(store)
    write_site(store, folder / "site")
    return folder / "site"


def add_hostile(store):
    """Add a result with hostile text in every field of every table that pages show."""
    shared = {"suite": "chat", "run_id": "r", "generation": "root"}
    text = dict.fromkeys
    result = text(
        ("model", "task_name", "prompt", "raw_output", "answer", "violation", "failure_type"),
        HOSTILE,
    )
    as_json = json.dumps({"__proto__": {"x": HOSTILE}, "<img src=x onerror=alert(1)>": HOSTILE})
    task = text(("task_name", "reference", "question", "target"), HOSTILE)
    score = text(("scorer", "metric", "filter", "text", "answer", "explanation"), HOSTILE)
    rows = {
        "runs": [{**shared, "content_id": "h"}],
        "results": [
            {
                **shared,
                **result,
                **text(("parsed_output", "extra", "source", "settings"), as_json),
                "content_id": "c",
                "seq": 1,
                "task_id": HOSTILE,
                "task_set": "s",
                "tool_calls": [HOSTILE],
                "objective_pass": False,
            }
        ],
        "tasks": [
            {
                **task,
                "suite": "chat",
                "task_set": "s",
                "task_set_hash": "v",
                "task_hash": "h",
                "seq": 1,
                "task_id": HOSTILE,
                "content_id": "k",
                "choices": json.dumps([HOSTILE]),
                "expected_tools": [HOSTILE],
                "image_url": "javascript:alert(1)",
            }
        ],
        "result_scores": [{**shared, **score, "result_id": "c", "content_id": "s"}],
        "messages": [
            {
                **shared,
                **text(("role", "text", "error"), HOSTILE),
                "tool_calls": as_json,
                "result_id": "c",
                "content_id": "m",
                "seq": 1,
            }
        ],
    }
    add_rows(store.lake, **rows)


def add_same_item(store):
    """Add an item that two tools asked by different prompts and under different names."""
    rows = {"runs": [], "results": [], "tasks": []}
    for suite, prompt, answer in (
        ("ours", "Q: Where?", "Here"),
        ("theirs", "Where? Say.", "There"),
    ):
        shared = {"suite": suite, "run_id": "r", "generation": "root"}
        task = {"task_set": f"of {suite}", "task_id": f"{suite}-7", "task_hash": "h", "seq": 1}
        rows["runs"].append({**shared, "content_id": suite})
        asked = {"suite": suite, "question": "Where?", "target": "Here", "content_id": f"t-{suite}"}
        rows["tasks"].append({**task, **asked, "task_set_hash": "v"})
        call = {"model": f"of/{suite}", "prompt": prompt, "raw_output": answer}
        rows["results"].append({**shared, **task, **call, "content_id": f"c-{suite}"})
    add_rows(store.lake, **rows)


def opened(visit, site, run="one", state="", suite="own", **options):
    window = visit(site, **options)
    page = window.open(f"{samples_page(suite, run)}#{state}")
    page.wait_for_selector(":is(#samples table, #samples article, #samples [role=alert]):visible")
    return window, page


def status(page, text):
    page.locator("[role=status]", has_text=text).first.wait_for()


def tasks(page):
    return page.locator("a.sample").all_inner_texts()


def test_table_is_searched_filtered_and_sorted(visit, site):
    window, page = opened(visit, site)
    status(page, "250 of 250 samples")
    assert len(tasks(page)) == 100
    page.get_by_label("Search").fill("IT 24")
    status(page, "13 of 250 samples")
    assert tasks(page)[:2] == ["t24", "t124"]
    page.get_by_label("Verdict").select_option("failed")
    status(page, "2 of 250 samples")
    assert tasks(page) == ["t240", "t245"]
    page.get_by_role("link", name="latency").click()
    assert page.locator("th[aria-sort=descending]").inner_text() == "latency"
    assert tasks(page) == ["t245", "t240"]
    assert window.severe() == []


def test_address_brings_a_view_back(visit, site):
    _, page = opened(visit, site, state="q=24&outcome=failed&sort=-latency_ms")
    status(page, "2 of 250 samples")
    assert page.get_by_label("Search").input_value() == "24"
    assert tasks(page) == ["t245", "t240"]
    page.get_by_role("link", name="t240").click()
    page.get_by_role("heading", name="t240").wait_for()
    assert "sample=240" in page.url
    page.go_back()
    status(page, "2 of 250 samples")


def test_pages_of_the_table_hold_all_rows(visit, site):
    _, page = opened(visit, site)
    status(page, "250 of 250")
    found = tasks(page)
    for _ in range(2):
        page.get_by_role("link", name="next").click()
        page.locator("a.sample").filter(has_text=re.compile(f"^{found[-100]}$")).wait_for(
            state="detached"
        )
        found += tasks(page)
    assert found == [f"t{n}" for n in range(250)]


def test_keyboard_leads_through_table_and_samples(visit, site):
    _, page = opened(visit, site)
    status(page, "250 of 250")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("t1")
    status(page, "111 of 250")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="t10", exact=True).wait_for()
    page.keyboard.press("j")
    page.get_by_role("heading", name="t11", exact=True).wait_for()
    page.keyboard.press("k")
    page.get_by_role("heading", name="t10", exact=True).wait_for()
    page.keyboard.press("Escape")
    status(page, "111 of 250")
    page.locator("a.sample:focus").filter(has_text=re.compile("^t10$")).wait_for()


def test_sample_has_everything_about_it(visit, site):
    window, page = opened(visit, site, state="sample=7")
    page.get_by_role("heading", name="t7").wait_for()
    # The sample comes first; where it stands among the others is known when they have come.
    page.get_by_text("8 of 250", exact=True).wait_for()
    text = page.locator("article").inner_text()
    for expected in (
        "What is 7?",
        "It is 7, says example/a.",
        "passed",
        "70 ms",
        "0.028",
        "8 of 250",
    ):
        assert expected in text
    window.unfold()
    assert "result_id" in page.locator("details").last.inner_text()
    assert window.severe() == []


def test_samples_of_two_runs_stand_side_by_side(visit, site):
    window, page = opened(visit, site, state="sample=7")
    choice = page.get_by_label("Compare with")
    choice.focus()
    page.locator("optgroup option").first.wait_for(state="attached")
    choice.select_option(label="example/b · two")
    page.locator(".side").nth(1).wait_for()
    assert page.locator(".side del").all_inner_texts() == ["a"]
    assert page.locator(".side ins").all_inner_texts() == ["b"]
    assert "with=own_two%3A7" in page.url
    choice.focus()
    page.locator("optgroup option").first.wait_for(state="attached")
    choice.select_option(label="example/b · two")
    page.get_by_text("That sample is shown already.").wait_for()
    assert page.locator(".side").count() == 2
    assert window.severe() == []
    _, again = opened(visit, site, state="sample=7&with=own_two:7")
    again.locator(".side").nth(1).wait_for()
    again.get_by_role("link", name="remove").click()
    again.get_by_role("heading", name="Prompt").wait_for()
    assert again.locator(".side").count() == 0


def test_samples_of_an_item_of_other_tools_stand_side_by_side(visit, site):
    window, page = opened(visit, site, "r", "sample=0", "ours")
    choice = page.get_by_label("Compare with")
    choice.focus()
    group = page.locator("optgroup").first
    group.wait_for(state="attached")
    assert group.get_attribute("label") == "same item · theirs · of theirs · theirs-7"
    choice.select_option(label="of/theirs · r")
    page.locator(".side").nth(1).wait_for()
    assert "with=theirs_r%3A0" in page.url
    sides = page.locator(".side").all_inner_texts()
    assert "ours · of ours · ours-7" in sides[0]
    assert "theirs · of theirs · theirs-7" in sides[1]
    assert ("Q: Where?" in sides[0], "Where? Say." in sides[1]) == (True, True)
    # The right answer is the same, and is shown once.
    assert page.get_by_role("heading", name="Reference").count() == 1
    assert page.locator(".side ins").all_inner_texts()[-1] == "There"
    assert window.severe() == []
    assert window.overflow() == 0


def test_runs_can_be_put_into_one_table(visit, site):
    _, page = opened(visit, site, state="runs=own_two&q=t249")
    status(page, "2 of 500 samples")
    page.get_by_label("Model").select_option("example/b")
    status(page, "1 of 500 samples")
    page.get_by_role("link", name="t249").click()
    page.locator("pre", has_text="It is 249, says example/b.").first.wait_for()


@pytest.mark.parametrize(("suite", "run"), [(HOSTILE, "hostile"), ("chat", "r")], ids="ab")
@pytest.mark.parametrize("state", ["sample=0", "sample=0&with=0"])
def test_hostile_text_is_shown_and_does_nothing(visit, site, suite, run, state):
    window, page = opened(visit, site, run, state, suite)
    page.get_by_role("heading", name="Prompt").wait_for()
    window.unfold()
    text = page.locator("body").inner_text()
    assert page.get_by_role("alert").count() == 0
    assert r"\x1b[31m" in text
    assert r"\u202e" in text
    assert "<script>" in text
    assert not UNSEEN.search(text)
    assert not UNSEEN.search(page.title())
    assert page.locator("#samples script, #samples img").count() == 0
    links = page.locator("a").evaluate_all("links => links.map(link => link.protocol)")
    assert set(links) == {"file:"}
    assert window.severe() == []


def test_long_text_comes_in_steps(visit, site):
    _, page = opened(visit, site, "hostile", "sample=1", HOSTILE)
    page.get_by_role("button", name="Load all of it").click()
    page.get_by_text("characters are loaded").wait_for()
    answer = page.locator("section", has=page.get_by_role("heading", name="Answer")).locator("pre")
    assert len(answer.inner_text()) == 10_000
    page.get_by_role("button", name="Show 100,000 more of 490,000 characters").first.click()
    assert len(answer.inner_text()) == 110_000


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("sample=999", "no sample 999"),
        ("sample=../x:1", "no sample ../x:1"),
        ("sample=1&with=own_gone:1", "is missing"),
        ("runs=../../x", "not the name of a run"),
        ("runs=//example.com", "not the name of a run"),
    ],
)
def test_wrong_address_gets_a_message_and_leads_nowhere(visit, site, state, message):
    window, page = opened(visit, site, state=state)
    page.get_by_role("alert").wait_for()
    assert message in page.get_by_role("alert").inner_text()
    # A piece that is not there is an error of the console, too.
    window.faults[:] = [fault for fault in window.faults if "ERR_FILE_NOT_FOUND" not in fault]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", ["", "sample=7", "sample=7&with=own_two:7"])
def test_pages_fit_a_phone(visit, site, state, scheme):
    window, page = opened(visit, site, state=state, width=390, scheme=scheme)
    page.locator(":is(table, .side, article section):visible").first.wait_for()
    assert window.overflow() == 0
    assert window.severe() == []


def test_list_of_runs_is_searched(visit, site):
    window = visit(site)
    page = window.open("samples/index.html")
    status(page, "6 of 6 runs")
    page.get_by_label("Search").fill("example/b")
    status(page, "1 of 6 runs")
    page.get_by_role("link", name="two").click()
    status(page, "250 of 250 samples")
    assert window.severe() == []


def difference(page, one, two):
    """Return the parts of two texts, as [whether the other has it too, text]."""
    return page.evaluate("texts => evalstore.difference(...texts)", [one, two])


def test_differing_words_of_any_script_are_marked(visit, site):
    _, page = opened(visit, site)
    assert difference(page, "the cat sat", "the dog sat") == [
        [[True, "the "], [False, "cat"], [True, " sat"]],
        [[True, "the "], [False, "dog"], [True, " sat"]],
    ]
    # Thai puts no spaces between words.
    assert difference(page, "ฉันกินข้าว", "ฉันกินปลา") == [
        [[True, "ฉันกิน"], [False, "ข้าว"]],
        [[True, "ฉันกิน"], [False, "ปลา"]],
    ]
    assert difference(page, "", "hyvää yötä") == [[], [[False, "hyvää yötä"]]]


def test_marked_parts_are_the_texts_and_nothing_is_marked_needlessly(visit, site):
    _, page = opened(visit, site)
    rng = random.Random(3)
    for _ in range(150):
        one, two = (",".join(rng.choices("abcd", k=rng.randrange(1, 9))) for _ in "12")
        parts = difference(page, one, two)
        assert ["".join(text for _, text in side) for side in parts] == [one, two]
        same = ["".join(text for is_same, text in side if is_same) for side in parts]
        assert same[0] == same[1]
        assert len(same[0]) == longest_common(one, two)


def longest_common(one, two):
    """Return the length of a longest common subsequence, by its definition."""
    lengths = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for x, a in enumerate(one):
        for y, b in enumerate(two):
            best = max(lengths[x][y + 1], lengths[x + 1][y])
            lengths[x + 1][y + 1] = lengths[x][y] + 1 if a == b else best
    return lengths[-1][-1]


def test_texts_that_are_too_long_or_too_different_are_not_compared(visit, site):
    _, page = opened(visit, site)
    assert difference(page, "x " * 25_001, "y") is None
    words = [" ".join(f"{kind}{n}" for n in range(700)) for kind in "ab"]
    assert difference(page, *words) is None


def test_link_that_skips_the_menu_keeps_the_sample(visit, site):
    _, page = opened(visit, site, state="sample=7")
    page.evaluate("location.hash = '#content'")
    page.wait_for_url("**#content")
    assert page.get_by_role("heading", name="t7", exact=True).is_visible()


def test_sample_prints_whole(visit, site):
    _, page = opened(visit, site, state="sample=7")
    page.emulate_media(media="print")
    assert not page.get_by_label("Compare with").is_visible()
    heights = "pre => [pre.scrollHeight, pre.clientHeight]"
    content, shown = page.locator("article pre").first.evaluate(heights)
    assert content == shown
