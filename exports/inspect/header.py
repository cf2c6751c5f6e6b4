"""The header of a log: what was evaluated, how, and the figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exports.inspect.samples import named_model
from exports.rows import Document, iso, json_object, json_value
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warehouse.core.types import Row

SUITE = "inspect"
_VERSION = 2
# How the first versions of the format state the scores.
_OLD_SCORES = {"scorer", "scorers", "metrics"}
_ID_LENGTH = 22
# The format demands a time. The import takes this one for none, and no file is named by it.
_NO_TIME = "1970-01-01T00:00:00+00:00"
# The parameters of Inspect's models that any tool may have recorded under the same name.
_GENERATE = {
    "temperature": float,
    "top_p": float,
    "top_k": int,
    "max_tokens": int,
    "seed": int,
    "frequency_penalty": float,
    "presence_penalty": float,
}


def header_document(
    run: Row, part: Row, figures: Iterable[Row], counts: Mapping[str, Any]
) -> Document:
    """Return the header of a log.

    Args:
        run: the run, a row of `runs`.
        part: `provider`, `model`, `settings`, `parameters` and `task_set` of the log's results.
        figures: rows of `reported_metrics` for Inspect's own logs, else of `metrics`.
        counts: `samples`, `completed`, `epochs` and `ids`.
    """
    if run["suite"] == SUITE:
        return _own(run, part, figures)
    return _made(run, part, list(figures), counts)


def start_document(header: Mapping[str, Any]) -> Document:
    """Return what a log begins with, of its header."""
    return {key: header[key] for key in ("version", "eval", "plan")}


def log_name(header: Mapping[str, Any]) -> str:
    """Return the file name of a log, as Inspect names it: time, task and id.

    Without a known time it is task and id; Inspect then reads the task from the log.
    """
    spec = header["eval"]
    parts = [spec["created"], spec["task"], spec["eval_id"]]
    if parts[0] == _NO_TIME:
        parts.pop(0)
    return "_".join(parts).replace(":", "-").replace("+", "-")


def scorer_names(header: Mapping[str, Any]) -> list[str]:
    """Return the names of the scorers, in the order in which a header declares or lists them."""
    declared = header["eval"].get("scorers")
    results = header.get("results", {}).get("scores")
    listed = [*(declared if isinstance(declared, list) else ()), *(results or ())]
    names = [each.get("scorer", each.get("name")) for each in listed if isinstance(each, dict)]
    return [name for name in names if isinstance(name, str)]


def _own(run: Row, part: Row, figures: Iterable[Row]) -> Document:
    """Return the header of one of Inspect's own logs as it was."""
    extra, config = json_object(run["extra"]), json_object(run["config"])
    rest = extra.pop("eval", {})
    results = extra.pop("results", {})
    plan = config.pop("plan", None) or {"name": "plan", "steps": [], "config": {}}
    spec = {
        "eval_id": run["run_id"],
        "created": _NO_TIME,
        "task": part["task_set"],
        "dataset": {},
        "config": {},
        **config,
        "model": part["model"] or "unknown/unknown",
        **({} if run["versions"] is None else {"packages": json_object(run["versions"])}),
        **(rest if isinstance(rest, dict) else {}),
    }
    document = {"version": _VERSION, "status": "started", **extra, "eval": spec, "plan": plan}
    scores = list(_own_scores(figures))
    if scores or results:
        known = results.items() if isinstance(results, dict) else ()
        kept = {key: value for key, value in known if key not in _OLD_SCORES}
        document["results"] = {**kept, "scores": scores}
    return document


def _own_scores(figures: Iterable[Row]) -> Iterable[Document]:
    """Yield the scores of the header, each with its figures, as the log reported them."""
    scores: dict[tuple[object, ...], Document] = {}
    for figure in figures:
        extra = json_object(figure["extra"])
        of_score = extra.pop("score", {})
        reducer = _reducer(figure)
        key = figure["scorer"], figure["score"], reducer, str(of_score)
        if key not in scores:
            document = {"name": figure["score"], "scorer": figure["scorer"]}
            document |= {} if reducer is None else {"reducer": reducer}
            document |= {"params": {}, "metrics": {}, **of_score}
            scores[key] = document
        value = figure["value"] if figure["value"] is not None else _number(figure["text"])
        metric = {"name": figure["metric"], "value": value, "params": {}, **extra}
        scores[key]["metrics"][figure["metric"]] = metric
    return scores.values()


def _reducer(figure: Row) -> str | None:
    k = json_object(figure["reducer_parameters"]).get("k")
    names = {"at_least_k": f"at_least_{k}", "pass_at_k": f"pass_at_{k}", "pass^k": f"pass_k_{k}"}
    reducer: str | None = figure["reducer"]
    return names.get(reducer, reducer) if reducer is not None else None


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def _made(run: Row, part: Row, figures: Sequence[Row], counts: Mapping[str, Any]) -> Document:
    model = part["model"] or "unknown"
    named = [
        run["suite"],
        run["run_id"],
        part["provider"],
        model,
        part["settings"],
        part["task_set"],
    ]
    digest = content_hash("inspect log", *named)
    started, ended = run["started_at"], run["ended_at"] or run["started_at"]
    task = part["task_set"] or run["suite"]
    spec = {
        "eval_id": digest[:_ID_LENGTH],
        "run_id": content_hash("inspect run", run["suite"], run["run_id"])[:_ID_LENGTH],
        "created": iso(started) or _day(run) or iso(ended) or _NO_TIME,
        "task": task,
        "task_id": content_hash("inspect task", run["suite"], task)[:_ID_LENGTH],
        "task_version": 0,
        "task_args": {},
        "dataset": {
            "name": task,
            "samples": len(counts["ids"]),
            "sample_ids": counts["ids"],
            "shuffled": False,
        },
        "model": named_model(part["provider"], model),
        "model_args": {},
        "model_generate_config": _generate_config(part),
        "config": {"epochs": counts["epochs"]},
        "packages": _packages(run),
        "metadata": {
            "evalstore": {
                "suite": run["suite"],
                "run_id": run["run_id"],
                "model": model,
                "settings": part["settings"],
            }
        },
    }
    return {
        "version": _VERSION,
        "status": "success",
        "eval": spec,
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": counts["samples"],
            "completed_samples": counts["completed"],
            "scores": [_made_score(figure) for figure in figures],
        },
        "stats": {"started_at": iso(started) or "", "completed_at": iso(ended) or ""},
    }


def _made_score(figure: Row) -> Document:
    parts = [figure["scorer"], figure["metric"], figure["filter"]]
    if parts[0] == parts[1]:
        parts.pop(0)
    name = "/".join(part for part in parts if part is not None)
    values = {"mean": figure["mean"], "stderr": figure["stderr"]}
    return {
        "name": name,
        "scorer": name,
        "scored_samples": figure["n_tasks"],
        "unscored_samples": figure["n_unscored"],
        "params": {},
        "metrics": {
            key: {"name": key, "value": value, "params": {}}
            for key, value in values.items()
            if value is not None
        },
    }


def _generate_config(part: Row) -> Document:
    parameters = json_object(part["parameters"])
    config: Document = {}
    for name, kind in _GENERATE.items():
        value = parameters.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if kind is float or float(value).is_integer():
            config[name] = kind(value)
    return config


def _packages(run: Row) -> dict[str, str]:
    versions = json_value(run["versions"])
    known = versions if isinstance(versions, dict) else {}
    return {name: value for name, value in known.items() if isinstance(value, str)}


def _day(run: Row) -> str | None:
    return None if run["run_date"] is None else f"{run['run_date']}T00:00:00+00:00"
