"""Settings of other tools among logs: each is named, none is a log."""

import json

import pytest
from large_logs import write_promptfoo_database
from support import import_into, write_log

from ingest.reconciliation import FileOutcome

SETTINGS = {
    "promptfoo.yaml": ("id: 6b1f\naccount:\n  email: a@b.c\n", "settings of promptfoo"),
    "promptfooconfig.yaml": (
        "# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json\nx: 1\n",
        "settings of promptfoo",
    ),
    "a.yml": (
        "description: toy\nprompts:\n- 'Say {{q}}'\nproviders: [echo]\ntests: []\n",
        "settings of promptfoo",
    ),
    "red.yaml": ("targets: [echo]\nredteam:\n  plugins: []\n", "settings of promptfoo"),
    "user.yaml": ("id: 15a443bb-d8be-4439-8e4b-0e43c7ec1a22\n", "settings of promptfoo"),
    "old.yaml": ("results:\n  version: 2\n  results: []\n", "export them as JSON"),
    "none.yaml": ("{}\n", "an empty document"),
    "out.yaml": ("evalId: e\nresults:\n  version: 3\n", "export them as JSON"),
    "task.yaml": (
        "task: toy\ndataset_path: json\ndoc_to_text: !function utils.text\n",
        "a task or group of lm-evaluation-harness",
    ),
    "group.yaml": ("group: toys\ntask:\n- toy\n", "a task or group of lm-evaluation-harness"),
    "registry.yaml": (
        "toy.dev.v0:\n  class: evals.elsuite.basic.match:Match\n",
        "a registry of openai/evals",
    ),
    "model_deployments.yaml": ("model_deployments:\n- name: a/b\n", "settings of HELM"),
    "models.yaml": ("models:\n- name: a/b\n  creator_organization_name: A\n", "settings of HELM"),
    "compose.yaml": ("services:\n  default:\n    image: alpine\n", "a Docker Compose file"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_named(store, tmp_path, name):
    text, what = SETTINGS[name]
    path = tmp_path / "logs" / name
    write_log(tmp_path / "logs" / "log.yaml")
    path.write_text(text, "utf-8")
    summary = import_into(store, tmp_path / "logs")
    assert summary.outcomes == {FileOutcome.IMPORTED: 1, FileOutcome.DECLINED: 1}
    assert any(
        each.startswith(f"{path}: not imported: ") and what in each for each in summary.messages
    )
    assert summary.n_quarantined == 0


@pytest.mark.parametrize("name", SETTINGS)
def test_a_log_that_quotes_settings_is_a_log(store, tmp_path, name):
    text, _ = SETTINGS[name]
    path = write_log(tmp_path / "log.yaml")
    path.write_text(f"{path.read_text('utf-8')}\n# {text!r}\n", "utf-8")
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"# {line}\n" for line in text.splitlines()))
    assert import_into(store, path).outcomes == {FileOutcome.IMPORTED: 1}


def test_other_yaml_is_quarantined(store, tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text("services: 12\nid: 3\n", "utf-8")
    summary = import_into(store, path)
    assert summary.outcomes == {FileOutcome.QUARANTINED: 1}
    assert "of no known format" in summary.messages[0]


def test_the_log_of_a_database_goes_with_it(store, tmp_path):
    write_promptfoo_database(tmp_path / "logs", 2000)
    for ending in ("-wal", "-shm"):
        (tmp_path / "logs" / f"promptfoo.db{ending}").write_bytes(b"")
    (tmp_path / "logs" / "notes-wal").write_text("nothing")
    summary = import_into(store, tmp_path / "logs")
    assert summary.outcomes == {FileOutcome.IMPORTED: 1, FileOutcome.DECLINED: 2}
    assert summary.n_other == 1
    assert all("it goes with promptfoo.db" in each for each in summary.messages)


def test_files_of_a_suite_of_helm(store, tmp_path):
    for name in ("groups_metadata.json", "costs.json", "runs_to_run_suites.json"):
        content = {"display_name": 1, "taxonomy": 2} if name.startswith("groups") else {}
        (tmp_path / name).write_text(json.dumps(content))
    assert import_into(store, tmp_path).outcomes == {FileOutcome.DECLINED: 3}
