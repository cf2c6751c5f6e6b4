"""The workflow of `docs/gates.md`, step by step in a scratch repository."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import pytest
from support import ROOT

from warehouse.core.formats.yaml.documents import load

PAGE = (ROOT / "docs" / "gates.md").read_text("utf-8")
SCRIPT = re.search(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1]
RULES, WORKFLOW = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1:]
[CONFIRMING] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
STEPS = {
    step["name"]: step
    for step in load(WORKFLOW.encode())["jobs"]["gate"]["steps"]
    if "name" in step
}
N_TASKS = 60


@dataclass
class Job:
    """What a job of the workflow did."""

    code: int
    out: str
    summary: str
    junit: ET.Element


@pytest.fixture
def repository(tmp_path):
    """Return a scratch repository, with `evalstore` and `python` on the PATH."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "support.py").write_text(SCRIPT)
    (tmp_path / "gate.yaml").write_text(RULES)
    (tmp_path / "bin").mkdir()
    for name, words in (("evalstore", "-m evalstore"), ("python", "")):
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    return tmp_path


def write(repository, *, names=None, wrong=(), answered=N_TASKS):
    """Write the tasks and the answers of a version."""
    names = names or [f"t{n}" for n in range(N_TASKS)]
    tasks = {name: {"prompt": f"question {name}", "right": "yes"} for name in names}
    answers = {name: "no" if name in wrong else "yes" for name in names}
    (repository / "evals" / "tasks.json").write_text(
        json.dumps(dict(list(tasks.items())[:answered]))
    )
    (repository / "answers.json").write_text(json.dumps(answers))


def job(repository, commit, *, is_main=False, is_confirming=False):
    """Run the steps of the job in a fresh checkout; the artefact is a folder next to it."""
    checkout, kept = repository / "checkout", repository / "artefact"
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    for name in ("evals", "gate.yaml", "answers.json"):
        source = repository / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, checkout / name)
    if kept.is_dir():
        shutil.copytree(kept, checkout / "baseline" / "lake")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("EVALSTORE")},
        "PATH": f"{repository / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "CANDIDATE": f"commit-{commit}",
        "INCONCLUSIVE": "warn" if is_main else "fail",
        "GITHUB_STEP_SUMMARY": str(checkout / "summary.md"),
    }
    names = ["evaluate", "import the baseline", "gate", *(["tag the run"] if is_main else [])]
    scripts = [STEPS[name]["run"] for name in names]
    if is_confirming:
        scripts = [STEPS["import the baseline"]["run"], CONFIRMING]
    code, out = 0, ""
    for script in scripts:
        ended = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=checkout, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in ended.stderr, ended.stderr
        code, out = ended.returncode, out + ended.stdout
        if code:
            break
    if is_main and not code:
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(checkout / STEPS["keep the baseline"]["with"]["path"], kept)
    summary = (checkout / "summary.md").read_text("utf-8")
    return Job(code, out, summary, ET.parse(checkout / "gate.xml").getroot())


@pytest.mark.campaign
def test_the_workflow_from_the_first_push_on(repository):
    write(repository)
    first = job(repository, "1", is_main=True)
    assert first.code == 0
    assert "::warning title=warning%3A max_drop 0.02 of passed::there is no baseline:" in first.out
    assert "⚠️ warning | max_drop 0.02 of passed" in first.summary
    assert first.junit.get("skipped") == "1"

    same = job(repository, "2")
    assert same.code == 0
    assert "the same as the baseline on 60 tasks" in same.summary
    assert "::notice title=evalstore gate::gate passed: 2 passed" in same.out

    write(repository, wrong=[f"t{n}" for n in range(10, 25)])
    worse = job(repository, "3")
    assert worse.code == 1
    assert "::error title=failed%3A max_drop 0.02 of passed (support)::25 points below" in worse.out
    assert "### ❌ gate failed: 1 passed, 1 failed" in worse.summary
    assert worse.junit.get("failures") == "1"

    write(repository, wrong=["t1"])
    must_pass = job(repository, "4")
    assert must_pass.code == 1
    assert "::error title=failed%3A must_pass t1%2C t2::1 task failed at least once: t1" in (
        must_pass.out
    )

    # The failures did not become the baseline; a good push does.
    write(repository)
    assert job(repository, "5", is_main=True).code == 0
    batches = [path for path in (repository / "artefact").iterdir() if path.is_dir()]
    assert len(batches) == 3  # two runs and their tags, merged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (
            {"names": [f"t{n}" for n in range(30)] + [f"new{n}" for n in range(30)]},
            "the candidate has values of 30 of the baseline's 60 tasks (50 %), less than",
        ),
        ({"answered": 30}, "the candidate has values of 30 of the baseline's 60 tasks (50 %)"),
        ({"answered": 3}, "the candidate has values of 3 of the baseline's 60 tasks (5 %)"),
    ],
    ids=["changed tasks", "cut half-way", "a few tasks"],
)
def test_a_pull_request_that_cannot_be_judged_fails_with_the_reason(repository, version, reason):
    write(repository)
    assert job(repository, "1", is_main=True).code == 0
    write(repository, **version)
    ended = job(repository, "2")
    assert ended.code == 1
    assert f"max_drop 0.02 of passed (support)::{reason.replace('%', '%25')}" in ended.out
    assert reason in ended.summary
    assert ended.junit.get("failures") == "1"


@pytest.mark.slow
def test_a_suite_of_one_task_cannot_be_judged(repository):
    write(repository, names=["t1"])
    rules = repository / "gate.yaml"
    rules.write_text(rules.read_text().replace("[t1, t2]", "[t1]"))
    assert job(repository, "1", is_main=True).code == 0
    ended = job(repository, "2")
    assert ended.code == 1
    assert "only 1 task, less than min_tasks (20)" in ended.out


@pytest.mark.slow
def test_a_baseline_that_is_gone_fails_a_pull_request(repository):
    write(repository)
    ended = job(repository, "1")
    assert ended.code == 1
    assert "there is no baseline: tag:branch=main: no run has this tag" in ended.out


@pytest.mark.campaign
@pytest.mark.parametrize(("is_flake", "code"), [(True, 0), (False, 1)])
def test_one_more_run_decides_a_failure(repository, is_flake, code):
    write(repository)
    assert job(repository, "1", is_main=True).code == 0
    assert job(repository, "2", is_main=True).code == 0
    write(repository, wrong=[f"t{n}" for n in range(10, 20)])
    if is_flake:
        # The second evaluation finds the answers of another night.
        script = repository / "bin" / "python"
        line = 'if [[ "$2" == *-again ]]; then sed -i s/no/yes/g answers.json; fi'
        _, rest = script.read_text().split("\n", 1)
        script.write_text(f"#!/bin/bash\n{line}\n{rest}")
    ended = job(repository, "3", is_confirming=True)
    assert "to confirm it, make more runs: 1 of the candidate (with tag:commit=commit-3)" in (
        ended.out
    )
    assert ended.code == code
    verb = "fails" if is_flake else "fails, too"
    assert f"the first run alone {verb} (p = " in ended.out
    assert "tag:commit=commit-3 is runs commit-3, commit-3-again" in ended.summary
