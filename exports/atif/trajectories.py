"""Trajectories in ATIF: a file for each trial of any suite that has steps.

A trial is written step by step, whatever its size. The same data give the same bytes.
"""

from __future__ import annotations

import json
from itertools import chain, groupby, takewhile
from typing import TYPE_CHECKING

from exports.atif.fields import TOTALS, fitted
from exports.atif.query import COUNTS, STEPS
from exports.atif.steps import TELLING, Trajectory, said, trajectory_steps
from exports.base import Exported, Exporter
from exports.rows import Document, json_object, known
from exports.run_rows import results_by_group, rows_by_run
from exports.selection import SELECTION, path_part, selected_runs
from warehouse.core.errors import BadInput
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.lake.targets import check_spelling, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import duckdb

    from warehouse.app.store import Store
    from warehouse.core.types import Row

VERSION = "ATIF-v1.8"
_TRIALS_AT_ONCE = 200
_LONGEST_NAME = 100
_DIGITS = 8
_CHAIN = "chain"
_FACTS = (
    *("suite", "run_id", "task_set", "task_id", "attempt", "system", "passed", "end_reason"),
    *("recorded_end", "token_scope"),
)
# Members of a document that are made of rows.
_MADE = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics"} | {
    *("subagent_trajectories", "continued_trajectory_ref")
}


def export_atif(store: Store, folder: Path, *, suite: str | None, run: str | None) -> Exported:
    """Write trials as trajectories in ATIF 1.8.

    Raises:
        BadInput: there is no such run, it has no steps, or a file cannot be written.
    """
    exported = Exported()
    with store.reading() as connection:
        chosen = selected_runs(connection, exported, suite, run)
        runs = _runs_with_steps(connection, chosen, exported)
        trials = results_by_group(connection, runs, STEPS, by=["result_id"], size=_TRIALS_AT_ONCE)
        for rows in trials:
            first = next(rows)
            path = folder / _place(first["trial"])
            if not _write(path, first, chain([first], rows)):
                exported.omitted[first["run_id"], "none of their steps is a message or call"] += 1
            elif path.parent not in exported.paths[-1:]:
                exported.paths.append(path.parent)
    return exported


def _runs_with_steps(
    connection: duckdb.DuckDBPyConnection, runs: list[Row], exported: Exported
) -> list[Row]:
    """Return the runs that have steps, and count the results without any.

    Raises:
        BadInput: none of the runs has.
    """
    found = []
    for run, (counts,) in rows_by_run(connection, runs, COUNTS):
        if counts and counts[0]["n_trials"]:
            found.append(run)
            n_others = counts[0]["n_results"] - counts[0]["n_trials"]
            exported.omitted += {(run["run_id"], "the log has no steps of them"): n_others}
    if not found:
        named = f"run {runs[0]['run_id']!r} has" if len(runs) == 1 else "the runs have"
        raise BadInput(f"{named} no steps of agents, of which a trajectory is made")
    if len(found) < len(runs):
        n_without = len(runs) - len(found)
        exported.notes.append(f"runs without steps, and so without trajectories: {n_without:,}")
    return found


def _place(trial: Row) -> str:
    """Return the path of a trial's file.

    A point would make it a part of another file, as `a.cont-1.json` is one of `a.json`.
    """
    name = path_part(str(trial["trial_id"])).replace(".", "_")[:_LONGEST_NAME]
    digest = content_hash("trajectory", trial["result_id"])[:_DIGITS]
    return f"{path_part(trial['suite'])}/{path_part(trial['run_id'])}/{name}-{digest}.json"


def _write(path: Path, first: Row, rows: Iterator[Row]) -> bool:
    """Write the file of a trial; return False, and write none, if no row makes a step."""
    trial, subagents = first["trial"], first["subagents"] or []
    trajectories = groupby(rows, key=lambda row: row["is_main"] or row["trajectory"])
    trajectory = Trajectory(
        first["trajectory"],
        trial["agent"],
        trial["model"],
        frozenset(each["name"] for each in subagents),
        # Others are written after it in the log, too, and its steps refer to them.
        [(each["seq"], each["name"]) for each in subagents if each["seq"] < first["last_seq"]],
    )
    asked = takewhile(lambda message: message["role"] in TELLING, first["conversation"] or ())
    steps = chain(map(said, asked), trajectory_steps(next(trajectories)[1], trajectory))
    begin = next(steps, None)
    if begin is not None:
        head = _head(trial, json_object(first["document"]))
        lines = _lines(head, chain([begin], steps), _subagents(trajectories))
        check_spelling(path)
        write_lines(path, (utf8(line).encode() for line in lines))
    return begin is not None


def _lines(
    head: Document, steps: Iterable[Document], subagents: Iterable[Iterator[str]]
) -> Iterator[str]:
    """Yield the text of a document."""
    yield _text(head)[:-1]
    begin = ', "steps": ['
    for number, step in enumerate(steps, 1):
        yield f"{begin}\n{_text({'step_id': number, **step})}"
        begin = ","
    begin = '\n], "subagent_trajectories": [\n'
    end = "\n]}\n"
    for lines in subagents:
        yield begin
        yield from lines
        begin, end = ",", "]}\n"
    yield end


def _text(value: Document) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _head(trial: Row, recorded: Document) -> Document:
    """Return a document without its steps; one that came in this format says what it did."""
    totals = known(
        total_prompt_tokens=trial["input_tokens"],
        total_completion_tokens=trial["output_tokens"],
        total_cached_tokens=trial["cached_tokens"],
        total_cost_usd=trial["cost_usd"],
    )
    own = {"extra": {"evalstore": known(**{name: trial[name] for name in _FACTS})}}
    if recorded:
        own = fitted({k: v for k, v in recorded.items() if k not in _MADE}, {"notes": str})
        # The recorded totals of a chain are those of its first document.
        if trial["token_scope"] != _CHAIN:
            totals = fitted(recorded.get("final_metrics"), TOTALS)
    return {
        "schema_version": VERSION,
        "session_id": trial["run_id"],
        "trajectory_id": trial["trial_id"],
        "agent": _agent(
            trial["agent"], trial["agent_version"], trial["model"], recorded.get("agent")
        ),
        **known(final_metrics=totals or None),
        **own,
    }


def _agent(
    name: str | None, version: str | None, model: str | None, recorded: object = None
) -> Document:
    """Return an agent; the format demands a name and a version."""
    rest = fitted(
        recorded, {"tool_definitions": list, "name": str, "version": str, "model_name": str}
    )
    return {
        **rest,
        "name": name or "agent not recorded",
        "version": version or "",
        **known(model_name=model),
    }


def _subagents(
    trajectories: Iterable[tuple[object, Iterator[Row]]],
) -> Iterator[Iterator[str]]:
    """Yield the text of each trajectory of a sub-agent, if a row of it makes a step."""
    for _, rows in trajectories:
        row = next(rows)
        agent, model = row["trajectory_agent"], row["trajectory_model"]
        steps = trajectory_steps(chain([row], rows), Trajectory(row["trajectory"], agent, model))
        begin = next(steps, None)
        if begin is not None:
            head = {"schema_version": VERSION, "trajectory_id": row["trajectory"]}
            yield _lines({**head, "agent": _agent(agent, None, model)}, chain([begin], steps), ())


EXPORTER = Exporter(
    export=export_atif,
    target_help="Folder for <suite>/<run>/<trial>.json.",
    options=SELECTION,
    help="""
    Export trials of agents as trajectories in ATIF 1.8, a file for each.

    \b
      evalstore export atif --to trajectories/
      evalstore export atif --suite harbor --to trajectories/
    """,
)
