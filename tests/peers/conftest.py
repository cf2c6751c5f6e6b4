import json
import os
import subprocess
from pathlib import Path

import pytest
from support import ROOT

# Where `make peers` installs the tools, each in an environment of its own.
TOOLS = Path(os.environ.get("EVALSTORE_TOOLS", ROOT / "build/tools"))
HERE = Path(__file__).parent
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
}
SECONDS = 600
COLOURS = ["red", "green", "blue"]
QUESTIONS = [
    {
        "id": f"q{number}",
        "question": f"Which colour has flag {number} of Za\u0308hringen?",
        "choices": COLOURS,
        "answer": COLOURS[number % 3],
        "subject": "odd" if number % 4 == 0 else "plain",
    }
    for number in range(1, 13)
]


def _run(*arguments, codes=(0,), **variables):
    """Run a program of a tool, and return its output; fail if it does."""
    done = subprocess.run(
        list(map(str, arguments)),
        env={**os.environ, **OFFLINE, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


def _installed(tool, path):
    if not (TOOLS / tool / ".ready").exists():
        pytest.skip(f"{tool} is not installed in {TOOLS} (`make peers`)")
    return TOOLS / tool / path


@pytest.fixture(scope="session")
def inspect_program():
    """Return a function that gives the path of a program of Inspect's environment."""
    return _installed("inspect", "bin").joinpath


@pytest.fixture(scope="session")
def inspect(inspect_program):
    """Return a function that runs a program of Inspect's environment."""
    return lambda name, *arguments: _run(inspect_program(name), *arguments)


@pytest.fixture(scope="session")
def inspect_logs(inspect, tmp_path_factory):
    """Return a folder of logs that Inspect has just written with its offline model."""
    folder = tmp_path_factory.mktemp("inspect")
    questions = folder / "questions.json"
    questions.write_text(json.dumps(QUESTIONS), "utf-8")
    inspect("python", HERE / "inspect_logs.py", questions, folder / "logs")
    return folder / "logs"


@pytest.fixture(scope="session")
def harbor():
    """Return a function that runs a program of Harbor's environment."""
    folder = _installed("harbor", "bin")
    return lambda name, *arguments: _run(folder / name, *arguments)


@pytest.fixture(scope="session")
def lm_eval_logs(tmp_path_factory):
    """Return a folder of logs that lm-eval has just written with its dummy model."""
    program = _installed("lm_eval", "bin/lm_eval")
    folder = tmp_path_factory.mktemp("lm_eval")
    data = folder / "questions.jsonl"
    data.write_text("".join(json.dumps(each) + "\n" for each in QUESTIONS), "utf-8")
    tasks = folder / "tasks"
    tasks.mkdir()
    for path in (HERE / "lm_eval").glob("*.yaml"):
        text = path.read_text("utf-8").replace("QUESTIONS", str(data))
        (tasks / path.name).write_text(text, "utf-8")
    for names in (["colours"], ["colour_word", "colour_text"]):
        _run(
            *(program, "run", "--model", "dummy", "--tasks", ",".join(names), "--log_samples"),
            *("--include_path", tasks, "--output_path", folder / "logs"),
            HF_HOME=str(folder / "cache"),
        )
    return folder / "logs"


@pytest.fixture(scope="session")
def promptfoo_logs(tmp_path_factory):
    """Return a folder of exports that promptfoo has just written, and its database."""
    program = _installed("promptfoo", "node_modules/.bin/promptfoo")
    folder = tmp_path_factory.mktemp("promptfoo")
    (folder / "logs").mkdir()
    for path in (HERE / "promptfoo").glob("*.js"):
        (folder / path.name).write_bytes(path.read_bytes())
    config = {
        "description": "colours",
        "prompts": ["{{question}}", "Answer with a word: {{question}}"],
        "providers": ["file://provider.js"],
        "tests": [
            {
                "vars": {key: each[key] for key in ("question", "answer")},
                "assert": [
                    {"type": "equals", "value": "{{answer}}", "metric": "right"},
                    {"type": "javascript", "value": "output.length / 8", "metric": "length"},
                    {"type": "contains-any", "value": COLOURS, "weight": 2},
                ],
            }
            for each in QUESTIONS
        ],
    }
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    outputs = [f"--output={folder / 'logs' / name}" for name in ("out.json", "out.jsonl")]
    _run(
        *(TOOLS / "promptfoo/node/bin/node", program, "eval", "--config", folder / "config.json"),
        *(*outputs, "--repeat", 2, "--no-table", "--no-progress-bar"),
        codes=(0, 100),  # 100: some tests failed
        PROMPTFOO_CONFIG_DIR=str(folder / "home"),
        PROMPTFOO_CACHE_PATH=str(folder / "cache"),
    )
    (folder / "home" / "promptfoo.db").rename(folder / "logs" / "promptfoo.db")
    for path in (folder / "home").glob("promptfoo.db-wal"):
        path.rename(folder / "logs" / path.name)
    return folder / "logs"
