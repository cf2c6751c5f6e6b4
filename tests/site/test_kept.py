"""A report into the folder of an earlier site: the bytes of a new one, with less rendered."""

import json
import re
from datetime import UTC, datetime

import duckdb
import pytest
from support import add_rows, command

from exports.site import report, trials
from exports.site.folder import MANIFEST, SiteFolder
from exports.site.page import Page
from exports.site.registry import PAGE_TYPES
from exports.site.report import write_site
from exports.site.samples import browser
from exports.site.samples.query import samples_query
from exports.site.samples.runs import SOURCES, _sort_key
from warehouse.core.rating_scales import RATINGS_SUITE

PRICE = '{"input": 1, "output": 2}'
TASKS = ("t0", "t1", "t2")


def of_run(run_id, generation="root", *, suite="own", **fields):
    key = " ".join([suite, run_id, generation, *map(str, fields.values())])
    return {"suite": suite, "run_id": run_id, "generation": generation, "content_id": key}


def task(name, text, version="v1", *, suite="own", key=""):
    return {
        "suite": suite,
        "task_set": "s",
        "task_id": name,
        "task_hash": f"{name} {version}",
        "content_id": f"{suite} {name} {version} {key}",
        "task_set_hash": version,
        "seq": int(name[1:]),
        "question": text,
        "target": "Helsinki",
    }


def add_run(
    store,
    run_id,
    *,
    suite="own",
    generation="root",
    parent=None,
    tasks=TASKS,
    trial=None,
    date="2026-03-01",
):
    results = [
        of_run(run_id, generation, suite=suite, task=name)
        | {"seq": n, "task_set": "s", "task_id": name, "task_hash": f"{name} v1"}
        | {"provider": "p", "model": "m/a", "availability_status": "ok", "success": True}
        | {"raw_output": f"{run_id} answers {n}", "objective_pass": n > 0, "trial_id": trial}
        for n, name in enumerate(tasks)
    ]
    ids = [row["content_id"] for row in results]
    scores = [
        of_run(run_id, generation, suite=suite, score=key)
        | {"result_id": key, "metric": "style", "value": 0.0}
        for key in ids
    ]
    messages = [
        of_run(run_id, generation, suite=suite, message=key)
        | {"result_id": key, "seq": 1, "role": "user", "text": "Well?"}
        for key in ids
    ]
    header = of_run(run_id, generation, suite=suite) | {"parent_generation": parent}
    add_rows(
        store.lake,
        runs=[header | {"run_date": date}],
        results=results,
        result_scores=scores,
        messages=messages,
    )


def add_ratings(store):
    about = {"rated_suite": "own", "rated_run_id": "a", "result_id": "own a root t1"}
    rater = {"rater": "ann", "rater_kind": "human", "criterion": "helpful", "status": "ok"}
    rating = of_run("l", suite=RATINGS_SUITE, n=1) | {"seq": 1, "value": 1.0} | about | rater
    add_rows(store.lake, runs=[of_run("l", suite=RATINGS_SUITE)], ratings=[rating])


def add_rescore(store):
    verdict = {"scorer": "lenient", "version": "111aaa", "passed": True}
    verdict |= {"rescored_at": datetime(2026, 4, 1, tzinfo=UTC)}
    verdict |= {"suite": "own", "run_id": "a", "result_id": "own a root t0", "content_id": "again"}
    add_rows(store.lake, rescores=[verdict])


def add_model(store):
    model = {"model_path": "m/a", "name": "A", "provider": "p", "content_id": "model"}
    add_rows(store.lake, models=[model | {"parameters": "{}", "price": PRICE}])


def tag(store):
    assert command(store.path, "tag", "b", "release=v1").code == 0


def forget(store):
    assert command(store.path, "forget", "c", "--yes").code == 0


# By what has changed: how, and the runs whose samples are rendered.
CHANGES = {
    "a new run": (lambda store: add_run(store, "c"), "c"),
    "a run of another suite": (lambda store: add_run(store, "d", suite="other"), "d"),
    "a replaced run": (
        lambda store: add_run(store, "a", generation="g", parent="root", tasks=["t1", "t2"]),
        "a",
    ),
    "an item of another suite": (
        lambda store: add_rows(store.lake, tasks=[task("t2", "Capital t2?", suite="other")]),
        "abcd",
    ),
    "another version of a task": (
        lambda store: add_rows(store.lake, tasks=[task("t1", "Other?", "v2")]), "",
    ),
    "another text of a task": (
        lambda store: add_rows(store.lake, tasks=[task("t1", "Other?", key="again")]), "abc",
    ),
    "a tag": (tag, "b"),
    "a re-score": (add_rescore, ""),
    "a rating": (add_ratings, "a"),
    "a model file": (add_model, ""),
    "a forgotten run": (forget, ""),
}  # fmt: skip


@pytest.fixture
def rendered(monkeypatch):
    """Return the list of runs whose samples were rendered."""
    runs = []
    pieces_of_run = browser._pieces_of_run

    def counted(run, samples, names):
        # A generator, like the original: a run is rendered once its pieces are asked for.
        runs.append(run.run_id)
        yield from pieces_of_run(run, samples, names)

    monkeypatch.setattr(browser, "_pieces_of_run", counted)
    return runs


@pytest.fixture
def quick(monkeypatch):
    """Leave out pages that are always rendered."""
    types = [each for each in PAGE_TYPES if each.name in {"overview", "samples", "trial"}]
    monkeypatch.setattr(report, "PAGE_TYPES", types)


@pytest.fixture
def site(store, tmp_path):
    """Return the folder of a site of a store with two runs, each with scores and messages."""
    add_rows(store.lake, tasks=[task(name, f"Capital {name}?") for name in TASKS])
    for run_id in "ab":
        add_run(store, run_id)
    store.sync()
    write_site(store, tmp_path / "site")
    return tmp_path / "site"


def files(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def check_report(store, site, rendered, **options):
    """Report, check that the site is that in an empty folder, and return the rendered runs."""
    store.sync()
    rendered.clear()
    write_site(store, site, **options)
    again = "".join(sorted(rendered))
    fresh = site.with_name(f"fresh {len(list(site.parent.iterdir()))}")
    write_site(store, fresh, **options)
    assert files(site) == files(fresh)
    return again


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_only_runs_of_which_something_changed_are_rendered_again(store, site, rendered):
    found = {}
    for name, (change, _) in CHANGES.items():
        change(store)
        found[name] = check_report(store, site, rendered)
    assert found == {name: runs for name, (_, runs) in CHANGES.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_run_whose_trials_lose_their_pages_is_rendered_again(store, site, rendered, monkeypatch):
    monkeypatch.setattr(trials, "MOST_TRIALS", 4)
    for run_id in "cd":
        add_run(store, run_id, tasks=TASKS[:2], trial="x")
    assert check_report(store, site, rendered) == "cd"
    # Of each run in turn, the newest first: one trial of each loses its page to the new run.
    add_run(store, "e", tasks=TASKS[:1], trial="x", date="2026-03-02")
    assert check_report(store, site, rendered) == "ce"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_other_choices_are_rendered_again(store, site, rendered):
    assert check_report(store, site, rendered, samples="failed") == "ab"
    add_run(store, "c")
    assert check_report(store, site, rendered, samples="failed") == "c"
    assert check_report(store, site, rendered, samples="none") == ""
    assert check_report(store, site, rendered, samples="all") == "abc"
    # The title is on pages, not in their data.
    assert check_report(store, site, rendered, samples="all", name="Nightly") == ""


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_other_code_renders_all_again(store, site, rendered, monkeypatch):
    monkeypatch.setattr("exports.site.pages.samples.code_digest", lambda: "other")
    add_run(store, "c")
    assert check_report(store, site, rendered) == "abc"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("has_new_run", [False, True])
def test_files_that_someone_changed_are_written_again(store, site, rendered, has_new_run):
    folders = {path.name[4]: path for path in site.glob("samples/own_*")}
    (folders["a"] / "rows-0000.js").write_bytes(b"mine")
    new = "c" if has_new_run else ""
    if has_new_run:
        add_run(store, "c")
    assert check_report(store, site, rendered) == f"a{new}"
    (folders["b"] / "run.js").unlink()
    (folders["a"] / "index.html").write_bytes(b"mine")
    assert check_report(store, site, rendered) == "b"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("made_from", [None, "aa", {}, [], {"*": 1, "samples/own_a/*.js": {}}])
def test_folder_of_another_version_is_rendered_again(store, site, rendered, made_from):
    manifest = json.loads((site / MANIFEST).read_bytes())
    (site / MANIFEST).write_text(json.dumps(manifest | {"made_from": made_from}))
    assert check_report(store, site, rendered) == "ab"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_report_after_an_interrupted_one_keeps_what_is_whole(store, site, rendered, monkeypatch):
    add_run(store, "a", generation="g", parent="root")
    add_run(store, "c")
    store.sync()
    with monkeypatch.context() as patch:
        add, added = SiteFolder.add, []

        def interrupted(folder, page):
            added.append(page)
            if "own_c" in page.path and page.path.endswith("run.js"):
                raise KeyboardInterrupt
            add(folder, page)

        patch.setattr(SiteFolder, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_site(store, site)
    # Run a was written, but no manifest says so.
    assert check_report(store, site, rendered) == "ac"
    forget(store)
    assert check_report(store, site, rendered) == ""


@pytest.mark.slow
def test_whole_site_with_a_new_run_is_that_in_an_empty_folder(examples, tmp_path, rendered):
    write_site(examples, tmp_path / "site")
    add_run(examples, "c")
    assert check_report(examples, tmp_path / "site", rendered) == "c"


def test_kept_group_is_of_one_folder_and_ending(tmp_path):
    def write(made_from, *names):
        site = SiteFolder(tmp_path)
        is_kept = site.keep("a/*.js", made_from)
        for name in names:
            site.add(Page(path=name, content=b"1"))
        site.finish()
        return is_kept

    assert not write("x", "a/1.js", "a/2.js", "a/b/3.js", "a/4.html", "5.js")
    assert write("x")
    assert set(files(tmp_path)) == {MANIFEST, "a/1.js", "a/2.js"}
    assert not write("y", "a/2.js")
    assert set(files(tmp_path)) == {MANIFEST, "a/2.js"}
    assert not write("z")
    assert not write("z")  # nothing to keep


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("DOUBLE", ["NULL", "0.0", "'-0.0'", "'NaN'", "'inf'"]),
        ("VARCHAR", ["NULL", "''", "'NULL'", "'a'", "'A'", "'a '", "'a' || chr(0)", "'ä'"]),
        ("VARCHAR[]", ["NULL", "[]", "['']", "[NULL]", "['a', 'b']", "['a, b']"]),
    ],
)
def test_a_digest_tells_values_apart(kind, values):
    key = _sort_key("value", kind)
    rows = ", ".join(f"(CAST({value} AS {kind}))" for value in values)
    query = f"SELECT count(DISTINCT create_sort_key({key})) FROM (VALUES {rows}) AS t(value)"
    assert duckdb.sql(query).fetchall() == [(len(values),)]


@pytest.mark.slow
def test_a_digest_covers_all_that_samples_are_read_from(store):
    with store.reading() as connection:
        query = samples_query(connection)
    relations = set(re.findall(r"(?<!DISTINCT )(?:FROM|JOIN) \(?(?:FROM )?(\w+)", query))
    subqueries = set(re.findall(r"(\w+) AS \(", query))
    assert relations - subqueries == SOURCES.keys() | {"sample_places"}
    # Of verdicts only the columns that are read.
    columns = set(re.findall(r"verdict\.(\w+)", query))
    assert columns - {"suite", "run_id", "result_id"} < set(re.findall(r"\w+", SOURCES["verdicts"]))
