"""The header of a log: the row of its run, and what all of its samples share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ingest.formats.common.fields import list_of, object_of
from ingest.formats.inspect.documents import as_count, as_moment, as_text
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.formats.inspect.documents import LogObject
    from warehouse.core.types import RunRow

SUITE = "inspect"

# Fields of `eval` and of the log that columns hold.
_EVAL_IN_COLUMNS = {
    *("eval_id", "task", "model", "config", "task_args", "model_args", "model_generate_config"),
    *("packages",),
}
_LOG_IN_COLUMNS = {"eval", "plan", "results", "samples", "reductions"}
_RESULTS_IN_ROWS = {"scores", "sample_reductions"}
# No time, and what our export writes where it is not known, as the format needs one.
_NO_TIMES = (None, datetime(1970, 1, 1))  # noqa: DTZ001 - moments here are UTC without offset

# How calls are made, not what is asked: they do not make another variation of a model.
_TRANSPORT = {
    *("max_connections", "max_retries", "timeout", "attempt_timeout", "adaptive_connections"),
    *("cache", "batch"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What all samples of a log share.

    Attributes:
        run_id: id of the run: the log's `eval_id`, in older logs `run_id/task_id`.
        task_set: the task that was evaluated.
        task_set_hash: identifies its dataset, as far as the log describes it.
        model: the model, as recorded.
        provider: the part of its name before the first slash.
        settings: parameters of the calls, JSON; None if there are none.
        run_date: local date of the start; None if not known.
        graded: scorers whose figure is the accuracy.
        places: place of each sample in the dataset, from 1, by its id.
        n_samples: samples of the dataset; None if not known.
        scorer: name of the scorer of samples that do not name it.
    """

    run_id: str
    task_set: str
    task_set_hash: str
    model: str
    provider: str | None
    settings: str | None
    run_date: str | None
    graded: frozenset[str]
    places: Mapping[str, int] = field(default_factory=dict)
    n_samples: int | None = None
    scorer: str = "score"


def evaluation(header: LogObject) -> Evaluation:
    """Return what all samples of a log share, given its header."""
    spec = object_of(header.value.get("eval"))
    dataset = object_of(spec.get("dataset"))
    ids = [str(each) for each in list_of(dataset.get("sample_ids")) if isinstance(each, str | int)]
    plan_config = object_of(object_of(header.value.get("plan")).get("config"))
    settings = {**plan_config, **object_of(spec.get("model_generate_config"))}
    settings = {k: v for k, v in settings.items() if v is not None and k not in _TRANSPORT}
    provider, slash, _ = spec["model"].partition("/")
    created = as_text(spec.get("created"))
    known = [spec["task"], spec.get("task_version"), dataset.get("name"), dataset.get("samples")]
    return Evaluation(
        run_id=_run_id(spec),
        task_set=utf8(spec["task"]),
        task_set_hash=header.digest([*known, sorted(ids)]),
        model=utf8(spec["model"]),
        provider=utf8(provider) if slash and provider else None,
        settings=canonical_json(settings) if settings else None,
        run_date=created[:10] if created and as_moment(created) not in _NO_TIMES else None,
        graded=frozenset(_graded(spec)),
        places={each: place for place, each in enumerate(ids, 1)},
        n_samples=as_count(dataset.get("samples")),
        scorer=_first_scorer(header),
    )


def run_row(header: LogObject, shared: Evaluation) -> RunRow:
    """Return the row of the run.

    What a log that is still being written lacks (times, figures, errors) is NULL, so that the log
    of the whole run adds it.
    """
    log, spec = header.value, object_of(header.value.get("eval"))
    stats = object_of(log.get("stats"))
    config = {
        name: spec[name]
        for name in ("config", "task_args", "model_args", "model_generate_config")
        if spec.get(name) not in (None, {})
    }
    if log.get("plan") is not None:
        config["plan"] = log["plan"]
    rest = {key: value for key, value in log.items() if key not in _LOG_IN_COLUMNS}
    rest["eval"] = {key: value for key, value in spec.items() if key not in _EVAL_IN_COLUMNS}
    results = object_of(log.get("results"))
    rest["results"] = {k: v for k, v in results.items() if k not in _RESULTS_IN_ROWS}
    packages = spec.get("packages")
    commit = as_text(object_of(spec.get("revision")).get("commit"))
    return {
        "suite": SUITE,
        "run_id": shared.run_id,
        "origin": "import",
        "started_at": as_moment(stats.get("started_at")),
        "ended_at": as_moment(stats.get("completed_at")),
        "run_date": shared.run_date,
        "model": shared.model,
        "task_set": shared.task_set,
        "task_set_hash": shared.task_set_hash,
        "config": header.as_sorted_json(config) if config else None,
        "versions": header.as_sorted_json(packages) if isinstance(packages, dict) else None,
        "git_commit": commit and utf8(commit),
        "extra": header.as_sorted_json(rest),
        "source": header.text,
    }


def _run_id(spec: Mapping[str, Any]) -> str:
    eval_id = as_text(spec.get("eval_id"))
    ids = [eval_id] if eval_id else [as_text(spec.get("run_id")), as_text(spec.get("task_id"))]
    named = [utf8(each) for each in ids if each]
    # Logs of before the ids existed have a time.
    return "/".join(named) or utf8(f"{spec['task']} {spec['model']} {spec.get('created')}")


def _graded(spec: Mapping[str, Any]) -> list[str]:
    return [
        scorer["name"]
        for scorer in map(object_of, list_of(spec.get("scorers")))
        if isinstance(scorer.get("name"), str)
        and any(_is_accuracy(metric) for metric in list_of(scorer.get("metrics")))
    ]


def _is_accuracy(metric: object) -> bool:
    name = object_of(metric).get("name") if isinstance(metric, dict) else metric
    return isinstance(name, str) and name.removeprefix("inspect_ai/") == "accuracy"


def _first_scorer(header: LogObject) -> str:
    results = object_of(header.value.get("results"))
    scorers = [
        results.get("scorer"),
        *list_of(results.get("scorers")),
        *list_of(results.get("scores")),
    ]
    names = (as_text(object_of(each).get("name")) for each in scorers)
    return next((utf8(name) for name in names if name), "score")
