"""The pages of trials: what they show, what they fold, what they leave out, and their links."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from rendering import HOSTILE
from support import add_rows, new_store

from exports.site.addresses import parting_page, run_page, task_page, trial_page
from exports.site.pages import parting, run, samples, task, trial
from exports.site.site import opened_site

RUN = {"suite": "arena", "run_id": "r", "generation": "root"}
START = datetime(2026, 1, 1, tzinfo=UTC)
TYPES = [run.PAGE_TYPE, samples.PAGE_TYPE, task.PAGE_TYPE, trial.PAGE_TYPE, parting.PAGE_TYPE]
LONG = 1_000


def result(name, end, **fields):
    passed = None if end is None else end == "solved"
    fields = {"task_id": "t", "objective_pass": passed, "end_reason": end, **fields}
    return {**RUN, "content_id": name, "trial_id": name, "task_set": "core", "seq": 1, **fields}


def step(trial_id, seq, kind, **fields):
    key = {"content_id": f"{trial_id}#{seq}", "result_id": trial_id, "seq": seq}
    row = {**RUN, **key, "kind": kind}
    return row | {"started_at": START + timedelta(minutes=seq)} | fields


def steps_of_good():
    return [
        step("good", 1, "user", text="Do the work."),
        step("good", 2, "model", text="I look.", input_tokens=100, output_tokens=20, cost_usd=0.25),
        step("good", 3, "tool", name="ls", arguments="{}", text="a.txt"),
        step("good", 4, "tool", name="write", arguments='{"to":"a.txt"}', text="written"),
    ]


def steps_of_bad():
    return [
        step("bad", 1, "user", text="Do the work.", is_copied=True),
        step("bad", 2, "model", text=HOSTILE + "<script>hit()</script>"),
        step("bad", 3, "tool", name="ls", arguments="{}", text="a.txt"),
        step(
            "bad", 4, "tool", name="<img src=x onerror=hit()>", arguments='"&"', error="no rights"
        ),
        step("bad", 5, "model", text="Helping.", trajectory="helper", agent="helper"),
        step("bad", 6, "tool", name="run", exit_code=2, trajectory="helper", agent="helper"),
        step("bad", 7, "model", text="x" * 5_000),
    ]


def steps_of_spans():
    quiet = [step("spans", n, "other", name="span_begin") for n in (1, 2, 4)]
    return [*quiet, step("spans", 3, "other", name="info", text="Look here.")]


def steps_of_long():
    failed = {"error": "it broke"}
    return [
        step("long", n, "tool", name="ls", text=f"<out {n}>" * 900, **(failed if n == 500 else {}))
        for n in range(1, LONG + 1)
    ]


def steps_of_noisy():
    noise = dict.fromkeys(("name", "agent", "model", "text", "arguments", "error"), "'" * 3_000)
    return [step("noisy", n, "tool", **noise) for n in range(1, LONG + 1)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the pages of a site with made-up trials, by path."""
    store = new_store(tmp_path_factory.mktemp("trials") / "store")
    check = {**RUN, "result_id": "bad", "check_class": "test", "counts": True}
    add_rows(
        store.lake,
        runs=[{**RUN, "content_id": "run"}],
        systems=[
            {
                **RUN,
                "content_id": "s",
                "system": "crab (m)",
                "agent": "crab",
                "agent_version": "2.1",
            }
            | {"model": "m", "models": '{"agent":"m","user":"<b>u</b>"}'}
        ],
        results=[
            result("good", "solved", system="crab (m)", model="m", duration_seconds=90.0),
            result("bad", "timeout", model="other", recorded_end="<i>AgentTimeout</i>"),
            result("long", "limit", model="other", attempt=2),
            result("noisy", "error", model="other", task_id="noise"),
            result("bare", None, model="other", attempt=3),
            result("spans", None, model="other", task_id="spans"),
            result("trace", None, model="other", task_id=None),
        ],
        steps=steps_of_good()
        + steps_of_bad()
        + steps_of_long()
        + steps_of_noisy()
        + steps_of_spans(),
        result_scores=[
            *(
                {**check, "result_id": "noisy", "content_id": f"n{n}", "passed": False}
                | dict.fromkeys(("metric", "scorer", "explanation"), f"{n}" + "'" * 500)
                for n in range(50)
            ),
            *(
                {**check, "content_id": f"c{n}", "metric": f"test_{n}", "passed": passed}
                for n, passed in enumerate([True, False, None])
            ),
        ],
    )
    store.sync()
    with opened_site(store, TYPES, samples="all") as site:
        return {
            page.path: page.data.decode() for page_type in TYPES for page in site.pages(page_type)
        }


def page_of(pages, name):
    return pages[trial_page("arena", "r", name)]


def lanes_of(page):
    return re.findall(r'<th scope="row">(.*?)</th>.*?<td class="n">(.*?)</td>', page)


def facts(page):
    return dict(re.findall(r"<dt>([^<]+)</dt><dd[^>]*>([^<]*)</dd>", page))


def test_a_page_says_what_was_tested_and_how_it_ended(pages):
    known = facts(page_of(pages, "good"))
    assert known["verdict"] == "passed"
    assert known["how it ended"] == "it solved the task"
    assert (known["system"], known["agent"]) == ("crab (m)", "crab 2.1")
    assert known["models"] == "agent: m, user: &lt;b&gt;u&lt;/b&gt;"
    assert (known["time"], known["cost"]) == ("1.5 min", "$0.25")
    assert known["tokens"].startswith("100 in · 20 out")
    assert "it ran out of time (in the log: &lt;i&gt;AgentTimeout" in page_of(pages, "bad")


def test_what_is_unknown_is_shown_as_unknown(pages):
    page = page_of(pages, "bare")
    known = facts(page)
    assert known["verdict"] == "not judged"
    unknown = ("how it ended", "agent", "harness", "steps", "tool calls", "time", "cost", "tokens")
    assert {known[name] for name in unknown} == {"unknown"}
    assert "The log has no steps of this trial." in page
    assert "timeline" not in page


def test_lists_say_in_words_how_trials_ended_and_link_to_them(pages):
    listed = pages["trials/index.html"]
    assert "it ran out of time" in listed
    assert "gave_up" not in listed
    of_run = pages[run_page("arena", "r")]
    for page in (listed, of_run):
        name = trial_page("arena", "r", "trace").rsplit("/")[-1]
        assert f'{name}">other</a>' in page
    name = trial_page("arena", "r", "bare").rsplit("/")[-1]
    [bare] = [row for row in listed.split("<tr>") if name in row]
    assert bare.count(">unknown</td>") == 6  # how it ended, steps, calls, errors, minutes, cost


@pytest.mark.slow
def test_a_text_of_a_check_that_is_cut_says_so(store):
    failed = {"passed": False, "check_class": "test", "scorer": "s", "metric": "m"}
    texts = {"c1": "y" * 100, "c2": "z" * 101}
    checks = [
        {**RUN, "content_id": name, "result_id": "bad", "explanation": text, **failed}
        for name, text in texts.items()
    ]
    add_rows(
        store.lake,
        runs=[{**RUN, "content_id": "run"}],
        results=[result("bad", "gave_up")],
        result_scores=checks,
    )
    store.sync()
    with opened_site(store, TYPES, samples="all") as site:
        made = {each.path: each.data.decode() for each in site.pages(trial.PAGE_TYPE)}
    page = made[trial_page("arena", "r", "bad")]
    assert ">" + "y" * 100 + "</td>" in page
    assert ">" + "z" * 100 + "…</td>" in page


def test_a_trial_without_a_task_has_a_page(pages):
    assert '<h1 dir="auto">Trial of no named task</h1>' in page_of(pages, "trace")
    name = trial_page("arena", "r", "trace").rsplit("/")[-1]
    assert f'{name}">other</a>' in pages["trials/index.html"]


def test_steps_have_arguments_results_and_errors_in_words(pages):
    page = page_of(pages, "good")
    texts = ["Do the work.", "I look.", "a.txt", "{&quot;to&quot;:&quot;a.txt&quot;}", "written"]
    places = [page.index(text) for text in texts]
    assert places == sorted(places)
    bad = page_of(pages, "bad")
    assert bad.count('<strong class="bad">failed</strong>') == 2
    assert "<i>error:</i> no rights" in bad
    assert "<i>error:</i> exit code 2" in bad
    assert "… (3,000 more characters)" in bad


def test_hostile_text_is_inert(pages):
    page = page_of(pages, "bad")
    assert "&lt;script&gt;hit()" in page
    assert "&lt;img src=x onerror=hit()&gt;" in page
    assert not re.search(r"<script(?! src=)|<img|<[^>]* on\w+=|style=|\x1b|\u202e", page)


def test_sub_agents_and_copied_steps_are_folded(pages):
    page = page_of(pages, "bad")
    pattern = r"<details><summary[^>]*>(.*?)</summary>(.*?)</details>"
    folds = dict(re.findall(pattern, page, re.DOTALL))
    assert set(folds) == {
        "1 step repeated from an earlier context, not counted",
        "sub-agent helper: 2 steps, 1 error",
    }
    assert "Helping." in folds["sub-agent helper: 2 steps, 1 error"]


def test_events_without_text_are_folded(pages):
    page = page_of(pages, "spans")
    page = page[page.index("<main") :]
    assert re.findall(r"<summary[^>]*>(.*?)</summary>", page) == [
        "2 events without text",
        "1 event without text",
    ]
    assert "Look here." in page.replace(page[page.index("<details") : page.index("</details>")], "")


def test_a_timeline_adds_up(pages):
    page = page_of(pages, "good")
    assert lanes_of(page) == [
        ("model calls", "1"), ("tool calls", "2"), ("other steps", "1"),
        ("tokens of all steps", "120"), ("cost of all steps", "$0.25"),
    ]  # fmt: skip
    assert "By time, over 3.0 min" in page
    # the call is the second of four steps: at a third of the time all tokens are spent
    assert page.count('d="M0 10H41V0.00H120V10z"') == 2
    assert ("errors", "2") in lanes_of(page_of(pages, "bad"))


def test_failed_checks_come_first(pages):
    page = page_of(pages, "bad")
    checks = page[page.index("Checks, failed ones first") : page.index("<h2>Steps")]
    assert [int(n) for n in re.findall(r"test_(\d)", checks)] == [1, 0, 2]
    assert re.findall(r">(passed|failed|unknown)</td>", checks) == ["failed", "passed", "unknown"]


def test_a_long_trial_is_cut(pages):
    page = page_of(pages, "long")
    assert len(page.encode()) < 300_000
    shown = [int(n) for n in re.findall(r"<p><small>(\d+)</small>", page)]
    assert shown == [*range(1, 61), 499, 500, 501, *range(941, 1001)]
    assert "438 more steps:" in page
    assert "seq BETWEEN 61 AND 498" in page
    assert "439 more steps:" in page
    assert "seq BETWEEN 502 AND 940" in page


def test_a_page_of_hostile_texts_is_bounded(pages):
    page = page_of(pages, "noisy")
    assert len(page.encode()) < 300_000
    assert page.count("<p><small>") == 60 + 40 + 60
    assert "10 more rows not shown here" in page


def test_a_failed_trial_stands_next_to_the_solved_one(pages):
    page = pages[parting_page("arena", "r", "bad")]
    assert "Their first call of a tool is the same." in page
    shared, sides = page[page.index("<main") :].split("</details>", 1)
    failed, solved = sides.split("<section")[1:]
    assert "a.txt" in shared
    assert "no rights" in failed
    assert "written" not in failed
    assert "written" in solved
    assert "Do the work." not in sides
    assert f'href="../{trial_page("arena", "r", "good")}"' in solved


def test_pages_are_linked(pages):
    ours = page_of(pages, "bad")
    own, side = trial_page("arena", "r", "bad"), parting_page("arena", "r", "bad")
    of_task, of_run = task_page("arena", "core", "t"), run_page("arena", "r")
    for other in (side, of_task, of_run):
        assert f'href="../{other}"' in ours
    for page in (pages[side], pages[of_task], pages[of_run], pages["trials/index.html"]):
        assert f'href="../{own}"' in page
    assert f'href="../{side}"' in pages[of_task]
    assert '/index.html#task=t"' in ours
    [records] = [data for path, data in pages.items() if "/records-" in path]
    assert own in records


def test_a_task_lists_its_trials_by_system(pages):
    page = pages[task_page("arena", "core", "t")]
    trials = page[page.index("<h2>Trials") : page.index("<h2>Answers")]
    rows = re.findall(r"<tr><td.*?</tr>", trials)
    assert [re.search(r"(passed|failed|not judged)</td>", row)[1] for row in rows] == [
        "passed", "failed", "failed", "not judged",
    ]  # fmt: skip
    assert "crab (m)" in rows[0]


@pytest.mark.slow
def test_only_failed_trials_or_none_have_pages(store):
    add_rows(
        store.lake,
        runs=[{**RUN, "content_id": "run"}],
        results=[result("good", "solved"), result("bad", "gave_up")],
    )
    store.sync()
    with opened_site(store, TYPES, samples="failed") as site:
        assert trial_page("arena", "r", "bad") in trial.PAGE_TYPE.addresses(site)
        assert trial_page("arena", "r", "good") not in trial.PAGE_TYPE.addresses(site)
    with opened_site(store, TYPES, samples="none") as site:
        assert not site.has("trial")
