"""Reports of SWE-bench's harnesses, on a run or on one instance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, finite_number, list_of, object_of
from ingest.formats.common.trials import end_reason, system_row
from ingest.formats.swe_bench.trials import (
    PRO,
    TrialRows,
    has_file,
    of_memory,
    read_json,
    rejecting,
    run_name,
)
from ingest.reading import Reject
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ingest.reading import ImportContext, Reading
    from warehouse.core.types import (
        JsonObject,
        JsonText,
        ReportedMetricRow,
        ResultRow,
        ResultScoreRow,
        RunRow,
    )

_FORM = "SWE-bench report"
# The lists of a run report, and the verdict that an instance of each has.
_VERDICTS = {
    "resolved": True,
    "unresolved": False,
    "empty_patch": False,
    "error": None,
    "failed": None,
    "pending": None,
}
_COMPLETED = ("resolved", "unresolved")
_BROKEN = {"error", "failed"}
# The lists of older reports of which an instance in it has no verdict.
_NOT_JUDGED = ("no_logs", "install_fail", "reset_failed", "test_errored", "test_timeout")
_OF_INSTANCE = "instance report"
_INSTANCE_REPORT = "{}/report.json"
_SPLIT = re.compile(r"(?P<label>.+)\.(?P<run>\D.*)")
_CHECK_CLASSES = {"FAIL_TO_PASS": "fail_to_pass", "PASS_TO_PASS": "pass_to_pass"}
_LISTS_ONLY = "its instances are listed without those that were not resolved: no trials"
_DATA_SET = "the size of the data set, of which the report lists no trials"


def read_report(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a report: of a run, of an instance, or a map of instances to verdicts."""
    value, problem = read_json(path, context)
    if problem is not None:
        yield problem
    elif isinstance(value, dict):
        yield _reading(value, path, context)
    elif value is not None:
        yield rejecting(path, "not a JSON object", None)


def _reading(value: JsonObject, path: Path, context: ImportContext) -> Reading:
    header: RunRow = {"source_name": utf8(path.name)}
    if "resolved_ids" in value or "submitted_ids" in value:
        trials = _run_report(value, path)
        header["extra"] = _not_submitted(value)
    elif "no_generation" in value:
        trials = _resolved_lists(value, path)
    elif "total_instances" in value:
        trials = _figures_of_arms(value, path)
    elif all(isinstance(each, dict) for each in value.values()):
        trials = _instance_reports(value, path, context)
    else:
        trials = _verdict_map(value, path)
    return of_memory(_FORM, path, trials, header)


def _run_report(value: JsonObject, path: Path) -> TrialRows:
    run_id, label = _run_and_label(path.stem)
    trials = TrialRows(path, run_id)
    trials.add_system(system_row(agent=None, harness="swe-bench", label=label))
    statuses = dict.fromkeys(_listed_ids(value, "submitted_ids"), "submitted")
    for status in reversed(_VERDICTS):
        statuses |= dict.fromkeys(_listed_ids(value, f"{status}_ids"), status)
    logs = path.parent / "logs" / "run_evaluation" / run_id / label
    for instance, status in statuses.items():
        if has_file(logs, instance, _INSTANCE_REPORT):  # which says more
            _add_second_verdict(trials, label, instance, status, path)
        else:
            _add_status(trials, label, instance, status)
    for seq, (name, figure) in enumerate(value.items(), 1):
        number = finite_number(figure)
        if name.endswith("_instances") and number is not None:
            row = _figure(name, number, seq, label)
            trials.add("reported_metrics", f"figures {path.name}", row, run_id, name, number)
    return trials


def _run_and_label(stem: str) -> tuple[str, str]:
    """Return run and label, from the name of a run report.

    Both may have dots in them: that between is the last one that no digit follows, if any.
    """
    _, _, rest = stem.partition("__")
    _, _, run_id = rest.partition("__")
    if run_id and "." not in run_id:
        return utf8(run_id), utf8(run_id)  # of sb-cli: subset, split and run
    found = _SPLIT.fullmatch(stem)
    label, run_id = found.group("label", "run") if found else stem.rpartition(".")[::2]
    return utf8(run_id), utf8(label or run_id)


def _add_status(trials: TrialRows, label: str, instance: str, status: str) -> None:
    passed = _VERDICTS.get(status)
    is_broken = status in _BROKEN
    row: ResultRow = {
        "system": label,
        "trial_id": instance,
        "task_id": instance,
        "objective_pass": passed,
        "availability_status": "error" if is_broken else "ok",
        "failure_type": f"harness:{status}" if is_broken else None,
        "end_reason": end_reason("error" if is_broken else None, passed=passed),
        "extra": canonical_json({"status": status, "counts": _counts(status)}),
    }
    trials.add_result("report", row)


def _add_second_verdict(
    trials: TrialRows, label: str, instance: str, status: str, path: Path
) -> None:
    """Add what a report says of a trial that the report of the instance has."""
    result_id, passed = trials.result_id(_OF_INSTANCE, label, instance), _VERDICTS.get(status)
    row: ResultScoreRow = {
        "result_id": result_id,
        "scorer": "run report",
        "metric": "resolved",
        "value": None if passed is None else float(passed),
        "text": status if passed is None else None,
        "passed": passed,
        "check_class": "harness",
        "counts": False,
    }
    trials.add("result_scores", f"figures {path.name}", row, result_id, status)


def _counts(status: str) -> JsonObject:
    """Return what the figures of a run report add up."""
    counts: JsonObject = {name: int(name == status) for name in _VERDICTS}
    return {**counts, "submitted": 1, "completed": int(status in _COMPLETED)}


def _figure(name: str, value: float, seq: int, label: str) -> ReportedMetricRow:
    row: ReportedMetricRow = {"seq": seq, "model": label, "metric": utf8(name), "value": value}
    counted = name.removesuffix("_instances")
    if counted in _counts(""):
        score = f"results.extra.counts.{counted}"
        return {**row, "score": score, "statistic": "sum", "reducer": "none"}
    return {**row, "reason": _DATA_SET if counted == "total" else "how it is counted is not known"}


def _not_submitted(value: JsonObject) -> JsonText | None:
    left = {
        name: each
        for name, each in value.items()
        if name in {"incomplete_ids", "schema_version"} and each
    }
    return canonical_json(left) if left else None


def _resolved_lists(value: JsonObject, path: Path) -> TrialRows:
    trials = TrialRows(path, label := run_name(path))
    trials.add_system(system_row(agent=None, harness="swe-bench", label=label))
    statuses = {each: "unresolved" for name in value for each in _listed_ids(value, name)}
    for name in _NOT_JUDGED:
        statuses |= dict.fromkeys(_listed_ids(value, name), "error")
    statuses |= dict.fromkeys(_listed_ids(value, "no_generation"), "empty_patch")
    statuses |= dict.fromkeys(_listed_ids(value, "resolved"), "resolved")
    for instance, status in statuses.items():
        if has_file(path.parent.parent / "logs", instance, _INSTANCE_REPORT):
            _add_second_verdict(trials, label, instance, status, path)
        else:
            _add_status(trials, label, instance, status)
    return trials


def _verdict_map(value: JsonObject, path: Path) -> TrialRows:
    trials = TrialRows(path, label := run_name(path))
    trials.add_system(system_row(agent=None, harness="swe-bench-pro", label=label))
    for instance, passed in value.items():
        if not isinstance(passed, bool):
            raw = canonical_json({instance: passed}).encode()
            trials.rows.rejects.append(Reject(f"{utf8(instance)}: not true or false", raw=raw))
            continue
        row: ResultRow = {
            "task_set": PRO,
            "system": label,
            "trial_id": utf8(instance),
            "task_id": utf8(instance),
            "objective_pass": passed,
            "end_reason": end_reason(None, passed=passed),
        }
        trials.add_result("report", row)
    return trials


def _instance_reports(value: JsonObject, path: Path, context: ImportContext) -> TrialRows:
    run_id, label = _names_of_folders(path)
    trials = TrialRows(path, run_id)
    trials.add_system(system_row(agent=None, harness="swe-bench", label=label))
    patch = context.read(path.with_name("patch.diff")) if _has_patch(path, value) else None
    for instance, report in value.items():
        fields = Fields(report)
        passed, tests = fields.boolean("resolved"), object_of(fields.value("tests_status"))
        status = "resolved" if passed else "unresolved"
        row: ResultRow = {
            "system": label,
            "trial_id": utf8(instance),
            "task_id": utf8(instance),
            "objective_pass": passed,
            "end_reason": end_reason(None, passed=passed),
            "raw_output": None if patch is None else patch.data.decode("utf-8", "replace"),
            "extra": fields.extra(counts=None if passed is None else _counts(status)),
        }
        result_id = trials.add_result(_OF_INSTANCE, row)
        _add_checks(tests, result_id, trials)
    return trials


def _has_patch(path: Path, value: JsonObject) -> bool:
    return len(value) == 1 and path.with_name("patch.diff").is_file()


def _names_of_folders(path: Path) -> tuple[str, str]:
    """Return run and label, from the folders of an instance's report."""
    folders = path.parts[-5:-1]
    if folders[:1] == ("run_evaluation",):
        return utf8(folders[1]), utf8(folders[2])
    run_id = run_name(path.parent)
    return run_id, run_id


def _add_checks(tests: Mapping[str, object], result_id: str, trials: TrialRows) -> None:
    for name, found in tests.items():
        for outcome in ("success", "failure"):
            for at, test in enumerate(list_of(object_of(found).get(outcome))):
                passed = outcome == "success"
                row: ResultScoreRow = {
                    "scorer": "swe-bench",
                    "metric": utf8(str(test)),
                    "value": float(passed),
                    "passed": passed,
                    "check_class": _CHECK_CLASSES.get(name, "test"),
                    "counts": name in _CHECK_CLASSES,
                    "extra": None if name in _CHECK_CLASSES else canonical_json({"class": name}),
                }
                trials.add_part("result_scores", result_id, row, name, outcome, at, test)


def _figures_of_arms(value: JsonObject, path: Path) -> TrialRows:
    """Return the figures of a file that compares systems, each with its resolved instances."""
    trials = TrialRows(path, utf8(path.stem))
    for seq, (arm, figures) in enumerate(value.items(), 1):
        listed = figures.items() if isinstance(figures, dict) else [("", figures)]
        for name, figure in listed:
            number = finite_number(figure)
            if number is not None:
                metric = f"{arm}.{name}" if name else arm
                row = {"seq": seq, "metric": utf8(metric), "value": number, "reason": _LISTS_ONLY}
                trials.add("reported_metrics", f"figures {path.name}", row, metric, number)
    return trials


def _listed_ids(value: JsonObject, name: str) -> list[str]:
    return [utf8(each) for each in list_of(value.get(name)) if isinstance(each, str)]
