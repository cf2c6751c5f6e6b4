"""Which folders are runs of HELM, and which files go with them.

A suite is a folder of runs, `<output>/runs/<suite>/<run>/`. Copies on other file systems have other
names: the run's own name is in its `run_spec.json`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reading import Candidate

SUITE = "helm"
RUN_SPEC = "run_spec.json"
SCENARIO = "scenario.json"
STATE = "scenario_state.json"
INSTANCES = "per_instance_stats.json"
STATS = "stats.json"
_PARTS = (STATE, INSTANCES, STATS)
_WORDS = (b'"adapter_spec"', b'"scenario_spec"')
# What `helm-summarize` makes of the runs of a suite, with words of its beginning.
_DERIVED = {
    "run_specs.json": (b'"adapter_spec"', b'"scenario_spec"'),
    "runs.json": (b'"run_spec"', b'"run_path"'),
    "summary.json": (b'"suites"',),
    "groups_metadata.json": (b'"display_name"', b'"taxonomy"'),
    "schema.json": (b'"metrics"', b'"display_name"'),
    "costs.json": (b"{",),
    "runs_to_run_suites.json": (b"{",),
}
_MODEL = re.compile(r"(?:^|(?<=[:,]))model(?:_deployment)?=[^,]*,?")


def is_run(candidate: Candidate) -> bool:
    """Return whether a folder is a run."""
    if not candidate.is_folder:
        return False
    head = candidate.inside(RUN_SPEC).head
    return all(word in head for word in _WORDS) and any(
        candidate.inside(name).is_file for name in _PARTS
    )


def is_derived(candidate: Candidate) -> bool:
    """Return whether a file of a suite only repeats what its runs have."""
    words = _DERIVED.get(candidate.path.name)
    if words is None or not all(word in candidate.head for word in words):
        return False
    # The names are not HELM's only; the files are never without the others.
    return candidate.path.with_name("groups_metadata.json").is_file()


def run_id_of(path: Path, name: str) -> str:
    """Return the id of a run: its suite, where the folders name one, and its name."""
    suite = path.parent.name if path.parent.parent.name == "runs" else ""
    return utf8(f"{suite}/{name}" if suite else name)


def task_set_of(name: str) -> str:
    """Return the task set of a run: its name without the model."""
    return utf8(_MODEL.sub("", name).rstrip(":,")) or utf8(name)
