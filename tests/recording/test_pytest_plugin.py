"""The pytest plugin in a project of its own: a test that logs is a result."""

import os
import subprocess
import sys

import pytest
from support import ROOT, new_store

pytestmark = pytest.mark.slow

PROJECT = """
import os

import pytest

NAMES = {"fr": "Paris", "de": "Berlin", "it": "Milan"}


@pytest.mark.parametrize("country", NAMES)
def test_capital(evalstore_run, country):
    answer = {"it": "Rome"}.get(country, NAMES[country])
    evalstore_run.log(prompt=f"The capital of {country}?", output=answer, scores={"n": len(answer)})
    assert answer == NAMES[country]


def test_several_attempts(evalstore_run):
    for n in range(3):
        evalstore_run.log(output=f"{n}")


def test_own_verdicts(evalstore_run):
    evalstore_run.log(task_id="a", output="x", passed=False)
    evalstore_run.log(task_id="b", attempt=4, output="x")
    evalstore_run.log(task_id="c", failure="timeout")


def test_skipped_in_the_middle(evalstore_run):
    evalstore_run.log(output="x")
    pytest.skip("not judged")


@pytest.mark.xfail(reason="a weakness", strict=True)
def test_expected_failure(evalstore_run):
    evalstore_run.log(output="x")
    assert False


@pytest.mark.evalstore(model="other", suite="theirs")
def test_of_another_model(evalstore_run):
    evalstore_run.log(output="x")


def test_that_logs_nothing(evalstore_run):
    pass


def test_without_the_fixture():
    pass
"""
PASSED = [
    ("test_it.py::test_capital[fr]", 1, True),
    ("test_it.py::test_capital[de]", 1, True),
    ("test_it.py::test_capital[it]", 1, False),
    ("test_it.py::test_several_attempts", 1, True),
    ("test_it.py::test_several_attempts", 2, True),
    ("test_it.py::test_several_attempts", 3, True),
    ("a", 1, False),
    ("b", 4, True),
    ("c", 1, None),
    ("test_it.py::test_skipped_in_the_middle", 1, None),
    ("test_it.py::test_expected_failure", 1, False),
]


@pytest.fixture
def project(tmp_path):
    """Return a function that runs pytest with the plugin in a new project."""
    folder = tmp_path / "capitals"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\nevalstore_model = example/aurora-2\n")
    (folder / "test_it.py").write_text(PROJECT)

    def run(*arguments, **environment):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "evalstore_pytest"]
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "EVALSTORE"))}
        return subprocess.run(
            [*command, "-p", "no:cacheprovider", "--strict-markers", "-W", "error", *arguments],
            cwd=folder,
            env={**env, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    run.folder = folder
    return run


@pytest.mark.parametrize("processes", [(), ("-n", "2")])
def test_a_test_that_logs_is_a_result(project, processes):
    ended = project(*processes)
    assert "1 failed, 7 passed, 1 skipped, 1 xfailed" in ended.stdout, ended.stdout + ended.stderr
    store = new_store(project.folder / "store", on_warning=pytest.fail)
    query = "SELECT task_id, attempt, passed FROM verdicts WHERE suite = 'capitals' AND model = $m"
    rows = store.sql(query, {"m": "example/aurora-2"}).fetchall()
    assert sorted(rows, key=str) == sorted(PASSED, key=str)
    query = "SELECT suite, count(DISTINCT run_id), count(*), list(DISTINCT models) FROM runs"
    assert store.sql(f"{query} GROUP BY ALL ORDER BY ALL").fetchall() == [
        ("capitals", 1, 1, [["example/aurora-2"]]),
        ("theirs", 1, 1, [["other"]]),
    ]
    batches = store.sql("SELECT count(*) FROM lake.batches").fetchall()
    assert batches == [(2,)] if not processes else batches[0][0] in {2, 3}


@pytest.mark.campaign
def test_a_run_goes_on_and_knows_what_it_has(project):
    chosen = ("--evalstore-run", "r", "--evalstore-store", "there", "--evalstore-suite", "s")
    for arguments in (("-k", "fr"), ("-k", "capital")):
        assert "error" not in project(*chosen, *arguments).stdout
    store = new_store(project.folder / "there")
    assert store.sql("SELECT suite, run_id, n_results FROM runs").fetchall() == [("s", "r", 3)]
    text = PROJECT.replace('"de": "Berlin"', '"de": "Bonn"')
    (project.folder / "test_it.py").write_text(text)
    ended = project(*chosen, "-k", "capital")
    assert ended.stdout.count("ERROR at teardown") == 1
    assert "run 'r' has another result for task 'test_it.py::test_capital[de]'" in ended.stdout
    assert "Traceback" not in ended.stdout
    assert store.sql("SELECT n_results FROM runs").fetchall() == [(3,)]


@pytest.mark.campaign
def test_mistakes_are_messages(project):
    (project.folder / "pytest.ini").write_text("[pytest]\n")
    ended = project("-k", "fr")
    assert "test_it.py::test_capital[fr] uses evalstore_run, but no model is named" in ended.stdout
    assert "evalstore_pytest.py" not in ended.stdout  # no traceback
    ended = project("-k", "fr", "--evalstore-model", "m", "--evalstore-suite", "posters")
    assert "suite 'posters' is built in" in ended.stdout
    (project.folder / "test_it.py").write_text(
        "import pytest\n\n\ndef test_a(evalstore_run):\n    evalstore_run.log(output=7)\n\n\n"
        "@pytest.mark.evalstore(modell='m')\ndef test_b(evalstore_run):\n    pass\n"
    )
    ended = project("--evalstore-model", "m")
    assert "output is 7: pass text" in ended.stdout
    assert "the marker is evalstore(model=..., suite=...)" in ended.stdout
    assert not list(project.folder.glob("store/journals/*.jsonl"))


def test_the_store_is_that_of_the_environment(project, tmp_path):
    project("-k", "fr", EVALSTORE_DIR=str(tmp_path / "elsewhere"))
    assert len(new_store(tmp_path / "elsewhere").sql("FROM results").fetchall()) == 1


def test_a_process_that_is_killed_leaves_the_results_of_the_tests_before(project):
    (project.folder / "test_it.py").write_text(
        "import os, signal\n\n\ndef test_a(evalstore_run):\n    evalstore_run.log(output='x')\n\n\n"
        "def test_b(evalstore_run):\n    evalstore_run.log(output='y')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert project().returncode < 0
    store = new_store(project.folder / "store", on_warning=pytest.fail)
    assert store.sql("SELECT raw_output, is_correct FROM results").fetchall() == [("x", True)]


@pytest.mark.campaign
def test_nothing_is_imported_until_the_fixture_is_used(project):
    code = """
import sys
import pytest
before = set(sys.modules)
import evalstore_pytest
print(sorted(set(sys.modules) - before))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "['evalstore_pytest']"
    (project.folder / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_sessionfinish():\n"
        "    names = {name.partition('.')[0] for name in sys.modules}\n"
        "    print('imported:', sorted(names & {'evalstore', 'warehouse', 'duckdb', 'pyarrow'}))\n"
    )
    for arguments, imported in (
        (("-k", "without"), "imported: []"),
        (("-k", "without", "-n", "1"), "imported: []"),
        (("-k", "fr"), "imported: ['duckdb', 'evalstore', 'warehouse']"),
    ):
        assert imported in project("-s", *arguments).stdout
