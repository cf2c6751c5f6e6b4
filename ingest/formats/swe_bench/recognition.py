"""Recognises predictions, reports and trajectories of SWE-bench by their content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_START = rb"(\xef\xbb\xbf)?\s*[\[{]"
_PREDICTION = re.compile(_START)
_REPORT = re.compile(_START + rb"[^\[\]]*\"(total|submitted)_instances\"\s*:\s*\d")
_INSTANCE_REPORT = re.compile(rb'\s*\{\s*"[^"]+"\s*:\s*\{\s*"patch_(is_None|exists)"')
_PRO_MAP = re.compile(rb'\s*\{\s*"instance_[^"]+"\s*:\s*(true|false)\s*[,}]')
_RESOLVED_LISTS = re.compile(rb'\s*\{[^{}]*"no_generation"\s*:\s*\[')
_ROW = re.compile(rb'\s*\{\s*"(instanceId|instance_id)"\s*:')
_FIGURES = re.compile(rb'\s*\{[^\[\]]*"total_instances"[^\[\]]*\{[^\[\]]*"resolved_ids"\s*:\s*\[')
_MINI = re.compile(rb'\s*(\[\s*\{\s*"role"|\{)')
_TRAJECTORY_WORDS = (b'"trajectory"', b'"history"', b'"environment"')


def is_predictions(candidate: Candidate) -> bool:
    """Return whether a file holds predictions: lines, a list, or an object by instance."""
    head = candidate.head
    words = (b'"instance_id"', b'"model_name_or_path"', b'"model_patch"')
    return (
        candidate.path.suffix in {".jsonl", ".json"}
        and _PREDICTION.match(head) is not None
        and all(word in head for word in words)
    )


def is_report(candidate: Candidate) -> bool:
    """Return whether a file is a report of a harness, on a run or on one instance."""
    head = candidate.head
    if candidate.path.suffix != ".json":
        return False
    if _FIGURES.match(head) or _INSTANCE_REPORT.match(head) or _PRO_MAP.match(head):
        return True
    is_run = _REPORT.match(head) is not None and b'_ids"' in head
    return is_run or (_RESOLVED_LISTS.match(head) is not None and b'"resolved"' in head)


def is_rows(candidate: Candidate) -> bool:
    """Return whether a file holds what agents took for each instance."""
    head = candidate.head
    if _ROW.match(head) is None or candidate.path.suffix not in {".jsonl", ".json"}:
        return False
    is_tool = b'"numTurns"' in head and b'"resolved"' in head
    return is_tool or (b'"metrics"' in head and b'"turns"' in head)


def is_swe_agent(candidate: Candidate) -> bool:
    """Return whether a file is a trajectory of SWE-agent."""
    is_object = candidate.begins_object_with(suffix=".traj")
    return is_object and any(word in candidate.head for word in _TRAJECTORY_WORDS)


def is_mini(candidate: Candidate) -> bool:
    """Return whether a file is a trajectory of mini-swe-agent."""
    named = candidate.path.name.endswith(".traj.json")
    return named and _MINI.match(candidate.head) is not None


def is_settings(candidate: Candidate) -> bool:
    """Return whether a file describes a submission, or the runs of SWE-agent in its folder."""
    folder = candidate.path.parent
    if candidate.path.name == "metadata.yaml":
        return any((folder / name).exists() for name in ("all_preds.jsonl", "trajs", "logs"))
    is_named = candidate.path.name in {"args.yaml", "run_batch.config.yaml"}
    return is_named and b"agent:" in candidate.head


_records = Late("swe_bench.records")
_trajectories = Late("swe_bench.trajectories")
FORMAT = Format(
    "SWE-bench",
    readers={
        243: Reader("SWE-agent trajectory", is_swe_agent, _trajectories.read_swe_agent),
        244: Reader("mini-swe-agent trajectory", is_mini, _trajectories.read_mini),
        245: Reader("SWE-bench predictions", is_predictions, _records.read_predictions),
        246: Reader("SWE-bench report", is_report, Late("swe_bench.reports").read_report),
        248: Reader("SWE-bench settings", is_settings, _trajectories.read_settings),
        247: Reader("SWE-bench tool rows", is_rows, _records.read_rows),
    },
    suites=("swe-bench",),
)
