"""Reports of SWE-bench's harnesses, on a run or on one instance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.documents import read_object
from ingest.formats.common.fields import Fields, finite_number, inner, list_of, object_of
from ingest.formats.common.trials import figure_row, outcome, score_row
from ingest.formats.swe_bench.trials import PRO, TrialRows, has_file, run_name
from ingest.reading import Reject
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ingest.reading import ImportContext, Reading
    from warehouse.core.types import JsonObject, JsonText, ResultRow, RunRow

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
_UNKNOWN = "how it is counted is not known"
_DATA_SET = "the size of the data set, of which the report lists no trials"


def read_report(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a report: of a run, of an instance, or a map of instances to verdicts."""
    value = yield from read_object(path, context, _FORM)
    if value is None:
        return
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
    yield trials.reading(_FORM, header)


def _run_report(value: JsonObject, path: Path) -> TrialRows:
    run_id, label = _run_and_label(path.stem)
    trials = TrialRows(path, run_id)
    trials.add_judged(label)
    statuses = dict.fromkeys(_listed_ids(value, "submitted_ids"), "submitted")
    for status in reversed(_VERDICTS):
        statuses |= dict.fromkeys(_listed_ids(value, f"{status}_ids"), status)
    _add_statuses(trials, label, statuses, path.parent / "logs" / "run_evaluation" / run_id / label)
    for seq, (name, figure) in enumerate(value.items(), 1):
        number = finite_number(figure)
        if name.endswith("_instances") and number is not None:
            _add_figure(trials, label, name, number, seq)
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


def _add_statuses(trials: TrialRows, label: str, statuses: Mapping[str, str], logs: Path) -> None:
    """Add the trials of a report, or its second verdict of those whose own report says more."""
    for instance, status in statuses.items():
        passed = _VERDICTS.get(status)
        if has_file(logs, instance, _INSTANCE_REPORT):
            result_id = trials.result_id(_OF_INSTANCE, label, instance)
            score = score_row(
                "resolved",
                status if passed is None else passed,
                passed=passed,
                scorer="run report",
                check_class="harness",
                counts=False,
            )
            owner = f"figures {trials.path.name}"
            trials.add("result_scores", owner, {**score, "result_id": result_id}, result_id, status)
            continue
        is_broken = status in _BROKEN
        row = outcome(
            passed=passed,
            cause="error" if is_broken else None,
            failure=f"harness:{status}" if is_broken else None,
        )
        row["extra"] = canonical_json({"status": status, "counts": _counts(status)})
        trials.add_result("report", label, instance, row)


def _counts(status: str) -> JsonObject:
    """Return what the figures of a run report add up."""
    counts: JsonObject = {name: int(name == status) for name in _VERDICTS}
    return {**counts, "submitted": 1, "completed": int(status in _COMPLETED)}


def _add_figure(trials: TrialRows, label: str, name: str, value: float, seq: int) -> None:
    counted = name.removesuffix("_instances")
    reason = None if counted in _counts("") else _UNKNOWN
    row = figure_row(
        name,
        value,
        score=f"results.extra.counts.{counted}",
        reason=_DATA_SET if counted == "total" else reason,
    )
    trials.add_figure({**(row or {}), "seq": seq, "model": label}, trials.run_id, name, value)


def _not_submitted(value: JsonObject) -> JsonText | None:
    left = {
        name: each
        for name, each in value.items()
        if name in {"incomplete_ids", "schema_version"} and each
    }
    return canonical_json(left) if left else None


def _resolved_lists(value: JsonObject, path: Path) -> TrialRows:
    trials = TrialRows(path, label := run_name(path))
    trials.add_judged(label)
    statuses = {each: "unresolved" for name in value for each in _listed_ids(value, name)}
    for name in _NOT_JUDGED:
        statuses |= dict.fromkeys(_listed_ids(value, name), "error")
    statuses |= dict.fromkeys(_listed_ids(value, "no_generation"), "empty_patch")
    statuses |= dict.fromkeys(_listed_ids(value, "resolved"), "resolved")
    _add_statuses(trials, label, statuses, path.parent.parent / "logs")
    return trials


def _verdict_map(value: JsonObject, path: Path) -> TrialRows:
    trials = TrialRows(path, label := run_name(path))
    trials.add_judged(label, "swe-bench-pro")
    for instance, passed in value.items():
        if isinstance(passed, bool):
            row: ResultRow = {**outcome(passed=passed), "task_set": PRO}
            trials.add_result("report", label, utf8(instance), row)
        else:
            raw = canonical_json({instance: passed}).encode()
            trials.rows.rejects.append(Reject(f"{utf8(instance)}: not true or false", raw=raw))
    return trials


def _instance_reports(value: JsonObject, path: Path, context: ImportContext) -> TrialRows:
    run_id, label = _names_of_folders(path)
    trials = TrialRows(path, run_id)
    trials.add_judged(label)
    has_patch = len(value) == 1 and path.with_name("patch.diff").is_file()
    patch = context.read(path.with_name("patch.diff")) if has_patch else None
    for instance, report in value.items():
        fields = Fields(report)
        passed, tests = fields.boolean("resolved"), object_of(fields.value("tests_status"))
        counts = _counts("resolved" if passed else "unresolved")
        row = outcome(passed=passed)
        row["raw_output"] = None if patch is None else patch.data.decode("utf-8", "replace")
        row["extra"] = fields.extra(counts=None if passed is None else counts)
        result_id = trials.add_result(_OF_INSTANCE, label, utf8(instance), row)
        _add_checks(tests, result_id, trials)
    return trials


def _names_of_folders(path: Path) -> tuple[str, str]:
    """Return run and label, from the folders of an instance's report."""
    folders = path.parts[-5:-1]
    if folders[:1] == ("run_evaluation",):
        return utf8(folders[1]), utf8(folders[2])
    run_id = run_name(path.parent)
    return run_id, run_id


def _add_checks(tests: JsonObject, result_id: str, trials: TrialRows) -> None:
    for name, found in tests.items():
        is_known = name in _CHECK_CLASSES
        for outcome_name in ("success", "failure"):
            passed = outcome_name == "success"
            for at, test in enumerate(list_of(inner(found, outcome_name))):
                score = score_row(
                    str(test),
                    passed,
                    passed=passed,
                    scorer="swe-bench",
                    check_class=_CHECK_CLASSES.get(name, "test"),
                    counts=is_known,
                )
                score["extra"] = None if is_known else canonical_json({"class": name})
                trials.add_part("result_scores", result_id, score, name, outcome_name, at, test)


def _figures_of_arms(value: JsonObject, path: Path) -> TrialRows:
    """Return the figures of a file that compares systems, each with its resolved instances."""
    trials = TrialRows(path, utf8(path.stem))
    for seq, (arm, figures) in enumerate(value.items(), 1):
        listed = figures.items() if isinstance(figures, dict) else [("", figures)]
        for name, figure in listed:
            number = finite_number(figure)
            if number is not None:
                metric = f"{arm}.{name}" if name else arm
                row = figure_row(metric, number, reason=_LISTS_ONLY)
                trials.add_figure({**(row or {}), "seq": seq}, metric, number)
    return trials


def _listed_ids(value: JsonObject, name: str) -> list[str]:
    return [utf8(each) for each in list_of(value.get(name)) if isinstance(each, str)]
