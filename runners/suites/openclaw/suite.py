"""The OpenClaw suite: prompts with validators, one model at a time, with records of the host."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runners.models.model import Model
from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import PreparedRun, RunSpec, Suite, selected
from runners.suites.openclaw import host
from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.snapshots import snapshot_row, snapshot_tag
from warehouse.core.formats.values import MAX_DEPTH, is_nested_deeply, utf8
from warehouse.core.hashing import content_hash
from warehouse.core.paths import TASKS
from warehouse.engine.openclaw_prompts import is_prompt_list, prompt_rows
from warehouse.engine.scoring.openclaw.tools import detect_tools, tool_use_success
from warehouse.engine.scoring.openclaw.validators import validate
from warehouse.engine.scoring.openclaw.verdicts import as_object, to_json
from warehouse.lake.journal.journal import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell
    from runners.providers.base import Request
    from warehouse.core.types import Json, ResultRow, Row, RunRow

FAMILY = "openclaw"
_FILE = f"{FAMILY}.json"
_SYSTEM = "You are a helpful assistant. Follow instructions exactly."
_OLLAMA = "ollama_openai"
# Positions between two results, for the events that precede a model.
_ROOM = 100
_RAW_BYTES = 64 * 1024
_DEFAULTS = {
    "OPENAI_CODEX_MODEL": "gpt-5-codex",
    "CLAUDE_HAIKU_MODEL": "claude-haiku",
    "CLAUDE_OPUS_MODEL": "claude-opus-4.6",
}
_SUMMARY = """
SELECT model, thinking_level, round(objective_pass_rate, 4) AS objective_pass_rate, n_total, n_ok,
    n_success, tool_tier, p50_ms, wall_clock_ms, provider
FROM scores.all_openclaw_summary
WHERE $suite = 'openclaw' AND run_id = $run_id
ORDER BY ALL
"""


class Openclaw(Suite):
    """Sends prompts and applies their validators to the answers."""

    family = FAMILY
    needs_all_models = False
    one_model_at_a_time = True
    max_raw_bytes = _RAW_BYTES
    summary = _SUMMARY
    answer = ()

    def default_models(self) -> list[Model]:
        """Return the models that the environment names, as in the original harness."""
        names = [name.strip() for name in os.environ.get("OLLAMA_MODELS", "").split(",")]
        ollama = [Model(name, _OLLAMA) for name in names if name]
        codex, haiku, opus = (os.environ.get(key) or name for key, name in _DEFAULTS.items())
        openai = [
            Model(codex, "openai_responses", parameters={"thinking_level": level})
            for level in ("low", "high")
        ]
        claude = [Model(name, "claude_code_cli") for name in (haiku, opus)]
        return [*ollama, *openai, *claude]

    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Read the prompts; every problem in them is reported before the first call."""
        path = spec.prompts or _prompt_file()
        document, rows = _read_prompts(path)
        tasks = selected([_task(row) for row in rows], spec)
        plan = Plan(
            suite=FAMILY,
            family=FAMILY,
            run_date=spec.run_date,
            task_set=path.stem,
            # Results name the model itself: views must not look it up in a file of that name.
            models=tuple(replace(model, path=None) for model in spec.models),
            tasks=tasks,
            attempts=spec.attempts,
            is_streamed=spec.is_streamed,
            options={
                "prompts_path": path.name,
                "prompts_hash": rows[0]["task_set_hash"],
                "prompts": _sources(document, tasks),
            },
        )
        return PreparedRun(plan, {"tasks": rows}, path.parent)

    def request(self, plan: Plan, cell: Cell, /) -> Request:
        """Return the verbatim prompt; for Ollama with a system message and temperature 0."""
        model = cell.model
        is_ollama = model.provider == _OLLAMA
        request = model.request(cell.task.prompt, task_id=cell.task.task_id, attempt=cell.attempt)
        return replace(
            request,
            system=_SYSTEM if is_ollama else None,
            parameters={"temperature": 0, **model.sampling} if is_ollama else model.sampling,
            is_streamed=plan.is_streamed,
        )

    def columns(self, _plan: Plan, cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Apply the validator to the answer, and detect tools even in failures."""
        text = utf8(outcome.result.text)
        success = isinstance(outcome.result, Reply)
        tools = detect_tools(text)
        row: ResultRow = {
            "seq": cell.seq * _ROOM,
            "run_date": None,
            "tool_calls": tools,
            "tool_call_count": len(tools),
            "tool_use_success": tool_use_success(
                success=success, detected=tools, expected=cell.task.expected_tools
            ),
        }
        if success:
            verdict = validate(text, cell.task.validator)
            row["objective_pass"] = verdict.objective_pass
            row["violation"] = verdict.violation if verdict.objective_pass is False else None
            row["parsed_output"] = to_json(as_object(verdict.parsed_output))
        return row

    def run_columns(self, plan: Plan, run_id: str, timeout_seconds: float, /) -> RunRow:
        """Return the contents of config.json and inventory.json."""
        return {
            "run_date": None,
            "config": json_text(_config(plan, run_id, timeout_seconds)),
            "inventory": json_text(host.inventory(run_id)),
        }

    def entries_before(self, model: Model, first: Cell, invocation: int, /) -> Iterator[Entry]:
        """Stop the models that Ollama runs, and take a snapshot of the host."""
        tag = snapshot_tag(model.provider, model.name, model.thinking_level)
        if model.provider.startswith("ollama_"):
            for number, event in enumerate(host.idle_events(f"{tag}_pre"), start=1):
                yield _event(event, (first.seq - 1) * _ROOM + number, invocation)
        yield _snapshot(tag, "before", invocation)

    def entries_after(self, model: Model, invocation: int, /) -> Iterator[Entry]:
        """Take a snapshot of the host."""
        tag = snapshot_tag(model.provider, model.name, model.thinking_level)
        yield _snapshot(tag, "after", invocation)


SUITE = Openclaw()


def _prompt_file() -> Path:
    own = Path("tasks") / _FILE
    return own if own.is_file() else TASKS / _FILE


def _read_prompts(path: Path) -> tuple[list[Json], list[Row]]:
    try:
        document = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: cannot be read as JSON ({problem(error)})") from error
    if is_nested_deeply(document):
        raise BadInput(f"{path}: nested more than {MAX_DEPTH} levels deep: flatten it")
    if not is_prompt_list(document):
        raise BadInput(f"{path}: not a list of prompts, each with an id and a prompt")
    rows, problems = prompt_rows(document, task_set=path.stem)
    if problems:
        raise BadInput("\n".join(f"{path}: {problem.message}" for problem in problems))
    return document, rows


def _sources(document: list[Json], tasks: Iterable[Task]) -> dict[str, dict[str, object]]:
    """Return each task's prompt as the file has it, and its position there, from 1.

    config.json sorts keys, but the order of a validator's rules decides which violation is named.
    """
    prompts = {
        str(prompt["id"]): {"position": position, "source": json.dumps(prompt)}
        for position, prompt in enumerate(document, 1)
        if isinstance(prompt, dict)
    }
    return {task.task_id: prompts[task.task_id] for task in tasks}


def _task(row: Row) -> Task:
    return Task(
        row["task_id"],
        row["prompt"],
        task_hash=row["task_hash"],
        name=row["task_name"],
        validator=json.loads(row["validator"]) if row["validator"] else None,
        expected_tools=tuple(row["expected_tools"]),
    )


def _config(plan: Plan, run_id: str, timeout_seconds: float) -> dict[str, object]:
    def named(provider: str) -> list[str]:
        return [model.name for model in plan.models if model.provider == provider]

    claude = named("claude_code_cli")
    sources = plan.options.get("prompts")
    bases = {m.provider: m.base_url for m in plan.models if m.base_url}
    return {
        "run_id": run_id,
        "prompts_path": plan.options["prompts_path"],
        "targets": list(dict.fromkeys(model.provider for model in plan.models)),
        "ollama_base": bases.get(_OLLAMA) or os.environ.get("OLLAMA_OPENAI_BASE"),
        "ollama_api": "openai",
        "openai_base": bases.get("openai_responses") or os.environ.get("OPENAI_BASE_URL"),
        "openai_model": next(iter(named("openai_responses")), None),
        "ollama_models": named(_OLLAMA),
        "claude_haiku_model": next((name for name in claude if "haiku" in name), None),
        "claude_opus_model": next((name for name in claude if "opus" in name), None),
        "timeout_s": timeout_seconds,
        "stream": plan.is_streamed,
        "providers": [
            {"provider": m.provider, "model": m.name, "parameters": m.parameters}
            for m in plan.models
        ],
        "prompts_hash": plan.options.get("prompts_hash"),
        "prompts": [
            {
                "id": task.task_id,
                "name": task.name,
                "hash": task.task_hash,
                "prompt": task.prompt,
                "validator": task.validator,
                "expected_tools": list(task.expected_tools),
                **(sources.get(task.task_id, {}) if isinstance(sources, dict) else {}),
            }
            for task in plan.tasks
        ],
    }


def _event(event: host.Event, seq: int, invocation: int) -> Entry:
    document = json.dumps(event, ensure_ascii=False)
    return Entry(
        "events",
        {
            "content_id": content_hash("event", invocation, seq, document),
            "seq": seq,
            "event": event["event"],
            "tag": event["tag"],
            "document": utf8(document),
        },
    )


def _snapshot(tag: str, phase: str, invocation: int) -> Entry:
    row = snapshot_row(f"resources_{tag}_{phase}.txt", host.snapshot())
    content_id = content_hash("snapshot", invocation, row["content_id"])
    return Entry("resources", {**row, "content_id": content_id, "invocation": invocation})
