"""The page "Your own suite": its example runs, and it describes everything a suite can contain."""

import json
import re
import shlex

import pytest
from support import ROOT, command, new_store

from runners.models.model_files import read_model_file
from runners.suites.custom.suite import _SUITE_KEYS
from runners.suites.custom.tasks import _TASK_KEYS
from warehouse.core.formats.yaml.documents import load
from warehouse.engine.scoring.custom.comparisons import WHITESPACE_MODES
from warehouse.engine.scoring.custom.scorers import SCORERS
from warehouse.engine.scoring.openclaw.json_keys import RULE_TYPES
from warehouse.engine.scoring.openclaw.prompt_check import _KEYS
from warehouse.engine.scoring.openclaw.validators import CHECKS

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
PAGE = (ROOT / "docs/your-own-suite.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


SUITE, MODEL = blocks("yaml")
(FUNCTIONS,) = blocks("python")
(ANSWERS,) = blocks("json")
(SESSION,) = blocks("console")


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tour.yaml").write_text(SUITE)
    (tmp_path / "tour_scorers.py").write_text(FUNCTIONS)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    new_store(tmp_path / "store")
    return tmp_path


@pytest.mark.slow
def test_example_of_the_page_gives_the_output_it_shows(space):
    run, query, *output = SESSION.splitlines()
    ended = command(space / "store", *shlex.split(run.removeprefix("$ evalstore ")))
    assert (ended.code, "warning" in ended.err) == (0, False), ended.err
    ended = command(space / "store", *shlex.split(query.removeprefix("$ evalstore ")))
    assert ended.out.splitlines() == output
    store = new_store(space / "store")
    assert store.sql("FROM verdict_drift").fetchall() == []
    assert store.sql("FROM leaderboard").fetchall() == []
    assert len(store.sql("FROM replay_leaderboard").fetchall()) == 1
    (query,) = blocks("sql")
    assert store.sql(query).fetchall() == [("openai/gpt-4o", 1, None)]


def test_message_of_the_page_is_the_one_printed(space):
    (shown,) = blocks("text")
    wrong = SUITE.replace("ignore_case: true, whitespace", "ignore_cass: true, whitespace")
    (space / "tour.yaml").write_text(wrong)
    ended = command(space / "store", "run", "tour.yaml", "-m", "m", "--provider", "replay")
    assert ended.err == f"error: {shown}"


def test_example_uses_every_scorer_and_validator():
    tasks = load(SUITE.encode())["tasks"]
    used = [task["scorer"] for task in tasks if "scorer" in task]
    types = {rule if isinstance(rule, str) else rule["type"] for rule in used}
    assert types | {"validator"} == SCORERS.keys()
    assert {task["validator"]["type"] for task in tasks if "validator" in task} == CHECKS.keys()
    assert {json.loads(line)["task"] for line in ANSWERS.splitlines()} == {
        *(task["id"] for task in tasks),
        "judge tone",
    }


def test_page_describes_every_key_and_option():
    named = set(re.findall(r"`(?:tasks\[\]\.)?([\w]+)`", PAGE))
    known = {*_SUITE_KEYS, *_TASK_KEYS} - {"expected_tool_calls"}  # of OpenClaw files
    known |= {option for scorer in SCORERS.values() for option in scorer.options} - {"validator"}
    known |= {key for keys in _KEYS.values() for key in keys}
    known |= {*CHECKS, *RULE_TYPES, *WHITESPACE_MODES}
    # As `runners/providers/replay.py` reads them.
    known |= {"text", "model", "attempt", "input_tokens", "output_tokens", "ttft_ms", "cost_usd"}
    known |= {"delay_ms", "availability_status", "failure_type"}
    assert known - named == set()


def test_model_file_of_the_page_is_valid(tmp_path):
    path = tmp_path / "local.yaml"
    path.write_text(MODEL)
    assert read_model_file(path).warnings == ()
