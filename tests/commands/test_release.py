"""Releases: tag, version and changelog go together; the workflow calls what is there."""

import re
import tomllib

import pytest
import yaml
from support import ROOT

from tools.release import release_notes

PYPROJECT = '[project]\nversion = "1.2.3"\n'
CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.3] - 2026-01-02

### Added

- A thing.

## [1.2.2] - 2026-01-01

- Another.
"""


def test_the_notes_are_the_section_of_the_version():
    notes = release_notes("v1.2.3", pyproject=PYPROJECT, changelog=CHANGELOG)
    assert notes == "### Added\n\n- A thing.\n"


@pytest.mark.parametrize(
    ("tag", "old", "new", "message"),
    [
        ("v1.2.4", "", "", "the tag is v1.2.4, but pyproject.toml has version 1.2.3"),
        ("1.2.3", "", "", "the tag is 1.2.3"),
        ("v1.2.3", "[1.2.3]", "[1.2.1]", "no section `## [1.2.3]"),
        ("v1.2.3", " - 2026-01-02", "", "no section `## [1.2.3]"),
        ("v1.2.3", "### Added\n\n- A thing.\n", "", "with a text"),
        ("v1.2.3", "[Unreleased]\n", "[Unreleased]\n\n- New.\n", "lines under [Unreleased]"),
    ],
)
def test_what_does_not_go_together_is_no_release(tag, old, new, message):
    changelog = CHANGELOG.replace(old, new, 1)
    with pytest.raises(ValueError, match=re.escape(message)):
        release_notes(tag, pyproject=PYPROJECT, changelog=changelog)


def test_this_version_has_notes():
    """The version is the newest release's, or the next, whose notes are under Unreleased."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    if version != newest[1]:
        major, minor, _ = map(int, newest[1].split("."))
        assert version in (f"{major}.{minor + 1}.0", f"{major + 1}.0.0")
        unreleased = changelog[: newest.start()].partition("## [Unreleased]")[2]
        assert re.search(r"^- ", unreleased, re.MULTILINE)


def test_the_workflow_has_few_rights_pinned_actions_and_calls_what_is_there():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "build": None,
        "publish": {"id-token": "write"},
        "page": {"contents": "write"},
    }
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert all(re.search(r"@[0-9a-f]{40}$", step["uses"]) for step in steps if "uses" in step)
    commands = "\n".join(step["run"] for step in steps if "run" in step)
    # An expression in a command would be put into the shell's text.
    assert "${{" not in commands
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\S+)$", commands, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for module in re.findall(r"python -m (\S+)", commands):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module
