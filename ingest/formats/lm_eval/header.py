"""What a results file says of its run as a whole."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from ingest.formats.common.fields import finite_number, object_of, text_of, unix_moment
from ingest.formats.lm_eval.layout import SUITE
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import is_integer, utf8

if TYPE_CHECKING:
    from datetime import datetime

    from ingest.reading import SourceFile
    from warehouse.core.types import Json, JsonObject, RunRow

_FIGURES = ("results", "groups", "table_results")
_OWN_COLUMNS = {*_FIGURES, "git_hash", "pretty_env_info", "lm_eval_version", "transformers_version"}
_MODEL_ARGS = ("pretrained", "model", "model_name", "engine", "path")
_DATE_LENGTH = 10
_MAIN = {"", "main", "None"}


def model_of(document: JsonObject) -> str | None:
    """Return the model of a results file: its name, else that among its arguments."""
    for name in ("model_name", "model_name_sanitized"):
        value = document.get(name)
        if isinstance(value, str) and value.strip():
            return utf8(value)
    config = document.get("config")
    if not isinstance(config, dict):
        return None
    arguments = _arguments(config.get("model_args"))
    named = next((arguments[name] for name in _MODEL_ARGS if arguments.get(name)), None)
    if named is None:
        model = config.get("model")
        return utf8(model) if isinstance(model, str) and model else None
    # The steps of a training have one name, and differ by revision.
    revision = arguments.get("revision", "")
    return utf8(named if revision in _MAIN else f"{named}@{revision}")


def run_date_of(time: str | None) -> str | None:
    """Return the local date in the time that a file's name ends with."""
    return time[:_DATE_LENGTH] if time is not None else None


def header_of(document: JsonObject, run_id: str, time: str | None, file: SourceFile) -> RunRow:
    """Return the header of the run of a results file, without a `content_id`.

    Args:
        document: the file's content.
        run_id: id of the run.
        time: the time that the file's name ends with.
        file: the file.
    """
    started = unix_moment(document.get("date"))
    seconds = _number(document.get("total_evaluation_time_seconds"))
    config = object_of(document.get("config"))
    names = list(object_of(document.get("results")))
    commit, environment = document.get("git_hash"), document.get("pretty_env_info")
    seed = config.get("random_seed")
    versions = {
        name.removesuffix("_version"): document[name]
        for name in ("lm_eval_version", "transformers_version")
        if isinstance(document.get(name), str)
    }
    return {
        "suite": SUITE,
        "run_id": run_id,
        "origin": "import",
        "model": model_of(document),
        "started_at": started,
        "ended_at": _after(started, seconds),
        "run_date": run_date_of(time),
        "temperature": _temperature(config.get("gen_kwargs")),
        "seed": seed if is_integer(seed) else None,
        "task_set": utf8(names[0]) if len(names) == 1 else None,
        "config": json_text({k: v for k, v in document.items() if k not in _OWN_COLUMNS}),
        "inventory": json_text({"environment": environment}) if environment else None,
        "recorded_summary": json_text({k: document[k] for k in _FIGURES if k in document}),
        "git_commit": text_of(commit),
        "versions": json_text(versions) if versions else None,
        "source_name": file.name,
        "source": None if is_exact(document) else file.data.decode("utf-8", "replace"),
    }


def _arguments(value: Json) -> dict[str, str]:
    """Return the model's arguments: an object, or text as in `pretrained=gpt2,revision=main`."""
    if isinstance(value, dict):
        return {key: text for key, text in value.items() if isinstance(text, str)}
    if not isinstance(value, str):
        return {}
    pairs = (part.partition("=") for part in value.split(","))
    return {key.strip(): text.strip() for key, _, text in pairs}


def _temperature(arguments: Json) -> float | None:
    if isinstance(arguments, str):
        found = re.search(r"(?:^|,)\s*temperature=([0-9.]+)", arguments)
        return _number(found[1]) if found else None
    return _number(object_of(arguments).get("temperature"))


def _number(value: Json) -> float | None:
    """Return a number that may be written as text; None if it is not a finite one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return finite_number(value)


def _after(start: datetime | None, seconds: float | None) -> datetime | None:
    if start is None or seconds is None:
        return None
    try:
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return None
