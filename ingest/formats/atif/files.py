"""Reads ATIF documents that stand alone: each is a trial, without a verdict."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ingest.formats.atif.trajectories import (
    EMBEDDED,
    STEPS,
    Trajectories,
    continuation,
    main_file,
    read_document,
    trial_files,
)
from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.fields import Fields, inner, list_of, object_of, text_of
from ingest.formats.common.trials import outcome, system_row
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.large_objects import LargeObject
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import JsonObject, ResultRow, SystemRow

SUITE = "atif"
FORMAT = "ATIF trajectory"
TABLES = ("systems", "results", "steps", "result_scores", "reported_metrics", "events")
_VERSION = "schema_version"


def read_trajectory(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a document with the files that belong to it, or an object of several documents."""
    main = main_file(path)
    if main is not None:
        context.decline(path, f"a part of {utf8(main.name)}, which is read with it")
        return
    is_masked = context.options.redact
    try:
        document = read_document(path, is_masked=is_masked)
        if _VERSION in document.root:
            yield _reading([[document, *_others(path, is_masked=is_masked)]])
            return
        nested = list(_nested(document))
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    documents = [each for each in nested if not isinstance(each, Reject)]
    if not documents:
        reason = document.spans.problem or "no ATIF document: it has no schema_version"
        file = context.read(path)
        yield Reading(FORMAT, rejects=[Reject(reason)], files=[file] if file else [])
    else:
        reading = _reading([[each] for each in documents])
        reading.rejects += [each for each in nested if isinstance(each, Reject)]
        yield reading


def _others(path: Path, *, is_masked: bool) -> list[LargeObject]:
    return [read_document(each, is_masked=is_masked) for each in trial_files(path)[1:]]


def _nested(document: LargeObject) -> Iterator[LargeObject | Reject]:
    """Yield the documents in an object of documents, and a reject for each member that is none."""
    yield from document.rejects
    for name, value in document.root.items():
        start, end = document.value_place(name)
        if isinstance(value, dict) and _VERSION in value:
            yield read_document(document.path, is_masked=document.is_masked, start=start, end=end)
        else:
            yield Reject(f"{utf8(name)}: no ATIF document", byte_offset=start)


def _reading(trials: list[list[LargeObject]]) -> Reading:
    """Return the reading of a file: the documents of each trial in it, the main one first."""
    ids = [_ids(documents[0]) for documents in trials]
    stream = Stream(
        paths=tuple(dict.fromkeys(each.path for documents in trials for each in documents)),
        tables=TABLES,
        blocks=lambda: chain(*(_blocks(each, *of) for each, of in zip(trials, ids, strict=True))),
        header={"origin": "import"},
        parts=frozenset(part_id(trial_id) for _, trial_id in ids),
        has_traces=True,
    )
    return Reading(FORMAT, run=(SUITE, ids[0][0]), stream=stream)


def _ids(document: LargeObject) -> tuple[str, str]:
    """Return the ids of run and trial; without any, a hash of agent and first step."""
    root = document.root
    session, trial_id = (text_of(root.get(name)) for name in ("session_id", "trajectory_id"))
    trial_id = trial_id or session
    if not trial_id:
        first_step = document.first(STEPS).decode("utf-8", "replace")
        trial_id = content_hash("trial", root.get("agent"), first_step)
    return session or trial_id, trial_id


def _blocks(documents: list[LargeObject], run_id: str, trial_id: str) -> Iterator[Block]:
    main = documents[0]
    rows = RowCollector(main.path, run_id, part=part_id(trial_id))
    system = _system(main.root)
    rows.add("systems", system)
    result = _result(documents, trial_id, system, rows)
    rows.add("results", result)
    trajectories = Trajectories(rows, result["content_id"])
    yield from trajectories.add_documents(documents, f"{trial_id}/")
    yield from rows.rest()


def _system(root: JsonObject) -> SystemRow:
    agent = Fields(root.get("agent"))
    model = agent.text("model_name")
    subagents = sorted(filter(None, _models(root) - {model}))
    models: dict[str, str | list[str]] = {} if model is None else {"agent": model}
    if subagents:
        models["subagent"] = subagents
    return system_row(agent=agent.text("name"), agent_version=agent.text("version"), models=models)


def _models(root: JsonObject) -> set[str | None]:
    """Return the models of the sub-agents inside a document."""
    nested = list_of(root.get(EMBEDDED))
    names = {text_of(inner(each, "agent", "model_name")) for each in nested}
    return names.union(*(_models(object_of(each)) for each in nested))


def _result(
    documents: list[LargeObject], trial_id: str, system: SystemRow, rows: RowCollector
) -> ResultRow:
    names = continuation(documents)
    last = [each for each in documents if each.path.name in names][-1]
    final = Fields(last.root.get("final_metrics"))
    tokens = {name: final.integer(f"total_{name}_tokens") for name in ("prompt", "completion")}
    is_known = any(tokens.values())
    return outcome() | {
        "content_id": rows.id_of("trial", SUITE, rows.run_id, system["system"], trial_id),
        "seq": 1,
        "model": system["model"],
        "system": system["system"],
        "trial_id": trial_id,
        "input_tokens": tokens["prompt"] if is_known else None,
        "output_tokens": tokens["completion"] if is_known else None,
        # A total of 0 where no step says a number is not a measurement.
        "cached_tokens": final.integer("total_cached_tokens") or None,
        "cost_usd": final.number("total_cost_usd") if is_known else None,
        "token_scope": "chain" if len(names) > 1 else None,
    }
